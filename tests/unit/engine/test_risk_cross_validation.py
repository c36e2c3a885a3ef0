"""Folds, calibration and the choice between a fit and the built-in ranking: one row a clause of the rule.

The oracle is written from the rule: a run is rated by fits to the runs of other folds, and a task is never on both
sides.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from app.cli.root import run as command_line
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors import risk
from app.engine.detectors.cross_validation import (
    MIN_GAIN,
    MIN_VERDICTS_EACH,
    CrossValidation,
    auroc,
    cross_validate,
    held_out_logits,
)
from app.engine.detectors.risk import FOLDS, MIN_TO_CALIBRATE, JudgedRun, RiskModel, fit, fold_of
from app.engine.store.workspace import Workspace
from tests.support.runs import make_run, make_step


def _example(number: int, failed: bool, *detectors: str, task: str = "", steps: int = 5) -> JudgedRun:
    flags = tuple(
        Flag(run="r", detector=name, step=0, severity=Severity.HINT, confidence=0.5, message=name)
        for name in detectors
    )
    return JudgedRun(run=f"run {number}", flags=flags, steps=steps, usual_steps=5, failed=failed, task=task)


def _noise(count: int, seed: int = 3) -> list[JudgedRun]:
    """Verdicts that are independent of every flag: a model that sees its own fold believes too much."""
    dice = random.Random(seed)
    names = ["covered-element", "no-effect", "gave-up", "repeated-action", "hard-errors", "error-page"]
    return [
        _example(number, dice.random() < 0.5, *(name for name in names if dice.random() < 0.4))
        for number in range(count)
    ]


def _learnable(count: int) -> list[JudgedRun]:
    """A workspace in which a step limit never is a failure and a covered element always is one."""
    return [
        _example(number, number % 2 == 0, "covered-element" if number % 2 == 0 else "step-limit")
        for number in range(count)
    ]


# ---- folds


@pytest.mark.parametrize(
    ("what", "one", "other", "together"),
    [
        ("runs of one task stay together", ("a", "t"), ("b", "t"), True),
        ("whatever their ids are", ("zz", "t"), ("b", "t"), True),
        ("a run without a task goes by its id", ("a", ""), ("a", ""), True),
        ("the same task is in the same fold each time", ("a", "webarena 33"), ("a", "webarena 33"), True),
    ],
)
def test_what_is_held_out_together(what: str, one: tuple[str, str], other: tuple[str, str], together: bool):
    made = [replace(_example(0, True), run=run, task=task) for run, task in (one, other)]
    for split in range(4):
        assert (fold_of(made[0], split) == fold_of(made[1], split)) is together, what


def test_tasks_and_runs_without_one_are_spread_over_all_folds_and_otherwise_in_each_split():
    for task in ("task {}", ""):
        made = [_example(number, True, task=task.format(number)) for number in range(100)]
        folds = [[fold_of(one, split) for one in made] for split in range(3)]
        assert all(set(fold) == set(range(FOLDS)) for fold in folds)
        assert folds[0] != folds[1] != folds[2] != folds[0]


# ---- calibration


def _line(logits: Sequence[float], failed: Sequence[bool]) -> tuple[float, float]:
    """Slope and offset of the highest posterior, by the rule: priors 1 +- 0.5 and 0 +- 0.5; plain gradient steps."""
    design = np.stack([np.array(logits), np.ones(len(logits))], axis=1)
    wanted, line = np.array(failed, float), np.array([1.0, 0.0])
    for _ in range(20_000):
        chance = 1 / (1 + np.exp(-design @ line))
        step = design.T @ (chance - wanted) + 4.0 * (line - np.array([1.0, 0.0]))
        line = line - 0.002 * step
    return max(0.1, float(line[0])), float(line[1])


@pytest.mark.parametrize("grouped", [False, True], ids=["no tasks", "two runs a task"])
@pytest.mark.parametrize("seed", [3, 4])
def test_calibration_never_sees_its_own_fold(grouped: bool, seed: int):
    examples = _noise(60, seed)
    if grouped:
        examples = [replace(one, task=f"task {at // 2}") for at, one in enumerate(examples)]
    examples.sort(key=lambda one: one.run)
    outside: list[float] = []
    for one in examples:
        others = [other for other in examples if fold_of(other) != fold_of(one)]
        outside.append(fit(others).logit(one))
    slope, offset = _line(outside, [one.failed for one in examples])

    model = fit(examples)

    assert (model.slope, model.offset) == pytest.approx((slope, offset), abs=1e-3)
    inside = _line([model.logit(one) for one in examples], [one.failed for one in examples])
    assert inside[0] > slope + 0.1, "the material does not tell the two apart"


@pytest.mark.parametrize(
    ("what", "failed", "passed", "calibrated"),
    [
        ("one verdict too few", MIN_TO_CALIBRATE - 7, 6, False),
        ("enough", MIN_TO_CALIBRATE - 6, 6, True),
        ("two passed are too few", 20, 2, False),
        ("three passed are enough", 20, 3, True),
        ("two failed are too few", 2, 20, False),
        ("three failed are enough", 3, 20, True),
    ],
)
def test_when_values_are_calibrated(what: str, failed: int, passed: int, calibrated: bool):
    made = [_example(at, at < failed, "no-effect") for at in range(failed + passed)]
    model = fit(made)
    assert ((model.slope, model.offset) != (1.0, 0.0)) is calibrated, what


def test_calibration_never_turns_the_order_round():
    misled = [_example(at, at % 2 == 0, task=f"{at}") for at in range(40)]
    misled = [replace(one, steps=3 + (at * 7) % 11) for at, one in enumerate(misled)]
    assert fit(misled).slope >= 0.1


# ---- fit or built-in


def test_a_held_out_value_comes_from_a_fit_to_the_other_folds_alone():
    examples = [replace(one, task=f"task {at // 3}") for at, one in enumerate(_noise(45))]
    for split in range(2):
        said = held_out_logits(examples, split)
        for one, value in zip(examples, said, strict=True):
            others = [other for other in examples if fold_of(other, split) != fold_of(one, split)]
            assert not {other.task for other in others} & {one.task}
            assert value == pytest.approx(fit(others).logit(one))


@pytest.mark.parametrize(
    ("what", "failed", "passed", "tried_at_all"),
    [
        ("no verdict", 0, 0, False),
        ("failures alone", 40, 0, False),
        ("one failure too few", MIN_VERDICTS_EACH - 1, 40, False),
        ("one success too few", 40, MIN_VERDICTS_EACH - 1, False),
        ("enough of both", MIN_VERDICTS_EACH, MIN_VERDICTS_EACH, True),
    ],
)
def test_a_fit_is_tried_from_so_many_verdicts_of_both_kinds(
    what: str, failed: int, passed: int, tried_at_all: bool
):
    found = cross_validate([_example(at, at < failed, "no-effect") for at in range(failed + passed)])
    assert (found.failed, found.passed) == (failed, passed)
    assert (found.cold is not None) is (found.fitted is not None) is tried_at_all, what
    if not tried_at_all:
        assert not found.fit_is_better
        assert f"there are {failed} and {passed}" in found.why


@pytest.mark.parametrize(
    ("cold", "fitted", "better"),
    [
        (0.70, 0.69, False),
        (0.70, 0.70, False),
        (0.70, 0.70 + MIN_GAIN / 2, False),
        (0.70, 0.70 + MIN_GAIN * 1.01, True),
        (0.70, 0.90, True),
    ],
)
def test_a_fit_is_used_only_where_it_is_better(cold: float, fitted: float, better: bool):
    found = CrossValidation(failed=20, passed=20, cold=cold, fitted=fitted)
    assert found.fit_is_better is better
    assert ("fitted to verdicts is in use" in found.why) is better
    assert ("built-in ranking is in use" in found.why) is not better


def test_where_verdicts_teach_something_the_fit_is_used_and_where_they_are_noise_it_is_not():
    assert cross_validate(_learnable(40)).fit_is_better
    assert not cross_validate(_noise(80)).fit_is_better


def test_the_same_verdicts_in_any_order_give_the_same_trial():
    examples = _learnable(40)
    shuffled = random.Random(1).sample(examples, len(examples))
    assert cross_validate(shuffled) == cross_validate(examples) == cross_validate([*examples, *examples])


def test_one_task_on_both_sides_would_flatter_and_is_not():
    # Each task's two runs fail alike and are flagged alike, and no flag means anything from task to task.
    dice = random.Random(5)
    names = [known.name for known in risk.ALL_DETECTORS]
    pairs = [
        _example(at * 2 + twin, failed, *flags, task=f"task {at}")
        for at, (failed, flags) in enumerate((dice.random() < 0.5, dice.sample(names, 3)) for _ in range(60))
        for twin in range(2)
    ]
    apart, mixed = cross_validate(pairs), cross_validate([replace(one, task="") for one in pairs])
    assert apart.fitted is not None
    assert mixed.fitted is not None
    assert mixed.fitted > apart.fitted + 0.05


@pytest.mark.parametrize(
    ("values", "failed", "expected"),
    [
        ([2.0, 1.0], [True, False], 1.0),
        ([1.0, 2.0], [True, False], 0.0),
        ([1.0, 1.0], [True, False], 0.5),
        ([3.0, 1.0, 2.0, 2.0], [True, True, False, False], 0.5),
    ],
)
def test_the_area_is_the_chance_of_the_right_order(values: list[float], failed: list[bool], expected: float):
    assert auroc(values, failed) == expected


def test_review_scores_shows_both_figures_and_which_is_in_use(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("app.log.setup", lambda level="": None)
    place = tmp_path / "workspace"
    with Workspace.open(place) as workspace:
        for number in range(24):
            run = make_run(f"run-{number}", task_id=str(number), step_count=1)
            workspace.runs.add(run, [make_step()], {})
        workspace.rebuild_index()
    for number in range(24):
        label = "wrong page" if number % 2 else "not a failure"
        said = ["--workspace", str(place), "review", "verdict", f"run-{number}", "--label", label]
        assert command_line(said) == 0
    capsys.readouterr()
    assert command_line(["--workspace", str(place), "review", "scores"]) == 0
    out = capsys.readouterr().out
    assert "The built-in ranking is in use: cross-validated on 24 judged runs" in out
    assert command_line(["--workspace", str(place), "review", "scores", "--json"]) == 0
    import json

    document = json.loads(capsys.readouterr().out)
    assert (document["in_use"], document["fitted_on"]) == ("built-in", 0)
    assert (document["judged_failed"], document["judged_passed"]) == (12, 12)
    assert document["auroc_cold"] == 0.5
    assert document["auroc_fitted"] is not None
    assert document["why"] in out


def test_a_fit_of_an_older_prior_is_not_used(tmp_path):
    from app.engine.services.review import _STATE, ReviewService

    class _Core:
        workspace: Workspace

    with Workspace.open(tmp_path / "w") as workspace:
        old = RiskModel(fitted_on=9, slope=2.0)
        workspace.review.save_state(_STATE, {"model": old.to_json()})
        core = _Core()
        core.workspace = workspace
        judging = ReviewService(core)  # type: ignore[arg-type]
        assert judging._fit_is_old()
        assert judging._risk_model() == RiskModel()
