"""Errors of actions: not done at all, unreadable output, an element covered by another."""

from __future__ import annotations

import re
from collections.abc import Iterable

from app.engine.core.action_result import Cause
from app.engine.core.text import first_line, quoted
from app.engine.core.trajectory import ErrorClass, Step
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.base import (
    SINCE,
    Detector,
    Prior,
    action_text,
    is_worth_flagging,
)

_COVERED = "intercepts pointer events"
_COVERED_BY = " is covered by "
"""Playwright's words for an element that another one covers."""
_OVER = re.compile(
    r"(?P<over><[^<>\n]{1,300}>)(?:[^<>\n]*</\w+>)?"
    r"(?: from (?P<outer><[^<>\n]{1,300}>)(?:[^<>\n]*</\w+>)? subtree)? intercepts pointer events"
)


class HardErrors(Detector):
    name = "hard-errors"
    severity = Severity.HINT
    summary = "Three or more actions failed and were not done."
    prior = Prior(0.35, often=0.1, at_end=0.1)
    FIRST = 3

    def see(self, step: Step) -> Iterable[Flag]:
        if step.error_class is not ErrorClass.HARD:
            return
        self.count(step.index)
        if is_worth_flagging(self.times, self.FIRST):
            why = first_line(step.error)
            yield self.flag(
                step.index,
                min(0.75, 0.52 + 0.02 * self.times),
                f"{self.times} actions failed so far, the last one: {action_text(step)} ({quoted(why, 120)})",
                {"times": self.times, SINCE: self.since, "error": why[:300]},
            )


class UnreadableOutput(Detector):
    name = "unreadable-output"
    severity = Severity.HINT
    summary = "The agent's output held no action that could be read (a fault of the harness or the model)."
    prior = Prior(0.3, often=0.2, at_end=0.2)

    def see(self, step: Step) -> Iterable[Flag]:
        if step.error_class is not ErrorClass.HARNESS and (step.action is not None or not step.raw_output):
            return  # an output that nobody recorded is not an unreadable one
        self.count(step.index)
        if is_worth_flagging(self.times, 1):
            why = first_line(step.error) or "no action in it"
            yield self.flag(
                step.index,
                min(0.8, 0.45 + 0.1 * self.times),
                f"The agent's output could not be read{self.again}: {quoted(why, 120)}",
                {"times": self.times, SINCE: self.since, "error": why[:300]},
                Severity.WARNING if self.times > 1 else None,
            )


class CoveredElement(Detector):
    name = "covered-element"
    severity = Severity.WARNING
    summary = "The element could not be reached because another element covers it."
    prior = Prior(0.1, often=0.3, at_end=0.3)

    def see(self, step: Step) -> Iterable[Flag]:
        at = step.error.rfind(_COVERED) if step.error_class is ErrorClass.HARD else -1
        if at == -1 and step.cause != Cause.COVERED:
            return
        self.count(step.index)
        if not is_worth_flagging(self.times, 1):
            return
        over = _over(step, at)
        open_now = f"; open on the page: {quoted(step.notices[0])}" if step.notices else ""
        yield self.flag(
            step.index,
            min(0.8, 0.5 + 0.1 * self.times),
            f"Could not {action_text(step)}: {_shown(over)} covers it{self.again}{open_now}",
            {"times": self.times, SINCE: self.since, "over": over[:300]},
        )


def _over(step: Step, at: int) -> str:
    """Return what covers the element: from Playwright's message that ends at ``at``, or from our executor's."""
    found = _OVER.search(step.error, max(0, at - 1500), at + len(_COVERED)) if at != -1 else None
    if found:
        return found.group("outer") or found.group("over")
    return first_line(step.error).partition(_COVERED_BY)[2] or "another element"


def _shown(tag: str) -> str:
    """Return a tag with only what can be found on the page: its id, class, role or label."""
    name = re.match(r"<([\w-]+)", tag)
    if name is None:
        return tag
    kept = re.findall(r'\b(?:id|class|role|aria-label)="[^"]*"', tag)[:2]
    return f"<{' '.join([name.group(1), *kept])}>"
