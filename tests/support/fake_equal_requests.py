"""Equal requests without an engine: one decision for several, and a log-in handed to the runs that wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.engine.api.live_api import DecisionResult
from app.engine.core.events import EventBus, LoginShared
from app.engine.core.supervision import ApprovalRequest, LiveRow, Need, OperatorDecision, RunState
from app.errors import SiteloreError

LOGIN = "a log-in blocks http://shop.example/login. Deal with it on the page."


class FakeEqualRequests:
    """The part of ``FakeEngine`` that answers equal requests."""

    bus: EventBus
    calls: list[tuple[str, tuple[Any, ...]]]
    rows: dict[str, LiveRow]
    needs: dict[str, ApprovalRequest]

    async def decide_all(self, requests: Sequence[str], decision: OperatorDecision) -> list[DecisionResult]:
        self.calls.append(("decide_all", (tuple(requests), decision)))
        results: list[DecisionResult] = []
        for request in requests:
            run = self.needs[request].run if request in self.needs else ""
            try:
                decided = await self.decide(request, decision)  # type: ignore[attr-defined]
                results.append(DecisionResult(request=request, run=run, decided=decided))
            except SiteloreError as error:
                results.append(DecisionResult(request=request, run=run, error=str(error)))
        return results

    async def share_login(self, run: str) -> LoginShared:
        self.calls.append(("share_login", (run,)))
        return self.hand_on_login(run)

    # ------------------------------------------------------------ for tests
    def wait_at_login(self, *runs: str) -> None:
        """Let these runs wait at the same log-in of the shop."""
        for number, run in enumerate(runs, 1):
            need = ApprovalRequest(
                id=f"login-{run}", run=run, need=Need.WALL, step=2, site="shop", question=LOGIN,
                url="http://shop.example/login", wall="log-in shop.example/login password", opened_at=1_000.0 + number,
            )  # fmt: skip
            self.ask(need)

    def ask(self, need: ApprovalRequest, *, risk: float = 0.0) -> None:
        """Open a request and let its run wait."""
        self.needs[need.id] = need
        row = self.rows[need.run]
        self.put(replace(row, needs=(*row.needs, need), state=RunState.WAITING, risk=risk))  # type: ignore[attr-defined]

    def hand_on_login(self, source: str) -> LoginShared:
        """Let the other runs that wait at a log-in go on, as the engine does after a log-in by hand."""
        runs: list[str] = []
        for row in list(self.rows.values()):
            if row.run != source and any(need.question == LOGIN for need in row.needs):
                runs.append(row.run)
                self.put(replace(row, needs=(), state=RunState.RUNNING))  # type: ignore[attr-defined]
        shared = LoginShared(
            site="shop", source=source, runs=tuple(runs), words=f"Logged in to shop: {len(runs)} runs go on"
        )
        self.bus.publish(shared)
        return shared
