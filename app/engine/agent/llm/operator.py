"""The operator: sees the page and decides the next action (SuperBrowser's worker, ColorBrowserAgent's operator).

Its context is live and evicted; ledger, tips and the planner's next steps come last, so that the messages before them
stay cached. An unreadable answer is sent back with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.engine.agent.answer_parser import ParsedAnswer, parse_answer
from app.engine.agent.eviction.live_context import LiveContext
from app.engine.agent.llm.options import LlmOptions
from app.engine.agent.llm.page_pictures import MarkedPicture
from app.engine.agent.llm.prompt_parts import (
    fit_tree,
    render_answers,
    render_history,
    render_location,
    render_news,
    render_turn,
    tip_parts,
)
from app.engine.agent.llm.prompting import Fence, system, user
from app.engine.agent.llm.usage_tracker import UsageTracker
from app.engine.agent.memory.rendering import UNREAD_CAPS, WORKER_CAPS, render_ledger, worker_view
from app.engine.core.actions.action_sets import action_help, actions_in, calls_of
from app.engine.core.actions.specs import Action, ActionSet
from app.engine.core.actions.types import ClickAt, Navigate, ReadNotes
from app.engine.core.chat_messages import ChatMessage, MessagePart, PartKind
from app.engine.core.model_api import AgentRole, ModelError, ModelErrorKind
from app.engine.core.observation import Observation

_LAST_BEFORE = 4
"""Steps shown of a resumed run."""
_QUOTED = 600
_THINKING = 1500
_SHORTEST_TREE = 400
"""Characters of a page below which no shorter context is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorInput:
    """The operator's input beside the page: next steps of the planner, the summary, and remarks on its answers."""

    next_steps: tuple[str, ...] = ()
    summary: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorAnswer:
    """A parsed answer and its raw text."""

    parsed: ParsedAnswer
    raw: str = ""
    reasoning: str = ""

    @property
    def action(self) -> Action | None:
        """The first action; ``None`` where none could be read after all attempts."""
        return self.parsed.action


