"""Tests of paired differences: sign flips by template, the naive McNemar, Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from app.engine.evaluation.statistics.cluster_bootstrap import DRAWS, SEED, ClusterSums

EXACT_CLUSTERS = 13
"""Up to so many clusters that differ, all their sign patterns (8,192) are looked at."""


def sign_flip(sums: ClusterSums, *, draws: int = DRAWS, seed: int = SEED) -> float:
    """Return the two-sided p of no difference: the signs of whole clusters are exchangeable then.

    Clusters whose differences cancel have no sign.  Without any that has one, p is 1.
    """
    differing = sums.sums[np.abs(sums.sums) > 1e-12]
    count = len(differing)
    if not count:
        return 1.0
    seen = abs(float(differing.sum())) - 1e-9
    if count <= EXACT_CLUSTERS:
        return float((np.abs(_all_signs(count) @ differing) >= seen).mean())
    as_far = int((np.abs(_drawn_signs(count, draws, seed) @ differing) >= seen).sum())
    return (as_far + 1) / (draws + 1)


def naive_mcnemar(won: int, lost: int) -> float:
    """Return the two-sided p of the exact McNemar test.

    It takes tasks for independent of each other, which those of one template are not: its p is far too small where a
    change helps whole templates.
    """
    changed = won + lost
    if not changed:
        return 1.0
    tail = sum(comb(changed, n) for n in range(min(won, lost) + 1))
    return min(1.0, 2 * tail / 2**changed)


def holm(values: Sequence[float]) -> list[float]:
    """Return the p values of one family corrected by Holm's step-down rule, in their order."""
    order = sorted(range(len(values)), key=lambda at: values[at])
    corrected, largest = [1.0] * len(values), 0.0
    for rank, at in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - rank) * values[at]))
        corrected[at] = largest
    return corrected


def _all_signs(count: int) -> NDArray[np.int64]:
    patterns: NDArray[np.int64] = np.arange(2**count, dtype=np.int64)[:, None]
    places: NDArray[np.int64] = np.arange(count, dtype=np.int64)
    return (np.right_shift(patterns, places) & 1) * 2 - 1


@lru_cache(maxsize=4)
def _drawn_signs(count: int, draws: int, seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng((seed, count, 1))
    signs: NDArray[np.int8] = rng.integers(2, size=(draws, count), dtype=np.int8)
    return signs.astype(np.float64) * 2 - 1
