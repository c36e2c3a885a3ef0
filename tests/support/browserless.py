"""An engine whose runs have pages but no browser: wall, queue, desk and stores are real; each run plays its moves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.agent.calculator import calculate
from app.engine.agent.deeds import Deeds
from app.engine.agent.loop import AgentLoop, Parts
from app.engine.agent.memory.book import LedgerBook
from app.engine.agent.ports import Task
from app.engine.agent.sight import Decision, Sight
from app.engine.cases import running
from app.engine.cases.heads import Head
from app.engine.cases.running import Overseer, Prepared, StoredRun
from app.engine.cases.supervised import Supervised
from app.engine.command import Click
from app.engine.engine import Engine
from app.engine.errors import Conflict
from app.engine.events import Event
from app.engine.jobs import Job
from app.engine.page_state import PageCapture
from app.engine.run_api import RunRequest, RunSummary
from app.engine.store.live_runs import LiveRun
from app.engine.supervision import LiveRow, PersonRequest, TakeoverAccount
from tests.support.fake_hands import HOME, FakeHands, ScriptedPolicy
from tests.support.held_run import PAGES

PATIENCE = 120.0


class Waiting(ScriptedPolicy):
    """A move that is an ``asyncio.Event`` is waited for, and is a click on the first element then."""

    async def decide(self, sight: Sight) -> Decision:
        move = self.moves[min(len(self.seen), len(self.moves) - 1)]
        if not isinstance(move, asyncio.Event):
            return await super().decide(sight)
        self.seen.append(sight)
        await move.wait()
        return Decision(command=Click(0))


class PageInHand:
    """The page of a run as ``LivePageOf`` is used, with hands that do nothing but stand there."""

    def __init__(self, run: str) -> None:
        self._run, self.taken_over, self.there = run, False, asyncio.Event()
        self.loop: AgentLoop | None = None
        self.account: TakeoverAccount | None = None

    async def take_over(self, supervised: Supervised) -> None:
        await supervised.control.take_over()
        self.taken_over = True

    async def release(
        self, supervised: Supervised, then: Callable[[TakeoverAccount], Awaitable[None]]
    ) -> TakeoverAccount:
        if not self.taken_over:
            raise Conflict("you don't have control of the page")
        self.taken_over = False
        self.account = TakeoverAccount(run=self._run, first_step=supervised.row.step, steps=0, words="looked")
        await then(self.account)
        return self.account

    async def hand_in(self, stop: Callable[[], None]) -> None:
        stop()

    async def detach(self) -> None:
        self.taken_over = False


class Browserless:
    """Runs play the moves they are begun with."""

    def __init__(self, engine: Engine, patch: pytest.MonkeyPatch) -> None:
        self.engine = engine
        self.pages: Mapping[str, PageCapture] = dict(PAGES)
        self.moves_of: dict[str, Sequence[object]] = {}
        self.hands: dict[str, FakeHands] = {}
        self.policies: dict[str, ScriptedPolicy] = {}
        self.began: list[str] = []
        self.events: list[Event] = []
        engine.bus.subscribe(self.events.append)
        patch.setattr(running, "make_head", lambda *_: Head(ScriptedPolicy([])))
        engine._running._go = self._go

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

    async def asked(self, run: str) -> PersonRequest:
        return (await self.until(run, lambda row: bool(row.needs))).needs[0]

    async def over(self, run: str) -> LiveRow:
        return await self.until(run, lambda row: not row.state.alive)

    async def settled(self) -> None:
        """Long enough for whatever would begin to begin."""
        for _ in range(30):
            await asyncio.sleep(0.005)

    def going(self) -> int:
        """Runs that take a place now."""
        return sum(one.snapshot().state.takes_a_place for one in self.engine._fleet.all)

    async def _go(
        self, prepared: Prepared, live: LiveRun, _job: Job, overseer: Overseer | None
    ) -> RunSummary:
        assert isinstance(overseer, Supervised)
        overseer.page = PageInHand(live.run.id)  # type: ignore[assignment]
        intent = prepared.request.intent
        hands = self.hands[live.run.id] = FakeHands(self.pages)
        policy = self.policies[live.run.id] = Waiting(self.moves_of[intent])  # type: ignore[arg-type]
        self.began.append(live.run.id)
        task = Task(
            run=live.run.id, intent=intent, start_url=HOME, max_steps=prepared.request.max_steps,
            domains=running.allowed_hosts(prepared.request),
        )  # fmt: skip
        with LedgerBook.open(live.folder) as book:
            parts = Parts(
                hands=hands,
                policy=policy,
                book=book,
                recorder=StoredRun(self.engine._core, live, prepared.head),
                deeds=Deeds(hands, book, calculate, secrets=prepared.secrets),
                secrets=prepared.secrets,
                tell=overseer.told,
                control=overseer.control,
            )
            loop = AgentLoop(task, parts, live.run, live.steps)
            overseer.looping(loop, book, None)
            run = await loop.run()
        await overseer.leaves()
        return RunSummary(
            run=run.id, outcome=run.outcome.value, answer=run.answer, error=run.error, steps=run.step_count,
            seconds=0.0, own_ms=0.0, policy="scripted", url=hands.url, ended_by=run.ended_by,
        )  # fmt: skip
