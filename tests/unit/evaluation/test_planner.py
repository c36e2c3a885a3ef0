"""The planner's chances are those of simulated evaluations; what is missing is said in templates."""

from math import isclose

import numpy as np
import pytest
from scipy import stats

from app.engine.evaluation.statistics.cluster_bootstrap import ClusterSums, bootstrap_mean
from app.engine.evaluation.statistics.planner import (
    EFFECTS,
    PlanAssumptions,
    more_templates,
    plan_power,
    power_of,
)


def test_the_variance_of_a_template_is_that_of_its_parts():
    one = PlanAssumptions(per_template=1, correlation=0.4, discordance=0.2, run_share=0.3)
    assert isclose(one.template_variance(0.1), 0.2 - 0.01)
    five = PlanAssumptions(per_template=5, correlation=0.4, discordance=0.2, run_share=0.3)
    design_effect = 1 + 4 * 0.4
    assert isclose(five.template_variance(0.1), (0.2 - 0.01) / 5 * design_effect)
    repeated = PlanAssumptions(per_template=5, repeats=10**9, correlation=0.4, discordance=0.2, run_share=0.3)
    assert isclose(repeated.template_variance(0.1), 0.19 * (0.4 + 0.3 / 5), rel_tol=1e-6)


def test_an_effect_larger_than_the_discordance_makes_that_larger():
    assert PlanAssumptions(discordance=0.1).template_variance(0.2) > 0


def test_without_clusters_the_chances_are_near_those_of_the_published_table():
    """Power of exact McNemar with 20 % discordant: 258 tasks show 10 points 19 times in 20; the t test is near it."""
    alone = PlanAssumptions(per_template=1, correlation=0.0, run_share=0.0)
    for tasks, effect, known in ((258, 0.10, 0.95), (258, 0.05, 0.39), (532, 0.05, 0.68), (812, 0.05, 0.88)):
        assert isclose(power_of(effect, alone.template_variance(effect), tasks), known, abs_tol=0.06)


def test_what_is_missing_is_said_by_the_assumptions_of_the_plan():
    few, many = PlanAssumptions(per_template=1.5), PlanAssumptions(per_template=4.3)
    for assumed in (few, many):
        more, effect = more_templates(0.0, 0.0, 10, assumed)
        assert more + 10 == dict(plan_power(10, assumed).templates_needed)[effect]
    assert more_templates(0.0, 0.0, 10, few) > more_templates(0.0, 0.0, 10, many)


@pytest.mark.parametrize(("templates", "effect"), [(40, 0.15), (80, 0.10)])
def test_the_chance_is_that_of_simulated_evaluations(templates, effect):
    """Templates whose tasks all do the same in a share of the cases: their correlation is that share."""
    rng = np.random.default_rng(9)
    chances = [(0.2 + effect) / 2, (0.2 - effect) / 2, 0.8]
    shown = 0
    for _ in range(250):
        sums = []
        for _ in range(templates):
            own = rng.choice([1, -1, 0], p=chances, size=4)
            sums.append(float(4 * own[0] if rng.random() < 0.44 else own.sum()))
        found = bootstrap_mean(ClusterSums(np.array(sums), np.full(templates, 4.0)), -1, 1, draws=1000)
        shown += found.low > 0
    planned = PlanAssumptions(per_template=4, correlation=0.44)
    assert isclose(shown / 250, power_of(effect, planned.template_variance(effect), templates), abs_tol=0.09)


def test_the_templates_needed_are_the_fewest_that_show_it_four_times_in_five():
    given = PlanAssumptions(per_template=4.3)
    plan = plan_power(190, given)
    assert [effect for effect, _ in plan.power] == list(EFFECTS)
    for effect, needed in plan.templates_needed:
        variance = given.template_variance(effect)
        assert power_of(effect, variance, needed) >= 0.8
        assert needed == 8 or power_of(effect, variance, needed - 1) < 0.8
    needed = [count for _, count in plan.templates_needed]
    assert needed == sorted(needed, reverse=True)


def test_more_templates_more_tasks_and_more_repeats_show_more():
    def chance(templates, **given):
        return dict(plan_power(templates, PlanAssumptions(**given)).power)[0.10]

    assert chance(40) < chance(80) < chance(160)
    assert chance(40, per_template=2) < chance(40, per_template=6)
    assert chance(40, repeats=1) < chance(40, repeats=3)
    assert chance(40, correlation=0.44) < chance(40, correlation=0.1)


def test_power_is_scipys_power_of_a_t_test_up_to_its_noncentrality():
    variance, templates, effect = 0.1, 60, 0.12
    reach = stats.t.ppf(0.975, templates - 1)
    noncentral = effect / np.sqrt(variance / templates)
    known = 1 - stats.nct.cdf(reach, templates - 1, noncentral)
    assert isclose(power_of(effect, variance, templates), known, abs_tol=0.01)


@pytest.mark.parametrize("templates", [0, 1, 7])
def test_too_few_templates_show_nothing(templates):
    assert power_of(0.2, 0.01, templates) == 0.0


@pytest.mark.parametrize(
    ("difference", "error", "templates", "effect"),
    [
        (0.03, 0.025, 100, 0.05),  # at least 5 points
        (0.07, 0.04, 60, 0.05),  # not above the difference seen
        (0.12, 0.08, 20, 0.10),
        (-0.30, 0.2, 9, 0.20),
        (0.001, 0.004, 200, 0.01),  # 5 and 2 points would have been seen
        (0.0, 0.0, 0, 0.05),  # nothing seen: the plan's assumption
    ],
)
def test_what_is_missing_is_said_for_a_round_effect(difference, error, templates, effect):
    more, aim = more_templates(difference, error, templates)
    assert aim == effect
    assert more >= 1
    if error:
        assert power_of(effect, error**2 * templates, templates + more) >= 0.8
