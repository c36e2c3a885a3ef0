"""A model's opinion of a run: its outcome first, then step by step."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from app.engine.agent.judging.model_verdicts import (
    OUTCOME_SCHEMA,
    STEP_SCHEMA,
    outcome_verdict,
    step_verdict,
    undecided,
)
from app.engine.agent.judging.questions import can_be_judged, judged_pictures, outcome_question, step_question
from app.engine.agent.llm.prompting import Fence
from app.engine.api.page_diff import step_view
from app.engine.core.chat_messages import ChatMessage
from app.engine.core.model_api import AgentRole, LanguageModel, ModelError, ModelErrorKind, ModelReply
from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.core.verdicts import ModelVerdict, Opinion
from app.engine.detectors.vlm import RunOutcome, StepConsistency, is_settled
from app.engine.graph.task_group import run_all
from app.errors import SiteloreError

LoadBlob = Callable[[str], Awaitable[bytes]]
"""Return content by digest; raises a ``SiteloreError`` where it is gone."""
JudgeProgress = Callable[[int, int], None]

MAX_PICTURE_BYTES = 6_000_000
"""Maximum bytes of a picture that is sent."""
MAX_REPLY_TOKENS = 700

_TRANSIENT = frozenset({ModelErrorKind.UNREADABLE, ModelErrorKind.TIMEOUT, ModelErrorKind.REFUSED})
"""Errors of one question, which need not recur with the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """Questions to ask.

    Attributes:
        outcome: whether the goal was met.  steps: number of steps at most, the last ones first; 0 for none.
        pictures: show them, where there are any.
        at_once: concurrent questions.
    """

    outcome: bool = True
    steps: int = 40
    pictures: bool = True
    at_once: int = 4


async def judge_run(
    run: Run,
    steps: Sequence[Step],
    load: LoadBlob,
    model: LanguageModel,
    *,
    progress: JudgeProgress | None = None,
    options: JudgeOptions | None = None,
    fence: Fence | None = None,
    known: Opinion | None = None,
) -> Opinion:
    """Ask a model about a run; ``detectors.vlm.flags_of`` makes flags of the answer.

    What was decided while the run went on (``known``) is kept and not asked again.  No answer is an error: one that
    can't be read, or that did not come in time, leaves a question undecided.  When the budget is used up the remaining
    questions stay undecided too.

    Raises:
        ModelError: the endpoint is gone, refuses the key, or refuses every question.
    """
    asking = RunJudge(run, steps, load, model, options or JudgeOptions(), fence or Fence())
    return await asking.all(progress or (lambda done, total: None), known or Opinion(run=run.id))


