"""Approvals in memory (``app.engine.agent.ports.Approvals``), and a person who decides what comes up on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from app.engine.core.hand_back import OperatorStatements
from app.engine.core.intervention_policy import (
    UNATTENDED,
    InterventionPolicy,
    PolicyAnswer,
    Reaction,
    RiskClass,
)
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    Hint,
    OperatorAction,
    OperatorDecision,
    RequestState,
)
from app.engine.core.verdicts import Flag
from app.errors import Conflict, StoreError

Decide = Callable[[ApprovalRequest], OperatorDecision | None]


def approve(request: ApprovalRequest) -> OperatorDecision:
    """Approves whatever comes."""
    return OperatorDecision(kind=DecisionKind.APPROVE, author="ann")


class FakeApprovals:
    """Rows in lists; ``broken`` raises as a full disk does.

    Args:
        decide: asked about each request as it is opened; ``None`` leaves it open for ``answer``.
        policy: ``UNATTENDED`` also allows what a task does not ask for (``wide``).
    """

    def __init__(self, decide: Decide | None = None, policy: InterventionPolicy = UNATTENDED) -> None:
        self.decide, self.policy = decide, policy
        self.wide: frozenset[RiskClass] = frozenset(RiskClass) if policy is UNATTENDED else frozenset()
        self.rows: dict[str, ApprovalRequest] = {}
        self.why: dict[str, str] = {}
        self.said: list[Hint] = []
        self.deeds: list[tuple[OperatorAction, int, str, str]] = []
        self.steps: list[int] = []
        self.step_of: Callable[[], int] = lambda: 0
        self.broken = False
        self.spoken = OperatorStatements()
        self.opened = asyncio.Event()
        self._woken = asyncio.Condition()

    async def open(self, request: ApprovalRequest) -> ApprovalRequest:
        self.rows[request.id] = request
        self.opened.set()
        decision = self.decide(request) if self.decide is not None else None
        if decision is not None:
            self.rows[request.id] = replace(request, state=RequestState.DECIDED, decision=decision)
        return request

    async def requests(self, run: str) -> tuple[ApprovalRequest, ...]:
        self._check()
        return tuple(row for row in self.rows.values() if row.state is not RequestState.CLOSED)

    async def decision(self, request: str) -> OperatorDecision:
        async with self._woken:
            while True:
                row = self.rows[request]
                if row.state is RequestState.CLOSED:
                    raise Conflict("closed")
                if row.decision is not None:
                    return row.decision
                await self._woken.wait()

    async def answer_request(self, decision: OperatorDecision) -> ApprovalRequest:
        """Decide the request that is open, once there is one."""
        while (row := self.waiting) is None:
            self.opened.clear()
            await self.opened.wait()
        async with self._woken:
            self.rows[row.id] = replace(row, state=RequestState.DECIDED, decision=decision)
            self._woken.notify_all()
        return row

    async def statements(self, run: str) -> OperatorStatements:
        self._check()
        return self.spoken

    async def void(self, request: str, why: str) -> None:
        self._check()
        self.rows[request] = replace(self.rows[request], state=RequestState.CLOSED)
        self.why[request] = why
        async with self._woken:
            self._woken.notify_all()

    async def on_step_started(self, run: str) -> None:
        self._check()
        self.steps.append(self.step_of())
        for row in list(self.rows.values()):
            if row.state is RequestState.DECIDED:
                self.rows[row.id] = replace(row, state=RequestState.CLOSED)
        self.said = [replace(one, taken_at=one.taken_at or 1.0) for one in self.said]

    async def hints(self, run: str) -> tuple[Hint, ...]:
        self._check()
        return tuple(self.said)

    async def note(
        self, run: str, step: int, action: OperatorAction, words: str = "", about: str = "", author: str = ""
    ) -> None:
        self._check()
        self.deeds.append((action, step, words, author))

    async def answer(self, run: str, site: str, risk: RiskClass) -> PolicyAnswer:
        self._check()
        return self.policy.answer("", risk)

    async def is_class_allowed(self, run: str, site: str, risk: RiskClass) -> bool:
        self._check()
        return risk in self.wide

    async def reaction(self, site: str, flag: Flag) -> Reaction:
        self._check()
        return self.policy.reaction("", flag.severity, flag.detector)

    @property
    def waiting(self) -> ApprovalRequest | None:
        """The request that is open."""
        return next((row for row in self.rows.values() if row.state is RequestState.OPEN), None)

    def _check(self) -> None:
        if self.broken:
            raise StoreError("No space left on device")
