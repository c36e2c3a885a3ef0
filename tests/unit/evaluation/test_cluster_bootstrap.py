"""Intervals over templates hold their level; the degenerate cases claim nothing; scipy is the oracle."""

from math import isclose

import numpy as np
import pytest
from scipy import stats

from app.engine.evaluation.statistics.cluster_bootstrap import ClusterSums, bootstrap_mean, drawn_means
from app.engine.evaluation.statistics.distributions import t_quantile
from app.engine.evaluation.statistics.single_rates import (
    RepeatRates,
    design_effect,
    intraclass_correlation,
    wilson,
)
from tests.support.clustered_outcomes import clustered


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 7, 20, 189])
def test_quantiles_of_t_are_scipys(freedom):
    for p in (0.9, 0.975):
        known = stats.t.ppf(p, freedom)
        within = {1: 1e-9, 2: 1e-9, 3: 0.01, 5: 0.001}.get(freedom, 1e-4)
        assert isclose(t_quantile(p, freedom), known, rel_tol=within)


def test_values_are_summed_by_cluster_and_means_weigh_tasks_or_templates():
    sums = ClusterSums.of([1, 0, 0, 1], ["a", "a", "a", "b"])
    assert sums.sums.tolist() == [1, 1]
    assert sums.sizes.tolist() == [3, 1]
    assert sums.mean == 0.5
    assert isclose(sums.macro, (1 / 3 + 1) / 2)


def test_the_mean_of_a_draw_is_that_over_the_values_of_its_clusters():
    """The oracle draws clusters one by one; both distributions are of the same draws' mean and spread."""
    rng = np.random.default_rng(3)
    values, names = clustered(rng, 25)
    sums = ClusterSums.of(values, names)
    groups = [[v for v, n in zip(values, names, strict=True) if n == name] for name in sorted(set(names))]
    slow = []
    for _ in range(4000):
        drawn = [v for at in rng.integers(len(groups), size=len(groups)) for v in groups[at]]
        slow.append(np.mean(drawn))
    fast = drawn_means(sums, draws=4000)
    assert isclose(np.mean(fast), np.mean(slow), abs_tol=0.005)
    assert isclose(np.std(fast), np.std(slow), rel_tol=0.08)
    assert np.allclose(np.quantile(fast, [0.05, 0.5, 0.95]), np.quantile(slow, [0.05, 0.5, 0.95]), atol=0.02)


def test_with_one_task_a_template_it_is_scipys_bootstrap_with_wider_tails():
    rng = np.random.default_rng(4)
    values = rng.choice([0.0, 1.0], p=[0.4, 0.6], size=300)
    mine = bootstrap_mean(ClusterSums.of(values, [f"{n:03}" for n in range(300)]), 0.0, 1.0)
    known = stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    assert np.allclose([mine.low, mine.high], [known.low, known.high], atol=0.006)
    assert isclose(mine.standard_error, stats.sem(values), rel_tol=1e-9)


def test_the_same_seed_gives_the_same_interval_and_blocks_change_nothing_of_its_size():
    rng = np.random.default_rng(5)
    values, names = clustered(rng, 900)  # more than is held at once
    sums = ClusterSums.of(values, names)
    one, other = bootstrap_mean(sums, -1, 1), bootstrap_mean(sums, -1, 1)
    assert (one.low, one.high) == (other.low, other.high)
    reach = 1.96 * sums.standard_error
    assert np.allclose([one.low, one.high], [sums.mean - reach, sums.mean + reach], atol=0.004)


