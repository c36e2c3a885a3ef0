"""Cross-validation of the rankings that learn from this workspace's verdicts against the built-in one.

Runs of one task fail alike, so a task is never on both sides; the split is by hash, so that the same verdicts always
give the same answer. Judged runs are few, and those that a queue asked about are no fair sample of the rest: a
comparison on them is a weak witness. So each ranking has to show what its record does not: the fit, which helps
rarely, that it is better; the correction by similar goals, which mostly helps, only that it is not worse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.engine.detectors.risk import FOLDS, JudgedRun, RiskModel, chance_of, fit, fold_of, rising_line
from app.engine.detectors.similar_goals import Finding, SimilarGoals, Vector, corrected_logit

MIN_VERDICTS_EACH = 10
"""Judged failures, and as many judged successes, below which no comparison is possible."""
MIN_SIMILAR = 20
"""Verdicts from which similar goals are used while no comparison is possible."""
SPLITS = 3
"""Ways to divide the tasks; the areas are averaged over them."""
MIN_GAIN = 0.01
"""How much larger than the built-in ranking's the area of a fit must be: a smaller gain is luck of the split."""
FIT_ERRORS = 2
"""Standard errors of their difference by which the area of a fit must be larger than that with similar goals."""

BUILT_IN, FITTED, SIMILAR_GOALS = "built-in", "fitted", "similar goals"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossValidation:
    """Result of the cross-validation: areas under the curve of the prior (``cold``), of fits, and of the prior
    corrected by similar goals; ``None`` where untried.

    ``slope`` and ``offset`` calibrate the log odds of the corrected ranking. ``similar_error`` is the standard error
    of ``similar - cold``, ``fitted_error`` that of ``fitted - similar``.
    """

    failed: int = 0
    passed: int = 0
    cold: float | None = None
    fitted: float | None = None
    similar: float | None = None
    similar_error: float = 0.0
    fitted_error: float = 0.0
    slope: float = 1.0
    offset: float = 0.0

    @property
    def in_use(self) -> str:
        """The ranking to use: ``built-in``, ``fitted`` or ``similar goals``.

        While no comparison is possible, similar goals from ``MIN_SIMILAR`` verdicts on: on published runs of WebArena
        they helped from there on, in 14 of 15 random orders. Once it is possible:

        - similar goals, unless their area is smaller than the built-in ranking's by more than its standard error;
        - a fit, if its area is larger than the built-in ranking's by ``MIN_GAIN``, and than that with similar goals,
          where those may be used, by ``FIT_ERRORS`` standard errors;
        - else the built-in ranking.
        """
        if self.cold is None:
            return SIMILAR_GOALS if self.failed + self.passed >= MIN_SIMILAR else BUILT_IN
        similar = self.similar
        if similar is not None and similar < self.cold - self.similar_error:
            similar = None
        least = self.cold + MIN_GAIN
        if similar is not None:
            least = max(least, similar + FIT_ERRORS * self.fitted_error)
        if self.fitted is not None and self.fitted >= least:
            return FITTED
        return SIMILAR_GOALS if similar is not None else BUILT_IN

    @property
    def fit_is_better(self) -> bool:
        """Whether the fitted ranking is to be used."""
        return self.in_use == FITTED

    @property
    def why(self) -> str:
        """Which ranking is used, and why, in one sentence."""
        judged = self.failed + self.passed
        if self.cold is None:
            told = (
                f"rankings are compared from {MIN_VERDICTS_EACH} failed and {MIN_VERDICTS_EACH} passed verdicts on,"
                f" there are {self.failed} and {self.passed}"
            )
            if self.in_use == SIMILAR_GOALS:
                return f"The built-in ranking, corrected by verdicts on similar goals, is in use, untested: {told}."
            since = f"verdicts on similar goals correct it from {MIN_SIMILAR} on"
            return f"The built-in ranking is in use: {since}, and {told}."
        areas = f"cross-validated on {judged} judged runs, no task on both sides, AUROC is {_areas(self)}"
        match self.in_use:
            case "fitted":
                return f"The ranking fitted to verdicts is in use: {areas}."
            case "similar goals":
                return f"The built-in ranking, corrected by verdicts on similar goals, is in use: {areas}."
            case _:
                return f"The built-in ranking is in use: {areas}; a fit must be better by {MIN_GAIN:g}."


def _areas(found: CrossValidation) -> str:
    named = ((found.fitted, "fitted"), (found.similar, "with similar goals"), (found.cold, "built-in"))
    told = [f"{area:.3f} {name}" for area, name in named if area is not None]
    return ", ".join(told[:-1]) + f" and {told[-1]}"