class Operator:
    """The operator of one run."""

    def __init__(self, fence: Fence, options: LlmOptions, *, sees: bool = False) -> None:
        self._fence, self._options, self._sees = fence, options, sees
        self._tree, self._budget, self._most = options.tree, options.budget, options.answer
        self._shown: dict[str, Any] = {}
        self._context: LiveContext | None = None
        self._offered = options.offered
        self._open: tuple[int, str] | None = None
        self._pictured = options.pictures != "off"
        self._pictures: dict[str, bytes] = {}
        self._picture: MarkedPicture | None = None

    def without_pictures(self, observation: Observation) -> None:
        """Continue without pictures, and without words about them: the endpoint takes none."""
        self._pictured, self._picture = False, None
        self._pictures.clear()
        if self._context is not None:
            self._context.without_pictures(self._system(observation))

    def see(
        self,
        observation: Observation,
        *,
        caption: str = "",
        marks_hold: str = "",
        picture: MarkedPicture | None = None,
    ) -> None:
        """Add the last answer's results and the current page to the context.

        ``caption`` are the marks of a vision model; ``marks_hold`` says that those of an earlier step still hold.
        """
        context = self._context or self._begin(observation)
        self._take_in_results(context, observation)
        self._shown = {"caption": caption, "marks_hold": marks_hold, "picture": picture}
        self._picture = picture if self._pictured else None
        if self._picture is not None:
            self._pictures.pop(self._picture.digest, None)
            self._pictures[self._picture.digest] = self._picture.data
        context.add_observation(
            observation.step,
            fit_tree(observation.page, self._tree),
            state=render_location(observation, self._fence),
            url=observation.page.url,
            title=observation.page.title,
            picture=self._picture.part if self._picture is not None else None,
            holds=self._picture.holds if self._picture is not None else "",
            caption=caption,
            caption_holds=marks_hold,
        )
        shown = [name for name in self._pictures if name in context.pictures]
        self._pictures = {name: self._pictures[name] for name in shown[-self._options.keep.images :]}

    async def answer(
        self, usage: UsageTracker, observation: Observation, brief: OperatorInput
    ) -> OperatorAnswer:
        """Ask for the next actions on the page that was added last.

        Raises:
            ModelError: no answer came.
        """
        answer = OperatorAnswer(parsed=ParsedAnswer(why="there was no answer"))
        remarks = brief.remarks
        for _ in range(1 + self._options.re_asks):
            answer = await self._asked(usage, observation, replace(brief, remarks=remarks))
            if answer.action is not None:
                break
            wrong = "No action could be read from it; what is wrong with it stands there too."
            remarks = (*brief.remarks, self.remark(answer, wrong, answer.parsed.why))
        return answer

    def remark(self, answer: OperatorAnswer, why: str, report: str = "") -> str:
        """Return an objection to an answer for the next request; ``report`` and the answer may quote the page."""
        said = (answer.parsed.call or answer.raw[:_QUOTED])[:_QUOTED]
        quoted = "\n".join(part for part in (said or "(nothing)", report) if part)
        return f"{self._fence.around('your answer', quoted)}\n{why} Answer again."

    def settle(self, observation: Observation, answer: OperatorAnswer) -> None:
        """Accept an answer as this step's."""
        if self._context is None:
            return
        thinking = f"<think>\n{answer.parsed.reason[:_THINKING]}\n</think>" if answer.parsed.reason else ""
        said = answer.parsed.call or answer.raw[:_QUOTED]
        call = f"call-{observation.step}"
        self._context.add_answer(
            observation.step,
            f"<action>\n{said}\n</action>",
            thinking=thinking,
            call=call,
            reasoning=answer.reasoning,
        )
        self._open = (observation.step, call)

    def _system(self, observation: Observation) -> tuple[ChatMessage, ...]:
        """Return the messages that stay the same for the whole run; only what can work is offered."""
        barred = frozenset[str]() if observation.domains else calls_of(Navigate)
        if not self._sees:
            barred |= actions_in(ActionSet.VISION)
        if not self._pictured:
            barred |= calls_of(ClickAt)
        self._offered = self._options.offered - barred
        told = self._fence.prompt(
            "operator",
            self._offered | frozenset(["picture"] * self._pictured),
            actions=action_help(self._offered),
            most=str(self._options.batch),
        )
        return (system(told), user(self._task(observation)))

    def _begin(self, observation: Observation) -> LiveContext:
        self._context = LiveContext(
            self._system(observation),
            keep=self._options.keep,
            budget=self._budget,
            fence=self._fence.around,
        )
        return self._context

    def _task(self, observation: Observation) -> str:
        parts = [f"Task: {observation.intent}", f"It starts at {observation.start_url}."]
        if observation.clock is not None:
            parts.append(observation.clock.beginning)
        if observation.domains:
            known = "; ".join(f"{one.name} ({one.states} known pages)" for one in observation.domains)
            parts.append(f"Sites whose pages are known, for navigate: {known}.")
        if observation.history:
            parts.append(
                "The task was begun before. The last steps were:\n"
                + self._fence.around(
                    "results", render_history(observation.history[-_LAST_BEFORE:], self._fence)
                )
            )
        return "\n".join(parts)

    def _take_in_results(self, context: LiveContext, observation: Observation) -> None:
        """Add one result for one answer, however many of its actions were done."""
        if self._open is None:
            return
        step, call = self._open
        done = [turn for turn in observation.history if turn.step >= step]
        if not done:
            why = "the run was held" if observation.news else "the answer held no action"
            context.add_result(step, f"nothing was done: {why}", call=call)
        else:
            last = done[-1]
            lines = [render_turn(turn, self._fence) for turn in done]
            context.add_result(
                step,
                self._fence.around("results", "\n".join(lines)),
                call=call,
                failed=not last.result.success,
                cause=last.result.cause.value,
                target=self._fence.line(last.words, 120),
                url=last.url,
                state=last.state,
            )
        self._open = None

    async def _asked(
        self, usage: UsageTracker, observation: Observation, brief: OperatorInput
    ) -> OperatorAnswer:
        context = self._context or self._begin(observation)
        try:
            reply = await usage.ask(
                AgentRole.OPERATOR,
                context.prompt(*self._tail(observation, brief)),
                pictures=self._pictures or None,
                most=self._most,
                actions=self._offered,
            )
        except ModelError as error:
            if error.kind is ModelErrorKind.TOO_LONG and self._tree > _SHORTEST_TREE:
                self._shorten(error.context, observation)
                return await self._asked(usage, observation, brief)
            if error.kind is not ModelErrorKind.UNREADABLE:
                raise
            return OperatorAnswer(parsed=ParsedAnswer(why=str(error)))
        parsed = parse_answer(reply.text, self._offered, observation.page, most=self._options.batch)
        if parsed.why and reply.truncated:
            parsed = replace(parsed, why=f"{parsed.why} The answer was cut off; think in fewer words.")
        if not parsed.reason and reply.thinking:
            parsed = replace(parsed, reason=reply.thinking[:_THINKING])
        checked = self._checked(parsed, observation)
        return OperatorAnswer(parsed=checked, raw=reply.text, reasoning=reply.reasoning)

    def _shorten(self, context: int | None, observation: Observation) -> None:
        """Begin the context anew with less of the page; the last steps are told as those of a resumed run are."""
        tokens = context or self._tree // 4
        self._most = min(self._most, tokens // 5)
        self._tree = max(_SHORTEST_TREE, min(self._tree // 2, tokens))
        self._budget = min(self._budget, tokens // 2)
        self._context, self._open = None, None
        self.see(observation, **self._shown)

    def _checked(self, parsed: ParsedAnswer, observation: Observation) -> ParsedAnswer:
        """Reject what the parser can't know: an unknown domain, a point outside of the picture."""
        names = [domain.name for domain in observation.domains]
        for action in parsed.actions:
            if isinstance(action, Navigate) and action.domain not in names and len(names) > 1:
                why = f"navigate knows no domain {action.domain[:60]!r}; known are {', '.join(names)}."
                return replace(parsed, actions=(), why=why)
        if self._picture is None:
            return parsed
        try:
            return replace(parsed, actions=tuple(map(self._picture.on_page, parsed.actions)))
        except ValueError as error:
            return replace(parsed, actions=(), why=f"{error}.")

    def _tail(self, observation: Observation, brief: OperatorInput) -> Sequence[MessagePart]:
        """Return the parts that are new at every step, least important first."""
        fence = self._fence
        view = worker_view(
            observation.ledger, url=observation.page.url, state=observation.state, step=observation.step
        )
        caps = WORKER_CAPS if calls_of(ReadNotes) <= self._offered else UNREAD_CAPS
        memory = render_ledger(replace(view, goal="", recent=()), caps)
        hints = "\n".join(f"- {fence.line(hint, 300)}" for hint in brief.next_steps)
        texts = [
            fence.around("done so far", fence.line(brief.summary, 1400)) if brief.summary else "",
            render_answers(observation.answers, fence),
            f"The planner proposes:\n{hints}" if hints else "",
            f"Guidance: {fence.line(observation.guidance, 600)}" if observation.guidance else "",
            observation.clock.present if observation.clock is not None else "",
            _steps_left_text(observation),
            *brief.remarks,
        ]
        ledger = [MessagePart(kind=PartKind.LEDGER, text=fence.around("memory", memory))] if memory else []
        news = render_news(observation.news, fence)
        tips = tip_parts(observation.tips, fence, observation.procedures)
        return [*ledger, *_text_parts([news]), *tips, *_text_parts(texts)]


def _text_parts(texts: Sequence[str]) -> list[MessagePart]:
    return [MessagePart(kind=PartKind.TEXT, text=text) for text in texts if text]


def _steps_left_text(observation: Observation) -> str:
    if observation.steps_left <= 1:
        return "This is the last step. Stop now, with the best answer that what you saw allows."
    return f"Step {observation.step}; {observation.steps_left} steps are left. What is next?"
