"""Before the first run: how large an effect a number of templates can show."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

from app.engine.core.evaluation.episode import MIN_TEMPLATES
from app.engine.evaluation.statistics.distributions import NORMAL, TAIL, t_quantile

EFFECTS = (0.05, 0.10, 0.15, 0.20)
"""Effects that a plan is made for."""
POWER = 0.8
_MOST_TEMPLATES = 100_000
_FINER_EFFECTS = (*reversed(EFFECTS), 0.02, 0.01)


@dataclass(frozen=True, slots=True)
class PlanAssumptions:
    """How outcomes of two arms are taken to differ where nothing has been run yet.

    Attributes:
        per_template: tasks of a template.  repeats: runs of each task in each arm.
        correlation: of the differences of tasks of a template. Measured on published runs, of outcomes: 0.38
            (WebArena) and 0.44 (WebChoreArena); the higher one is taken for the differences too.
        discordance: share of tasks that end otherwise in the other arm.
        run_share: share of a difference's variance that is chance of the single run, which repeats average out.
            Assumed; no published runs have repeats.
    """

    per_template: float = 4.3
    repeats: int = 1
    correlation: float = 0.44
    discordance: float = 0.20
    run_share: float = 0.3

    def template_variance(self, effect: float) -> float:
        """Return the variance of one template's mean difference: of template, task and single run."""
        single = max(self.discordance, abs(effect)) - effect**2
        between = self.correlation
        run = min(self.run_share, 1 - between)
        task = 1 - between - run
        per = max(1.0, self.per_template)
        return single * (between + task / per + run / (per * max(1, self.repeats)))


@dataclass(frozen=True, slots=True)
class PowerPlan:
    """By effect: the chance to show it, and the templates that show it with a chance of 80 %."""

    power: tuple[tuple[float, float], ...]
    templates_needed: tuple[tuple[float, int], ...]


def plan_power(templates: int, assumptions: PlanAssumptions | None = None) -> PowerPlan:
    """Return what so many templates can show."""
    given = assumptions or PlanAssumptions()
    variances = [(effect, given.template_variance(effect)) for effect in EFFECTS]
    return PowerPlan(
        power=tuple((effect, power_of(effect, variance, templates)) for effect, variance in variances),
        templates_needed=tuple((effect, _needed(effect, variance)) for effect, variance in variances),
    )


def power_of(effect: float, template_variance: float, templates: int) -> float:
    """Return the chance that the 95 % interval excludes 0, by Student's t; 0 below ``MIN_TEMPLATES``."""
    if templates < MIN_TEMPLATES:
        return 0.0
    error = sqrt(template_variance / templates)
    if error <= 0.0:
        return 1.0 if effect else 0.0
    reach = t_quantile(1 - TAIL, templates - 1)
    return NORMAL.cdf(effect / error - reach) + NORMAL.cdf(-effect / error - reach)


def more_templates(
    difference: float, standard_error: float, templates: int, assumed: PlanAssumptions | None = None
) -> tuple[int, float]:
    """Return how many more templates would show which effect, where data is missing.

    The effect is the largest of 20, 15, 10, 5 points that is not above the difference seen, and at least 5; one that
    the templates at hand should have shown already gives way to the next smaller one (at last 2 and 1 points).  The
    variance is the one seen; without any, that of the plan (``assumed``).
    """
    aim = max(abs(difference), EFFECTS[0])
    assumed = assumed or PlanAssumptions()
    for effect in _FINER_EFFECTS:
        if effect > aim + 1e-9:
            continue
        seen = standard_error**2 * templates
        needed = _needed(effect, seen if seen > 0 else assumed.template_variance(effect))
        if needed > templates:
            return needed - templates, effect
    return max(1, templates), _FINER_EFFECTS[-1]


def _needed(effect: float, template_variance: float) -> int:
    """Return the templates that show an effect with a chance of 80 %."""
    if power_of(effect, template_variance, MIN_TEMPLATES) >= POWER:
        return MIN_TEMPLATES
    low, high = MIN_TEMPLATES, MIN_TEMPLATES
    while power_of(effect, template_variance, high) < POWER and high < _MOST_TEMPLATES:
        low, high = high, high * 2
    while high - low > 1:
        middle = ceil((low + high) / 2)
        if power_of(effect, template_variance, middle) >= POWER:
            high = middle
        else:
            low = middle
    return high
