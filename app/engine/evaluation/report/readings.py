"""The reading of an interval in a word: the same rule for table, plot and colour."""

from __future__ import annotations

from typing import Literal

from app.engine.api.evaluation_api import Comparison, ComparisonVerdict, RateRow
from app.engine.core.evaluation.episode import MIN_TEMPLATES, Arm

Reading = Literal["better", "worse", "not clear", "too few", "too early"]


def reading_of(low: float, high: float, templates: int, *, early: bool = False) -> Reading:
    """Return what the interval of a difference says of a part of the tasks; the first clause that holds decides.

    1. The evaluation is not over: too early; these intervals hold at its end only.
    2. Fewer than 8 templates: too few, whatever the interval is.
    3. It lies above 0: better.  It lies below: worse.
    4. Else: not clear.
    """
    if early:
        return "too early"
    if templates < MIN_TEMPLATES:
        return "too few"
    if 0 < low <= high:
        return "better"
    if low <= high < 0:
        return "worse"
    return "not clear"


def early_pairs(comparison: Comparison) -> frozenset[tuple[str, str]]:
    """Return the pairs of arms whose evaluation is not over."""
    return frozenset((verdict.arm, verdict.against) for verdict in comparison.verdicts if verdict.early)


def is_sure(verdict: ComparisonVerdict) -> bool:
    """Whether an answer may be coloured: before the end only what also holds whenever one looks."""
    low, high = verdict.always_valid
    return not verdict.early or not low <= 0 <= high


def arm_of(comparison: Comparison, rate: RateRow) -> Arm | None:
    """Return the arm that a rate is of; ``None`` where several evaluations use its name for different ones.

    Arms that only share their name are told apart by the start of their hash behind it.
    """
    arms = {arm for head in comparison.heads for arm in head.arms}
    named = {arm for arm in arms if arm.name == rate.name} or {
        arm
        for arm in arms
        if rate.name.startswith(f"{arm.name} {(arm.kb_sha256 or arm.kb)[:8]}")
        and arm.maps == rate.name.endswith(" with maps")
    }
    kinds = {(arm.kb_sha256 or arm.kb, arm.maps) for arm in named}
    return min(named, key=lambda arm: arm.kb) if len(kinds) == 1 else None


def verdict_sentence(verdict: ComparisonVerdict) -> str:
    """Return an answer with the names of its arms."""
    return f"{verdict.arm} against {verdict.against}: {verdict.sentence}"


def verdict_sentences(comparison: Comparison) -> list[str]:
    """Return the answers in a sentence each, the most important first; never empty."""
    if comparison.verdicts:
        return [verdict_sentence(verdict) for verdict in comparison.verdicts]
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
