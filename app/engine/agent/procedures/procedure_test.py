"""A tip's steps tried out in a browser that lets only reading through, each verified by its effect.

Rules, in order:
1. On a start that does not answer or shows a captcha nothing is tried: not reached.  A host that does not answer, a
   lost page, a log-in or a captcha at a later step is not reached either: it says nothing about the tip.
2. A step that the write gate refuses where nothing is asked for, or would only permit as a write, is not done: the
   test stops before it.  So it does before a form is sent by GET with a button that does not say it reads (nobody
   watches a test, and no guard tells such a write), and at a step whose write the guard held back, unless a link or an
   address led to another page.
3. A step is done when its effect was seen: another page or a change, the value in the field, the option chosen, the
   text in view.  A control that is missing or ambiguous, no effect, an error page: it broke.
4. A placeholder without a value gets one that the page shows plainly (``samples``), else its step is left out; what
   fails after a step that was left out is not reached.
5. What lies over a step's control is closed first, twice at most, where that only reads.
6. If no step was done yet and the start was only a guess, or shows a log-in or an error, a missing control is not
   reached.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from app.engine.agent.procedures.actions import StepAction, action_of
from app.engine.agent.procedures.covering import closing_action
from app.engine.agent.procedures.follower import TRIES, effect_seen
from app.engine.agent.procedures.progress import DONE_ALREADY, TipProgress
from app.engine.agent.procedures.samples import open_names, sample_values
from app.engine.agent.write_gate.action_risk import RiskAssessment
from app.engine.agent.write_gate.gate import WriteGate
from app.engine.agent.write_gate.query_forms import says_it_reads
from app.engine.api.tip_api import TestedStep
from app.engine.core.action_result import ActionResult, Cause, Effect
from app.engine.core.actions.types import Action, Goto, Press, Select, TypeText
from app.engine.core.element_identity import same_element
from app.engine.core.observation import Observation
from app.engine.core.page_state import Element, PageCapture
from app.errors import SiteloreError
from kb.evidence import TestOutcome
from kb.procedure import Procedure, ProcedureStep, StepKind

LOOKS_WHILE_WAITING = 6
"""Looks, a second apart, for a text that a step waits for."""

MOST_CLOSED = 2
"""Times that something which lies over a control is closed in one test."""

_UNREACHED = frozenset(
    {Cause.NETWORK, Cause.TIMEOUT, Cause.PAGE_LOST, Cause.CHALLENGE, Cause.LOGIN, Cause.OFF_SITE}
)
_NO_START = _UNREACHED - {Cause.LOGIN}

Tell = Callable[[int, int, str], None]
"""Takes the number of steps tried so far, how many there are, and the step in hand in words."""


class ReadingExecutor(Protocol):
    """Looks at a page and acts on it, while nothing but reading leaves the browser."""

    async def look(self, *, picture: bool = True) -> PageCapture:
        """Capture the page in front."""
        ...

    async def do(self, action: Action) -> ActionResult:
        """Perform one action; only reading leaves the browser."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcedureTestResult:
    """The end of a test; ``step`` is the number of the step that decided it."""

    outcome: TestOutcome
    step: int
    message: str
    steps: tuple[TestedStep, ...]
    seconds: float