@dataclass(slots=True)
class RunJudge:
    """The questions about one run.

    Attributes:
        calls: content hashes of the exchanges.  tokens: of all answers, in and out.
        spent: the budget of the model is used up.
    """

    run: Run
    steps: Sequence[Step]
    load: LoadBlob
    model: LanguageModel
    options: JudgeOptions
    fence: Fence
    answered: int = 0
    spent: bool = False
    name: str = ""
    calls: list[str] = field(default_factory=list[str])
    tokens: tuple[int, int] = (0, 0)
    refusal: ModelError | None = None

    async def all(self, progress: JudgeProgress, known: Opinion) -> Opinion:
        """Ask everything that is not known yet.  Raises as ``judge_run``."""
        kept = {one.step: one for one in known.steps if is_settled(one)}
        settled = known.outcome if known.outcome is not None and is_settled(known.outcome) else None
        pairs = [(step, after) for step, after in self._pairs() if step.index not in kept]
        asks_outcome = self.options.outcome and self.run.outcome is not Outcome.RUNNING and settled is None
        total = len(pairs) + asks_outcome
        outcome = settled
        verdicts: dict[int, ModelVerdict] = {}
        done = 0
        progress(0, total)
        if asks_outcome:
            outcome = await self.about_outcome()
            progress(done := 1, total)
        gate = asyncio.Semaphore(self.options.at_once)

        async def one(step: Step, after: Step) -> None:
            nonlocal done
            async with gate:
                verdicts[step.index] = await self.about_step(step, after)
            progress(done := done + 1, total)

        await run_all(one(step, after) for step, after in pairs)
        if self.refusal is not None and not self.answered:
            raise self.refusal
        found = {**kept, **verdicts}
        live = bool(kept) or settled is not None
        return Opinion(
            run=self.run.id,
            model=self.name or known.model,
            at=time.time(),
            outcome=outcome,
            steps=tuple(found[index] for index in sorted(found)),
            calls=(*(known.calls if live else ()), *self.calls),
            asked=known.asked if live else 0,
        )

    def _pairs(self) -> list[tuple[Step, Step]]:
        """Return the steps that can be judged, each with the page after it."""
        pages = [*self.steps, *([self.run.final] if self.run.final is not None else [])]
        pairs = [
            (step, after) for step, after in zip(self.steps, pages[1:], strict=False) if can_be_judged(step)
        ]
        return pairs[-self.options.steps :] if self.options.steps else []

    async def about_outcome(self) -> ModelVerdict:
        """Ask whether the goal was met.  Raises as ``judge_run``."""
        page = self.run.final or (self.steps[-1] if self.steps else None)
        text = (await self._content(page.tree)).decode("utf-8", "replace") if page is not None else ""
        pictures = await self._pictures(judged_pictures(self.run, self.steps))
        messages = outcome_question(self.run, self.steps, text, pictures, self.fence)
        last = max(0, len(self.steps) - 1)
        reply = await self._ask(messages, OUTCOME_SCHEMA, pictures)
        if isinstance(reply, ModelReply):
            return outcome_verdict(reply, last, pictures=bool(pictures))
        return undecided(RunOutcome, last, reply)

    async def about_step(self, step: Step, after: Step) -> ModelVerdict:
        """Ask whether a step did what it was for; ``after`` has the page after it.  Raises as ``judge_run``."""
        trees = {digest: await self._content(digest) for digest in {step.tree, after.tree} if digest}
        # Comparing two long pages takes a tenth of a second: do it off the event loop.
        view = await asyncio.to_thread(step_view, self.run.id, step, after, trees.__getitem__)
        pictures = await self._pictures([view.before.screenshot, view.after.screenshot])
        messages = step_question(self.run, step, view, pictures, self.fence)
        reply = await self._ask(messages, STEP_SCHEMA, pictures)
        if isinstance(reply, ModelReply):
            return step_verdict(reply, step.index, pictures=bool(pictures))
        return undecided(StepConsistency, step.index, reply)

    async def _ask(
        self, messages: Sequence[ChatMessage], schema: dict[str, object], pictures: dict[str, bytes]
    ) -> ModelReply | str:
        """Return the reply, or the reason why there is none."""
        if self.spent:
            return "the budget was used up"
        try:
            reply = await self.model.ask(
                AgentRole.JUDGE, messages, schema=schema, pictures=pictures, most=MAX_REPLY_TOKENS
            )
        except ModelError as error:
            if error.kind is ModelErrorKind.BUDGET:
                self.spent = True
            elif error.kind not in _TRANSIENT:
                raise
            if not self.answered and self.refusal is not None:
                raise  # refused twice without any answer: not the question's fault
            self.refusal = error
            return str(error)
        self.answered += 1
        self.name = self.name or reply.model
        self.tokens = (self.tokens[0] + reply.tokens[0], self.tokens[1] + reply.tokens[1])
        if reply.digest:
            self.calls.append(reply.digest)
        return reply

    async def _pictures(self, digests: Sequence[str]) -> dict[str, bytes]:
        if not self.options.pictures:
            return {}
        found = {digest: await self._content(digest) for digest in digests if digest}
        return {digest: data for digest, data in found.items() if 0 < len(data) <= MAX_PICTURE_BYTES}

    async def _content(self, digest: str) -> bytes:
        """Return a content, empty where it is gone."""
        try:
            return await self.load(digest) if digest else b""
        except SiteloreError:
            return b""
