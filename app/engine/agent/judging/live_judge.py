"""A model's opinion of a run while it goes on: one question at a time, beside the agent's thinking, within a budget.

``when_to_ask`` has the rule.  A question about a step waits for the page after it; while one is open, one more may
wait, the most telling or the newest.  A judge that does not answer is no fault of the run: the question counts, its
verdict is undecided, and after an error that will recur nothing more is asked.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.engine.agent.judging.judge import JudgeOptions, LoadBlob, RunJudge
from app.engine.agent.judging.model_verdicts import undecided
from app.engine.agent.judging.when_to_ask import (
    AskedSoFar,
    AskReason,
    JudgeLimits,
    is_claim,
    is_within,
    question_key,
    when_to_ask,
)
from app.engine.agent.llm.prompting import Fence
from app.engine.core.model_api import LanguageModel, ModelError, ModelErrorKind
from app.engine.core.trajectory import BY_PERSON, Run, Step
from app.engine.core.verdicts import Flag, ModelVerdict, Opinion
from app.engine.detectors.base import OFF_PAGE_ACTIONS, DetectorInfo
from app.engine.detectors.vlm import RunOutcome, StepConsistency, flags_of
from app.errors import StoreError

log = logging.getLogger(__name__)

KeepOpinion = Callable[[Opinion], Awaitable[object]]
Hold = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
PageAfter = Callable[[], tuple[Step, dict[str, bytes]]]
"""Makes the page after a step in the form that is stored, with the contents it names."""

PATIENCE = 30.0
"""Seconds for one question, retries included."""
MAX_FAILURES = 3
"""Questions in a row without an answer after which none is asked any more."""

_RECURS = frozenset(
    {
        ModelErrorKind.UNREACHABLE,
        ModelErrorKind.UNAUTHORISED,
        ModelErrorKind.NO_MODEL,
        ModelErrorKind.BUDGET,
    }
)
"""Errors that the next question would meet, too."""


@dataclass(frozen=True, slots=True)
class _StepQuestion:
    step: Step
    reason: AskReason
    after: PageAfter


class LiveJudge:
    """Asks a model about one run while it goes on.

    Args:
        steps: the run's record, which grows by itself.
        load: reads the contents of recorded steps.
        keep: stores an opinion; each replaces the one before.
        hold: starts background work.
        known: the opinion of this run so far, where it is resumed: its questions count.
        patience: seconds for one question.
    """

    def __init__(
        self,
        run: Run,
        steps: Sequence[Step],
        model: LanguageModel,
        *,
        load: LoadBlob,
        keep: KeepOpinion,
        hold: Hold,
        limits: JudgeLimits | None = None,
        known: Opinion | None = None,
        fence: Fence | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self._run, self._steps, self._load, self._keep = run, steps, load, keep
        self._hold, self._patience = hold, patience
        self._limits = limits or JudgeLimits()
        # The run goes on, so an opinion of its end is out of date.
        self._opinion = replace(known, outcome=None) if known is not None else Opinion(run=run.id)
        self._is_stored = known is None or known.outcome is None
        self._pages: dict[str, bytes] = {}
        self._judge = RunJudge(run, steps, self._content, model, JudgeOptions(), fence or Fence())
        self._earlier_calls = self._opinion.calls
        self._asked = _asked_before(self._opinion, steps)
        self._due: tuple[Step, AskReason] | None = None
        self._waiting: _StepQuestion | None = None
        self._task: asyncio.Task[None] | None = None
        self._flags: list[Flag] = []
        self._failures, self._is_over = 0, False
        self._trouble, self._told = "", False
        self._billed: tuple[int, tuple[int, int]] = (0, (0, 0))

    # called by the loop

    def on_step(self, step: Step, flags: Sequence[Flag]) -> None:
        """A step was recorded, with these flags of the rules; decide whether to ask about it."""
        if not (is_claim(step) and step.executed) and self._opinion.outcome is not None:
            self._opinion, self._is_stored = replace(self._opinion, outcome=None), False  # it was no end
        reason = when_to_ask(step, flags, self._asked, self._limits) if not self._is_over else None
        self._due = (step, reason) if reason is not None and reason is not AskReason.CLAIM else None
        self._asked = replace(self._asked, acted=last_acted(step, self._asked.acted))

    def wants_page(self, number: int) -> bool:
        """Whether the page before step ``number`` is needed for a question about the step before it."""
        return self._due is not None and self._due[0].index == number - 1

    def on_page(self, after: PageAfter) -> None:
        """The page after the step in question came; ask in the background."""
        if self._due is None:
            return
        question, self._due = _StepQuestion(*self._due, after), None
        if (
            self._waiting is None
            or question.reason is AskReason.UNSEEN
            or self._waiting.reason is not AskReason.UNSEEN
        ):
            self._waiting = question
        if self._task is None or self._task.done():
            self._task = self._hold(self._work())

    async def settle(self) -> None:
        """Wait for the questions that were begun."""
        if self._task is not None:
            await asyncio.wait([self._task])  # which leaves it alone where the waiting is cancelled

    async def ask_about_claim(self, claim: Step, ended: Run, pages: dict[str, bytes]) -> None:
        """Ask whether the goal was met, before a run ends as ``ended`` by the action of ``claim``.

        ``pages`` are the contents that its last page names.
        """
        await self.settle()
        if self._is_over or when_to_ask(claim, (), self._asked, self._limits) is None:
            return
        self._begin(question_key(claim, self._asked.acted))
        self._judge.run, self._judge.steps, self._pages = ended, tuple(self._steps), pages
        verdict = await self._answer(self._judge.about_outcome(), RunOutcome, max(0, claim.index - 1))
        self._opinion = replace(self._opinion, outcome=verdict)
        await self._take(verdict)

    def take_flags(self) -> list[Flag]:
        """Return the flags since the last call."""
        flags, self._flags = self._flags, []
        return flags

    def take_usage(self) -> tuple[tuple[str, ...], tuple[int, int]]:
        """Return the exchanges since the last call, and their tokens in and out."""
        calls, tokens = self._judge.calls, self._judge.tokens
        seen, spent = self._billed
        self._billed = len(calls), tokens
        return tuple(calls[seen:]), (tokens[0] - spent[0], tokens[1] - spent[1])

    def take_trouble(self) -> str:
        """Return why the judge is silent, once a run; "" where it is not, or that was told."""
        if self._told or not self._trouble:
            return ""
        self._told = True
        return self._trouble

    async def close(self, *, wait: bool = True) -> None:
        """Wait for the last question, or give it up, and store the opinion as it is."""
        if not wait:
            self.cancel()
        await self.settle()
        if not self._is_stored:
            await self._store()

    def cancel(self) -> None:
        """Give up the open question."""
        self._waiting = None
        if self._task is not None:
            self._task.cancel()

    # internals

    async def _work(self) -> None:
        while self._waiting is not None:
            question, self._waiting = self._waiting, None
            if self._is_over or not is_within(question.reason, self._asked.calls, self._limits):
                continue
            self._begin(question_key(question.step), question.step.index)
            after, blobs = question.after()
            self._pages = blobs
            about = self._judge.about_step(question.step, after)
            verdict = await self._answer(about, StepConsistency, question.step.index)
            kept = [one for one in self._opinion.steps if one.step != verdict.step]
            steps = tuple(sorted((*kept, verdict), key=lambda one: one.step))
            self._opinion = replace(self._opinion, steps=steps)
            await self._take(verdict)

    def _begin(self, key: str, step: int | None = None) -> None:
        asked = self._asked
        self._asked = replace(
            asked,
            calls=asked.calls + 1,
            keys=asked.keys | {key},
            last=asked.last if step is None else step,
        )

    async def _answer(
        self, question: Awaitable[ModelVerdict], detector: type[DetectorInfo], step: int
    ) -> ModelVerdict:
        try:
            async with asyncio.timeout(self._patience):
                verdict = await question
        except TimeoutError:
            verdict = undecided(detector, step, f"the model gave no answer within {self._patience:g} s")
        except ModelError as error:
            self._is_over = error.kind in _RECURS
            verdict = undecided(detector, step, str(error))
        self._failures = self._failures + 1 if verdict.note else 0
        self._is_over = self._is_over or self._judge.spent or self._failures >= MAX_FAILURES
        self._trouble = self._trouble or verdict.note
        return replace(verdict, live=True)

    async def _take(self, verdict: ModelVerdict) -> None:
        self._opinion = replace(
            self._opinion,
            model=self._judge.name or self._opinion.model,
            at=time.time(),
            calls=(*self._earlier_calls, *self._judge.calls),
            asked=self._asked.calls,
        )
        by_step = verdict.detector == StepConsistency.name
        said = replace(
            self._opinion, steps=(verdict,) if by_step else (), outcome=None if by_step else verdict
        )
        self._flags += flags_of(said)
        await self._store()

    async def _store(self) -> None:
        try:
            await self._keep(self._opinion)
            self._is_stored = True
        except StoreError as error:
            log.warning("the opinion of run %s could not be stored: %s", self._run.id, error)

    async def _content(self, digest: str) -> bytes:
        return self._pages[digest] if digest in self._pages else await self._load(digest)


def last_acted(step: Step, before: int) -> int:
    """Return the last step that did something on a page."""
    kind = step.action.kind if step.action is not None else ""
    off_page = step.by != BY_PERSON and (not kind or not step.executed or kind in OFF_PAGE_ACTIONS)
    return before if off_page or is_claim(step) else step.index


def _asked_before(opinion: Opinion, steps: Sequence[Step]) -> AskedSoFar:
    """Return the questions of a resumed run so far, by its opinion and its steps."""
    acted = -1
    for step in steps:
        acted = last_acted(step, acted)
    known = {verdict.step for verdict in opinion.steps if verdict.live}
    return AskedSoFar(
        calls=opinion.asked,
        last=max(known, default=-1),
        keys=frozenset(question_key(step) for step in steps if step.index in known),
        acted=acted,
    )
