"""How a tip fares: tests in a browser, votes of people, and uses in runs.  Rows that are never changed.

What came with a merge that was undone stays as well, but is not counted (``without``: ids of such rows).
The rows belong to a tip's id; each names the revision it is about.  ``TipRecord`` counts them, and the newest test of
the current revision tells whether the tip still holds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from kb.tip import LastTest, TipRecord


class EvidenceKind(StrEnum):
    """The source of a piece of evidence."""

    TEST = "test"
    VOTE = "vote"
    USE = "use"


class TestOutcome(StrEnum):
    """The result of a test of a tip's steps in a browser."""

    __test__ = False

    HOLDS = "holds"
    BROKE = "broke"
    NOT_REACHED = "not reached"
    STOPPED = "stopped before a write"


class UseOutcome(StrEnum):
    """The result of a tip at one step of a run."""

    APPLIED = "applied"
    DONE = "done"
    EFFECT = "effect seen"
    FAILED = "failed"


UP, DOWN = "up", "down"
"""Outcomes of a vote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One test, vote or use of a tip.

    Attributes:
        outcome: a ``TestOutcome``, a ``UseOutcome``, ``up`` or ``down``; "" takes a vote back.
        step: of a test the number of the step that decided it, counted from 1; of a use the number of the run's step.
        run: the run it is from, "" for a test.
        message: one sentence for people.
        by: who did it; ``at`` is Unix seconds.
    """

    tip: str
    revision: int
    kind: EvidenceKind
    outcome: str
    step: int = 0
    run: str = ""
    message: str = ""
    by: str = ""
    at: float = 0.0

    def stamped(self, by: str, at: float) -> Evidence:
        """The piece with its author and time, where it has none."""
        return replace(self, by=self.by or by, at=self.at or at)


TABLE = """CREATE TABLE evidence (
    id INTEGER PRIMARY KEY,
    tip TEXT NOT NULL REFERENCES tip (id),
    revision INTEGER NOT NULL,
    kind TEXT NOT NULL,
    outcome TEXT NOT NULL,
    step INTEGER NOT NULL,
    run TEXT NOT NULL,
    message TEXT NOT NULL,
    by TEXT NOT NULL,
    at REAL NOT NULL
)"""

GUARDS = ("evidence_kept_on_update", "evidence_kept_on_delete")
"""Triggers that refuse any change of a row."""

INDEX = "evidence_tip"


def create_table(connection: sqlite3.Connection) -> None:
    """Create the table with its index and guards."""
    connection.execute(TABLE)
    connection.execute(f"CREATE INDEX {INDEX} ON evidence (tip, kind, run, step)")
    for guard, event in zip(GUARDS, ("UPDATE", "DELETE"), strict=True):
        connection.execute(
            f"CREATE TRIGGER {guard} BEFORE {event} ON evidence"
            " BEGIN SELECT RAISE(ABORT, 'evidence is kept for ever'); END"
        )


def append(
    connection: sqlite3.Connection, pieces: Iterable[Evidence], without: Collection[int] = ()
) -> list[int]:
    """Store the pieces that are new and return the ids of their rows.

    A use is known by tip, run and step, so that a run that is counted again adds nothing.
    """
    added: list[int] = []
    for one in pieces:
        if one.kind is EvidenceKind.USE and _known(connection, one, without):
            continue
        cursor = connection.execute(
            "INSERT INTO evidence (tip, revision, kind, outcome, step, run, message, by, at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (one.tip, one.revision, one.kind, one.outcome, one.step, one.run, one.message, one.by, one.at),
        )
        added.append(int(cursor.lastrowid or 0))
    return added


def _known(connection: sqlite3.Connection, one: Evidence, without: Collection[int]) -> bool:
    found = connection.execute(
        f"SELECT 1 FROM evidence WHERE tip = ? AND kind = ? AND run = ? AND step = ?{_but('id', without)}",
        (one.tip, one.kind, one.run, one.step),
    )
    return found.fetchone() is not None


def _but(column: str, without: Collection[int]) -> str:
    return f" AND {column} NOT IN ({', '.join(str(int(id)) for id in without)})" if without else ""


def evidence_of(connection: sqlite3.Connection, tip: str, without: Collection[int] = ()) -> list[Evidence]:
    """Every piece of evidence about a tip, the oldest first."""
    query = f"SELECT * FROM evidence WHERE tip = ?{_but('id', without)} ORDER BY id"
    rows = connection.execute(query, (tip,)).fetchall()
    return [_evidence(row) for row in rows]


