"""An engine whose runs have pages but no browser: wall, queue, desk and stores are real; each run plays its moves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.agent.action_dispatcher import ActionDispatcher
from app.engine.agent.calculator import calculate
from app.engine.agent.loop import AgentDependencies, AgentLoop
from app.engine.agent.memory.ledger_store import LedgerStore
from app.engine.agent.ports import AgentTask
from app.engine.agent.run_control import RunControl
from app.engine.api.run_api import RunRequest, RunSummary
from app.engine.core.actions.types import Click
from app.engine.core.events import Event
from app.engine.core.observation import AgentDecision, Observation
from app.engine.core.page_state import PageCapture
from app.engine.core.supervision import ApprovalRequest, LiveRow, TakeoverSummary
from app.engine.engine import Engine
from app.engine.jobs import Job
from app.engine.services import agent_runs
from app.engine.services.agent_runs import PreparedRun, StoredRunRecorder
from app.engine.services.policy_factory import PolicyBundle
from app.engine.services.run_requests import allowed_hosts
from app.engine.services.supervision.supervised_run import SupervisedRun
from app.engine.store.run_writer import RunWriter
from app.errors import Conflict
from tests.support.fake_executor import HOME, FakeExecutor, ScriptedPolicy
from tests.support.supervised_loop import PAGES

PATIENCE = 120.0


class WaitingPolicy(ScriptedPolicy):
    """A move that is an ``asyncio.Event`` is waited for, and is a click on the first element then."""

    async def decide(self, sight: Observation) -> AgentDecision:
        move = self.moves[min(len(self.seen), len(self.moves) - 1)]
        if not isinstance(move, asyncio.Event):
            return await super().decide(sight)
        self.seen.append(sight)
        await move.wait()
        return AgentDecision(action=Click(0))


class TakenOverPage:
    """The page of a run as ``SupervisedPage`` is used, with hands that do nothing but stand there."""

    def __init__(self, run: str) -> None:
        self._run, self.taken_over, self.available = run, False, asyncio.Event()
        self.loop: AgentLoop | None = None
        self.summary: TakeoverSummary | None = None
        self.path = self.browser = None
        self.logging_in = asyncio.Lock()

    async def take_over(self, control: RunControl) -> None:
        await control.take_over()
        self.taken_over = True

    async def release(
        self, control: RunControl, then: Callable[[TakeoverSummary], Awaitable[None]]
    ) -> TakeoverSummary:
        if not self.taken_over:
            raise Conflict("you don't have control of the page")
        self.taken_over = False
        self.summary = TakeoverSummary(run=self._run, first_step=control.step, steps=0, words="looked")
        await then(self.summary)
        return self.summary

    async def end_takeover_and_stop(self, stop: Callable[[], None]) -> None:
        stop()

    async def detach(self) -> None:
        self.taken_over = False


class Browserless:
    """Runs play the moves they are begun with."""

    def __init__(self, engine: Engine, patch: pytest.MonkeyPatch) -> None:
        self.engine = engine
        self.pages: Mapping[str, PageCapture] = dict(PAGES)
        self.moves_of: dict[str, Sequence[object]] = {}
        self.hands: dict[str, FakeExecutor] = {}
        self.policies: dict[str, ScriptedPolicy] = {}
        self.began: list[str] = []
        self.events: list[Event] = []
        engine.bus.subscribe(self.events.append)
        patch.setattr(agent_runs, "make_policy_bundle", lambda *_: PolicyBundle(ScriptedPolicy([])))
        engine._agent_runs._go = self._go

    @classmethod
    async def at(cls, workspace: Path, patch: pytest.MonkeyPatch, *, recover: bool = False) -> Browserless:
        made = cls(await Engine.open(workspace, author="ana"), patch)
        if recover:
            await made.engine.recover()
        return made

    async def start(self, *moves: Sequence[object], at_once: int = 0, **more: object) -> list[str]:
        """A run for each list of moves; its id."""
        requests = [
            replace(
                RunRequest(intent=f"Task {len(self.moves_of) + number}", start_url=HOME, kb="none"), **more
            )
            for number in range(len(moves))
        ]
        self.moves_of |= {request.intent: one for request, one in zip(requests, moves, strict=True)}
        return await self.engine.start_runs(requests, at_once)

    async def row(self, run: str) -> LiveRow:
        return next(row for row in await self.engine.live_runs() if row.run == run)

    async def until(self, run: str, so: Callable[[LiveRow], bool]) -> LiveRow:
        async with asyncio.timeout(PATIENCE):
            while not so(row := await self.row(run)):
                await asyncio.sleep(0.005)
        return row

    async def asked(self, run: str) -> ApprovalRequest:
        return (await self.until(run, lambda row: bool(row.needs))).needs[0]

    async def over(self, run: str) -> LiveRow:
        return await self.until(run, lambda row: not row.state.alive)

    async def settled(self) -> None:
        """Long enough for whatever would begin to begin."""
        for _ in range(30):
            await asyncio.sleep(0.005)

    def going(self) -> int:
        """Runs that take a place now."""
        return sum(one.snapshot().state.counts_as_active for one in self.engine._fleet.all)

    async def _go(
        self, prepared: PreparedRun, live: RunWriter, _job: Job, overseer: SupervisedRun | None
    ) -> RunSummary:
        assert isinstance(overseer, SupervisedRun)
        overseer.page = TakenOverPage(live.run.id)  # type: ignore[assignment]
        intent = prepared.request.intent
        hands = self.hands[live.run.id] = FakeExecutor(self.pages)
        policy = self.policies[live.run.id] = WaitingPolicy(self.moves_of[intent])  # type: ignore[arg-type]
        self.began.append(live.run.id)
        task = AgentTask(
            run=live.run.id, intent=intent, start_url=HOME, max_steps=prepared.request.max_steps,
            domains=allowed_hosts(prepared.request),
        )  # fmt: skip
        with LedgerStore.open(live.folder) as book:
            parts = AgentDependencies(
                executor=hands,
                policy=policy,
                ledger_store=book,
                recorder=StoredRunRecorder(self.engine._core, live, prepared.bundle),
                dispatcher=ActionDispatcher(hands, book, calculate, secrets=prepared.secrets),
                secrets=prepared.secrets,
                on_step=overseer.on_step,
                control=overseer.control,
            )
            loop = AgentLoop(task, parts, live.run, live.steps)
            overseer.on_loop_ready(loop, book, None)
            run = await loop.run()
        await overseer.on_loop_ended()
        return RunSummary(
            run=run.id, outcome=run.outcome.value, answer=run.answer, error=run.error, steps=run.step_count,
            seconds=0.0, own_ms=0.0, policy="scripted", url=hands.url, ended_by=run.ended_by,
        )  # fmt: skip
