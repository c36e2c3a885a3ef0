"""What an interval says, in a word: the same rule for table, plot and colour."""

from __future__ import annotations

from typing import Literal

from app.engine.api.evaluation_api import Comparison, RateRow
from app.engine.core.evaluation.episode import Arm

Reading = Literal["better", "worse", "not clear", "too early"]


def reading_of(low: float, high: float, *, early: bool = False) -> Reading:
    """Return what an interval of a difference says: nothing before it leaves out zero, or before the end."""
    if early:
        return "too early"
    if low > 0 and high >= low:
        return "better"
    if high < 0 and low <= high:
        return "worse"
    return "not clear"


def early_pairs(comparison: Comparison) -> frozenset[tuple[str, str]]:
    """Return the pairs of arms whose evaluation is not over."""
    return frozenset((verdict.arm, verdict.against) for verdict in comparison.verdicts if verdict.early)


def arm_of(comparison: Comparison, rate: RateRow) -> Arm | None:
    """Return the arm that a rate is of; ``None`` where several evaluations use its name for different ones."""
    named = {arm for head in comparison.heads for arm in head.arms if arm.name == rate.name}
    return named.pop() if len(named) == 1 else None


def verdict_sentences(comparison: Comparison) -> list[str]:
    """Return the answers in a sentence each, the most important first; never empty."""
    if comparison.verdicts:
        return [verdict.sentence for verdict in comparison.verdicts]
    rated = [rate for rate in comparison.arms if rate.tasks]
    if not rated:
        return ["There is no answer yet: no episode has been decided."]
    sentences = [
        f"{rate.name} solves {100 * rate.mean:.1f} % of {rate.tasks:,} tasks"
        f" (95 % interval {100 * rate.low:.1f} to {100 * rate.high:.1f} %, {rate.templates:,} templates)."
        for rate in rated
    ]
    if len(rated) == 1:
        return [f"One arm, and nothing to compare it with: {sentences[0]}"]
    return ["The arms were not compared: they share no task that is decided in both.", *sentences]