def latest_test(pieces: Sequence[Evidence], revision: int) -> Evidence | None:
    """The newest test of a revision; None if it was not tested."""
    tests = (one for one in reversed(pieces) if one.kind is EvidenceKind.TEST and one.revision == revision)
    return next(tests, None)


def records(
    connection: sqlite3.Connection, tip: str = "", without: Collection[int] = ()
) -> dict[str, TipRecord]:
    """The record of every tip that has evidence, or of one; by id.

    Of the votes of one person in one run the last counts.  A use with a later outcome includes the earlier ones: what
    had an effect was done, and what was done applied.
    """
    where, values = (" WHERE tip = ?", (tip,)) if tip else (" WHERE 1", ())
    where += _but("id", without)
    counts: dict[str, dict[str, int]] = {}
    for row in connection.execute(
        f"SELECT tip, kind, outcome, count(*) AS number FROM evidence{where}"
        " AND kind != 'vote' GROUP BY tip, kind, outcome",
        values,
    ):
        named = counts.setdefault(row["tip"], {})
        for field in _FIELDS.get((row["kind"], row["outcome"]), ()):
            named[field] = named.get(field, 0) + row["number"]
    for row in connection.execute(
        "SELECT tip, outcome, count(*) AS number FROM"
        f" (SELECT tip, outcome, max(id) FROM evidence{where} AND kind = 'vote'"
        " GROUP BY tip, by, run) GROUP BY tip, outcome",
        values,
    ):
        if row["outcome"] in (UP, DOWN):
            counts.setdefault(row["tip"], {})[row["outcome"]] = row["number"]
    return {id: TipRecord(**named) for id, named in counts.items()}


def last_tests(
    connection: sqlite3.Connection, tip: str = "", without: Collection[int] = ()
) -> dict[str, LastTest]:
    """The newest test of every tip's current content, or of one tip's; by id.  A change of status keeps it."""
    where, values = (" AND e.tip = ?", (tip,)) if tip else ("", ())
    rows = connection.execute(
        "SELECT e.tip, e.outcome, e.step, e.at, max(e.id) FROM evidence e JOIN tip t ON t.id = e.tip"
        " JOIN revision tested ON tested.tip = e.tip AND tested.revision = e.revision"
        " JOIN revision now ON now.tip = t.id AND now.revision = t.revision"
        f" WHERE e.kind = 'test' AND tested.content = now.content{where}{_but('e.id', without)} GROUP BY e.tip",
        values,
    )
    return {row["tip"]: LastTest(outcome=row["outcome"], step=row["step"], at=row["at"]) for row in rows}


_FIELDS = {
    (EvidenceKind.USE, UseOutcome.APPLIED): ("applied",),
    (EvidenceKind.USE, UseOutcome.DONE): ("applied", "done"),
    (EvidenceKind.USE, UseOutcome.EFFECT): ("applied", "done", "effect"),
    (EvidenceKind.USE, UseOutcome.FAILED): ("applied", "failed"),
    (EvidenceKind.TEST, TestOutcome.HOLDS): ("tests",),
    (EvidenceKind.TEST, TestOutcome.STOPPED): ("tests",),
    (EvidenceKind.TEST, TestOutcome.NOT_REACHED): (),
    (EvidenceKind.TEST, TestOutcome.BROKE): ("tests", "broke"),
}


def _evidence(row: sqlite3.Row) -> Evidence:
    """Raise ``sqlite3.DataError`` for values that are none: the file may be a stranger's."""
    texts, numbers = ("tip", "outcome", "run", "message", "by"), ("revision", "step")
    if (
        row["kind"] not in set(EvidenceKind)
        or not all(isinstance(row[name], str) for name in texts)
        or not all(isinstance(row[name], int) for name in numbers)
        or not isinstance(row["at"], int | float)
    ):
        raise sqlite3.DataError("a test, vote or use in it can't be read")
    return Evidence(
        tip=row["tip"],
        revision=row["revision"],
        kind=EvidenceKind(row["kind"]),
        outcome=row["outcome"],
        step=row["step"],
        run=row["run"],
        message=row["message"],
        by=row["by"],
        at=row["at"],
    )
