"""What people decided: verdicts, the undo history over them, what models think, what window and ranking remember.

Verdicts are never changed: taking one back is a new row in ``mark``, and so is its undo.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from app.engine.errors import NotFound
from app.engine.judgement import Label, Opinion, Verdict
from app.engine.store.database import explained, open_database, transaction
from app.engine.store.review_schema import MIGRATIONS, PURGING
from kb.journal import Entry, Journal
from kb.tip import TipDraft

STANDING = "(SELECT standing FROM mark WHERE verdict = v.id ORDER BY seq DESC LIMIT 1) = 1"


@cache
def _opinion_type() -> TypeAdapter[Opinion]:
    return TypeAdapter(Opinion)


@cache
def _draft_type() -> TypeAdapter[TipDraft]:
    return TypeAdapter(TipDraft)


class ReviewStore:
    """Verdicts and remembered state of a workspace."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection = open_database(path, MIGRATIONS, purging=PURGING)
        with explained(path):
            self.journal = Journal(self.connection)

    # verdicts

    def add_verdict(self, verdict: Verdict) -> None:
        """Keep a verdict; undo takes it back."""
        with explained(self.path), transaction(self.connection):
            self.connection.execute(
                "INSERT INTO verdict (id, run, label, step, detector, note, author, at, guideline, lead_seconds)"
                " VALUES (?,?,?,?,?,?,?,?,?,?)",
                (
                    verdict.id, verdict.run, verdict.label.value, verdict.step, verdict.detector, verdict.note,
                    verdict.author, verdict.at, verdict.guideline, verdict.lead_seconds,
                ),
            )  # fmt: skip
            self._mark(verdict.id, True)
            self.journal.record(
                "verdict",
                f"verdict '{verdict.label.value}' on {verdict.run}",
                {"verdict": verdict.id, "standing": True},
                {"verdict": verdict.id, "standing": False},
                verdict.author,
            )

    def withdraw(self, verdict: str, author: str = "") -> str:
        """Take a verdict back; its run's id.

        Raises:
            NotFound: there is none of this id that stands.
        """
        with explained(self.path), transaction(self.connection):
            row = self.connection.execute(
                f"SELECT run, label FROM verdict AS v WHERE id = ? AND {STANDING}", (verdict,)
            ).fetchone()
            if row is None:
                raise NotFound(f"no verdict {verdict!r} stands in this workspace")
            self._mark(verdict, False)
            self.journal.record(
                "verdict",
                f"take back '{row['label']}' on {row['run']}",
                {"verdict": verdict, "standing": False},
                {"verdict": verdict, "standing": True},
                author,
            )
            return str(row["run"])

    def verdicts(self, run: str = "") -> list[Verdict]:
        """Verdicts that stand, oldest first; of one run or of all."""
        with explained(self.path):
            found = self.connection.execute(
                f"SELECT * FROM verdict AS v WHERE (? = '' OR run = ?) AND {STANDING} ORDER BY seq",
                (run, run),
            ).fetchall()
        return [
            Verdict(
                id=row["id"],
                run=row["run"],
                label=Label(row["label"]),
                step=row["step"],
                detector=row["detector"],
                note=row["note"],
                author=row["author"],
                at=row["at"],
                guideline=row["guideline"],
                lead_seconds=row["lead_seconds"],
            )
            for row in found
        ]

    def set_standing(self, verdict: str, standing: bool) -> None:
        """Let a verdict stand or not, inside the caller's transaction: what undo and redo do."""
        self._mark(verdict, standing)

    # models' opinions

    def keep_opinion(self, opinion: Opinion) -> None:
        """Keep what a model said of a run; earlier opinions stay, the newest one counts."""
        document = _opinion_type().dump_json(opinion).decode()
        with explained(self.path), transaction(self.connection):
            self.connection.execute(
                "INSERT INTO opinion (run, at, model, document) VALUES (?,?,?,?)",
                (opinion.run, opinion.at, opinion.model, document),
            )

    def opinions(self, run: str = "") -> dict[str, Opinion]:
        """The newest opinion of each run, or of one; one that can't be read is left out."""
        with explained(self.path):
            found = self.connection.execute(
                "SELECT run, document FROM opinion WHERE seq IN"
                " (SELECT max(seq) FROM opinion WHERE ? = '' OR run = ? GROUP BY run)",
                (run, run),
            ).fetchall()
        opinions: dict[str, Opinion] = {}
        for row in found:
            with suppress(ValidationError):
                opinions[row["run"]] = _opinion_type().validate_json(row["document"])
        return opinions

    # history

    def peek(self) -> tuple[Entry | None, Entry | None]:
        """What undo would take back and what redo would do again."""
        with explained(self.path):
            return self.journal.peek()

    def record(
        self, kind: str, label: str, forward: dict[str, Any], backward: dict[str, Any], author: str
    ) -> None:
        """Put a deed that was done elsewhere into the history."""
        with explained(self.path), transaction(self.connection):
            self.journal.record(kind, label, forward, backward, author)

    # remembered state

    def save_state(self, key: str, value: dict[str, Any]) -> None:
        """Keep a JSON object under a name, in place of the one before."""
        text = json.dumps(value, ensure_ascii=False)
        with explained(self.path), transaction(self.connection):
            self.connection.execute(
                "INSERT INTO state (key, value, at) VALUES (?,?,?)"
                " ON CONFLICT (key) DO UPDATE SET value = excluded.value, at = excluded.at",
                (key, text, time.time()),
            )

    def load_state(self, key: str) -> dict[str, Any]:
        """The object kept under a name; empty without one."""
        with explained(self.path):
            row = self.connection.execute("SELECT value FROM state WHERE key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row is not None else {}

    def save_session(self, session: dict[str, Any]) -> None:
        """Remember what the window looks like."""
        self.save_state("session", session)

    def load_session(self) -> dict[str, Any]:
        """What the window looked like; empty at first."""
        return self.load_state("session")

    def keep_draft(self, key: str, draft: TipDraft | None) -> None:
        """Keep what is being typed, so that a crash does not lose it; ``None`` forgets it."""
        if draft is None:
            with explained(self.path), transaction(self.connection):
                self.connection.execute("DELETE FROM state WHERE key = ?", (f"draft:{key}",))
        else:
            self.save_state(f"draft:{key}", _draft_type().dump_python(draft, mode="json"))

    def kept_draft(self, key: str) -> TipDraft | None:
        """What was being typed."""
        kept = self.load_state(f"draft:{key}")
        try:
            return _draft_type().validate_python(kept) if kept else None
        except ValidationError:
            return None

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def _mark(self, verdict: str, standing: bool) -> None:
        self.connection.execute(
            "INSERT INTO mark (verdict, standing, at) VALUES (?,?,?)", (verdict, int(standing), time.time())
        )
