"""Figures of a single rate: Wilson's interval, repeats, and how much outcomes go together in clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from app.engine.evaluation.statistics.cluster_bootstrap import ClusterSums, Floats
from app.engine.evaluation.statistics.distributions import NORMAL, TAIL


def wilson(rate: float, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a rate over so many independent trials; all of [0, 1] without any."""
    if count < 1:
        return 0.0, 1.0
    z2 = NORMAL.inv_cdf(1 - TAIL) ** 2
    middle = (rate + z2 / (2 * count)) / (1 + z2 / count)
    reach = sqrt(z2 * (rate * (1 - rate) / count + z2 / (4 * count**2))) / (1 + z2 / count)
    return max(0.0, middle - reach), min(1.0, middle + reach)


@dataclass(frozen=True, slots=True)
class RepeatRates:
    """A rate over tasks that were run several times, read in three ways.

    Attributes:
        mean: of the repeats (pass@1): the figure to report.
        all_of: share of tasks solved in every repeat.  best_of: share solved in at least one, which rises with the
            number of repeats alone.
    """

    mean: float
    all_of: float
    best_of: float

    @classmethod
    def of(cls, tasks: Sequence[Sequence[bool]]) -> RepeatRates:
        """Return them for the outcomes of each task's repeats; tasks without any are left out."""
        decided = [repeats for repeats in tasks if repeats]
        if not decided:
            return cls(0.0, 0.0, 0.0)
        count = len(decided)
        return cls(
            sum(sum(repeats) / len(repeats) for repeats in decided) / count,
            sum(all(repeats) for repeats in decided) / count,
            sum(any(repeats) for repeats in decided) / count,
        )


def intraclass_correlation(values: Sequence[float] | Floats, clusters: Sequence[str]) -> float:
    """Return the share of the variance that lies between clusters (ANOVA estimator, may be below 0).

    0 where it can't be estimated: one cluster, no cluster with two values, or values that are all alike.
    """
    sums = ClusterSums.of(values, clusters)
    total, count = float(sums.sizes.sum()), sums.count
    if count < 2 or total <= count:
        return 0.0
    array = np.asarray(values, dtype=np.float64)
    means = sums.sums / sums.sizes
    between = float((sums.sizes * (means - sums.mean) ** 2).sum())
    within = max(0.0, float(((array - sums.mean) ** 2).sum()) - between)
    usual_size = (total - float((sums.sizes**2).sum()) / total) / (count - 1)
    between_mean, within_mean = between / (count - 1), within / (total - count)
    scale = between_mean + (usual_size - 1) * within_mean
    return (between_mean - within_mean) / scale if scale > 1e-15 else 0.0


def design_effect(correlation: float, sizes: Sequence[float] | Floats) -> float:
    """Return by how much clusters of these sizes inflate the variance of a mean, for this correlation (Kish)."""
    array = np.asarray(sizes, dtype=np.float64)
    if not len(array):
        return 1.0
    return 1 + correlation * (float((array**2).sum() / array.sum()) - 1)
