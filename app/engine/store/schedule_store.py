"""The schedule and the results of its work; in the file of the review state.

Entries are current state; results are rows that are never changed.  A claim is the name of a process's piece of work
on an entry: of two processes one gets it.  Whether its holder is alive is told by the lock beside the file
(``lock_path``), which every process holds while it does scheduled work: a claim that is found under one's own lock was
left by a dead one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.engine.core.schedule import Schedule, ScheduleResult
from app.engine.core.schedule_times import planned
from app.engine.store.database import StoreFile
from app.engine.store.review_store import ReviewStore
from app.engine.store.supervision.json_rows import from_json, to_json
from app.errors import Conflict, NotFound

SCHEDULE_EDIT = "schedule"
"""Kind of an undo entry: scheduled work was added, changed or removed."""
RESULTS_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSchedule:
    """An entry with the claim on it, "" for none, and since when (Unix seconds)."""

    schedule: Schedule
    claim: str = ""
    claimed_at: float = 0.0


class ScheduleStore(StoreFile):
    """Entries, claims and results.  Methods raise ``StoreError`` where the file can't be used."""

    def __init__(self, review: ReviewStore) -> None:
        super().__init__(review.path, review.connection)
        self._review = review

    @property
    def lock_path(self) -> Path:
        """The path of the lock that is held while scheduled work is done."""
        return self.path.with_name("schedule.lock")

    # entries

    def entries(self) -> list[StoredSchedule]:
        """Return all entries, in the order in which they were added; unreadable ones are left out."""
        found: list[StoredSchedule] = []
        for row in self._all("SELECT id, document, at, claim, claimed_at FROM schedule ORDER BY rowid"):
            schedule = from_json(Schedule, row["document"], f"scheduled work {row['id']}")
            if schedule is not None:
                found.append(
                    StoredSchedule(
                        schedule=replace(schedule, id=row["id"], at=row["at"]),
                        claim=row["claim"],
                        claimed_at=row["claimed_at"],
                    )
                )
        return found

    def entry(self, schedule: str) -> StoredSchedule:
        """Return one entry.  Raises ``NotFound``."""
        found = next((one for one in self.entries() if one.schedule.id == schedule), None)
        if found is None:
            raise NotFound(f"no scheduled work {schedule!r}; 'sitelore schedule list' shows all")
        return found

    def save(self, schedule: Schedule, label: str, author: str) -> None:
        """Add an entry, or change the one of its id; undo takes it back."""
        with self.batch():
            self._record(schedule.id, schedule, label, author)
            self._put(schedule.id, schedule)

    def remove(self, schedule: str, label: str, author: str) -> None:
        """Remove an entry; its results stay, and undo brings it back.

        Raises:
            NotFound: there is none.  Conflict: it is being done.
        """
        with self.batch():
            if self.entry(schedule).claim:
                raise Conflict("this scheduled work is being done; cancel its job first")
            self._record(schedule, None, label, author)
            self._put(schedule, None)

    def put(self, change: dict[str, Any]) -> None:
        """Do a recorded change again, or its opposite; a time that has passed meanwhile is planned anew."""
        document = change["document"]
        found = from_json(Schedule, document, "scheduled work") if document else None
        self._put(str(change["id"]), planned_again(found, time.time()) if found is not None else None)

    # work

    def claim(self, schedule: str, claim: str, now: float, *, at: float = 0.0) -> bool:
        """Claim an entry for a piece of work; return whether nobody else has it.

        With ``at`` only while that is still its time: of two processes that saw it due, one does it.
        """
        with self.batch():
            changed = self.connection.execute(
                "UPDATE schedule SET claim = ?, claimed_at = ? WHERE id = ? AND claim = '' AND (? = 0 OR at = ?)",
                (claim, now, schedule, at, at),
            )
        return changed.rowcount == 1

    def finish(
        self, claim: str, result: ScheduleResult | None, next_at: Callable[[Schedule], float] | None = None
    ) -> None:
        """Give up a claim and store the result, both or none.

        ``next_at`` gives the time of the entry as it is now: a person may have changed it meanwhile.
        """
        with self.batch():
            if result is not None:
                self._insert("schedule_result", schedule=result.schedule, document=to_json(result))
            for stored in self.entries():
                if stored.claim == claim:
                    at = next_at(stored.schedule) if next_at is not None else stored.schedule.at
                    self._write(
                        "UPDATE schedule SET claim = '', claimed_at = 0, at = ? WHERE id = ?",
                        at,
                        stored.schedule.id,
                    )

    def results(self, schedule: str) -> tuple[ScheduleResult, ...]:
        """Return the newest results of an entry, the newest first."""
        rows = self._all(
            "SELECT seq, document FROM schedule_result WHERE schedule = ? ORDER BY seq DESC LIMIT ?",
            schedule,
            RESULTS_SHOWN,
        )
        found = (from_json(ScheduleResult, row["document"], f"result {row['seq']}") for row in rows)
        return tuple(one for one in found if one is not None)

    # inside

    def _record(self, schedule: str, after: Schedule | None, label: str, author: str) -> None:
        known = {one.schedule.id: one.schedule for one in self.entries()}
        before = known.get(schedule)
        self._review.journal.record(
            SCHEDULE_EDIT,
            label,
            {"id": schedule, "document": to_json(after) if after is not None else ""},
            {"id": schedule, "document": to_json(before) if before is not None else ""},
            author,
        )

    def _put(self, schedule: str, entry: Schedule | None) -> None:
        if entry is None:
            self._write("DELETE FROM schedule WHERE id = ?", schedule)
            return
        self._write(
            "INSERT INTO schedule (id, document, at) VALUES (?,?,?)"
            " ON CONFLICT (id) DO UPDATE SET document = excluded.document, at = excluded.at",
            schedule,
            to_json(entry),
            entry.at,
        )


def planned_again(schedule: Schedule, now: float) -> Schedule:
    """Return an entry that comes back by undo: one that was over stays over."""
    return planned(schedule, now) if schedule.at else schedule
