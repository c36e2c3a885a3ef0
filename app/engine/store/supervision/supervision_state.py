"""Current state of supervision: run snapshots, tip overrides, standing answers, policy, remote commands."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.engine.api.run_api import RunRequest
from app.engine.core.intervention_policy import (
    DEFAULT_POLICY,
    InterventionPolicy,
    PolicyAnswer,
    RiskClass,
    RiskRule,
)
from app.engine.core.supervision import ApprovalScope, LiveRow, TipOverride
from app.engine.store.database import StoreFile
from app.engine.store.review_store import ReviewStore
from app.engine.store.supervision.json_rows import check_length, enum_member, from_json, to_json
from app.errors import UsageError

log = logging.getLogger(__name__)

POLICY_EDIT = "policy"
"""Kind of an undo entry: the policy was edited."""

LONGEST_REPLY = 60.0
"""Seconds for which an answer to another process is kept."""
COMMAND_LIFETIME = 30.0
"""Seconds for which a command to another process counts: it was given for what was seen then."""
_POLICY_KEY = "intervention-policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRunSnapshot:
    """The last known row of a supervised run (``at``, Unix seconds), and its request."""

    run: str
    row: LiveRow
    request: RunRequest | None = None
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteCommand:
    """A command to the process that has the run: ``what`` is ``pause``, ``continue``, ``step``, ...; it was sent at
    ``at``, Unix seconds by the clock of this machine.
    """

    run: str
    what: str
    text: str = ""
    at: float = 0.0

    def is_expired(self, now: float) -> bool:
        """Whether it was sent too long ago to be obeyed, or by a clock that has been set back since."""
        return abs(now - self.at) > COMMAND_LIFETIME


class SupervisionState(StoreFile):
    """The rows about the present.  Methods raise ``StoreError`` as those of ``SupervisionStore`` do."""

    def __init__(self, review: ReviewStore) -> None:
        super().__init__(review.path, review.connection)
        self.review = review

    @property
    def data_version(self) -> int:
        """A number that changes when another connection (a process, the command line) writes to the file."""
        return int(self._one("PRAGMA data_version")[0])

    # where runs stand

    def save_snapshot(self, note: LiveRunSnapshot) -> None:
        """Store the snapshot of a run, replacing the previous one."""
        request = to_json(note.request) if note.request is not None else ""
        values = (note.run, note.row.state.value, to_json(note.row), request, note.at or time.time())
        self._write(
            "INSERT INTO live_note (run, state, document, request, at) VALUES (?,?,?,?,?)"
            " ON CONFLICT (run) DO UPDATE SET state = excluded.state, document = excluded.document,"
            " request = CASE excluded.request WHEN '' THEN request ELSE excluded.request END, at = excluded.at",
            *values,
        )

    def snapshots(self) -> list[LiveRunSnapshot]:
        """Return all snapshots, oldest first, without unreadable ones."""
        rows = self._all("SELECT * FROM live_note ORDER BY rowid")
        notes: list[LiveRunSnapshot] = []
        for row in rows:
            where = f"the snapshot of run {row['run']}"
            head = from_json(LiveRow, row["document"], where)
            if head is None:
                continue
            request = from_json(RunRequest, row["request"], where) if row["request"] else None
            notes.append(LiveRunSnapshot(run=row["run"], row=head, request=request, at=row["at"]))
        return notes

    def delete_snapshot(self, run: str) -> None:
        """Delete the snapshot of a run."""
        self._write("DELETE FROM live_note WHERE run = ?", run)

    # leanings on tips

    def tip_overrides(self, run: str) -> dict[str, TipOverride]:
        """Return the overrides of tips in a run: muted or pinned."""
        found = self._leanings(run, "stance")
        stances = ((tip, enum_member(TipOverride, value)) for tip, value in found.items())
        return {tip: override for tip, override in stances if override}

    def set_tip_override(self, run: str, tip: str, override: TipOverride) -> None:
        """Mute or pin a tip for a run, or remove the override."""
        self._insert("tip_leaning", run=run, tip=tip, kind="stance", value=override.value, at=time.time())

    def votes(self, run: str) -> dict[str, int]:
        """Return the votes on tips in a run: 1 or -1."""
        found = self._leanings(run, "vote")
        return {tip: int(value) for tip, value in found.items() if value in ("1", "-1")}

    def set_vote(self, run: str, tip: str, vote: int) -> None:
        """Vote a tip up (1), down (-1), or not at all (0), for a run.

        Raises:
            UsageError: it is another number.
        """
        if vote not in (-1, 0, 1):
            raise UsageError(f"a vote is 1, -1 or 0, not {vote}")
        self._insert("tip_leaning", run=run, tip=tip, kind="vote", value=str(vote), at=time.time())

    # standing answers

    def standing(self, run: str) -> list[tuple[RiskClass, PolicyAnswer]]:
        """Return the newest decision about each risk class in a run."""
        rows = self._all(
            "SELECT risk, answer FROM standing_answer WHERE reach = ? AND run = ? ORDER BY seq",
            ApprovalScope.RUN.value,
            run,
        )
        found = {
            enum_member(RiskClass, row["risk"]): enum_member(PolicyAnswer, row["answer"]) for row in rows
        }
        return [(risk, answer) for risk, answer in found.items() if risk and answer]

    def add_standing_answer(
        self,
        reach: ApprovalScope,
        run: str,
        site: str,
        risk: RiskClass,
        answer: PolicyAnswer,
        author: str = "",
    ) -> None:
        """Apply an answer to all actions of a class in a run; for a site it becomes a rule of the policy, which can
        be seen, edited and undone like any other.  For ``ONCE`` nothing is stored.
        """
        if reach is ApprovalScope.SITE and site:
            policy = self.policy()
            others = tuple(rule for rule in policy.risks if (rule.site, rule.risk) != (site, risk))
            rule = RiskRule(risk=risk, answer=answer, site=site)
            self.save_policy(replace(policy, risks=(*others, rule)), author)
        elif reach is not ApprovalScope.ONCE:
            scope = ApprovalScope.RUN.value
            self._insert(
                "standing_answer",
                reach=scope,
                run=run,
                site=site,
                risk=risk.value,
                answer=answer.value,
                at=time.time(),
            )

    # policy

    def policy(self) -> InterventionPolicy:
        """Return the policy in force; the default one until it is edited, or where it can't be read."""
        document = self._policy_document()
        found = from_json(InterventionPolicy, document, "the policy") if document else None
        return found if found is not None else DEFAULT_POLICY

    def save_policy(self, policy: InterventionPolicy, author: str = "") -> InterventionPolicy:
        """Put a policy in force; undo restores the one before."""
        with self.batch():
            before, after = _previous_policy(self._policy_document()), json.loads(to_json(policy))
            if (before or json.loads(to_json(DEFAULT_POLICY))) != after:
                self.put_policy({"policy": after})
                self.review.journal.record(
                    POLICY_EDIT, "edit the intervention policy", {"policy": after}, {"policy": before}, author
                )
        return policy

    def put_policy(self, deed: dict[str, Any]) -> None:
        """Put a policy in force inside the caller's transaction, for undo and redo; none is the default one."""
        document = deed.get("policy")
        if document is None:
            self._write("DELETE FROM state WHERE key = ?", _POLICY_KEY)
        else:
            self.review.save_state(_POLICY_KEY, document)

    # wishes of another process

    def add_remote_command(self, run: str, what: str, text: str = "") -> None:
        """Send a command to the process that has the run.

        Raises:
            UsageError: the text is too long.
        """
        check_length(text, "the wish")
        self._insert("wish", run=run, what=what, text=text, at=time.time())

    def take_remote_commands(self, runs: Sequence[str]) -> list[RemoteCommand]:
        """Return and delete the commands sent to these runs, in order; one process gets each.

        Some may have expired: nobody took them while they counted.
        """
        if not runs:
            return []
        among = f"run IN ({','.join('?' * len(runs))})"
        with self.batch():
            rows = self._all(f"SELECT * FROM wish WHERE {among} ORDER BY seq", *runs)
            if rows:
                self._write(f"DELETE FROM wish WHERE {among} AND seq <= ?", *runs, rows[-1]["seq"])
        return [
            RemoteCommand(run=row["run"], what=row["what"], text=row["text"], at=row["at"]) for row in rows
        ]

    def withdraw_remote_command(self, run: str, what: str, text: str) -> bool:
        """Delete a command that nobody has taken; return whether it was still there."""
        with self.batch():
            rows = self._all("SELECT seq FROM wish WHERE run = ? AND what = ? AND text = ?", run, what, text)
            for row in rows:
                self._write("DELETE FROM wish WHERE seq = ?", row["seq"])
        return bool(rows)

    def add_reply(self, token: str, text: str) -> None:
        """Answer a command of another process, which takes the answer by this token; those that nobody took go."""
        with self.batch():
            self._write("DELETE FROM state WHERE key LIKE 'reply:%' AND at < ?", time.time() - LONGEST_REPLY)
            self.review.save_state(f"reply:{token}", {"text": text})

    def take_reply(self, token: str) -> str:
        """Return and delete an answer, "" while there is none."""
        reply = self.review.load_state(f"reply:{token}")
        if reply:
            self._write("DELETE FROM state WHERE key = ?", f"reply:{token}")
        return str(reply.get("text", ""))

    # inside

    def _policy_document(self) -> str:
        row = self._one("SELECT value FROM state WHERE key = ?", _POLICY_KEY)
        return str(row[0]) if row is not None else ""

    def _leanings(self, run: str, kind: str) -> dict[str, str]:
        rows = self._all(
            "SELECT tip, value FROM tip_leaning WHERE run = ? AND kind = ? ORDER BY seq", run, kind
        )
        return {row["tip"]: row["value"] for row in rows}


def _previous_policy(document: str) -> Any:
    """Return the policy that undo restores; ``None`` where it can't be read."""
    if not document:
        return None
    try:
        return json.loads(document)
    except ValueError:
        log.warning("the previous policy can't be read; undo restores the default one")
        return None
