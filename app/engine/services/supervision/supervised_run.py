"""One live run: its row, its control, its page, and the tips it was given.

All events of the run arrive here on the engine's loop; changes of the row are collected for
``PUBLISH_INTERVAL`` seconds before they are published, as one step changes the row many times.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.engine.agent.health_probes import DiskProbe
from app.engine.agent.run_control import RunControl
from app.engine.agent.run_recording import cost_of_steps, tokens_of_steps
from app.engine.api.run_api import RunRequest, RunSummary
from app.engine.core.events import ActionEnded, ActionPlanned, LedgerChanged, LiveRunChanged, TipsRetrieved
from app.engine.core.ledger import Ledger
from app.engine.core.prompt_set import version_words
from app.engine.core.request_groups import task_key
from app.engine.core.supervision import (
    ApprovalRequest,
    KnowledgeAtStep,
    LiveRow,
    PlannedAction,
    RaisedFlag,
    RunState,
    Stage,
    TipAtStep,
    TipOverride,
    open_requests,
)
from app.engine.core.trajectory import Step
from app.engine.core.verdicts import Flag
from app.engine.services.core import Core
from app.engine.services.policy_factory import run_budget
from app.engine.services.review import ReviewService
from app.engine.services.site_logins import login_name
from app.engine.services.supervision.approvals import ApprovalService
from app.engine.services.supervision.supervised_page import SupervisedPage
from app.engine.store.supervision.supervision_state import LiveRunSnapshot
from app.errors import StoreError
from kb.tip import Retrieval

if TYPE_CHECKING:
    from app.engine.agent.loop import AgentLoop
    from app.engine.agent.memory.ledger_store import LedgerStore
    from app.engine.agent.model.limits import Meter
    from app.engine.agent.ports import ActionExecutor, StepReport
    from app.engine.agent.secrets import Secrets
    from app.engine.browser.executor import Executor
    from app.engine.browser.live_browser import LiveBrowser
    from app.engine.services.policy_factory import PolicyBundle
    from app.engine.services.run_knowledge import RunGraphs, RunKnowledge
    from app.engine.store.run_writer import RunWriter

log = logging.getLogger(__name__)

PUBLISH_INTERVAL = 0.04
"""Seconds for which changes of a row are collected."""


class SupervisedRun:
    """A live run with its current state.

    Attributes:
        control: the control of its loop; a new one each time it is resumed.
        page: its page, for streaming and takeover.
        next, knowledge, ledger, changes: planned action, tips given, ledger, and the last step's changes in it.
    """

    def __init__(
        self,
        core: Core,
        approvals: ApprovalService,
        review: ReviewService,
        disk: DiskProbe,
        request: RunRequest,
        row: LiveRow,
    ) -> None:
        self._core, self._approvals, self._review = core, approvals, review
        self.request, self.row = request, row
        self.control = self._new_control()
        self.page = SupervisedPage(core, row.run, disk, self.set_health)
        self.next: PlannedAction | None = None
        self.knowledge: KnowledgeAtStep | None = None
        self.ledger: Ledger | None = None
        self.changes: tuple[str, ...] = ()
        self.live: RunWriter | None = None
        self.tip_overrides: dict[str, TipOverride] = {}
        self.votes: dict[str, int] = {}
        self._flags: list[Flag] = []
        self.is_closing = False
        """The program is about to end: the next start finds the snapshot from before that."""
        self._health_problem = ""
        self._told = False
        self._noted: tuple[object, ...] = ()
        self._before = Ledger()
        self.more_budget: Callable[[SupervisedRun], Awaitable[bool]] | None = None
        self._meter: Meter | None = None
        self._left: tuple[int | None, float | None] | None = None
        self._unrecorded_tokens = 0  # from before it was resumed, such as a judge's, which no step names

    @property
    def run(self) -> str:
        """The run's id."""
        return self.row.run

    @property
    def steps(self) -> Sequence[Step]:
        """Steps recorded so far."""
        return self.live.steps if self.live is not None else ()

    @property
    def flags(self) -> Sequence[Flag]:
        """Flags raised so far."""
        return tuple(self._flags)

    # ------------------------------------------------------------ its life

    def restart(self) -> None:
        """Start over with a new control; later requests and commands go to it."""
        self.control = self._new_control()
        self.page.available.clear()
        self.update(state=RunState.STARTING, why="", outcome="", ended_at=0.0, ended_by="")

    async def load_overrides(self) -> None:
        """Load the stored overrides of tips and votes."""

        def reading() -> tuple[dict[str, TipOverride], dict[str, int]]:
            approvals = self._core.workspace.supervision
            return approvals.tip_overrides(self.run), approvals.votes(self.run)

        self.tip_overrides, self.votes = await self._core.on_store(reading)

    def on_started(self, live: RunWriter) -> None:
        """The run is on the disk."""
        self.live = live
        self._flags = []
        versions = version_words(live.run.prompts, live.run.actions)
        recorded = tokens_of_steps(live.run, live.steps)
        self._unrecorded_tokens = max(0, self.row.tokens - recorded)
        self.update(
            step=len(live.steps),
            started_at=live.run.started_at,
            versions=versions,
            tokens=recorded + self._unrecorded_tokens,
            cost=cost_of_steps(live.run, live.steps),
        )

    def make_executor(
        self,
        executor: Executor,
        browser: LiveBrowser,
        graphs: RunGraphs,
        bundle: PolicyBundle,
        book: LedgerStore,
        secrets: Secrets,
    ) -> ActionExecutor:
        """Return the executor for the loop, which recovers a lost browser, and start the watchdog."""
        self._meter = bundle.meter
        self._limit()
        return self.page.attach(
            self.control, self.request.start_url, executor, browser, graphs, bundle, book, secrets
        )

    def leave_budget(self, tokens: int | None, money: float | None) -> None:
        """Let the run spend this much from now on, in tokens and US dollars; ``None`` for no limit."""
        self._left = tokens, money
        self._limit()

    def _limit(self) -> None:
        if self._meter is not None and self._left is not None:
            self._meter.leave(*self._left)

    @property
    def refused_by(self) -> str:
        """The limit of its budget that refused a request last: tokens, money, seconds; "" for none."""
        return self._meter.refused_by if self._meter is not None else ""

    async def on_out_of_budget(self) -> bool:
        """The budget is used up; return whether the run is held until there is more."""
        return self.more_budget is not None and await self.more_budget(self)

    def set_health(self, why: str) -> None:
        """Set the watchdog's problem, "" for none."""
        self._health_problem = why
        self.update()

    def on_loop_ready(self, loop: AgentLoop, book: LedgerStore, knowledge: RunKnowledge | None) -> None:
        """The loop is built and about to run."""
        self.page.loop = loop
        self.page.available.set()
        self._before = book.ledger
        self._book = book
        if knowledge is not None:
            knowledge.steering = self

    def on_step(self, told: StepReport) -> None:
        """A step was recorded."""
        self.update(
            step=told.step + 1,
            words=told.words,
            effect=told.effect,
            url=told.url,
            title=self.steps[-1].title if self.steps else "",
            plan=told.plan,
            cost=told.cost,
            tokens=told.tokens + self._unrecorded_tokens,
        )
        self._learnt(told.step)
        if told.flags:
            self.on_flags(told.flags)

    def on_flags(self, flags: Sequence[Flag]) -> None:
        """Flags were raised, at the last step or an earlier one."""
        self._flags += flags
        marks = [
            RaisedFlag(detector=flag.detector, step=flag.step, severity=flag.severity, message=flag.message)
            for flag in flags
        ]
        self.update(flags=(*self.row.flags, *marks))
        self._core.registry.hold(self._weigh())

    async def on_loop_ended(self) -> None:
        """The loop is over; the browser is still open."""
        await self.page.detach()

    def on_ended(self, summary: RunSummary) -> None:
        """The run is over."""
        self.page.available.set()
        why = summary.answer if summary.answer is not None else summary.error
        if summary.ended_by:
            why = ended_by_hand_text(summary.ended_by, summary.answer)
        self._unplanned()
        self.update(
            state=RunState.ENDED,
            outcome=summary.outcome,
            ended_by=summary.ended_by,
            why=why or "",
            step=summary.steps,
            needs=(),
            stage=Stage.IDLE,
            cost=summary.cost,
            tokens=summary.tokens + self._unrecorded_tokens,
        )

    def on_interrupted(self, why: str) -> None:
        """The run failed without an ending; it can be resumed."""
        self.page.available.set()
        self._unplanned()
        self.update(state=RunState.INTERRUPTED, why=why, stage=Stage.IDLE)

    # ------------------------------------------------------------ what a person makes of tips

    def override(self, tip: str) -> TipOverride:
        """Return the override of a tip."""
        return self.tip_overrides.get(tip, TipOverride.NONE)

    def vote(self, tip: str) -> int:
        """Return the vote on a tip: 1, -1 or 0."""
        return self.votes.get(tip, 0)

    @property
    def pinned(self) -> Sequence[str]:
        """Tips that the agent is given at every step."""
        return [tip for tip, stance in self.tip_overrides.items() if stance is TipOverride.PINNED]

    def on_retrieval(self, tips: Sequence[TipAtStep], url: str, retrieval: Retrieval) -> None:
        """Publish the tips given at this step."""
        self.knowledge = KnowledgeAtStep(
            run=self.run,
            step=self.row.step,
            url=url,
            tips=tuple(tips),
            tokens=retrieval.tokens,
            budget=retrieval.budget,
            off=retrieval.routes_off,
        )
        self._core.bus.publish(TipsRetrieved(here=self.knowledge))

    def republish_tips(self) -> None:
        """Publish the tips again with the current overrides and votes."""
        if self.knowledge is not None:
            tips = tuple(
                replace(tip, stance=self.override(tip.tip), vote=self.vote(tip.tip))
                for tip in self.knowledge.tips
            )
            self.knowledge = replace(self.knowledge, tips=tips)
            self._core.bus.publish(TipsRetrieved(here=self.knowledge))

    # ------------------------------------------------------------ what is told

    def update(self, **changes: object) -> None:
        """Change the row; it is published in a moment."""
        if changes.get("state") is RunState.ENDED:
            changes.setdefault("ended_at", self.row.ended_at or time.time())
        self.row = replace(self.row, **changes)  # pyright: ignore[reportArgumentType]
        self._tell_soon()

    def on_request(self, request: ApprovalRequest) -> None:
        """A request was opened, decided or closed, here or by another process."""
        left = [need for need in self.row.needs if need.id != request.id]
        self.update(needs=open_requests([*left, request]))

    @property
    def is_active(self) -> bool:
        """Whether it was started and is not over."""
        return self.row.state.alive and self.row.state is not RunState.QUEUED

    def snapshot(self) -> LiveRow:
        """Return the row with its clocks and problem as of now."""
        if not self.is_active:
            return self.row
        return replace(
            self.row,
            seconds=round(self.control.seconds, 1),
            held_seconds=round(self.control.held_seconds, 1),
            why=self._health_problem or self.control.why,
        )

    # ------------------------------------------------------------ inside

    def _new_control(self) -> RunControl:
        return RunControl(
            self.row.run,
            self._approvals,
            site=self.request.site,
            task=task_key(self.request.intent),
            login=login_name(self.request.site, self.request.storage_state),
            changed=self._changed,
            planned=self._planned,
            unplanned=self._unplanned,
        )

    def _changed(self) -> None:
        """Write the control's state into the row, where everyone reads it."""
        if not self.is_active:
            return
        control = self.control
        # The loop is over a moment before its ending is known here.
        known = control.state not in (RunState.STARTING, RunState.ENDED)
        state = control.state if known else self.row.state
        self.update(state=state, stage=control.stage, stage_since=control.stage_since)

    def _planned(self, action: PlannedAction) -> None:
        self.next = replace(action, run=self.run)
        self._core.bus.publish(ActionPlanned(next=self.next))
        if self.knowledge is not None and (action.follows or action.due):
            due = {one.tip: one for one in action.due}
            tips = tuple(
                replace(tip, follows=action.follows.get(tip.tip), due=due.get(tip.tip))
                for tip in self.knowledge.tips
            )
            self.knowledge = replace(self.knowledge, tips=tips)
            self._core.bus.publish(TipsRetrieved(here=self.knowledge))

    def _unplanned(self) -> None:
        if self.next is not None:
            self.next = None
            self._core.bus.publish(ActionEnded(run=self.run))

    def _learnt(self, step: int) -> None:
        ledger = self._book.ledger
        self.changes = ledger_changes(self._before, ledger)
        self._before = self.ledger = ledger
        self._core.bus.publish(LedgerChanged(run=self.run, step=step, ledger=ledger, changes=self.changes))

    async def _weigh(self) -> None:
        risk = await self._review.risk_of(self.run, self.request.site, self.row.step, self._flags)
        self.update(risk=risk)

    def _tell_soon(self) -> None:
        if not self._told:
            self._told = True
            asyncio.get_running_loop().call_later(PUBLISH_INTERVAL, self._tell)

    def _tell(self) -> None:
        self._told = False
        row = self.row = self.snapshot()
        self._core.bus.publish(LiveRunChanged(row=row))
        mark = (row.state, row.step, row.outcome, tuple(need.id for need in row.needs))
        if mark != self._noted and not self.is_closing:
            self._noted = mark
            self._core.registry.hold(self.save_snapshot())

    @property
    def has_news(self) -> bool:
        """Whether a change waits to be published."""
        return self._told

    async def save_snapshot(self) -> None:
        """Store a snapshot for the next start; a full disk is reported elsewhere."""
        note = LiveRunSnapshot(run=self.run, row=self.row, request=self.request, at=time.time())
        try:
            await self._core.on_store(self._core.workspace.supervision.save_snapshot, note)
        except StoreError as error:
            log.warning("the snapshot of run %s could not be stored: %s", self.run, error)