@dataclass(slots=True)
class ProcedureTest:
    """One test of a procedure.

    Attributes:
        values: values of its placeholders; samples are added.
        sure: the start is the tip's own page, and no guess.
        stop: whether a person wants it to end.
    """

    executor: ReadingExecutor
    procedure: Procedure
    values: dict[str, str] = field(default_factory=dict[str, str])
    sure: bool = True
    tell: Tell = lambda number, total, line: None
    stop: Callable[[], bool] = lambda: False
    _tried: list[TestedStep] = field(default_factory=list[TestedStep])
    _left_out: str = ""
    _done: bool = False
    _blocked: str = ""
    _closed: int = 0
    _began: float = 0.0

    async def run(self, start: str) -> ProcedureTestResult | None:
        """Open the start page and do the steps; return ``None`` if it was stopped by a person."""
        self._began = time.monotonic()
        try:
            return await self._run(start)
        except SiteloreError as error:  # there is no page to look at any more
            return self._ended(TestOutcome.NOT_REACHED, len(self._tried), f"a page was not reached: {error}")

    async def _run(self, start: str) -> ProcedureTestResult | None:
        await self.executor.look(picture=False)
        opened = await self.executor.do(Goto(start))
        if opened.cause in _NO_START:
            return self._ended(TestOutcome.NOT_REACHED, 0, f"{start} was not reached: {opened.why}")
        self._blocked = "" if opened.success else opened.why
        page = await self.executor.look(picture=False)
        progress = TipProgress(self.procedure, self.values, samples=True)
        if self._blocked and opened.cause is Cause.ERROR_PAGE and _opens(progress.step, page, self.values):
            return self._failed(1, progress.step, self._blocked, tried=True)
        while not progress.over:
            if self.stop():
                return None
            ended, page = await self._next(progress, page)
            if ended is not None:
                return ended
        return self._finished()

    async def _next(
        self, progress: TipProgress, page: PageCapture
    ) -> tuple[ProcedureTestResult | None, PageCapture]:
        """Try the step that is due; return the end of the test, if it is one, and the page after it."""
        self._sample(progress, page)
        found = progress.due(page, self._passed)
        step, number = progress.step, progress.number
        if found.done:
            return None, page
        if step is None or found.action is None:
            if not (names := self._missing_values(progress)):
                return self._failed(number, step, found.why), page
            self._note(number, step, "left out", f"no value for {names}")
            self._left_out = self._left_out or f"step {number} was left out, as there is no value for {names}"
            progress.leave_out()
            return None, page
        self.tell(number - 1, len(self.procedure.steps), self._line(step))
        if why := why_it_writes(found.action, page):
            return self._stopped(number, step, why), page
        return await self._do(progress, step, found, found.action, page)

    async def _do(
        self, progress: TipProgress, step: ProcedureStep, found: StepAction, action: Action, page: PageCapture
    ) -> tuple[ProcedureTestResult | None, PageCapture]:
        number = progress.number
        result = await self.executor.do(action)
        after = await self.executor.look(picture=False)
        if step.kind is StepKind.WAIT:
            progress.tries += 1
            late = progress.tries >= LOOKS_WHILE_WAITING
            return (self._failed(number, step, "it did not appear") if late else None), after
        if result.cause in _UNREACHED:
            self._note(number, step, "not done", result.why)
            return self._ended(
                TestOutcome.NOT_REACHED, number, f"step {number} was not reached: {result.why}"
            ), after
        if result.cause is Cause.COVERED and await self._uncover(after):
            return None, await self.executor.look(picture=False)
        if result.blocked_writes and not _led_on(action, found.element, result):
            return self._stopped(number, step, f"it tried to send {result.blocked_writes[-1]}"), after
        if why := why_not_seen(step.filled(self.values), action, found.element, page, after, result):
            return self._failed(number, step, why, tried=True), after
        if found.opens and progress.tries < TRIES:
            progress.tries += 1
            return None, after
        if found.opens:
            return self._failed(number, step, "it opens, and the option is not in it", tried=True), after
        self._done = True
        self._note(number, step, "done", seconds=result.seconds)
        progress.advance()
        return None, after

    async def _uncover(self, page: PageCapture) -> bool:
        """Close what lies over a control; return whether that was tried (rule 5)."""
        action = closing_action(page)
        if self._closed >= MOST_CLOSED or why_it_writes(action, page):
            return False
        self._closed += 1
        await self.executor.do(action)
        return True

    def _sample(self, progress: TipProgress, page: PageCapture) -> None:
        """Take values that the page shows for the step in hand."""
        for step in progress.candidates:
            if open_names(step, self.values):
                self.values.update(sample_values(step, page, self.values))

    def _missing_values(self, progress: TipProgress) -> str:
        names = (name for step in progress.candidates for name in open_names(step, self.values))
        return ", ".join(dict.fromkeys(names))

    # results

    def _failed(
        self, number: int, step: ProcedureStep | None, why: str, *, tried: bool = False
    ) -> ProcedureTestResult:
        self._note(number, step, "not done", why)
        line = f" ({self._line(step)})" if step is not None else ""
        if self._left_out:
            return self._ended(
                TestOutcome.NOT_REACHED, number, f"step {number}{line} can't be judged: {self._left_out}"
            )
        if not self._done and not tried and (self._blocked or not self.sure):
            reason = self._blocked or f"{why}; give the page it begins on"
            return self._ended(TestOutcome.NOT_REACHED, number, f"the tip's page was not reached: {reason}")
        return self._ended(TestOutcome.BROKE, number, f"it broke at step {number}{line}: {why}")

    def _stopped(self, number: int, step: ProcedureStep, why: str) -> ProcedureTestResult:
        self._note(number, step, "would write", why)
        return self._ended(
            TestOutcome.STOPPED, number, f"stopped before step {number} ({self._line(step)}): {why}"
        )

    def _finished(self) -> ProcedureTestResult:
        total = len(self.procedure.steps)
        if not self._done:
            why = self._left_out or "no step could be tried"
            return self._ended(TestOutcome.NOT_REACHED, 0, f"nothing was tested: {why}")
        more = f"; {self._left_out}" if self._left_out else ""
        last = max((one.number for one in self._tried), default=total)
        words = "the step" if total == 1 else f"{total} steps"
        return self._ended(TestOutcome.HOLDS, last, f"it holds: {words}{more}")

    def _ended(self, outcome: TestOutcome, step: int, message: str) -> ProcedureTestResult:
        return ProcedureTestResult(
            outcome=outcome,
            step=step,
            message=message,
            steps=tuple(self._tried),
            seconds=round(time.monotonic() - self._began, 1),
        )

    def _passed(self, number: int, why: str) -> None:
        self._done = self._done or why == DONE_ALREADY
        step = self.procedure.steps[number - 1] if number <= len(self.procedure.steps) else None
        seen = step is not None and step.kind is StepKind.READ and why == DONE_ALREADY
        self._note(number, step, "done" if seen else "passed over", "" if seen else why)

    def _note(
        self, number: int, step: ProcedureStep | None, outcome: str, note: str = "", seconds: float = 0.0
    ) -> None:
        line = self._line(step) if step is not None else ""
        self._tried.append(
            TestedStep(number=number, line=line, outcome=outcome, note=note, seconds=round(seconds, 1))
        )

    def _line(self, step: ProcedureStep) -> str:
        return str(step.filled(self.values))


