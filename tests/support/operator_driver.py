"""An operator at an engine: supervised runs on the demo shop, deeds, and waiting for what is to happen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from app.engine.api.run_api import RunRequest
from app.engine.core.events import Event
from app.engine.core.intervention_policy import (
    DEFAULT_POLICY,
    InterventionPolicy,
    PolicyAnswer,
    RiskClass,
    RiskRule,
)
from app.engine.core.page_input import InputKind, MouseButton, PageInput
from app.engine.core.supervision import ApprovalRequest, LiveRow
from app.engine.engine import Engine

WAIT = 180.0
"""Seconds for what takes two on a quiet machine."""
KITCHEN = "How many things are in the Kitchen department?"


def kitchen(url: str, **more: object) -> RunRequest:
    """A task that the scout does in two steps."""
    return replace(RunRequest(intent=KITCHEN, start_url=url, kb="none"), **more)


def asking(risk: RiskClass) -> InterventionPolicy:
    """The usual policy, which also asks about one class of deeds."""
    others = tuple(rule for rule in DEFAULT_POLICY.risks if rule.risk is not risk)
    return replace(DEFAULT_POLICY, risks=(*others, RiskRule(risk=risk, answer=PolicyAnswer.ASK)))


class Operator:
    """One engine in process, and everything it told."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.events: list[Event] = []
        engine.bus.subscribe(self.events.append)

    @classmethod
    async def at(cls, workspace: Path, *, recover: bool = False) -> Operator:
        operator = cls(await Engine.open(workspace))
        if recover:
            await operator.engine.recover()
        return operator

    async def start(self, *requests: RunRequest, at_once: int = 0) -> list[str]:
        return await self.engine.start_runs(requests, at_once)

    async def row(self, run: str) -> LiveRow:
        return next(row for row in await self.engine.live_runs() if row.run == run)

    async def until(self, run: str, what: Callable[[LiveRow], bool]) -> LiveRow:
        """The row once it is so."""
        async with asyncio.timeout(WAIT):
            while not what(row := await self.row(run)):
                await asyncio.sleep(0.05)
        return row

    async def asked(self, run: str) -> ApprovalRequest:
        """The request it waits with."""
        return (await self.until(run, lambda row: bool(row.needs))).needs[0]

    async def over(self, run: str) -> LiveRow:
        return await self.until(run, lambda row: not row.state.alive)

    async def click(self, run: str, x: float, y: float, clicks: int = 1) -> None:
        """A person's click on the page."""
        left = MouseButton.LEFT
        await self.engine.send_input(
            run,
            [
                PageInput(kind=InputKind.MOVE, x=x, y=y),
                PageInput(kind=InputKind.PRESS, x=x, y=y, button=left, clicks=clicks),
                PageInput(kind=InputKind.RELEASE, x=x, y=y, button=left, clicks=clicks),
            ],
        )

    def told(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]