@pytest.mark.parametrize(
    ("values", "clusters", "mean", "interval"),
    [
        ([], [], 0.0, (-1, 1)),
        ([1.0], ["a"], 1.0, (-1, 1)),
        ([1.0, 0.0, 1.0], ["a", "a", "a"], 2 / 3, (-1, 1)),
        # all alike: 1 - 0.025 ** (1 / clusters) of them may be otherwise
        ([0.0] * 8, "abcdefgh", 0.0, (-0.3694, 0.3694)),
        ([1.0] * 8, "abcdefgh", 1.0, (1 - 2 * 0.3694, 1.0)),
        ([0.5] * 4, "aabb", 0.5, (0.5 - 1.5 * 0.8419, 0.5 + 0.5 * 0.8419)),
    ],
)
def test_few_or_equal_clusters_claim_no_more_than_they_show(values, clusters, mean, interval):
    found = bootstrap_mean(ClusterSums.of(values, list(clusters)), -1.0, 1.0)
    assert isclose(found.mean, mean)
    assert np.allclose([found.low, found.high], interval, atol=1e-4)


def test_thirds_that_cancel_give_an_end_of_zero_exactly():
    values, names = [1 / 3, -1 / 3, 0, 0], ["a", "b", "c", "d"]
    found = bootstrap_mean(ClusterSums.of(values * 3, [f"{n}{k}" for k in range(3) for n in names]), -1, 1)
    assert found.low < 0 < found.high
    assert bootstrap_mean(ClusterSums.of([2 / 3 - 1 / 3 - 1 / 3] * 9, list("abcdefghi")), -1, 1).mean < 1e-12


@pytest.mark.parametrize(("clusters", "trials"), [(10, 400), (40, 300), (190, 150)])
def test_the_interval_covers_the_truth_as_often_as_it_says(clusters, trials):
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(trials):
        values, names = clustered(rng, clusters)
        found = bootstrap_mean(ClusterSums.of(values, names), -1, 1, draws=2000)
        covered += found.low <= 0.05 <= found.high
    assert (0.88 if clusters == 10 else 0.90) <= covered / trials <= 0.985


def test_ignoring_templates_covers_far_less():
    """The reason for all this: the same simulation with tasks drawn one by one."""
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(200):
        values, _names = clustered(rng, 60)
        one_by_one = [f"{n:04}" for n in range(len(values))]
        found = bootstrap_mean(ClusterSums.of(values, one_by_one), -1, 1, draws=1000)
        covered += found.low <= 0.05 <= found.high
    assert covered / 200 < 0.85


@pytest.mark.parametrize(("hits", "count"), [(0, 8), (3, 10), (50, 100), (812, 812)])
def test_wilson_is_scipys(hits, count):
    known = stats.binomtest(hits, count).proportion_ci(method="wilson")
    assert np.allclose(wilson(hits / count, count), (known.low, known.high), atol=1e-9)


def test_wilson_without_trials_says_nothing():
    assert wilson(0.0, 0) == (0.0, 1.0)


def test_repeats_are_read_in_three_ways_and_the_best_is_never_the_mean():
    rates = RepeatRates.of([[True, False, False], [True, True, True], [False, False, False], []])
    assert isclose(rates.mean, 4 / 9)
    assert isclose(rates.all_of, 1 / 3)
    assert isclose(rates.best_of, 2 / 3)


def test_the_intraclass_correlation_is_that_of_the_variance_components():
    """One-way ANOVA by scipy gives F; the estimator is (F - 1) / (F + n - 1) for templates of n tasks."""
    rng = np.random.default_rng(6)
    groups = [rng.random(5) < rate for rate in rng.beta(0.8, 0.8, size=60)]
    values, names = np.concatenate(groups).astype(float), [f"{n}" for n in range(60) for _ in range(5)]
    f = stats.f_oneway(*[group.astype(float) for group in groups]).statistic
    found = intraclass_correlation(values, names)
    assert isclose(found, (f - 1) / (f + 4), rel_tol=1e-9)
    assert isclose(design_effect(found, [5] * 60), 1 + 4 * found)


@pytest.mark.parametrize(
    ("values", "names"), [([], []), ([1, 0], ["a", "a"]), ([1, 0], ["a", "b"]), ([1] * 4, "aabb")]
)
def test_a_correlation_that_can_not_be_estimated_is_none(values, names):
    assert intraclass_correlation(values, list(names)) == 0.0
