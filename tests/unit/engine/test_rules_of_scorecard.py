"""Calibration of the ranking (``detectors/risk.py``): from when on, and on verdicts the weights had not seen."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

import numpy as np
import pytest

from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.risk import JudgedRun, RiskModel, features, fit

DETECTORS = ("covered-element", "step-limit", "no-effect", "url-revisits")


def example(number: int, failed: bool, *detectors: str) -> JudgedRun:
    flags = tuple(
        Flag(run="r", detector=name, step=0, severity=Severity.HINT, confidence=0.5, message=name)
        for name in detectors
    )
    return JudgedRun(run=f"run {number}", flags=flags, steps=5, usual_steps=5, failed=failed)


def verdicts(failed: int, passed: int) -> list[JudgedRun]:
    return [example(number, number < failed) for number in range(failed + passed)]


FROM_WHEN_ON = (
    ("twelve verdicts, three of each kind", 3, 9, True),
    ("the same the other way round", 9, 3, True),
    ("eleven are too few", 5, 6, False),
    ("twelve with two that failed are too one-sided", 2, 10, False),
    ("twelve with two that passed are, too", 10, 2, False),
    ("a hundred of one kind are", 100, 0, False),
)


@pytest.mark.parametrize(
    ("failed", "passed", "calibrated"),
    [row[1:] for row in FROM_WHEN_ON],
    ids=[row[0] for row in FROM_WHEN_ON],
)
def test_values_stay_as_the_weights_give_them_until_there_are_enough_verdicts(
    failed: int, passed: int, calibrated: bool
) -> None:
    model = fit(verdicts(failed, passed))
    assert ((model.slope, model.offset) != (1.0, 0.0)) is calibrated


def log_odds(model: RiskModel, one: JudgedRun) -> float:
    found = features(one.flags, one.steps, one.usual_steps, one.decided)
    return sum(model.weights[name] * value for name, value in found.items())


def line_through(odds: Sequence[float], failed: Sequence[bool]) -> tuple[float, float]:
    """The likeliest line through log odds, slope about 1 and offset about 0 within half a unit; by plain descent."""
    x, y = np.array(odds), np.array(failed, dtype=float)
    slope, offset = 1.0, 0.0
    for _ in range(20_000):
        wrong = 1 / (1 + np.exp(-(slope * x + offset))) - y
        slope -= 0.002 * float((wrong * x).sum() + 4 * (slope - 1))
        offset -= 0.002 * float(wrong.sum() + 4 * offset)
    return slope, offset


def test_the_line_is_fitted_on_verdicts_that_the_weights_had_not_seen() -> None:
    chance = random.Random(7)
    judged = [
        example(number, chance.random() < 0.5, *chance.sample(DETECTORS, chance.randrange(4)))
        for number in range(40)
    ]
    part = {one.run: hashlib.blake2b(one.run.encode(), digest_size=1).digest()[0] % 5 for one in judged}
    assert len(set(part.values())) == 5

    unseen = [
        log_odds(fit([other for other in judged if part[other.run] != part[one.run]]), one) for one in judged
    ]
    seen = [log_odds(fit(judged), one) for one in judged]
    failed = [one.failed for one in judged]

    model = fit(judged)
    assert (model.slope, model.offset) == pytest.approx(line_through(unseen, failed), abs=0.005)
    assert (model.slope, model.offset) != pytest.approx(line_through(seen, failed), abs=0.05)
