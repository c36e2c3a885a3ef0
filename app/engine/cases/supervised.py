"""One run on the wall: what is shown of it, who holds it, what it was given of the knowledge base.

Everything that happens in the run comes here on the engine's loop; what the window is told of it is gathered for
``TELL_EVERY`` seconds, for a step changes the row many times.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.engine.agent.control import Control
from app.engine.agent.probing import DiskProbe
from app.engine.cases.core import Core
from app.engine.cases.desk import Desk, DeskOfRun
from app.engine.cases.judging import Judging
from app.engine.cases.pages import LivePageOf
from app.engine.errors import StoreError
from app.engine.events import ActionOver, ActionPlanned, KnowledgeShown, LedgerChanged, LiveChanged
from app.engine.judgement import Flag
from app.engine.ledger import Ledger
from app.engine.run_api import RunRequest, RunSummary
from app.engine.store.desk_state import LiveNote
from app.engine.supervision import (
    FlagMark,
    KnowledgeHere,
    LiveRow,
    NextAction,
    PersonRequest,
    RunState,
    Stage,
    Stance,
    TipHere,
)
from app.engine.trajectory import Step
from kb.tip import Retrieval

if TYPE_CHECKING:
    from app.engine.agent.loop import AgentLoop
    from app.engine.agent.memory.book import LedgerBook
    from app.engine.agent.ports import Hands, Told
    from app.engine.agent.secrets import Secrets
    from app.engine.browser.executor import Executor
    from app.engine.browser.live import LiveBrowser
    from app.engine.cases.agency import GraphAtlas, RunKnowledge
    from app.engine.cases.heads import Head
    from app.engine.store.live_runs import LiveRun

log = logging.getLogger(__name__)

TELL_EVERY = 0.04
"""Seconds for which changes of a row are gathered."""


class Supervised:
    """One run and all that is known of it now (``app.engine.cases.running.Overseer``).

    Attributes:
        control: the hold on it; a new one each time it is gone on with.
        page: its page, for a person's eyes and hands.
        next, knowledge, ledger, changes: what the agent is about to do, was given, remembers, and has just learnt.
    """

    def __init__(
        self, core: Core, desk: Desk, judging: Judging, disk: DiskProbe, request: RunRequest, row: LiveRow
    ) -> None:
        self._core, self._desk, self._judging = core, desk, judging
        self.request, self.row = request, row
        self.control = self._new_control()
        self.page = LivePageOf(core, row.run, disk)
        self.next: NextAction | None = None
        self.knowledge: KnowledgeHere | None = None
        self.ledger: Ledger | None = None
        self.changes: tuple[str, ...] = ()
        self.live: LiveRun | None = None
        self.stances: dict[str, Stance] = {}
        self.votes: dict[str, int] = {}
        self._flags: list[Flag] = []
        self.is_closing = False
        """The program is about to end: where the run stood before that is what the next start finds."""
        self._ails = ""
        self._told = False
        self._noted: tuple[object, ...] = ()
        self._before = Ledger()

    @property
    def run(self) -> str:
        """Its id."""
        return self.row.run

    @property
    def steps(self) -> Sequence[Step]:
        """Those recorded so far."""
        return self.live.steps if self.live is not None else ()

    @property
    def flags(self) -> Sequence[Flag]:
        """What the rules have said so far."""
        return tuple(self._flags)

    # ------------------------------------------------------------ its life

    def renew(self) -> None:
        """A new hold; what is asked of the run from now on is asked of this beginning."""
        self.control = self._new_control()
        self.page.there.clear()
        self.show(state=RunState.STARTING, why="", outcome="")

    async def ready(self) -> None:
        """What was said of tips before."""

        def reading() -> tuple[dict[str, Stance], dict[str, int]]:
            desk = self._core.workspace.desk
            return desk.stances(self.run), desk.votes(self.run)

        self.stances, self.votes = await self._core.on_store(reading)

    def begins(self, live: LiveRun) -> None:
        """The run is on the disk."""
        self.live = live
        self._flags = []
        self.show(step=len(live.steps), started_at=live.run.started_at)

    def hands(
        self,
        executor: Executor,
        browser: LiveBrowser,
        graphs: GraphAtlas,
        head: Head,
        book: LedgerBook,
        secrets: Secrets,
    ) -> Hands:
        """Hands that outlive their browser, and somebody who looks whether it lives."""
        return self.page.attach(self, executor, browser, graphs, head, book, secrets)

    def ails(self, why: str) -> None:
        """The watchdog says what is wrong, "" once nothing is any more."""
        self._ails = why
        self.show()

    def looping(self, loop: AgentLoop, book: LedgerBook, knowledge: RunKnowledge | None) -> None:
        """Everything is put together."""
        self.page.loop = loop
        self.page.there.set()
        self._before = book.ledger
        self._book = book
        if knowledge is not None:
            knowledge.steering = self

    def told(self, told: Told) -> None:
        """A step was recorded."""
        self._flags += told.flags
        marks = [
            FlagMark(detector=flag.detector, step=flag.step, severity=flag.severity, message=flag.message)
            for flag in told.flags
        ]
        self.show(
            step=told.step + 1,
            words=told.words,
            effect=told.effect,
            url=told.url,
            title=self.steps[-1].title if self.steps else "",
            plan=told.plan,
            flags=(*self.row.flags, *marks),
        )
        self._learnt(told.step)
        if told.flags:
            self._core.registry.hold(self._weigh())

    async def leaves(self) -> None:
        """The loop is over; the browser is still there."""
        await self.page.detach()

    def ended(self, summary: RunSummary) -> None:
        """It is over."""
        self.page.there.set()
        why = summary.answer if summary.answer is not None else summary.error
        if summary.ended_by:
            why = by_hand_words(summary.ended_by, summary.answer)
        self._unplanned()
        self.show(
            state=RunState.ENDED,
            outcome=summary.outcome,
            why=why or "",
            step=summary.steps,
            needs=(),
            stage=Stage.IDLE,
        )

    def broke_off(self, why: str) -> None:
        """It ended without an ending: it can be gone on with."""
        self.page.there.set()
        self._unplanned()
        self.show(state=RunState.BROKEN_OFF, why=why, stage=Stage.IDLE)

    # ------------------------------------------------------------ what a person makes of tips

    def stance(self, tip: str) -> Stance:
        """Muted, pinned or neither."""
        return self.stances.get(tip, Stance.NONE)

    def vote(self, tip: str) -> int:
        """1, -1 or 0."""
        return self.votes.get(tip, 0)

    @property
    def pinned(self) -> Sequence[str]:
        """Tips that are given at every step."""
        return [tip for tip, stance in self.stances.items() if stance is Stance.PINNED]

    def shown(self, tips: Sequence[TipHere], url: str, retrieval: Retrieval) -> None:
        """What this step is given."""
        self.knowledge = KnowledgeHere(
            run=self.run,
            step=self.row.step,
            url=url,
            tips=tuple(tips),
            tokens=retrieval.tokens,
            budget=retrieval.budget,
            off=retrieval.routes_off,
        )
        self._core.bus.publish(KnowledgeShown(here=self.knowledge))

    def taste(self) -> None:
        """Show the tips again as they are muted, pinned and voted on now."""
        if self.knowledge is not None:
            tips = tuple(
                replace(tip, stance=self.stance(tip.tip), vote=self.vote(tip.tip))
                for tip in self.knowledge.tips
            )
            self.knowledge = replace(self.knowledge, tips=tips)
            self._core.bus.publish(KnowledgeShown(here=self.knowledge))

    # ------------------------------------------------------------ what is told

    def show(self, **changes: object) -> None:
        """Change the row; the window hears of it in a moment."""
        self.row = replace(self.row, **changes)  # pyright: ignore[reportArgumentType]
        self._tell_soon()

    def needs(self, requests: Sequence[PersonRequest]) -> None:
        """What is open now, the weightiest first."""
        order = list(type(requests[0].need)) if requests else []
        self.show(needs=tuple(sorted(requests, key=lambda one: -order.index(one.need))))

    def snapshot(self) -> LiveRow:
        """The row with its clocks as they stand."""
        control = self.control
        if not self.row.state.alive or self.row.state is RunState.QUEUED:
            return self.row
        # The loop is over a moment before its ending is known here.
        told = control.state not in (RunState.STARTING, RunState.ENDED)
        return replace(
            self.row,
            state=control.state if told else self.row.state,
            stage=control.stage,
            stage_since=control.stage_since,
            seconds=round(control.seconds, 1),
            held_seconds=round(control.held_seconds, 1),
            why=self._ails or control.why,
        )

    # ------------------------------------------------------------ inside

    def _new_control(self) -> Control:
        return Control(
            self.row.run,
            DeskOfRun(self._desk, self.row.run, self.request.site),
            site=self.request.site,
            changed=self._changed,
            planned=self._planned,
            unplanned=self._unplanned,
        )

    def _changed(self) -> None:
        self.needs(self.control.needs)

    def _planned(self, action: NextAction) -> None:
        self.next = replace(action, run=self.run)
        self._core.bus.publish(ActionPlanned(next=self.next))
        if self.knowledge is not None and action.follows:
            tips = tuple(replace(tip, follows=action.follows.get(tip.tip)) for tip in self.knowledge.tips)
            self.knowledge = replace(self.knowledge, tips=tips)
            self._core.bus.publish(KnowledgeShown(here=self.knowledge))

    def _unplanned(self) -> None:
        if self.next is not None:
            self.next = None
            self._core.bus.publish(ActionOver(run=self.run))

    def _learnt(self, step: int) -> None:
        ledger = self._book.ledger
        self.changes = ledger_changes(self._before, ledger)
        self._before = self.ledger = ledger
        self._core.bus.publish(LedgerChanged(run=self.run, step=step, ledger=ledger, changes=self.changes))

    async def _weigh(self) -> None:
        risk = await self._judging.risk_of(self.run, self.request.site, self.row.step, self._flags)
        self.show(risk=risk)

    def _tell_soon(self) -> None:
        if not self._told:
            self._told = True
            asyncio.get_running_loop().call_later(TELL_EVERY, self._tell)

    def _tell(self) -> None:
        self._told = False
        row = self.row = self.snapshot()
        self._core.bus.publish(LiveChanged(row=row))
        mark = (row.state, row.step, row.outcome, tuple(need.id for need in row.needs))
        if mark != self._noted and not self.is_closing:
            self._noted = mark
            self._core.registry.hold(self.note())

    @property
    def has_news(self) -> bool:
        """Something was changed a moment ago, and is not noted yet."""
        return self._told

    async def note(self) -> None:
        """Keep where the run stands, for the next start; a disk that takes nothing is spoken of elsewhere."""
        note = LiveNote(
            run=self.run, state=self.row.state, row=self.row, request=self.request, at=time.time()
        )
        try:
            await self._core.on_store(self._core.workspace.desk.put_live, note)
        except StoreError as error:
            log.warning("where run %s stands is not noted: %s", self.run, error)


def by_hand_words(author: str, answer: str | None) -> str:
    """How a run ended that a person ended by hand."""
    return f"finished by hand by {author}" if answer is None else f"{answer} (the answer is {author}'s)"


def ledger_changes(before: Ledger, after: Ledger) -> tuple[str, ...]:
    """What a step changed in the ledger, in words."""
    told: list[str] = []
    if after.subgoal != before.subgoal and after.subgoal:
        told.append(f"subgoal: {after.subgoal}")
    old_plan = {node.id: node for node in before.plan}
    told += [f"plan ({node.state}): {node.intent}" for node in after.plan if old_plan.get(node.id) != node]
    old_facts = {fact.key: fact for fact in before.facts}
    for fact in after.facts:
        if old_facts.get(fact.key) != fact:
            told.append(
                f"fact taken back: {fact.key}" if fact.retracted else f"fact: {fact.key} = {fact.value}"
            )
    told += [f"dead end: {end.words}" for end in after.dead_ends if end not in before.dead_ends]
    told += [f"landmark: {mark.words}" for mark in after.checkpoints if mark not in before.checkpoints]
    told += [f"note: {note}" for note in after.episodic[len(before.episodic) :]]
    return tuple(told)
