"""The rule by which an interval becomes an answer, and the sentence it is told in."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log

from app.engine.api.evaluation_api import Answer
from app.engine.core.evaluation.episode import MIN_TEMPLATES
from app.engine.evaluation.statistics.distributions import LEVEL


def answer_of(low: float, high: float, *, templates: int, margin: float) -> Answer:
    """Return the answer that an interval of a difference gives.

    What is compared: the unit is the task.  The repeats of a task are averaged in each arm first (the mean of them,
    never the best), the difference is that of the two means, and it is averaged over the tasks that are decided in
    both arms. A task that is undecided in one of them is no pair; it is counted, and a note says between which bounds
    the difference would lie had all of them failed or passed. An episode with an error is neither right nor wrong.

    The interval is the 95 % one by cluster bootstrap over templates.  While the evaluation is not over, only the
    always-valid one counts, and the templates are those that are complete.  The first clause that holds decides:

    1. fewer than 8 templates: not enough data, whatever the interval is;
    2. the interval lies above 0: better;
    3. it lies below 0: worse;
    4. it lies within [-margin, margin], and there are so many templates that an effect in a share ``margin`` of them
       would have been missed with a chance of 5 % at most (149 for 2 points): same;
    5. else: not enough data.
    """
    if templates < MIN_TEMPLATES:
        return "not enough data"
    if low > 0:
        return "better"
    if high < 0:
        return "worse"
    if -margin <= low and high <= margin and templates >= templates_for_same(margin):
        return "same"
    return "not enough data"


def templates_for_same(margin: float) -> int:
    """Return the templates below which an effect in a share ``margin`` of all may well be in none of them."""
    return ceil(log(1 - LEVEL) / log(1 - margin)) if 0 < margin < 1 else 1 if margin else 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFacts:
    """Facts that the sentence of an answer tells.

    Attributes:
        planned: templates of the plan, for an evaluation that is not over.
        more, effect: more templates that would show which effect.
        steps: mean steps of a task's run less those in the other arm, as a share of those; ``None`` if unknown.
        tainted: tasks in it whose template an author of a tip had seen.
    """

    answer: Answer
    difference: float
    low: float
    high: float
    templates: int
    planned: int
    margin: float
    more: int
    effect: float
    steps: float | None
    early: bool
    tainted: int = 0


def sentence_of(facts: AnswerFacts) -> str:
    """Return the answer in one sentence, without the names of the arms."""
    size = abs(facts.difference)
    interval = (
        f"{'always-valid ' if facts.early else ''}95 % interval {points(facts.low)} to {points(facts.high)}"
    )
    of = f" of {facts.planned}" if facts.early else ""
    seen = f"{facts.templates}{of} {'template' if facts.templates == 1 and not of else 'templates'}"
    so_far = " so far" if facts.early else ""
    match facts.answer:
        case "better" | "worse":
            said = (
                f"{facts.answer} by {points_in_words(size)}{so_far}, {interval}, {seen}{_cost(facts.steps)}"
            )
        case "same":
            within = points_in_words(facts.margin)
            said = f"the same within {within}{so_far}, {interval}, {seen}{_cost(facts.steps)}"
        case "not enough data":
            more = f"{facts.more} more {'template' if facts.more == 1 else 'templates'}"
            yet = " yet" if facts.early else ""
            shown = f"; {interval}, {seen}" if facts.templates else "; no template is complete"
            said = f"not enough data{yet}: {more} for an effect of {points_in_words(facts.effect)}{shown}"
    if facts.tainted:
        tasks = "1 tainted task" if facts.tainted == 1 else f"{facts.tainted} tainted tasks"
        said += f"; includes {tasks}"
    return said


def points_in_words(share: float) -> str:
    """``1 point``, ``9 points``."""
    number = points(share)
    return f"{number} point" if number in ("1", "-1") else f"{number} points"


def points(share: float) -> str:
    """Return a share in percentage points: whole ones, below 1 with so many digits that it is not 0 if it isn't."""
    value = 100 * share
    if abs(value) < 1e-7:
        return "0"
    if abs(value) >= 0.95:
        return f"{value:.0f}"
    text = f"{value:.1f}" if abs(value) >= 0.05 else f"{value:.1g}"
    return text if "e" not in text else ("0.001" if value > 0 else "-0.001")


def _cost(steps: float | None) -> str:
    if steps is None:
        return ""
    percent = round(100 * steps)
    if not percent:
        return "; costs as many steps"
    return f"; costs {percent} % more steps" if percent > 0 else f"; takes {-percent} % fewer steps"
