"""The llm policy: orchestrator, planner, operator and summarizer make one decision a step.

The planner is asked every few steps and whenever the operator claims to be done; only the planner declares a task done.
An action that contradicts a tip in force goes back to the operator once, with guidance; nothing else is second-guessed.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from app.engine.agent.llm.alignment import AlignmentCheck
from app.engine.agent.llm.operator import Operator, OperatorAnswer, OperatorInput
from app.engine.agent.llm.options import LlmOptions
from app.engine.agent.llm.orchestrator import Orchestrator
from app.engine.agent.llm.page_pictures import PagePictures
from app.engine.agent.llm.planner import Planner, PlannerResult
from app.engine.agent.llm.prompting import Fence, redacted
from app.engine.agent.llm.summarizer import Summarizer
from app.engine.agent.llm.usage_tracker import UsageTracker
from app.engine.agent.vision.marks_wanted import expected_labels, marks_wanted
from app.engine.core.action_result import Effect
from app.engine.core.actions.specs import spec_of
from app.engine.core.actions.types import Action, ReportInfeasible, Stop, Wait
from app.engine.core.element_identity import renumber_action
from app.engine.core.ledger import Fact
from app.engine.core.model_api import AgentRole, LanguageModel
from app.engine.core.observation import AgentDecision, Observation
from app.engine.core.page_state import PageCapture
from app.engine.core.text import one_line

if TYPE_CHECKING:
    from app.engine.agent.vision.vision_cache import VisionCache
    from app.engine.agent.vision.vision_frame import VisionFrame

log = logging.getLogger(__name__)

_RAW_CHARACTERS = 20_000
_NO_PICTURES = "the model takes no pictures; the run goes on without them"
_RECENT_TURNS = 3
"""Newest turns that are never summarised: the live context has them."""


@dataclass(slots=True)
class _DecisionState:
    """State of one decision while it is being made."""

    usage: UsageTracker
    plan: PlannerResult | None = None
    summary: str = ""
    remarks: tuple[str, ...] = ()
    claims: int = 0
    guided: bool = False
    folding: bool = False
    told: tuple[str, ...] = ()


class LlmPolicy:
    """Decides with a language model (``Policy``).

    Args:
        model: answers all roles.
        vision: without it there are no marks to point at.
        fence: the one of this run.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        options: LlmOptions | None = None,
        vision: VisionCache | None = None,
        fence: Fence | None = None,
    ) -> None:
        self._model, self._vision = model, vision
        self._options = options or LlmOptions()
        self._fence = fence or Fence()
        self._orchestrator = Orchestrator()
        self._planner = Planner(self._fence)
        self._summarizer = Summarizer(self._fence)
        self._alignment = AlignmentCheck(self._fence)
        self._operator = Operator(self._fence, self._options, sees=vision is not None)
        shown = self._options
        self._pictures = PagePictures(shown.pictures, shown.picture_side, shown.picture_detail)
        self._batch = ActionBatch()
        self._answer: OperatorAnswer | None = None
        self._followed: dict[str, bool] = {}
        self._hints: tuple[str, ...] = ()
        self._planned: int | None = None
        self._summary = ""
        self._folded = 0
        self._seen = 0
        self._marks_wanted = False
        self._looked_at: PageCapture | None = None
        self._marks = ShownMarks(self._options.keep.turns)

    @property
    def name(self) -> str:
        """``llm``."""
        return "llm"

    def look_ahead(self, observation: Observation) -> None:
        """Start the vision look at a page before its tips are retrieved; not while actions of one answer wait."""
        if not self._batch.waiting:
            self._start_look(observation)

    async def decide(self, observation: Observation) -> AgentDecision:
        """Return the next action.

        Raises:
            ModelError: the endpoint gives no answer, or the budget is used up.
        """
        waiting = self._batch.next(observation)
        if waiting is not None and self._answer is not None:
            return self._of_batch(waiting, self._answer)
        state = _DecisionState(UsageTracker(self._model))
        self._start_look(observation)
        await self._pictures.take(observation.page, observation.step)
        if self._planned is None:
            self._resume(observation)
        if self._planned is None or observation.step - self._planned >= self._options.every:
            await self._plan(state, observation)
            if state.plan is not None and state.plan.done:
                if state.plan.final_answer or not self._orchestrator.asks(observation):
                    return self._declared(state, state.plan)
                self._hints = ("all that was asked for has been seen: stop with the answer",)
        await self._look(state, observation)
        return await self._decided(state, observation)

    async def aclose(self) -> None:
        """Close the model and the vision; may be called twice."""
        if self._vision is not None:
            await self._vision.aclose()
        await self._model.aclose()

    # ------------------------------------------------------------ deciding

    async def _decided(self, state: _DecisionState, observation: Observation) -> AgentDecision:
        """Ask until nothing objects to an action; every way round the loop is counted."""
        while True:
            brief = OperatorInput(next_steps=self._hints, summary=self._summary, remarks=state.remarks)
            answer = await self._operator.answer(state.usage, observation, brief)
            if self._has_refused(state, AgentRole.OPERATOR):
                self._operator.without_pictures(observation)
            action = answer.action
            if action is None:
                self._operator.settle(observation, answer)
                return self._decision(state, observation, answer, None)
            objection = self._orchestrator.objection(action, observation)
            if objection:
                state.remarks = (self._operator.remark(answer, objection),)
                continue
            if isinstance(action, Stop | ReportInfeasible):
                ended = await self._claimed(state, observation, answer, action)
                if ended is not None:
                    return ended
                continue
            guidance = await self._reviewed(state, observation, action)
            if guidance:
                remark = f"What experts know of this site speaks against it: {guidance}"
                state.remarks = (self._operator.remark(answer, f"{remark} If you keep to it, say why."),)
                continue
            self._operator.settle(observation, answer)
            self._batch.begin(answer.parsed.actions, observation)
            return self._decision(state, observation, answer, action)

    async def _claimed(
        self,
        state: _DecisionState,
        observation: Observation,
        answer: OperatorAnswer,
        claim: Stop | ReportInfeasible,
    ) -> AgentDecision | None:
        """Let the planner judge a claim; ``None`` sends it back to the operator with what is missing."""
        state.claims += 1
        await self._plan(state, observation, claim)
        plan = state.plan
        if plan is not None and plan.done:
            self._operator.settle(observation, answer)
            return self._declared(state, plan, answer, claim)
        missing = (
            plan.missing or plan.reasoning if plan is not None else "the planner could not be understood"
        )
        state.remarks = (
            self._operator.remark(answer, f"It is not done yet: {missing or 'something is missing'}"),
        )
        if state.claims <= self._options.claims:
            return None
        self._operator.settle(observation, answer)
        waiting = self._decision(state, observation, answer, Wait(1.0))
        return replace(waiting, reason=f"the claim to be done was turned back: {missing}")

    async def _reviewed(self, state: _DecisionState, observation: Observation, action: Action) -> str:
        """Return guidance where the action contradicts a tip, once a step; summarises older steps on the way."""
        await self._fold(state, observation)
        if not self._options.align:
            return ""
        aligned = await self._alignment.check(state.usage, observation, action)
        self._followed = aligned.followed
        if state.guided or not aligned.guidance:
            return ""
        state.guided = True
        return aligned.guidance

    async def _fold(self, state: _DecisionState, observation: Observation) -> None:
        """Fold the steps before the newest ones into the summary, where enough of them wait; once a step."""
        older = observation.history[
            self._folded : max(self._folded, len(observation.history) - _RECENT_TURNS)
        ]
        if state.folding or len(older) < self._options.fold:
            return
        state.folding = True
        summary = await self._summarizer.fold(state.usage, observation, self._summary, older)
        if summary is not None:
            self._summary, self._folded, state.summary = summary, self._folded + len(older), summary

    async def _plan(
        self, state: _DecisionState, observation: Observation, claim: Stop | ReportInfeasible | None = None
    ) -> None:
        picture = self._pictures.for_role(AgentRole.PLANNER)
        plan = await self._planner.plan(
            state.usage, observation, summary=self._summary, claim=claim, picture=picture
        )
        self._has_refused(state, AgentRole.PLANNER)
        self._planned = observation.step
        state.plan = plan
        if plan is not None:
            self._hints = plan.next_steps

    async def _look(self, state: _DecisionState, observation: Observation) -> None:
        self._followed = {}
        caption, holds = "", ""
        if self._vision is not None and self._marks_wanted:
            frame = await self._vision.frame_for_policy(observation.page)
            if frame is not None:
                self._count_frame(state, frame)
                caption, holds = self._marks.words(frame, observation.step)
        picture = self._pictures.for_role(AgentRole.OPERATOR)
        self._operator.see(observation, caption=caption, marks_hold=holds, picture=picture)

    def _start_look(self, observation: Observation) -> None:
        """Start a vision look beside planner and operator, where marks are wanted on this page; once a page."""
        if self._vision is None or self._looked_at is observation.page:
            return
        self._looked_at = observation.page
        self._marks_wanted = marks_wanted(observation.page, observation.last, self._options.marks)
        if self._marks_wanted:
            self._vision.set_focus(
                task=observation.intent,
                subgoal=observation.ledger.subgoal,
                labels=expected_labels(observation, self._hints),
            )
            self._vision.start_look(observation.page)

    def _count_frame(self, state: _DecisionState, frame: VisionFrame) -> None:
        """Count the cost of a look once."""
        if frame.number > self._seen:
            self._seen = frame.number
            state.usage.calls += frame.calls
            state.usage.tokens_in += frame.tokens[0]
            state.usage.tokens_out += frame.tokens[1]

    def _has_refused(self, state: _DecisionState, role: AgentRole) -> bool:
        """Whether a role's model has just refused pictures; it gets no more, and the run's memory says so once."""
        if role not in state.usage.blind or role in self._pictures.refused:
            return False
        if not self._pictures.refused:
            log.warning(_NO_PICTURES)
            state.told = (_NO_PICTURES,)
        self._pictures.refused.add(role)
        return True

    def _resume(self, observation: Observation) -> None:
        """Take the summary of a resumed run from the ledger."""
        told = [
            note.removeprefix(_SUMMARY_PREFIX)
            for note in observation.ledger.episodic
            if note.startswith(_SUMMARY_PREFIX)
        ]
        if told:
            self._summary = told[-1]
            self._folded = max(0, len(observation.history) - _RECENT_TURNS)

    # ------------------------------------------------------------ building decisions

    def _of_batch(self, action: Action, answer: OperatorAnswer) -> AgentDecision:
        return AgentDecision(
            action=action,
            reason=answer.parsed.reason,
            intent=answer.parsed.expect,
            raw=answer.raw[:_RAW_CHARACTERS],
            followed=dict(self._followed),
        )

    def _decision(
        self, state: _DecisionState, observation: Observation, answer: OperatorAnswer, action: Action | None
    ) -> AgentDecision:
        self._answer = answer
        parsed, plan = answer.parsed, state.plan
        wanted = parsed.expect or (plan.next_steps[0] if plan is not None and plan.next_steps else "")
        return replace(
            self._cost(state),
            action=action,
            reason=parsed.reason,
            raw=answer.raw[:_RAW_CHARACTERS],
            why=parsed.why,
            intent=wanted,
            facts=tuple(
                Fact(
                    key=redacted(key)[:80],
                    value=one_line(redacted(value), 400),
                    step=observation.step,
                    quote=observation.page.url,
                )
                for key, value in parsed.facts
            ),
            notes=(*((f"{_SUMMARY_PREFIX}{state.summary}",) if state.summary else ()), *state.told),
            followed=dict(self._followed),
        )

    def _declared(
        self,
        state: _DecisionState,
        plan: PlannerResult,
        answer: OperatorAnswer | None = None,
        claim: Stop | ReportInfeasible | None = None,
    ) -> AgentDecision:
        """Return the final decision; where the planner gives no answer, the claimed one is used."""
        self._batch.waiting.clear()
        given = claim.answer if isinstance(claim, Stop) else ""
        action: Action = Stop(plan.final_answer or given)
        if plan.impossible:
            why = claim.reason if isinstance(claim, ReportInfeasible) else plan.missing or plan.reasoning
            action = ReportInfeasible(plan.final_answer or why)
        return replace(
            self._cost(state),
            action=action,
            reason=plan.reasoning or plan.observation,
            raw=answer.raw[:_RAW_CHARACTERS] if answer is not None else "",
            intent="the task is done",
            followed=dict(self._followed),
        )

    def _cost(self, state: _DecisionState) -> AgentDecision:
        plan, usage = state.plan, state.usage
        return AgentDecision(
            action=None,
            plan=plan.nodes if plan is not None and plan.nodes else None,
            subgoal=plan.subgoal if plan is not None else None,
            constraints=plan.constraints if plan is not None else (),
            calls=tuple(usage.calls),
            tokens=(usage.tokens_in, usage.tokens_out),
            seconds=usage.seconds,
        )


