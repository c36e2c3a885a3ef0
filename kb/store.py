"""The live knowledge base: tips with all their revisions, in one SQLite file.

A change never overwrites: it appends a revision and points the tip to it, so that undo, redo and restore append as
well, and history only grows.  A tip whose creation was undone is ``gone``: kept, but not listed. Every change is one
transaction, including its journal entry and the change counter.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from sqlite3 import Connection
from typing import Any, cast

from kb import evidence, opening
from kb.content import clean, clean_hosts, clean_reason, clean_site, content_key
from kb.database import BUSY_SECONDS, explained, transaction
from kb.errors import BadFile, NoSuchTip, Unfit
from kb.evidence import Evidence
from kb.gate import Judge, error_rules, held_back, not_waived, refusal
from kb.journal import Journal, JournalEntry
from kb.record import to_json
from kb.revision_writer import RevisionWriter
from kb.revisions import (
    CURRENT,
    counted,
    ever_seen,
    revision_at,
    same_content,
    same_now,
    stored_revision,
    stored_tip,
    with_author,
    with_record,
)
from kb.select import select, tally
from kb.tip import KbStats, Provenance, Revision, Status, Tip, TipDraft, Waiver
from kb.vectors import MemoryVectors, StoredVectors, VectorCache

_VERBS = {
    Status.DRAFT: "send back",
    Status.REVIEWED: "review",
    Status.ACTIVE: "activate",
    Status.SUSPECT: "suspect",
    Status.RETIRED: "retire",
}


class KnowledgeBase:
    """One open file; use ``open``.  Methods may be called from any thread; they are serialised."""

    frozen = False

    def __init__(
        self,
        path: Path,
        connection: Connection,
        *,
        author: str,
        writable: bool,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = path
        self.author = author
        self.writable = writable
        self.judge: Judge = error_rules
        """Finds the lint errors that keep a tip from agents; its owner may know more of a tip than its text."""
        self.journal = Journal(connection, clock=clock)
        self.vectors: VectorCache = (
            StoredVectors(connection, self._reading, self._locked_for_writing)
            if writable
            else MemoryVectors()
        )
        self._connection = connection
        self._clock = clock
        self._lock = threading.RLock()
        self._writer = RevisionWriter(connection, self.journal, lambda: self.author, clock, self.unwaived)
        self._listed: tuple[int, list[Tip]] = (-1, [])
        self._uncounted: tuple[int, frozenset[int]] = (-1, frozenset())

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        author: str = "",
        create: bool = True,
        read_only: bool = False,
        busy_seconds: float = BUSY_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> KnowledgeBase:
        """Open a live knowledge base, migrating an older one; a read-only one can be read, not written.

        With ``read_only`` nothing is changed or created; an older file isn't migrated but a copy of it in memory.
        ``author`` signs every change.  Raises ``BadFile``, ``Locked``, ``Frozen``.
        """
        path = Path(path)
        connection, writable = opening.open_live(
            path, create=create, read_only=read_only, busy_seconds=busy_seconds
        )
        return cls(path, connection, author=author, writable=writable, clock=clock)

    def close(self) -> None:
        """Close the file; the object can't be used afterwards."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # reading

    @property
    def data_version(self) -> int:
        """Increases with every change to tips or hosts, by whichever process."""
        with self._reading():
            row = self._connection.execute("SELECT value FROM meta WHERE key = 'changes'").fetchone()
            return int(row[0])

    @property
    def write_mark(self) -> int:
        """A number that changes when another connection (a process, the command line) writes to the file."""
        with self._reading():
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def get(self, id: str) -> Tip:
        """The tip of this id; raises ``NoSuchTip``."""
        with self._reading():
            return self._current(id)

    def tips(self, site: str = "", statuses: Collection[Status] | None = None, search: str = "") -> list[Tip]:
        """Tips sorted by id: of this site, with one of these statuses, containing every word of ``search``."""
        with self._reading():
            return select(self._all(), site, statuses, search)

    def history(self, id: str) -> list[Revision]:
        """All revisions of the tip, the oldest first; also of a tip whose creation was undone."""
        with self._reading():
            rows = self._connection.execute(
                "SELECT r.*, t.created_at FROM revision r JOIN tip t ON t.id = r.tip"
                " WHERE r.tip = ? ORDER BY r.revision",
                (id,),
            ).fetchall()
        if not rows:
            raise NoSuchTip(f"there is no tip {id!r}")
        return [stored_revision(row) for row in rows]

    def evidence(self, id: str) -> list[Evidence]:
        """Every test, vote and use of a tip, the oldest first; raises ``NoSuchTip``."""
        with self._reading():
            self._current(id)
            return evidence.evidence_of(self._connection, id, self.uncounted())

    def hosts(self) -> dict[str, tuple[str, ...]]:
        """The host globs of each site: the default for tips without a host of their own."""
        with self._reading():
            return opening.read_hosts(self._connection)

    def stats(self) -> KbStats:
        """Counts over all tips."""
        with self._reading():
            revisions = self._connection.execute("SELECT count(*) FROM revision").fetchone()[0]
            encoders: Counter[str] = Counter(
                dict(
                    self._connection.execute(
                        "SELECT encoder, count(*) FROM vector GROUP BY encoder"
                    ).fetchall()
                )
            )
            return tally(
                self._all(),
                revisions=revisions,
                vectors=encoders.total(),
                encoder=encoders.most_common(1)[0][0] if encoders else "",
                frozen=False,
            )

    def unwaived(self, tip: Tip) -> tuple[str, ...]:
        """The lint errors of a tip that nobody has waived."""
        return not_waived(self.judge(tip), tip.waiver)

    def withheld(self, tip: Tip) -> str:
        """Why a tip is withheld from agents; "" if it isn't."""
        rules = self.unwaived(tip)
        return held_back(rules) if rules else ""

    def peek(self) -> tuple[JournalEntry | None, JournalEntry | None]:
        """The changes that undo and redo would affect."""
        with self._reading():
            return self.journal.peek()

    def knew(self, draft: TipDraft) -> bool:
        """Whether a listed tip has, or had, this content."""
        with self._reading():
            return ever_seen(self._connection, content_key(draft))

    def now(self) -> float:
        """The time for a revision, in Unix seconds."""
        return self._clock()

    def reasons(self) -> dict[tuple[str, int], str]:
        """The reasons that people gave for a change of status, by tip and revision."""
        with self._reading():
            return self.journal.reasons()

    def merges(self) -> list[dict[str, Any]]:
        """The notes of the merges into this knowledge base, the oldest first; undone ones are left out."""
        with self._reading():
            return self.journal.forward_of("merge")

    def uncounted(self) -> frozenset[int]:
        """The rows of evidence that came with merges which are undone."""
        with self._reading():
            version = self.data_version
            if self._uncounted[0] != version:
                rows = [one.get("evidence") for one in self.journal.undone_of("merge")]
                ids = [id for row in rows if isinstance(row, list) for id in cast("list[object]", row)]
                self._uncounted = (version, frozenset(id for id in ids if isinstance(id, int)))
            return self._uncounted[1]

    # changing

    def add(self, draft: TipDraft) -> Tip:
        """Store a draft; if a tip already has exactly this content, return that one and change nothing.

        A draft without a source file is signed with this knowledge base's author.  Raises ``Unfit`` for an active one
        with lint errors.
        """
        signed = clean(with_author(draft, self.author))
        with self._writing():
            same = same_now(self._connection, content_key(signed))
            if same is not None:
                return same
            self._admit(signed, None, "the tip")
            id = self._writer.insert(signed, "add", self._clock())
            self._writer.record("add", {id: 0})
            return self._current(id)

    def add_many(self, drafts: Iterable[TipDraft], deed: str = "import", label: str = "") -> list[Tip]:
        """Store drafts as one undoable change and return the new ones, in order of arrival.

        Tips that were here before, in whatever revision, are skipped: importing the same file again adds nothing.  A
        draft marked active despite lint errors is stored as a draft.
        """
        with self._writing():
            added: list[str] = []
            now = self._clock()
            for draft in map(clean, drafts):
                if not ever_seen(self._connection, content_key(draft)):
                    if draft.status is Status.ACTIVE and self.judge(draft):
                        draft = replace(draft, status=Status.DRAFT)
                    # Each a microsecond after the previous one, so that ``created_at`` keeps the file's order.
                    added.append(self._writer.insert(draft, deed, now + len(added) * 1e-6))
            if added:
                self._writer.record(deed, dict.fromkeys(added, 0), label or f"{deed} {counted(added)}")
            return [self._current(id) for id in added]

    def edit(self, id: str, draft: TipDraft, waive: str = "") -> Tip:
        """Store new content as a tip's next revision.

        Its status stays (``set_status`` changes that), its provenance too if the draft has none, and its earlier
        taint remains.  Raises ``Unfit`` if an active tip would have lint errors and there is no reason to ``waive``
        them.
        """
        with self._writing():
            now = self._current(id)
            edited = clean(
                replace(
                    draft,
                    status=now.status,
                    provenance=draft.provenance if draft.provenance != Provenance() else now.provenance,
                    taint=now.taint + draft.taint,
                )
            )
            if not same_content(edited, now):
                kept = now.waiver if content_key(edited) == content_key(now) else None
                waiver = self._waiver(edited, kept, waive) if edited.status is Status.ACTIVE else kept
                self._admit(edited, waiver, id)
                self._writer.append(id, edited, "edit", waiver=waiver)
                self._writer.record("edit", {id: now.revision})
            return self._current(id)

    def set_status(self, ids: Sequence[str], to: Status, waive: str = "", why: str = "") -> list[Tip]:
        """Set the status of tips as one undoable change; return all of them in their new state.

        A tip with lint errors doesn't become active and stays as it is (``unwaived`` names the rules), unless there
        is a reason to ``waive`` them, which is kept with the tip.  The journal's label says ``why``.
        """
        with self._writing():
            before: dict[str, int] = {}
            verb = _VERBS[to]
            for tip in [self._current(id) for id in dict.fromkeys(ids)]:
                waiver = self._waiver(tip, tip.waiver, waive) if to is Status.ACTIVE else tip.waiver
                if to is Status.ACTIVE and not_waived(self.judge(tip), waiver):
                    continue
                if tip.status is not to or waiver != tip.waiver:
                    verb = "restore" if tip.status is Status.RETIRED else _VERBS[to]
                    verb = verb if tip.status is not to else "waive"
                    self._writer.append(tip.id, replace(tip, status=to), verb, waiver=waiver)
                    before[tip.id] = tip.revision
            if before:
                self._writer.record(verb, before, f"{verb} {counted(list(before))}: {why}" if why else "")
            return [self._current(id) for id in dict.fromkeys(ids)]

    def restore_revision(self, id: str, revision: int) -> Tip:
        """Restore an older revision as a new one; the status stays as it is.

        Raises ``Unfit`` if an active tip would have lint errors that were not waived for that revision.
        """
        with self._writing():
            now = self._current(id)
            older = replace(revision_at(self._connection, id, revision), status=now.status)
            if not same_content(older, now):
                self._admit(older, older.waiver, id)
                self._writer.append(id, older, f"restore revision {revision}", waiver=older.waiver)
                self._writer.record(
                    "restore", {id: now.revision}, label=f"restore revision {revision} of {id}"
                )
            return self._current(id)

    def undo(self) -> JournalEntry | None:
        """Undo the last change, of whichever session; None if there is none."""
        with self._writing():
            return self.journal.undo(lambda kind, payload: self._writer.return_to(payload, f"undo {kind}"))

    def redo(self) -> JournalEntry | None:
        """Redo the change undone last; None if there is none."""
        with self._writing():
            return self.journal.redo(lambda kind, payload: self._writer.return_to(payload, f"redo {kind}"))

    def set_hosts(self, site: str, hosts: Iterable[str]) -> None:
        """Set the hosts of a site (globs over ``host:port``); a setting, so not undoable."""
        slug, globs = clean_site(site), clean_hosts(hosts)
        if self.hosts().get(slug, ()) == globs:
            return
        with self._writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO site_host (site, hosts) VALUES (?, ?)", (slug, to_json(list(globs)))
            )

    def add_evidence(self, pieces: Iterable[Evidence]) -> int:
        """Store tests, votes and uses, and return how many were new.

        Evidence is never undone: it happened.  What came with a merge is not counted while the merge is undone.  Of
        tips that are not here nothing is stored.
        """
        with self._writing():
            known = {tip.id for tip in self._all()}
            about = [one for one in pieces if one.tip in known]
            return len(self._writer.add_evidence(about, self.uncounted()))

    # within a transaction

    @contextmanager
    def changing(self) -> Generator[RevisionWriter]:
        """One transaction for a change of many tips: whoever appends the revisions records them as one change."""
        with self._writing():
            yield self._writer

    @contextmanager
    def _reading(self) -> Generator[None]:
        with self._lock, explained(self.path):
            yield

    @contextmanager
    def _locked_for_writing(self) -> Generator[None]:
        if not self.writable:
            raise BadFile(
                f"{self.path}: the file is read-only; nothing was changed, make it writable or copy it"
            )
        with self._lock, explained(self.path), transaction(self._connection):
            yield

    @contextmanager
    def _writing(self) -> Generator[None]:
        with self._locked_for_writing():
            before = self._connection.total_changes
            yield
            if self._connection.total_changes != before:
                self._connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'changes'")

    def _all(self) -> list[Tip]:
        version = self.data_version
        if self._listed[0] != version:
            rows = self._connection.execute(f"{CURRENT} WHERE NOT t.gone ORDER BY t.id").fetchall()
            without = self.uncounted()
            known = evidence.records(self._connection, without=without)
            tests = evidence.last_tests(self._connection, without=without)
            self._listed = (version, [with_record(stored_tip(row), known, tests) for row in rows])
        return self._listed[1]

    def _current(self, id: str) -> Tip:
        row = self._connection.execute(f"{CURRENT} WHERE t.id = ? AND NOT t.gone", (id,)).fetchone()
        if row is None:
            raise NoSuchTip(f"there is no tip {id!r}")
        without = self.uncounted()
        known = evidence.records(self._connection, id, without)
        tests = evidence.last_tests(self._connection, id, without)
        return with_record(stored_tip(row), known, tests)

    def _waiver(self, draft: TipDraft, kept: Waiver | None, reason: str) -> Waiver | None:
        """The waiver a tip needs to be active: its own, or a new one for all rules it breaks."""
        rules = self.judge(draft)
        line = clean_reason(reason)
        if not line or not not_waived(rules, kept):
            return kept
        return Waiver(rules=rules, reason=line, author=self.author, at=self._clock())

    def _admit(self, draft: TipDraft, waiver: Waiver | None, name: str) -> None:
        if draft.status is Status.ACTIVE and (rules := not_waived(self.judge(draft), waiver)):
            raise Unfit(refusal(name, rules))
