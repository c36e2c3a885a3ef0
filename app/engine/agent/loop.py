"""The run loop: look, remember, decide, act, record; the same for the scout and for a model.

One step is one line on the disk, written when its action is over; after a crash only the action in flight is missing.
A captcha or a question goes to a person; before every action a person may hold the run, take it over, or be asked
(``app.engine.agent.run_control``).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.engine.agent.action_dispatcher import LoopEnding
from app.engine.agent.approval_gate import ApprovalGate, ApprovalOutcome
from app.engine.agent.dependencies import AgentDependencies, LoopTiming
from app.engine.agent.flag_review import FlagReview
from app.engine.agent.memory import entries
from app.engine.agent.observer import MAX_LOST_PAGES, MAX_OFF_SITE_LOOKS, PageObserver
from app.engine.agent.operator_prompts import (
    OperatorPrompts,
    ask_again_about_flags,
    describe_takeover,
    react_to_flags,
)
from app.engine.agent.ports import AgentTask
from app.engine.agent.procedures.follower import ProcedureFollower
from app.engine.agent.run_control import DecisionStale, RunControl, WatchdogTimeout
from app.engine.agent.run_recording import RunRecording, describe_last_takeover, retry_on_full_disk
from app.engine.agent.step_record import observed_step
from app.engine.agent.tip_query import step_query
from app.engine.agent.walls import MAX_LOGIN_LOOKS, WallHandler
from app.engine.agent.write_gate.gate import WriteGate
from app.engine.core.action_result import ActionResult, Cause, Effect, refused
from app.engine.core.actions.specs import Component, spec_of
from app.engine.core.hand_back import HandBackKind
from app.engine.core.local_time import LocalTime
from app.engine.core.model_api import ModelError, ModelErrorKind
from app.engine.core.observation import AgentDecision, LooksAhead, Observation, RetrievedTip
from app.engine.core.page_state import PageCapture
from app.engine.core.supervision import DecisionKind, OperatorDecision, Stage
from app.engine.core.trajectory import Outcome, Run, Step, Tab, steps_done
from app.engine.core.verdicts import Flag
from app.errors import SiteloreError, StoreError

__all__ = [
    "MAX_LOGIN_LOOKS",
    "MAX_LOST_PAGES",
    "MAX_OFF_SITE_LOOKS",
    "MAX_UNREADABLE_ANSWERS",
    "AgentDependencies",
    "AgentLoop",
    "LoopTiming",
]

log = logging.getLogger(__name__)

MAX_UNREADABLE_ANSWERS = 3
"""Answers in a row without an action after which a run is given up."""


class AgentLoop:
    """One run of one task.

    ``stop`` ends it after the step in flight; cancelling the coroutine ends it at once and leaves the run
    unfinished on
    the disk, to be resumed or closed as interrupted.

    Args:
        run: the run as it is on the disk.
        steps: its steps so far, where it is resumed.
    """

    def __init__(
        self, task: AgentTask, parts: AgentDependencies, run: Run, steps: Sequence[Step] = ()
    ) -> None:
        self._task, self._parts = task, parts
        self._control = parts.control or RunControl(task.run)
        self._recording = RunRecording(parts, self._control, run, steps)
        self._seeing = PageObserver(task, parts, self._control, self._recording)
        self._clearance = ApprovalGate(
            self._control, parts.secrets, self._seeing.look_again, WriteGate(allow=parts.allow)
        )
        self._walls = WallHandler(task, parts, self._control, self._recording, self._said)
        self._judged = FlagReview(parts, self._control, self._recording, run)
        self._follower = ProcedureFollower(task.intent, steps_done(steps))
        self._going_on = bool(steps) or bool(parts.ledger_store.ledger.goal)
        self._unreadable = self._hung = 0
        self._news: tuple[str, ...] = describe_last_takeover(steps)
        self._began = time.time()
        parts.dispatcher.before_page = self._control.before_action
        parts.dispatcher.check_mark = self._clearance.check_resolved_mark
        if self._control.supervised and parts.dispatcher.supervisor is None:
            parts.dispatcher.supervisor = OperatorPrompts(self._control)
        parts.ledger_store.set_mask(parts.secrets.mask)
        self.timing = LoopTiming()

    @property
    def control(self) -> RunControl:
        """The control of this run."""
        return self._control

    @property
    def flags(self) -> list[Flag]:
        """Flags of the detectors so far."""
        return self._recording.flags

    @property
    def tokens(self) -> int:
        """Tokens of the whole run so far, in and out."""
        return self._recording.tokens

    def stop(self) -> None:
        """End the run after the step in flight."""
        self._control.stop()

    async def run(self) -> Run:
        """Run until the task is done, given up, or can't go on; return the closed run."""
        try:
            await self._control.begin(self._recording.number)
            ending = await self._begin()
            while ending is None:
                ending = await self._step()
            run = await self._close(self._ended_by_hand or ending)
            await self._control.finish()
            return run
        finally:
            self._judged.cancel()
            self._control.end()

    async def add_operator_step(self, step: Step, blobs: Mapping[str, bytes]) -> int:
        """Record a step that a person did during a takeover; return its number.

        Raises:
            StoreError: it can't be written, and there is no person, or the run is stopping.
        """
        return await self._recording.record_operator_step(step, blobs)

    async def _begin(self) -> LoopEnding | None:
        if not self._going_on:
            await self._recording.write(entries.goal(self._task.intent))
        failed = await self._first_page()
        if failed is not None:
            return failed
        for request, decision in await ask_again_about_flags(self._control):
            ended = self._flags_decided(request.question, decision)
            if ended is not None:
                return ended
        return None

    async def _first_page(self) -> LoopEnding | None:
        """Open the page to begin on; after a takeover in the meantime, continue where it left the browser.

        A person who takes over a run that is starting gets this page, and no empty one.
        """
        control, handed = self._control, self._control.hand_backs
        while True:
            await control.wait_until_released(pass_takeover=True)
            if control.stopping:
                return LoopEnding(Outcome.STOPPED)
            if control.hand_backs != handed and await self._seeing.has_page():
                return None
            handed = control.hand_backs
            failed = await self._seeing.open(self._seeing.address if self._going_on else self._task.start_url)
            await control.wait_until_released()
            if control.hand_backs != handed:
                continue
            if failed is None:
                return None
            retry = await control.ask_about_trouble("The run can't start.", failed.error, until_handed=True)
            if control.hand_backs == handed and retry is not DecisionKind.RETRY:
                return LoopEnding(Outcome.STOPPED) if control.stopping else failed

    @property
    def _ended_by_hand(self) -> LoopEnding | None:
        """The ending that a person gave the run, because they did its task or know its answer."""
        end = self._control.end_by_hand
        if end is None:
            return None
        if end.how is HandBackKind.ANSWER:
            return LoopEnding(Outcome.ANSWERED, answer=end.answer, by=end.author)
        return LoopEnding(Outcome.DONE_BY_HAND, by=end.author)

    async def _close(self, ending: LoopEnding) -> Run:
        page: PageCapture | None = None
        tabs: tuple[Tab, ...] = ()
        active = 0
        await self._judged.finish()
        try:
            async with self._control.in_stage(Stage.LOOKING):
                found = await self._seeing.look()
                tabs, active = await self._seeing.tabs()
            page = found
        except StoreError:
            raise
        except (SiteloreError, DecisionStale):
            pass  # no last page; the run is closed without one
        return await self._recording.close(ending, page, tabs, active, await self._evidence(ending))

    async def _evidence(self, ending: LoopEnding) -> bytes:
        """Return the evidence for the run's evaluation, empty without any; a run never fails because of it."""
        if self._parts.evidence is None:
            return b""
        try:
            async with self._control.in_stage(Stage.WRITING):  # not to be cut short by a takeover
                return await self._parts.evidence.capture(
                    ending.answer, infeasible=ending.outcome is Outcome.INFEASIBLE
                )
        except SiteloreError as error:
            log.warning("run %s has no evidence: %s", self._task.run, error)
            return b""

    # one step

    @property
    def _steps_left(self) -> int:
        """Steps left; those of a person do not count."""
        return self._task.max_steps - (self._recording.number - self._recording.operator_steps)

    async def _step(self) -> LoopEnding | None:
        """Do one step; or none, where the run was held and has to be looked at again."""
        self._control.step = self._recording.number
        self._control.clear_planned_action()  # an earlier decision was about another page
        await self._control.wait_until_released()
        if self._control.stopping:
            return LoopEnding(Outcome.STOPPED)
        if self._steps_left <= 0:
            return LoopEnding(Outcome.STEP_LIMIT)
        try:
            return await self._looked()
        except DecisionStale:
            return None

    async def _looked(self) -> LoopEnding | None:
        began = time.monotonic()
        try:
            async with self._control.in_stage(Stage.LOOKING):
                page = await self._seeing.look_within_sites()
        except StoreError:
            raise
        except SiteloreError as gone:
            return await self._seeing.recover(str(gone))
        if page is None:
            return LoopEnding(Outcome.CRASHED, error="the page keeps going to another site by itself")
        looked = time.monotonic()
        mark = self._control.page_mark
        page = self._walls.without_false_wall(page)
        wall = await self._walls.handle(page)
        if wall is not None or (self._control.supervised and self._control.page_mark != mark):
            return wall
        return await self._decided(page, mark, began, looked)

    async def _decided(
        self, page: PageCapture, mark: tuple[int, int], began: float, looked: float
    ) -> LoopEnding | None:
        self._control.decided_on = page
        self._judged.show_page(page)
        observation = await self._sight(page)
        known = time.monotonic()
        try:
            async with self._control.in_stage(Stage.THINKING):
                decision = await self._parts.policy.decide(observation)
        except (ModelError, WatchdogTimeout) as error:
            return await self._thoughtless(error)
        self._hung = 0
        decided = time.monotonic()
        if self._control.page_mark != mark:
            return self._not_done(decision)  # there was a takeover or a recovery while it thought
        doubt = await self._judged.review(observation, decision)
        if doubt.decision is not None:
            ended = self._flags_decided(doubt.question, doubt.decision)
            if ended is not None or doubt.stale:
                self._not_done(decision)
                return ended
        cleared = doubt.refused or await self._clearance.review(observation, decision, mark)
        if cleared.stale or (doubt.claim and await self._judged.is_overtaken(observation)):
            return self._not_done(decision)
        waited = time.monotonic()
        ending, acting = await self._done(cleared)
        self.timing.look += looked - began
        self.timing.model += decision.seconds
        self.timing.act += acting
        thought = max(0.0, decided - known - decision.seconds)
        self.timing.own.append((known - looked) + thought + (time.monotonic() - waited - acting))
        return ending

    async def _done(self, cleared: ApprovalOutcome) -> tuple[LoopEnding | None, float]:
        """Do the approved action and record the step; return the ending and the seconds of the action."""
        observation, decision, recording = cleared.observation, cleared.decision, self._recording
        seen, blobs = observed_step(
            recording.number,
            observation.page,
            observation.tabs,
            observation.active_tab,
            self._parts.secrets,
            time.time(),
        )
        await retry_on_full_disk(
            self._control, "The decision", lambda: self._control.on_step_started(recording.number)
        )
        await recording.remember(decision)
        began, cut = time.monotonic(), ""
        try:
            result, ending = await self._act(cleared)
        except DecisionStale:
            self._not_done(decision)
            raise
        except WatchdogTimeout as late:
            cut, ending = str(late), None
            result = ActionResult(success=False, effect=Effect.NOTHING, cause=Cause.TIMEOUT, why=cut)
        acted = time.monotonic() - began
        self._control.clear_planned_action()
        if cleared.notes:
            result = replace(result, notes=(*cleared.notes, *result.notes))
        credits = self._follower.credit(decision.action, result)
        flags = await recording.record_step(observation, decision, result, seen, blobs, credits)
        self._news = ()
        ended = ending or await self._flagged(flags, observation.page.url) or self._after(decision)
        if ended is None and cut:
            ended = await self._seeing.recover(cut)
        return ended, acted

    def _not_done(self, decision: AgentDecision) -> None:
        self._recording.drop(decision)
        if not self._news and self._control.takeover_summary is None:
            self._news = ("the run was held, and the page has changed since your last answer",)

    async def _act(self, cleared: ApprovalOutcome) -> tuple[ActionResult, LoopEnding | None]:
        action = cleared.decision.action
        if cleared.result is not None:
            return cleared.result, None
        if action is None:
            return refused(Cause.SYNTAX, cleared.decision.why or "the answer has no action"), None
        did: list[tuple[ActionResult, LoopEnding | None]] = []

        async def doing() -> None:
            did.append(await self._parts.dispatcher.do(action, cleared.observation, cleared.permit))

        async with self._control.in_stage(Stage.ACTING):
            if spec_of(action).component is Component.LEDGER:
                await retry_on_full_disk(self._control, "The agent's memory", doing)
            else:
                await doing()
        result, ending = did[-1]
        self._clearance.settle(cleared, result)
        if ending is not None and ending.outcome is Outcome.NEEDS_PERSON and self._control.stopping:
            ending = LoopEnding(Outcome.STOPPED)
        return result, ending

    def _after(self, decision: AgentDecision) -> LoopEnding | None:
        self._unreadable = self._unreadable + 1 if decision.action is None else 0
        if self._unreadable < MAX_UNREADABLE_ANSWERS:
            return None
        return LoopEnding(
            Outcome.CRASHED, error=f"{MAX_UNREADABLE_ANSWERS} answers in a row had no action: {decision.why}"
        )

    async def _thoughtless(self, error: ModelError | WatchdogTimeout) -> LoopEnding | None:
        """Handle a missing decision: a model that hung is asked once more, then a person is."""
        ending = LoopEnding(Outcome.CRASHED, error=str(error))
        if isinstance(error, WatchdogTimeout):
            self._hung += 1
            if self._hung == 1:
                return None
        elif error.kind is ModelErrorKind.BUDGET:
            if self._parts.more_budget is not None and await self._parts.more_budget():
                return None
            return replace(ending, outcome=Outcome.OUT_OF_BUDGET)
        if (
            await self._control.ask_about_trouble("The model does not answer.", str(error))
            is DecisionKind.RETRY
        ):
            self._hung = 0
            return None
        return LoopEnding(Outcome.STOPPED) if self._control.stopping else ending

    # observation

    async def _sight(self, page: PageCapture) -> Observation:
        seen = self._seen(page)
        if isinstance(self._parts.policy, LooksAhead):
            self._parts.policy.look_ahead(replace(seen, procedures=self._follower.under_way()))
        tips: tuple[RetrievedTip, ...] = ()
        if self._parts.knowledge is not None:
            query = step_query(page, self._task.intent, seen.ledger, seen.history)
            tips = await self._parts.knowledge.tips(query, page)
        hints = await self._control.hints()
        await self._heard()
        tabs, active = await self._seeing.tabs()
        observation = replace(
            seen,
            tabs=tabs,
            active_tab=active,
            tips=(*hints, *tips),
            ledger=self._parts.ledger_store.ledger,
            answers=self._parts.dispatcher.answers,
            news=self._news,
        )
        return replace(observation, procedures=self._follower.look(observation))

    def _seen(self, page: PageCapture) -> Observation:
        """Return what is known of a step as soon as its page is captured."""
        navigator, turns = self._parts.navigator, self._recording.history
        state = self._seeing.state_of(page)
        if turns and not turns[-1].state_after:
            turns[-1] = replace(turns[-1], state_after=state)
        return Observation(
            step=self._recording.number,
            steps_left=self._steps_left,
            intent=self._task.intent,
            start_url=self._task.start_url,
            page=page,
            state=state,
            domains=navigator.domains() if navigator is not None else (),
            ledger=self._parts.ledger_store.ledger,
            history=tuple(turns),
            clock=LocalTime(
                began=self._began, now=time.time(), timezone=self._task.timezone, locale=self._task.locale
            ),
        )

    async def _heard(self) -> None:
        """Store the summary of a takeover and pass it on with the next observation."""
        account, self._control.takeover_summary = self._control.takeover_summary, None
        if account is not None:
            self._news = tuple(map(self._parts.secrets.mask, describe_takeover(account)))
            await self._recording.write(*(entries.note(line, self._recording.number) for line in self._news))

    # questions to a person

    def _said(self, question: str, decision: OperatorDecision) -> None:
        dispatcher = self._parts.dispatcher
        dispatcher.answers = (*dispatcher.answers, (question, decision.text))

    async def _flagged(self, flags: Sequence[Flag], url: str) -> LoopEnding | None:
        """Let the policy, and a person where it asks one, react to a step's flags."""
        if not flags or not self._control.supervised:
            return None
        decision = await react_to_flags(self._control, flags, url, goes_on=self._steps_left > 0)
        if decision is None:
            return None
        return self._flags_decided("; ".join(flag.message for flag in flags), decision)

    def _flags_decided(self, question: str, decision: OperatorDecision) -> LoopEnding | None:
        if decision.kind is DecisionKind.DENY:
            return LoopEnding(Outcome.STOPPED, error=decision.text)
        if decision.text:
            self._said(question, decision)
        return None
