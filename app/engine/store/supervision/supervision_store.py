"""Approval requests, decisions, hints and operator actions as rows that are never changed.

The state of a request follows from the rows about it.  The tables are in the file of the review state, so that one
transaction and one undo history serve both.  A method that returned has written to disk.  Another process (the
command line) may write at any time: nothing is cached.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from app.engine.core.decision_rules import decision_problem
from app.engine.core.hand_back import OperatorStatements, ending_stated
from app.engine.core.intervention_policy import PolicyAnswer, RiskClass
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    FlagReaction,
    Hint,
    Intervention,
    OperatorDecision,
    RequestState,
)
from app.engine.store.supervision.json_rows import (
    all_from_json,
    check_length,
    enum_member,
    from_json,
    to_json,
)
from app.engine.store.supervision.supervision_state import SupervisionState
from app.errors import Conflict, NotFound, UsageError

_STANDING_ANSWERS = {DecisionKind.APPROVE: PolicyAnswer.ALLOW, DecisionKind.DENY: PolicyAnswer.DENY}


class SupervisionStore(SupervisionState):
    """Requests, hints, operator actions and reactions of a workspace, besides the rows of ``SupervisionState``.

    Every method raises ``StoreError`` where the disk is full, read-only or damaged; then nothing was changed.
    """

    # requests

    def open_request(self, request: ApprovalRequest) -> ApprovalRequest:
        """Store a request as open.

        Raises:
            Conflict: the id exists.
        """
        request = replace(request, state=RequestState.OPEN, decision=None, closed_at=0.0)
        with self.batch():
            if self._request(request.id) is not None:
                raise Conflict(f"request {request.id} exists already")
            self._insert("person_request", id=request.id, run=request.run, document=to_json(request))
        return request

    def request(self, id: str) -> ApprovalRequest:
        """Return a request in its current state.

        Raises:
            NotFound: the id is unknown, or the row is unreadable.
        """
        asked = self._request(id)
        if asked is None:
            raise NotFound(f"no request {id[:80]!r} in this workspace")
        return asked

    def requests(self, run: str = "", closed: bool = False) -> list[ApprovalRequest]:
        """Return requests oldest first, of one run or of all; closed ones only if asked for."""
        left = "" if closed else " AND id NOT IN (SELECT request FROM person_closing)"
        rows = self._all(
            f"SELECT seq, document FROM person_request WHERE (? = '' OR run = ?){left} ORDER BY seq", run, run
        )
        return [self._as_it_stands(one) for one in all_from_json(ApprovalRequest, rows, "request")]

    def decide(self, id: str, decision: OperatorDecision) -> ApprovalRequest:
        """Decide an open request; of two concurrent decisions, in any processes, one succeeds.

        An approval or a denial of a wider scope applies from then on (``standing``).

        Raises:
            NotFound: the id is unknown.
            Conflict: it was decided already, or nothing waits for it any more.
            UsageError: the decision does not fit the request, lacks its text or its action, or is too long.
        """
        with self.batch():
            asked = self.request(id)
            check_decision(asked, decision)
            self._insert("person_decision", request=id, document=to_json(decision))
            risk, answer = enum_member(RiskClass, asked.risk), _STANDING_ANSWERS.get(decision.kind)
            if risk is not None and answer is not None:
                self.add_standing_answer(decision.scope, asked.run, asked.site, risk, answer, decision.author)
            return self.request(id)

    def close_requests(self, ids: Iterable[str], at: float) -> list[ApprovalRequest]:
        """Close decided requests, as the step that follows the decision has begun; return those closed now."""
        closed: list[ApprovalRequest] = []
        with self.batch():
            for id in ids:
                asked = self._request(id)
                if asked is not None and asked.state is RequestState.DECIDED:
                    self._insert("person_closing", request=id, at=at, why="")
                    closed.append(self.request(id))
        return closed

    def void_request(self, id: str, why: str) -> ApprovalRequest:
        """Close a request that nothing waits for any more, decided or not; a closed one stays as it is.

        Raises:
            NotFound: the id is unknown.
        """
        with self.batch():
            if self.request(id).state is not RequestState.CLOSED:
                reason = why or "nothing waits for it any more"
                self._insert("person_closing", request=id, at=time.time(), why=reason)
            return self.request(id)

    # hints

    def add_hint(self, hint: Hint) -> Hint:
        """Store a hint.

        Raises:
            UsageError: it is empty or too long; nothing is ever cut.  Conflict: the id exists.
        """
        if not check_length(hint.text, "the hint").strip():
            raise UsageError("the hint is empty")
        hint = replace(hint, taken_at=0.0)
        with self.batch():
            if self._one("SELECT 1 FROM person_hint WHERE id = ?", hint.id):
                raise Conflict(f"hint {hint.id} exists already")
            self._insert("person_hint", id=hint.id, run=hint.run, document=to_json(hint))
        return hint

    def hints(self, run: str = "") -> list[Hint]:
        """Return hints oldest first, of one run or of all."""
        rows = self._all(
            "SELECT seq, document, at FROM person_hint LEFT JOIN person_hint_taken ON hint = id"
            " WHERE ? = '' OR run = ? ORDER BY seq",
            run,
            run,
        )
        found = ((row, from_json(Hint, row["document"], f"hint {row['seq']}")) for row in rows)
        return [replace(hint, taken_at=row["at"] or 0.0) for row, hint in found if hint is not None]

    def take_hints(self, run: str, at: float) -> list[Hint]:
        """Mark a run's new hints as given to the agent, and return them."""
        with self.batch():
            new = [hint for hint in self.hints(run) if not hint.taken_at]
            for hint in new:
                self._insert("person_hint_taken", hint=hint.id, at=at)
        return [replace(hint, taken_at=at) for hint in new]

    # operator actions and reactions

    def add_action(self, action: Intervention) -> Intervention:
        """Add an action to a run's time line; return it with its ``order``."""
        return replace(action, order=self._insert("intervention", run=action.run, document=to_json(action)))

    def interventions(self, run: str = "") -> list[Intervention]:
        """Return the time line, oldest first, of one run or of all."""
        rows = self._all(
            "SELECT seq, document FROM intervention WHERE ? = '' OR run = ? ORDER BY seq", run, run
        )
        found = ((row, from_json(Intervention, row["document"], f"deed {row['seq']}")) for row in rows)
        return [replace(action, order=row["seq"]) for row, action in found if action is not None]

    def add_reaction(self, reaction: FlagReaction) -> FlagReaction:
        """Store an operator's reaction to a flag; the newest of a flag counts."""
        flag = {"run": reaction.run, "step": reaction.step, "detector": reaction.detector}
        self._insert("flag_reaction", **flag, document=to_json(reaction))
        return reaction

    def reactions(self, run: str = "") -> list[FlagReaction]:
        """Return the newest reaction to each flag, oldest first, of one run or of all."""
        rows = self._all(
            "SELECT seq, document FROM flag_reaction WHERE ? = '' OR run = ? ORDER BY seq", run, run
        )
        newest: dict[tuple[str, int, str], FlagReaction] = {}
        for one in all_from_json(FlagReaction, rows, "reaction"):
            flag = (one.run, one.step, one.detector)
            newest.pop(flag, None)
            newest[flag] = one
        return list(newest.values())

    def statements(self, run: str) -> OperatorStatements:
        """Return the operator's statements about a run as a whole."""
        decided = [one for one in self.requests(run, closed=True) if one.decision is not None and one.wall]
        none = (one.wall for one in decided if one.decision and one.decision.kind is DecisionKind.NO_WALL)
        return OperatorStatements(no_walls=frozenset(none), end=ending_stated(self.interventions(run)))

    # inside

    def _request(self, id: str) -> ApprovalRequest | None:
        row = self._one("SELECT seq, document FROM person_request WHERE id = ?", id)
        asked = (
            from_json(ApprovalRequest, row["document"], f"request {row['seq']}") if row is not None else None
        )
        return self._as_it_stands(asked) if asked is not None else None

    def _as_it_stands(self, asked: ApprovalRequest) -> ApprovalRequest:
        rows = self._all("SELECT seq, document FROM person_decision WHERE request = ? ORDER BY seq", asked.id)
        decision = next(iter(all_from_json(OperatorDecision, rows, "decision")), None)
        closing = self._one("SELECT at, why FROM person_closing WHERE request = ?", asked.id)
        if closing is not None:
            state, closed_at, void = RequestState.CLOSED, closing["at"], closing["why"]
        else:
            state, closed_at, void = RequestState.DECIDED if decision else RequestState.OPEN, 0.0, ""
        return replace(asked, state=state, decision=decision, closed_at=closed_at, void=void)


def check_decision(asked: ApprovalRequest, decision: OperatorDecision) -> None:
    """Check that a request can be decided so; raises as ``SupervisionStore.decide``."""
    check_length(decision.text, "the answer" if decision.kind is DecisionKind.ANSWER else "the reason")
    check_length(decision.call, "the action")
    if decision.kind is DecisionKind.EDIT and not decision.call.strip():
        raise UsageError("the replacement action is missing", remedy='give one like click("12")')
    if decision.kind is DecisionKind.ANSWER and not decision.text.strip():
        raise UsageError("the answer is empty", remedy="deny the request to give none")
    if wrong := decision_problem(asked.need, decision.kind):
        raise UsageError(wrong)
    if asked.decision is not None:
        by = asked.decision.author or "somebody"
        raise Conflict(f"request {asked.id} was decided already by {by}: {asked.decision.kind.value}")
    if asked.state is RequestState.CLOSED:
        raise Conflict(f"request {asked.id} is closed: {asked.void or 'nothing waits for it any more'}")
