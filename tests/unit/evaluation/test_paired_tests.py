"""Tests of no difference: flips of whole templates hold their level where McNemar does not."""

from itertools import product
from math import isclose

import numpy as np
import pytest
from scipy import stats

from app.engine.evaluation.statistics.cluster_bootstrap import ClusterSums
from app.engine.evaluation.statistics.paired_tests import holm, naive_mcnemar, sign_flip


def sums_of(*differences):
    return ClusterSums(np.array(differences, dtype=float), np.ones(len(differences)))


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ((), 1.0),
        ((0.0, 0.0), 1.0),
        ((1.0,), 1.0),
        ((1.0, 1.0), 0.5),
        ((1.0,) * 5, 2 / 32),
        ((1.0,) * 8, 2 / 256),
        ((1.0, -1.0), 1.0),
        ((3.0, 1.0, 0.0), 0.5),
        ((1 / 3, 1 / 3, -2 / 3), 1.0),
    ],
)
def test_few_templates_are_flipped_in_all_ways(differences, p):
    assert isclose(sign_flip(sums_of(*differences)), p)


def test_an_exact_flip_is_what_counting_all_patterns_gives():
    values = [2.0, -1.0, 0.5, 3.0, 1.0, -0.5, 1.5]
    seen = abs(sum(values))
    patterns = list(product((1, -1), repeat=len(values)))
    as_far = sum(
        abs(sum(s * v for s, v in zip(signs, values, strict=True))) >= seen - 1e-9 for signs in patterns
    )
    assert isclose(sign_flip(sums_of(*values)), as_far / len(patterns))


def test_many_templates_agree_with_scipys_permutation_test():
    values = np.random.default_rng(2).normal(0.25, 1.0, size=60)
    known = stats.permutation_test(
        (values,), np.sum, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(3)
    )
    assert isclose(sign_flip(sums_of(*values)), known.pvalue, abs_tol=0.012)


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (1, 0), (5, 0), (7, 7), (30, 12), (400, 330)])
def test_the_naive_test_is_the_exact_binomial_one(won, lost):
    known = stats.binomtest(won, won + lost).pvalue if won + lost else 1.0
    assert isclose(naive_mcnemar(won, lost), known, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("values", "corrected"),
    [
        ([], []),
        ([0.04], [0.04]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.04, 0.03, 0.02, 0.01], [0.06, 0.06, 0.06, 0.04]),
        ([0.5, 0.9], [1.0, 1.0]),
    ],
)
def test_a_family_is_corrected_step_by_step(values, corrected):
    assert np.allclose(holm(values), corrected)


def null_outcomes(rng, templates, shared):
    """Return the templates' sums, won and lost tasks without any effect: a share of the templates flips as one."""
    sizes = rng.integers(2, 7, size=templates)
    chances = {"p": [0.1, 0.1, 0.8]}
    as_one = np.repeat(rng.random(templates) < shared, sizes)
    whole = np.repeat(rng.choice([1, -1, 0], size=templates, **chances), sizes)
    flips = np.where(as_one, whole, rng.choice([1, -1, 0], size=len(whole), **chances))
    sums = np.bincount(np.repeat(np.arange(templates), sizes), weights=flips)
    return sums, int((flips == 1).sum()), int((flips == -1).sum())


def test_without_an_effect_flips_are_wrong_one_time_in_twenty_and_mcnemar_far_more_often():
    rng = np.random.default_rng(8)
    flips = naive = independent = 0
    for _ in range(400):
        sums, won, lost = null_outcomes(rng, 100, 0.6)
        flips += sign_flip(sums_of(*sums), draws=1000) <= 0.05
        naive += naive_mcnemar(won, lost) <= 0.05
        _, won, lost = null_outcomes(rng, 100, 0.0)
        independent += naive_mcnemar(won, lost) <= 0.05
    assert 0.02 <= flips / 400 <= 0.085
    assert naive / 400 >= 0.15
    assert independent / 400 <= 0.085  # it is the templates that inflate it