_SUMMARY_PREFIX = "Summary: "
"""Prefix of a summary among the episodic notes."""


@dataclass(slots=True)
class ShownMarks:
    """The marks that the operator was told last: the same ones are not told again while they are in its context.

    ``turns`` is how many steps the context keeps whole.
    """

    turns: int
    told: str = ""
    step: int = 0

    def words(self, frame: VisionFrame, step: int) -> tuple[str, str]:
        """Return the marks in words, or the line that the ones told before still hold; the other is ""."""
        words = frame.words
        if words == self.told and step - self.step < self.turns:
            return "", f"The marks listed at step {self.step} still hold."
        self.told, self.step = words, step
        return words, ""


@dataclass(slots=True)
class ActionBatch:
    """The remaining actions of an answer, done one a step until the page changes (SuperBrowser, 4.1).

    Their element numbers are those of ``page``, for which the answer was given.
    """

    waiting: deque[Action] = field(default_factory=deque[Action])
    page: PageCapture | None = None
    said: tuple[str, ...] = ()

    def begin(self, actions: Sequence[Action], observation: Observation) -> None:
        """Keep the actions after the first, up to the first that needs a look at the page."""
        self.waiting.clear()
        self.page, self.said = observation.page, _hints_of(observation)
        if actions and not spec_of(actions[0]).ends_batch:
            for action in actions[1:]:
                if spec_of(action).ends_batch:
                    break
                self.waiting.append(action)

    def next(self, observation: Observation) -> Action | None:
        """Return the next action, numbered for the current page; ``None`` when there is none or the page changed.

        The rest is dropped in that case.
        """
        if not self.waiting or self.page is None:
            return None
        if _is_page_unchanged(observation, self.page) and _hints_of(observation) == self.said:
            action = renumber_action(self.waiting.popleft(), self.page, observation.page)
            if not isinstance(action, int):
                return action
        self.waiting.clear()
        return None


def _is_page_unchanged(observation: Observation, page: PageCapture) -> bool:
    last = observation.last
    return (
        last is not None
        and last.result.success
        and last.result.effect is not Effect.NAVIGATED
        and observation.page.url == page.url
        and observation.page.title == page.title
        and not observation.page.alerts
        and not observation.guidance
        and not observation.news
    )


def _hints_of(observation: Observation) -> tuple[str, ...]:
    """Ids of the supervisor's hints in force: a new hint ends the batch."""
    return tuple(tip.tip for tip in observation.tips if tip.kind == "person")
