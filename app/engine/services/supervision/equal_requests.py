"""One decision for equal requests of several runs, and one log-in for all runs that wait for it."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.api.live_api import DecisionResult
from app.engine.core.events import LoginShared
from app.engine.core.supervision import OperatorDecision
from app.engine.services.core import Core
from app.engine.services.supervision.approvals import ApprovalService
from app.engine.services.supervision.fleet import Fleet


class EqualRequestService:
    """Answers equal requests together."""

    def __init__(self, core: Core, approvals: ApprovalService, fleet: Fleet) -> None:
        self._core, self._approvals, self._fleet = core, approvals, fleet

    async def decide_all(self, requests: Sequence[str], decision: OperatorDecision) -> list[DecisionResult]:
        """Decide each of these requests."""
        raise NotImplementedError

    async def share_login(self, run: str) -> LoginShared:
        """Keep a run's log-in for its site, and hand it to the runs that wait for it."""
        raise NotImplementedError