def new_live_row(run: str, request: RunRequest, state: RunState) -> LiveRow:
    """Return the row of a run that is not started, as its request says."""
    money, tokens = run_budget(request)
    return LiveRow(
        run=run,
        intent=request.intent,
        state=state,
        site=request.site,
        policy=request.policy,
        start_url=request.start_url,
        max_steps=request.max_steps,
        started_at=time.time(),
        max_money=money,
        max_tokens=tokens,
        batch=request.batch,
        task_id=request.task_id,
    )


def ended_by_hand_text(author: str, answer: str | None) -> str:
    """Return the sentence for a run that an operator ended by hand."""
    return f"finished by hand by {author}" if answer is None else f"{answer} (the answer is {author}'s)"


def ledger_changes(before: Ledger, after: Ledger) -> tuple[str, ...]:
    """Return a step's changes to the ledger, in words."""
    told: list[str] = []
    if after.subgoal != before.subgoal and after.subgoal:
        told.append(f"subgoal: {after.subgoal}")
    old_plan = {node.id: node for node in before.plan}
    told += [f"plan ({node.state}): {node.intent}" for node in after.plan if old_plan.get(node.id) != node]
    told += [
        f"constraint (met: {one.met}): {one.text}"
        for one in after.constraints
        if one not in before.constraints
    ]
    old_facts = {fact.key: fact for fact in before.facts}
    for fact in after.facts:
        if old_facts.get(fact.key) != fact:
            told.append(
                f"fact taken back: {fact.key}" if fact.retracted else f"fact: {fact.key} = {fact.value}"
            )
    told += [f"dead end: {end.words}" for end in after.dead_ends if end not in before.dead_ends]
    told += [f"landmark: {mark.words}" for mark in after.checkpoints if mark not in before.checkpoints]
    told += [f"note {note.number}: {note.text}" for note in after.notes[len(before.notes) :]]
    told += [f"episode: {line}" for line in after.episodic[len(before.episodic) :]]
    return tuple(told)
