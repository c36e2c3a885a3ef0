"""Prior weights of the risk ranking, before anyone has judged a run.

Source: the published ColorBrowserAgent runs (1,337 with steps; 519 failed) were counted rule by rule elsewhere; a rule
that hits a share p of the failed and q of the passed runs is worth ``ln(p / q)``:

    step limit                127 of 519 failed,  4 of 818 passed   3.9
    run error                  21                 0                 4.2 (with half a run added to each count)
    same action five times    143                38                 1.8
    same action three in a row 31                12                 1.4
    A-B-A-B of addresses       75                42                 1.0
    page unchanged             42                35                 0.6
    three action errors       262               244                 0.5
    none of these             142               455                -0.7, on top of a base rate of -0.5

Rules that fire together share that evidence (all loops of one run together: 80 % right), so each but the endings gets
a third to two thirds of it. Detectors that were not counted there (left the sites, login wall, gave up, empty answer,
error page, unreadable output) are set by judgement, and so are those that ask a model: an ending that can't score
counts like a step limit, a hindrance that agents often overcome counts little.

Three were set by counting again on 378 published runs (150 failed), with the answers of state tasks masked: there an
agent only gives an answer where the environment has not ended the run as a success, so that answering at all reveals
the outcome (14 of 15 such runs failed that were flagged as given up). Of the rest:

    gave up                     6 of 11 failed   0.2, instead of 1.2
    covered element            10 of 34          0.1, instead of 0.6
    page unchanged             17 of 27          0.6, instead of 0.1
"""

from __future__ import annotations

from dataclasses import dataclass

INTERCEPT = -1.1
"""Log odds that a run without any flag failed (142 of 597, ``ln(142 / 455)`` = -1.16)."""
LENGTH = 0.6
"""For each unit of ``ln(steps / usual steps)``; by judgement: failed runs are longer, their median being 15 steps."""
GOAL_MET = -1.0
"""For a run in whose outcome a model found nothing wrong; by judgement: models let much pass."""
INTERCEPT_SPREAD = 1.0
LENGTH_SPREAD = 0.5


@dataclass(frozen=True, slots=True)
class Prior:
    """Log odds for a detector that fired once, for firing often, for firing on one of the last two steps."""

    fired: float
    often: float = 0.0
    at_end: float = 0.0


PRIORS: dict[str, Prior] = {
    "run-outcome": Prior(1.8),
    "impossible-task": Prior(0.3),
    "step-consistency": Prior(0.3, often=0.5, at_end=0.4),
    "crash": Prior(4.0),
    "left-sites": Prior(3.5),
    "step-limit": Prior(3.2),
    "repeated-action": Prior(1.0, often=0.2, at_end=0.2),
    "gave-up": Prior(0.2),
    "no-answer": Prior(1.5),
    "login-wall": Prior(0.7, often=0.2, at_end=0.3),
    "back-and-forth": Prior(0.5, often=0.2, at_end=0.2),
    "state-action-loop": Prior(0.5, often=0.2, at_end=0.3),
    "action-cycle": Prior(0.4, often=0.2, at_end=0.2),
    "error-page": Prior(0.4, often=0.2, at_end=0.3),
    "hard-errors": Prior(0.35, often=0.1, at_end=0.1),
    "unreadable-output": Prior(0.3, often=0.2, at_end=0.2),
    "covered-element": Prior(0.1, often=0.3, at_end=0.3),
    "url-revisits": Prior(0.2, often=0.1, at_end=0.1),
    "far-longer": Prior(0.2, often=0.3),
    "no-effect": Prior(0.6, often=0.3, at_end=0.2),
}

UNKNOWN = Prior(0.3)
"""For a detector that has no line above."""
FIRED_SPREAD = 1.0
DETAIL_SPREAD = 0.4
"""Standard deviations of the weights: how far verdicts may move them."""


def prior_of(detector: str) -> Prior:
    """Return a detector's weight before any verdict."""
    return PRIORS.get(detector, UNKNOWN)
