"""Cross-validation of a ranking fitted to this workspace's verdicts against the built-in prior.

A fit is used only where it ranks unseen judged runs better. Runs of one task fail alike, so a task is never on both
sides; the split is by hash, so that the same verdicts always give the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.engine.detectors.risk import FOLDS, JudgedRun, RiskModel, fit, fold_of

MIN_VERDICTS_EACH = 10
"""Judged failures, and as many judged successes, below which no comparison is possible."""
SPLITS = 3
"""Ways to divide the tasks; the areas are averaged over them."""
MIN_GAIN = 0.01
"""How much larger the area must be: a smaller gain is luck of the split."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossValidation:
    """Result of the cross-validation: areas under the curve of the prior (``cold``) and of fits, ``None`` where
    untried.
    """

    failed: int = 0
    passed: int = 0
    cold: float | None = None
    fitted: float | None = None

    @property
    def fit_is_better(self) -> bool:
        """Whether the fitted ranking is to be used."""
        return self.cold is not None and self.fitted is not None and self.fitted >= self.cold + MIN_GAIN

    @property
    def why(self) -> str:
        """Which ranking is used, and why, in one sentence."""
        if self.cold is None or self.fitted is None:
            return (
                f"The built-in ranking is in use: fitting is tried from {MIN_VERDICTS_EACH} failed and"
                f" {MIN_VERDICTS_EACH} passed verdicts on, there are {self.failed} and {self.passed}."
            )
        areas = (
            f"cross-validated on {self.failed + self.passed} judged runs, no task on both sides,"
            f" AUROC is {self.fitted:.3f} fitted and {self.cold:.3f} built-in"
        )
        if self.fit_is_better:
            return f"The ranking fitted to verdicts is in use: {areas}."
        return f"The built-in ranking is in use: {areas}; a fit must be better by {MIN_GAIN:g}."


def cross_validate(examples: Sequence[JudgedRun]) -> CrossValidation:
    """Cross-validate the fit on these judged runs; a run that is named twice counts once, by its last example."""
    judged = sorted({example.run: example for example in examples}.values(), key=lambda example: example.run)
    failed = [example.failed for example in judged]
    found = CrossValidation(failed=sum(failed), passed=len(failed) - sum(failed))
    if min(found.failed, found.passed) < MIN_VERDICTS_EACH:
        return found
    areas = [auroc(held_out_logits(judged, split), failed) for split in range(SPLITS)]
    prior = RiskModel()
    return CrossValidation(
        failed=found.failed,
        passed=found.passed,
        cold=auroc([prior.logit(example) for example in judged], failed),
        fitted=sum(areas) / SPLITS,
    )


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


def auroc(values: Sequence[float], failed: Sequence[bool]) -> float:
    """Return the chance that a failed run ranks above a passed one, a tie counting half; NaN without both kinds."""
    high = np.array([value for value, bad in zip(values, failed, strict=True) if bad])
    low = np.array([value for value, bad in zip(values, failed, strict=True) if not bad])
    if not len(high) or not len(low):
        return math.nan
    above = (high[:, None] > low).sum() + 0.5 * (high[:, None] == low).sum()
    return float(above / (len(high) * len(low)))
