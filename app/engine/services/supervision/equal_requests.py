"""One decision for equal requests of several runs, and one log-in for all runs that wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.engine.api.live_api import DecisionResult
from app.engine.core.events import LoginShared
from app.engine.core.request_groups import request_key, shared_decision_problem
from app.engine.core.supervision import ApprovalRequest, ApprovalScope, OperatorDecision, RequestState
from app.engine.services.supervision.approvals import ApprovalService
from app.engine.services.supervision.login_sharing import LoginSharing
from app.engine.services.supervision.operator_actions import OperatorActions
from app.engine.store.supervision.supervision_store import check_decision
from app.errors import NotFound, SiteloreError, UsageError


class EqualRequestService:
    """Answers equal requests together."""

    def __init__(self, approvals: ApprovalService, actions: OperatorActions, logins: LoginSharing) -> None:
        self._approvals, self._actions, self._logins = approvals, actions, logins

    async def decide_all(self, requests: Sequence[str], decision: OperatorDecision) -> list[DecisionResult]:
        """Decide each of several equal requests, in their order; one that can't be decided keeps none of the others.

        A decision for the site is one rule: it is stored with the first request that takes it.

        Raises:
            UsageError: there is none, they are not equal by ``request_key``, or the decision does not fit them or can't
                answer several; then none was decided.
        """
        found: dict[str, ApprovalRequest | str] = {}
        for id in dict.fromkeys(requests):
            try:
                found[id] = await self._approvals.request(id)
            except NotFound as error:
                found[id] = str(error)
        known = [one for one in found.values() if isinstance(one, ApprovalRequest)]
        if not found:
            raise UsageError("no request is given")
        self._check(known, decision)
        results: list[DecisionResult] = []
        for id, one in found.items():
            if isinstance(one, str):
                results.append(DecisionResult(request=id, error=one))
                continue
            try:
                decided = await self._actions.decide(id, decision)
            except SiteloreError as error:
                results.append(DecisionResult(request=id, run=one.run, error=str(error)))
                continue
            results.append(DecisionResult(request=id, run=one.run, decided=decided))
            if decision.scope is ApprovalScope.SITE:
                decision = replace(decision, scope=ApprovalScope.ONCE)
        return results

    async def share_login(self, run: str) -> LoginShared:
        """Keep a held run's log-in for its site, and give it to the runs that wait for it; see ``LoginSharing``."""
        return await self._logins.share_login(run)

    def _check(self, known: Sequence[ApprovalRequest], decision: OperatorDecision) -> None:
        if len({request_key(one) for one in known}) > 1:
            raise UsageError("these requests are not equal", remedy="decide each of them")
        for one in known[:1]:
            check_decision(replace(one, state=RequestState.OPEN, decision=None), decision)
            if len(known) > 1 and (problem := shared_decision_problem(one, decision.kind)):
                raise UsageError(
                    f"{decision.kind.value} can't answer several requests: {problem}",
                    remedy="decide each of them",
                )
