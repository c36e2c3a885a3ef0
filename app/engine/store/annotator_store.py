"""Queues of annotators, and the versions of the guideline; in the file of the review state."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

from app.engine.api.review_api import Guideline
from app.engine.core.verdicts import Label, Verdict
from app.engine.store.database import translated_errors
from app.engine.store.review_store import STANDING, ReviewStore
from app.engine.store.run_queue_query import BLIND
from kb.journal import JournalEntry

QUEUES_EDIT = "queues"
FIRST_GUIDELINE = "1"
"""The version of the bundled text."""
_LABEL_SHOWN = re.compile(f"^(verdict|withdraw) '(?:{'|'.join(map(re.escape, Label))})' on ")
# The rule is written for the index, to which this file is attached as "review".
_BLIND_RUNS = f"""WITH standing AS (SELECT run, author FROM verdict AS v WHERE {STANDING})
{BLIND.replace("review.", "")}"""


class AnnotatorStore:
    """Queues and guideline of a workspace."""

    def __init__(self, review: ReviewStore) -> None:
        self._review = review

    # queues

    def queues(self) -> dict[str, tuple[str, ...]]:
        """Return the runs of each annotator in order, by name."""
        found: dict[str, list[str]] = {}
        for row in self._all("SELECT annotator, run FROM assignment ORDER BY annotator, place"):
            found.setdefault(row["annotator"], []).append(row["run"])
        return {name: tuple(runs) for name, runs in found.items()}

    def replace_queues(self, queues: Mapping[str, Sequence[str]], label: str, author: str = "") -> None:
        """Replace the queues of these annotators, an empty one removes it; one undo brings the old ones back."""
        old = self.queues()
        before = {name: list(old.get(name, ())) for name in queues}
        after = {name: list(runs) for name, runs in queues.items()}
        with self._review.batch():
            self._put(after)
            self._review.record(QUEUES_EDIT, label, {"queues": after}, {"queues": before}, author)

    def put_queues(self, change: Mapping[str, Any]) -> None:
        """Do a recorded change again, or its opposite."""
        self._put(cast("dict[str, list[str]]", change["queues"]))

    def is_blind(self, run: str, reader: str) -> bool:
        """Whether this reader shares the run with another annotator and has no verdict on it in force.

        The same rule for all runs at once stands in ``run_queue_query``.
        """
        names = {row["annotator"] for row in self._all("SELECT annotator FROM assignment WHERE run = ?", run)}
        if reader not in names or len(names) < 2:
            return False
        return all(verdict.author != reader for verdict in self._review.verdicts(run))

    def blind_runs(self, reader: str) -> frozenset[str]:
        """Return the runs that are blind for this reader, by the rule of the review queue."""
        return frozenset(row["run"] for row in self._all(_BLIND_RUNS, reader, reader))

    def visible_verdicts(self, reader: str) -> list[Verdict]:
        """Return the verdicts in force that this reader may see, in the order of the review store."""
        blind = self.blind_runs(reader)
        return [verdict for verdict in self._review.verdicts() if verdict.run not in blind]

    def shown_label(self, entry: JournalEntry, reader: str) -> str:
        """Return what an undo entry did, without another person's label on a run that is blind for the reader."""
        if not _LABEL_SHOWN.match(entry.label):
            return entry.label
        blind = self.blind_runs(reader)
        if blind and any(
            run in blind and author != reader for run, author in self._review.judged_in(entry.id)
        ):
            return _LABEL_SHOWN.sub(_without_label, entry.label)
        return entry.label

    def _put(self, queues: Mapping[str, Sequence[str]]) -> None:
        with self._review.batch():
            execute = self._review.connection.execute
            for name in queues:
                execute("DELETE FROM assignment WHERE annotator = ?", (name,))
            # The column "shared" is not used: which runs two people have follows from the rows.
            self._review.connection.executemany(
                "INSERT INTO assignment (annotator, run, place, shared, at) VALUES (?,?,?,0,?)",
                [
                    (name, run, place, time.time())
                    for name, runs in queues.items()
                    for place, run in enumerate(runs)
                ],
            )

    # guideline

    def guideline_version(self) -> str:
        """Return the version in force, which a new verdict names."""
        [row] = self._all("SELECT max(version) AS newest FROM guideline")
        return FIRST_GUIDELINE if row["newest"] is None else str(row["newest"])

    def guidelines(self) -> list[Guideline]:
        """Return the versions saved in this workspace, oldest first."""
        return [
            Guideline(version=str(row["version"]), text=row["text"], author=row["author"], at=row["at"])
            for row in self._all("SELECT version, text, author, at FROM guideline ORDER BY version")
        ]

    def add_guideline(self, text: str, author: str, at: float) -> Guideline:
        """Append a version, which is in force from now on."""
        with self._review.batch():
            version = int(self.guideline_version()) + 1
            self._review.connection.execute(
                "INSERT INTO guideline (version, text, author, at) VALUES (?,?,?,?)",
                (version, text, author, at),
            )
        return Guideline(version=str(version), text=text, author=author, at=at)

    def _all(self, sql: str, *values: object) -> list[Any]:
        with translated_errors(self._review.path):
            return self._review.connection.execute(sql, values).fetchall()


def _without_label(found: re.Match[str]) -> str:
    return "a verdict on " if found[1] == "verdict" else "withdraw a verdict on "
