"""An interval that one may look at after every template: a confidence sequence.

A fixed interval holds 95 times of 100 if one looks once.  Who looks after every task, and stops when it excludes 0,
is wrong far more often.  The sequence here covers the truth at all looks together with a chance of 95 %.

Method: hedged capital (Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by betting",
section 4).  Whether the mean is m is bet on, template by template; capital of 1 that has grown to 20 refutes m, since
by Ville's inequality that happens with a chance of 1/20 if m is true.  With values x in [0, 1] (a difference d is
(d + 1) / 2) and weights w = the template's tasks / those of the largest template:

    up(m)   = product of 1 + min(bet, 1/(2 m))     * w (x - m)
    down(m) = product of 1 - min(bet, 1/(2 (1-m))) * w (x - m)
    bet     = sqrt(2 ln(2/0.05) / (variance so far * t * ln(t + 1)))
    interval = every m whose max(up, down) / 2 has stayed below 1/0.05

The bet uses only what was seen before the template.  The weights make it a statement about the mean over tasks, as the
bootstrap's is.

It holds if templates come in an order that has nothing to do with how they end: the evaluation's shuffled order, not
the order in which they finished.  A template counts once all its episodes are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt

import numpy as np

from app.engine.evaluation.statistics.cluster_bootstrap import Floats
from app.engine.evaluation.statistics.distributions import LEVEL

GRID = 1001
"""Values of m that are bet on; an interval's ends are one step of them wider."""
_ERROR = 1 - LEVEL


def always_valid_interval(
    sums: Sequence[float] | Floats, sizes: Sequence[float] | Floats, largest: float = 0.0
) -> tuple[float, float]:
    """Return the interval of a mean difference in [-1, 1] after these templates, in their order.

    ``largest`` is the size of the largest template of the plan, which has to be known before the first one.
    """
    path = always_valid_path(sums, sizes, largest)
    return path[-1] if path else (-1.0, 1.0)


def always_valid_path(
    sums: Sequence[float] | Floats, sizes: Sequence[float] | Floats, largest: float = 0.0
) -> list[tuple[float, float]]:
    """Return the interval after each template."""
    tasks = np.asarray(sizes, dtype=np.float64)
    if not len(tasks):
        return []
    values = (np.asarray(sums, dtype=np.float64) / tasks + 1) / 2
    weights = tasks / max(largest, float(tasks.max()))
    m = np.linspace(0.0, 1.0, GRID)
    with np.errstate(divide="ignore"):
        most_up, most_down = 0.5 / m, 0.5 / (1 - m)
    up, down, open_ = np.ones(GRID), np.ones(GRID), np.ones(GRID, dtype=np.bool_)
    # The paper's prior: one value of 1/2 with variance 1/4. ``spread`` is the variance so far times t.
    spread, weighted, weight = 0.25, 0.5, 1.0
    path: list[tuple[float, float]] = []
    for t, (x, w) in enumerate(zip(values.tolist(), weights.tolist(), strict=True), start=1):
        bet = sqrt(2 * log(2 / _ERROR) / (spread * log(t + 1)))
        step = w * (x - m)
        up *= 1 + np.minimum(bet, most_up) * step
        down *= 1 - np.minimum(bet, most_down) * step
        left = open_ & (np.maximum(up, down) / 2 < 1 / _ERROR)
        open_ = left if left.any() else open_
        weighted, weight = weighted + w * x, weight + w
        spread += (w * (x - weighted / weight)) ** 2
        path.append(_ends(m[open_]))
    return path


def _ends(m: Floats) -> tuple[float, float]:
    step = 1 / (GRID - 1)
    low, high = max(0.0, float(m[0]) - step), min(1.0, float(m[-1]) + step)
    return round(2 * low - 1, 9), round(2 * high - 1, 9)
