"""The rule that says whether a model is asked about a step of a run in progress.

A question is asked only where it can say more than the rules have said, and never twice.  In this order:

    1. the questions of the run are used up: no
    2. a person did the step: no
    3. the run claims to be done (or that it can't be): ask whether the goal was met, unless nothing was done on a page
       since the last claim
    4. the action was not done, or is not one on a page (a note, a sum, a hint): no
    5. a rule raised a warning or an error at the step: no; a hint says too little to count
    6. the same action on the same page was asked about before: no
    7. the agent expects an effect and the browser saw none: ask
    8. ``every`` steps went by without a question: ask
    9. the agent expects an effect: ask

What may use up the questions: claims all of them, 7 and 8 all but the one kept for a claim, 9 only the first half, so
that a long run whose every click has an expectation is still looked at near its end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from app.engine.agent.judging.questions import can_be_judged
from app.engine.core.action_result import Effect
from app.engine.core.trajectory import BY_PERSON, Step
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.base import FINAL_ACTIONS, action_key


class AskReason(StrEnum):
    """Why a model is asked."""

    CLAIM = "claim"
    UNSEEN = "unseen effect"
    INTERVAL = "interval"
    EFFECT = "expected effect"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeLimits:
    """Limits of a run's live judge: questions at most, and steps without one (0: no limit)."""

    calls: int = 12
    every: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSoFar:
    """Questions of a run so far.

    Attributes:
        calls: their number.  last: step of the last question about a step, -1 before the first.
        keys: what they were about (``question_key``).
        acted: the last step that did something on a page, -1 before the first.
    """

    calls: int = 0
    last: int = -1
    keys: frozenset[str] = field(default_factory=frozenset[str])
    acted: int = -1


_NO_EFFECTS = frozenset({"hover", "scroll", "noop", "select_text", "tab_focus", "mouse_move", "focus"})
"""Actions that look, wait or point: whatever is expected of them, the page need not change."""
_EXPECTS_NOTHING = re.compile(
    r"\b(?:nothing|no (?:visible )?(?:change|effect)|unchanged|stays? the same)\b", re.I
)
_SEEN = frozenset({"", Effect.NAVIGATED.value, Effect.CHANGED.value})
"""Effects that were seen; "" where the effect was not recorded."""


def when_to_ask(
    step: Step, flags: Sequence[Flag], asked: AskedSoFar, limits: JudgeLimits
) -> AskReason | None:
    """Return why to ask about a step, ``None`` for no question; ``flags`` are those that rules raised at it."""
    reason = _reason(step, flags, asked, limits)
    if reason is None or question_key(step, asked.acted) in asked.keys:
        return None
    return reason if is_within(reason, asked.calls, limits) else None


def is_within(reason: AskReason, calls: int, limits: JudgeLimits) -> bool:
    """Whether a question for this reason may be the next after ``calls`` of them."""
    if reason is AskReason.CLAIM:
        kept = 0
    elif reason is AskReason.EFFECT:
        kept = max(1, limits.calls // 2)
    else:
        kept = 1
    return calls < limits.calls - kept


def question_key(step: Step, acted: int = -1) -> str:
    """Return what a question about a step is about: this action on this page; for a claim the last action before it."""
    if is_claim(step):
        return f"claim after {acted}"
    action = action_key(step.action, step.target) if step.action is not None else ()
    return f"{step.state or step.url} {action}"


def is_claim(step: Step) -> bool:
    """Whether the step says that the run is done, or can't be."""
    return step.action is not None and step.action.kind in FINAL_ACTIONS


def expects_effect(step: Step) -> bool:
    """Whether the agent said that this action would change something."""
    kind = step.action.kind if step.action is not None else ""
    expected = step.summary or step.reason
    return kind not in _NO_EFFECTS and bool(expected.strip()) and not _EXPECTS_NOTHING.search(step.summary)


def _reason(step: Step, flags: Sequence[Flag], asked: AskedSoFar, limits: JudgeLimits) -> AskReason | None:
    if step.by == BY_PERSON:
        return None
    if is_claim(step):
        return AskReason.CLAIM
    if not can_be_judged(step) or any(flag.severity is not Severity.HINT for flag in flags):
        return None
    expected = expects_effect(step)
    if expected and step.effect not in _SEEN:
        return AskReason.UNSEEN
    if limits.every and step.index - asked.last >= limits.every:
        return AskReason.INTERVAL
    return AskReason.EFFECT if expected else None
