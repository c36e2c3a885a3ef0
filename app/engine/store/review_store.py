"""The review state: verdicts, the undo history, opinions of models, and state of the window and the ranking.

Verdicts are never changed: withdrawing one adds a row to ``mark``, and so does its undo.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from app.engine.core.verdicts import Label, Opinion, Verdict
from app.engine.store.database import StoreFile, open_database, translated_errors
from app.engine.store.review_schema import MIGRATIONS, PURGING
from app.engine.store.run_files import type_adapter
from app.errors import NotFound
from kb.journal import Journal, JournalEntry
from kb.tip import TipDraft

STANDING = "(SELECT standing FROM mark WHERE verdict = v.id ORDER BY seq DESC LIMIT 1) = 1"


class ReviewStore(StoreFile):
    """Verdicts, opinions and small state of a workspace."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, open_database(path, MIGRATIONS, purging=PURGING))
        with translated_errors(path):
            self.journal = Journal(self.connection)

    # verdicts

    def add_verdict(self, verdict: Verdict) -> None:
        """Store a verdict; undo withdraws it."""
        with self.batch():
            self._insert("verdict", **asdict(verdict))
            self._judge(verdict.id, True, f"verdict '{verdict.label}' on {verdict.run}", verdict.author)

    def add_verdicts(
        self, verdicts: Sequence[Verdict], label: str = "", again: Sequence[str] = (), author: str = ""
    ) -> None:
        """Store verdicts given at once; one undo withdraws them all.

        ``label`` names it in the undo history, ``author`` who did it, by default theirs; ``again`` are ids of withdrawn
        ones that come back into force with them.
        """
        ids = [*(verdict.id for verdict in verdicts), *again]
        if not ids:
            return
        if not label:
            same = len({verdict.label for verdict in verdicts}) == 1
            label = f"verdict '{verdicts[0].label}' on {len(ids)} runs" if same else f"{len(ids)} verdicts"
        author = author or (verdicts[0].author if verdicts else "")
        with self.batch():
            for verdict in verdicts:
                self._insert("verdict", **asdict(verdict))
            for verdict_id in ids:
                self.set_standing(verdict_id, True)
            forward, backward = {"verdicts": ids, "standing": True}, {"verdicts": ids, "standing": False}
            self.journal.record("verdict", label, forward, backward, author)

    def withdraw(self, verdict: str, author: str = "") -> str:
        """Withdraw a verdict; return its run's id.

        Raises:
            NotFound: no verdict of this id is in force.
        """
        with self.batch():
            row = self._one(f"SELECT run, label FROM verdict AS v WHERE id = ? AND {STANDING}", verdict)
            if row is None:
                raise NotFound(f"no verdict {verdict!r} in force in this workspace")
            self._judge(verdict, False, f"withdraw '{row['label']}' on {row['run']}", author)
            return str(row["run"])

    def verdicts(self, run: str = "") -> list[Verdict]:
        """Return the verdicts in force, of one run or of all: oldest first, adjudications last.

        So the last of a run's is the one that counts.
        """
        return [verdict for verdict, stands in self.all_verdicts(run) if stands]

    def all_verdicts(self, run: str = "") -> list[tuple[Verdict, bool]]:
        """Return all verdicts in the order of ``verdicts``, each with whether it is in force."""
        found = self._all(
            "SELECT id, run, label, step, detector, note, author, at, guideline, lead_seconds, origin, settles,"
            f" {STANDING} AS stands FROM verdict AS v WHERE (? = '' OR run = ?) ORDER BY settles, at, seq",
            run,
            run,
        )
        verdicts: list[tuple[Verdict, bool]] = []
        for row in found:
            fields: dict[str, Any] = {**row, "label": Label(row["label"]), "settles": bool(row["settles"])}
            stands = bool(fields.pop("stands"))
            verdicts.append((Verdict(**fields), stands))
        return verdicts

    def set_standing(self, verdict: str, standing: bool) -> None:
        """Put a verdict in or out of force inside the caller's transaction, for undo and redo."""
        self._insert("mark", verdict=verdict, standing=int(standing), at=time.time())

    # models' opinions

    def add_opinion(self, opinion: Opinion) -> None:
        """Store a model's opinion; earlier ones stay, the newest counts."""
        document = type_adapter(Opinion).dump_json(opinion).decode()
        self._insert("opinion", run=opinion.run, at=opinion.at, model=opinion.model, document=document)

    def opinions(self, run: str = "") -> dict[str, Opinion]:
        """Return the newest opinion of each run, or of one; unreadable ones are left out."""
        found = self._all(
            "SELECT run, document FROM opinion WHERE seq IN"
            " (SELECT max(seq) FROM opinion WHERE ? = '' OR run = ? GROUP BY run)",
            run,
            run,
        )
        opinions: dict[str, Opinion] = {}
        for row in found:
            with suppress(ValidationError):
                opinions[row["run"]] = type_adapter(Opinion).validate_json(row["document"])
        return opinions

    # history

    def peek(self) -> tuple[JournalEntry | None, JournalEntry | None]:
        """Return the entries that undo and redo would apply."""
        with translated_errors(self.path):
            return self.journal.peek()

    def judged_in(self, entry: int) -> list[tuple[str, str]]:
        """Return the run and author of each verdict that an entry of the history gave or withdrew."""
        found = self._all(
            "SELECT v.run, v.author FROM deed, verdict AS v WHERE deed.id = ? AND deed.kind = 'verdict' AND"
            " (v.id = json_extract(deed.forward, '$.verdict')"
            " OR v.id IN (SELECT value FROM json_each(deed.forward, '$.verdicts')))",
            entry,
        )
        return [(row["run"], row["author"]) for row in found]

    def record(
        self, kind: str, label: str, forward: dict[str, Any], backward: dict[str, Any], author: str
    ) -> None:
        """Add an action that was done elsewhere to the undo history."""
        with self.batch():
            self.journal.record(kind, label, forward, backward, author)

    # remembered state

    def save_state(self, key: str, value: dict[str, Any]) -> None:
        """Store a JSON object under a name, replacing the previous one."""
        text = json.dumps(value, ensure_ascii=False)
        self._write(
            "INSERT INTO state (key, value, at) VALUES (?,?,?)"
            " ON CONFLICT (key) DO UPDATE SET value = excluded.value, at = excluded.at",
            key,
            text,
            time.time(),
        )

    def load_state(self, key: str) -> dict[str, Any]:
        """Return the object stored under a name, or an empty one."""
        row = self._one("SELECT value FROM state WHERE key = ?", key)
        return json.loads(row[0]) if row is not None else {}

    def save_session(self, session: dict[str, Any]) -> None:
        """Store the state of the window."""
        self.save_state("session", session)

    def load_session(self) -> dict[str, Any]:
        """Return the stored state of the window; empty at first."""
        return self.load_state("session")

    def save_draft(self, key: str, draft: TipDraft | None) -> None:
        """Store text that is being typed, so that a crash does not lose it; ``None`` deletes it."""
        if draft is None:
            self._write("DELETE FROM state WHERE key = ?", f"draft:{key}")
        else:
            self.save_state(f"draft:{key}", type_adapter(TipDraft).dump_python(draft, mode="json"))

    def load_draft(self, key: str) -> TipDraft | None:
        """Return the draft stored under this key."""
        kept = self.load_state(f"draft:{key}")
        try:
            return type_adapter(TipDraft).validate_python(kept) if kept else None
        except ValidationError:
            return None

    def _judge(self, verdict: str, standing: bool, label: str, author: str) -> None:
        self.set_standing(verdict, standing)
        self.journal.record(
            "verdict",
            label,
            {"verdict": verdict, "standing": standing},
            {"verdict": verdict, "standing": not standing},
            author,
        )
