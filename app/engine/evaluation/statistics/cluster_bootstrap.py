"""Means of clustered values with their intervals: a bootstrap that draws whole clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.engine.evaluation.statistics.distributions import NORMAL, TAIL, t_quantile

DRAWS = 10_000
SEED = 7
_BLOCK_CELLS = 4_000_000
"""Counts (draws times clusters) that are held at once: 32 MB."""
_DIGITS = 9
"""Decimals of an interval's ends: a sum of thirds that cancels must come out as 0, not as 1e-17."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClusterSums:
    """Values summed by cluster: all that a statistic over clusters needs of them.

    Attributes:
        sums: of each cluster's values.  sizes: numbers of them, at least 1.
    """

    sums: Floats
    sizes: Floats

    @classmethod
    def of(cls, values: Sequence[float] | Floats, clusters: Sequence[str]) -> ClusterSums:
        """Sum values by the names of their clusters, in the order of the names."""
        if not len(values):
            return cls(np.zeros(0), np.zeros(0))
        _, codes = np.unique(np.asarray(clusters), return_inverse=True)
        return cls(
            np.bincount(codes, weights=np.asarray(values, dtype=np.float64)).astype(np.float64),
            np.bincount(codes).astype(np.float64),
        )

    @property
    def count(self) -> int:
        """The number of clusters."""
        return len(self.sizes)

    @property
    def mean(self) -> float:
        """The mean over values; 0 without any."""
        return float(self.sums.sum() / self.sizes.sum()) if self.count else 0.0

    @property
    def macro(self) -> float:
        """The mean over clusters of their means; 0 without any."""
        return float((self.sums / self.sizes).mean()) if self.count else 0.0

    @property
    def residuals(self) -> Floats:
        """Each cluster's sum less what the mean would give."""
        return self.sums - self.mean * self.sizes

    @property
    def standard_error(self) -> float:
        """Of the mean, robust to clusters; 0 for fewer than two."""
        if self.count < 2:
            return 0.0
        scale = self.count / (self.count - 1)
        return sqrt(scale * float((self.residuals**2).sum())) / float(self.sizes.sum())


@dataclass(frozen=True, slots=True)
class ClusteredMean:
    """A mean over values in clusters with its 95 % interval."""

    mean: float
    low: float
    high: float
    values: int
    clusters: int
    standard_error: float


def bootstrap_mean(
    sums: ClusterSums, lowest: float, highest: float, *, draws: int = DRAWS, seed: int = SEED
) -> ClusteredMean:
    """Return the mean of values in [lowest, highest] with its interval.

    Clusters are drawn with replacement, as many as there are, ``draws`` times; each draw's mean is that over the values
    of its clusters.  The interval is the expanded percentile one (Hesterberg 2015): its tails are those that give
    Student's t its level with few clusters.

    - Fewer than two clusters say nothing about others: the interval is all that is possible.
    - Clusters that are all alike: another value may be in a share of them that was missed with a chance of 2.5 %; the
      interval reaches as far as that share could move the mean (with 190 clusters of difference 0: 1.9 points).
    """
    count, mean = sums.count, sums.mean
    size = int(sums.sizes.sum())
    if count < 2:
        return ClusteredMean(mean, lowest, highest, size, count, 0.0)
    if float(np.abs(sums.residuals).max()) < 1e-12 * max(1.0, size):
        missed = 1 - TAIL ** (1 / count)
        low, high = mean - missed * (mean - lowest), mean + missed * (highest - mean)
        return ClusteredMean(mean, round(low, _DIGITS), round(high, _DIGITS), size, count, 0.0)
    tail = NORMAL.cdf(-t_quantile(1 - TAIL, count - 1) * sqrt(count / (count - 1)))
    means = drawn_means(sums, draws=draws, seed=seed)
    low, high = (float(end) for end in np.quantile(means, (tail, 1 - tail)))
    return ClusteredMean(mean, round(low, _DIGITS), round(high, _DIGITS), size, count, sums.standard_error)


def drawn_means(sums: ClusterSums, *, draws: int = DRAWS, seed: int = SEED) -> Floats:
    """Return the means of draws of clusters with replacement: a product of counts with sums and sizes."""
    both = np.column_stack((sums.sums, sums.sizes))
    totals = np.concatenate([block @ both for block in _blocks(sums.count, draws, seed)])
    return totals[:, 0] / totals[:, 1]


def _blocks(clusters: int, draws: int, seed: int) -> Iterator[Floats]:
    """Yield how often each draw has each cluster, some draws at a time."""
    if clusters * draws <= _BLOCK_CELLS:
        yield _kept_counts(clusters, draws, seed)
        return
    rng, rows = np.random.default_rng((seed, clusters)), max(1, _BLOCK_CELLS // clusters)
    for start in range(0, draws, rows):
        yield _counts(rng, clusters, min(rows, draws - start))


@lru_cache(maxsize=4)  # the groups of a comparison have the same few numbers of clusters
def _kept_counts(clusters: int, draws: int, seed: int) -> Floats:
    return _counts(np.random.default_rng((seed, clusters)), clusters, draws)


def _counts(rng: np.random.Generator, clusters: int, draws: int) -> Floats:
    picked: NDArray[Any] = rng.integers(clusters, size=(draws, clusters))
    picked += np.arange(draws)[:, None] * clusters
    return np.bincount(picked.ravel(), minlength=draws * clusters).reshape(draws, clusters).astype(np.float64)