def why_it_writes(action: Action, page: PageCapture) -> str:
    """Return why an action would change something; "" for one that only reads (rule 2)."""
    asked_for_nothing = Observation(step=0, steps_left=1, intent="", start_url=page.url, page=page)
    decision = WriteGate().judge(action, asked_for_nothing)
    if decision.allowed and decision.permit is None:
        return _why_it_may_store(action, decision.assessment, page)
    return decision.assessment.why or decision.why


def _why_it_may_store(action: Action, about: RiskAssessment, page: PageCapture) -> str:
    """Return why sending a query form may store something: its button does not say that it only reads."""
    sender = next((one for one in page.elements if one.index == about.element), None)
    if sender is None or not sender.form:
        return ""
    by_enter = isinstance(action, Press) or (isinstance(action, TypeText) and action.enter)
    if not (sender.submits or (by_enter and sender.type != "search")) or says_it_reads(sender, page):
        return ""
    return f"it sends the form {sender.form.partition(':')[2]}, and no word of its button says that it only reads"


def why_not_seen(
    step: ProcedureStep,
    action: Action,
    element: Element | None,
    page: PageCapture,
    after: PageCapture,
    result: ActionResult,
) -> str:
    """Return why the effect of a step was not seen; "" if it was (rule 3)."""
    if not result.success:
        return result.why or "it had no visible effect"
    if (
        isinstance(action, TypeText | Select)
        and element is not None
        and result.effect is not Effect.NAVIGATED
    ):
        number = same_element(element, page, after)
        if number is not None:
            wanted = step.value if isinstance(action, TypeText) else action.options[0]
            held = after.elements[number].value
            return "" if _same_value(held, wanted) else f'"{held[:60]}" is in the field now'
    return "" if effect_seen(action, result) else result.why or "it had no visible effect"


def _opens(step: ProcedureStep | None, page: PageCapture, values: Mapping[str, str]) -> bool:
    """Whether a step is to open the page in front."""
    return step is not None and step.kind is StepKind.OPEN and action_of(step, page, values).done


def _same_value(held: str, wanted: str) -> bool:
    """Whether a field holds a text, however it writes numbers; a long text may be captured in part."""
    a, b = ("".join(char for char in text.casefold() if char.isalnum()) for text in (held, wanted))
    return a == b or (len(a) >= 60 and b.startswith(a))


def _led_on(action: Action, element: Element | None, result: ActionResult) -> bool:
    """Whether an address or a link led to another page, which then counts its visitors."""
    by_link = isinstance(action, Goto) or (element is not None and bool(element.href))
    return result.success and result.effect is Effect.NAVIGATED and by_link


def filled_values(given: Mapping[str, str]) -> dict[str, str]:
    """Return a person's values by placeholder: names as placeholders are written, empty values left out."""
    named = {"_".join(name.casefold().strip("{} ").split()): text.strip() for name, text in given.items()}
    return {name: text for name, text in named.items() if name and text}