def cross_validate(examples: Sequence[JudgedRun], goals: SimilarGoals | None = None) -> CrossValidation:
    """Cross-validate the rankings on these judged runs; a run that is named twice counts once, by its last example."""
    judged = sorted({example.run: example for example in examples}.values(), key=lambda example: example.run)
    failed = [example.failed for example in judged]
    prior = RiskModel()
    cold = [prior.logit(example) for example in judged]
    corrected = [held_out_corrections(judged, cold, goals, split) for split in range(SPLITS)] if goals else []
    slope, offset = rising_line(corrected[0], failed) if corrected else (1.0, 0.0)
    kinds = {"failed": sum(failed), "passed": len(failed) - sum(failed)}
    if min(kinds.values()) < MIN_VERDICTS_EACH:
        return CrossValidation(**kinds, slope=slope, offset=offset)
    built_in = placements([cold], failed)
    fitted = placements([held_out_logits(judged, split) for split in range(SPLITS)], failed)
    similar = placements(corrected, failed) if corrected else None
    return CrossValidation(
        **kinds,
        cold=built_in.area,
        fitted=fitted.area,
        similar=similar.area if similar else None,
        similar_error=standard_error(similar, built_in) if similar else 0.0,
        fitted_error=standard_error(fitted, similar) if similar else 0.0,
        slope=slope,
        offset=offset,
    )


@dataclass(frozen=True, slots=True)
class Placements:
    """For each failed run the share of passed ones ranked below it, for each passed run that of failed ones above."""

    failed: Vector
    passed: Vector

    @property
    def area(self) -> float:
        """The area under the curve."""
        return float(self.failed.mean())


def placements(rankings: Sequence[Sequence[float]], failed: Sequence[bool]) -> Placements:
    """Return the placements, averaged over rankings."""
    bad = np.array(failed)
    found: list[Placements] = []
    for ranking in rankings:
        values = np.array(ranking)
        high, low = values[bad][:, None], values[~bad]
        above = (high > low) + 0.5 * (high == low)
        found.append(Placements(above.mean(axis=1), above.mean(axis=0)))
    return Placements(
        np.mean([one.failed for one in found], axis=0), np.mean([one.passed for one in found], axis=0)
    )


def standard_error(one: Placements, other: Placements) -> float:
    """Return the standard error of the difference of two rankings' areas on the same runs, after DeLong et al."""
    failed, passed = one.failed - other.failed, one.passed - other.passed
    return math.sqrt(float(failed.var(ddof=1) / len(failed) + passed.var(ddof=1) / len(passed)))


def held_out_logits(judged: Sequence[JudgedRun], split: int) -> list[float]:
    """Return each run's log odds by a fit to the other folds."""
    folds = [fold_of(example, split) for example in judged]
    models = {
        fold: fit(
            [example for example, at in zip(judged, folds, strict=True) if at != fold], calibrated=False
        )
        for fold in range(FOLDS)
    }
    return [models[fold].logit(example) for example, fold in zip(judged, folds, strict=True)]


def held_out_corrections(
    judged: Sequence[JudgedRun], logits: Sequence[float], goals: SimilarGoals, split: int
) -> list[float]:
    """Return each run's log odds, corrected by the verdicts on similar goals in the other folds."""
    folds = [fold_of(example, split) for example in judged]
    found = findings(judged, dict(zip((example.run for example in judged), logits, strict=True)))
    by_fold = {
        fold: goals.corrections(
            {example.run: found[example.run] for example, at in zip(judged, folds, strict=True) if at != fold}
        )
        for fold in set(folds)
    }
    return [
        corrected_logit(logit, by_fold[fold].get(example.run))
        for example, logit, fold in zip(judged, logits, folds, strict=True)
    ]


def findings(judged: Sequence[JudgedRun], logits: Mapping[str, float]) -> dict[str, Finding]:
    """Return the judged runs as the correction takes them: with their chance by uncorrected log odds."""
    return {example.run: Finding(example.failed, chance_of(logits[example.run])) for example in judged}


def auroc(values: Sequence[float], failed: Sequence[bool]) -> float:
    """Return the chance that a failed run ranks above a passed one, a tie counting half; NaN without both kinds.

    Benchmarks and tests measure with it; ``cross_validate`` averages splits by ``placements``, which have an error.
    """
    high = np.array([value for value, bad in zip(values, failed, strict=True) if bad])
    low = np.array([value for value, bad in zip(values, failed, strict=True) if not bad])
    if not len(high) or not len(low):
        return math.nan
    above = (high[:, None] > low).sum() + 0.5 * (high[:, None] == low).sum()
    return float(above / (len(high) * len(low)))
