"""An interval that is looked at after every template still covers the truth; a fixed one does not."""

from itertools import pairwise

import numpy as np
import pytest

from app.engine.evaluation.statistics.always_valid import always_valid_interval, always_valid_path
from app.engine.evaluation.statistics.cluster_bootstrap import ClusterSums, bootstrap_mean
from tests.support.clustered_outcomes import clustered

LARGEST = 8


def walks(trials, templates, truth, seed=21):
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        values, names = clustered(rng, templates, truth=truth)
        yield ClusterSums.of(values, names)


@pytest.mark.parametrize("truth", [0.0, 0.1])
def test_it_covers_the_truth_at_all_looks_together(truth):
    missed = 0
    for sums in walks(200, 120, truth):
        path = always_valid_path(sums.sums, sums.sizes, LARGEST)
        missed += any(not low <= truth <= high for low, high in path)
    assert missed / 200 <= 0.05


def test_it_covers_when_outcomes_are_as_wide_as_they_can_be():
    """Differences of 1 and -1 alone: the largest variance there is."""
    rng = np.random.default_rng(5)
    missed = 0
    for _ in range(200):
        sums = rng.choice([-1.0, 1.0], size=200)
        missed += any(not low <= 0 <= high for low, high in always_valid_path(sums, np.ones(200)))
    assert missed / 200 <= 0.075


def test_a_fixed_interval_that_is_looked_at_again_and_again_is_wrong_far_more_often():
    stopped = always = 0
    for sums in walks(120, 100, 0.0):
        looks = range(8, 101, 4)
        parts = (ClusterSums(sums.sums[:n], sums.sizes[:n]) for n in looks)
        fixed = [bootstrap_mean(part, -1, 1, draws=300) for part in parts]
        stopped += any(one.low > 0 or one.high < 0 for one in fixed)
        path = always_valid_path(sums.sums, sums.sizes, LARGEST)
        always += any(low > 0 or high < 0 for low, high in path)
    assert stopped / 120 > 0.12
    assert always / 120 <= 0.05


def test_it_finds_a_large_effect_before_the_end_and_never_widens():
    rng = np.random.default_rng(1)
    sums = rng.choice([1.0, 0.0], p=[0.5, 0.5], size=100)
    path = always_valid_path(sums, np.ones(100))
    assert path[0][0] < 0
    assert path[60][0] > 0
    assert all(a[0] <= b[0] and a[1] >= b[1] for a, b in pairwise(path))


def test_it_is_about_the_mean_over_tasks_not_over_templates():
    """Small templates gain, large ones lose: over tasks the mean is below 0, over templates it is 0."""
    sizes = np.tile([1.0, 9.0], 150)
    sums = np.tile([1.0, -9.0], 150)
    low, high = always_valid_interval(sums, sizes, 9)
    assert low <= -0.8 <= high < 0


def test_nothing_seen_says_nothing():
    assert always_valid_interval([], []) == (-1.0, 1.0)
    assert always_valid_path([], []) == []


def test_values_at_the_border_do_no_harm():
    low, high = always_valid_interval(np.full(50, 1.0), np.ones(50))
    assert 0.5 < low < high == 1.0
