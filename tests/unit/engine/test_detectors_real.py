"""Detectors and risk on the published runs, read by the importer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.engine.core.sites import load_sites
from app.engine.core.trajectory import ErrorClass, Outcome, Run, Step
from app.engine.detectors.risk import RiskModel, cluster_key
from app.engine.detectors.runner import detect_run
from app.engine.detectors.suspect import find_suspect
from app.engine.imports.colorbrowseragent import find_runs
from tests.support.runs import read_run

SHARED = Path(os.environ.get("SITELORE_SHARED", Path(__file__).parents[4] / "shared"))
ROOT = SHARED / "data" / "colorbrowseragent"

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not ROOT.is_dir(), reason="the run collection is not beside the checkout"),
]


@pytest.fixture(scope="module")
def runs() -> dict[str, tuple[Run, tuple[Step, ...]]]:
    read = (read_run(folder, ROOT, load_sites()) for folder in find_runs(ROOT))
    return {one.run.task_id: (one.run, one.steps) for one in read}


def fired(run: tuple[Run, tuple[Step, ...]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for flag in detect_run(*run, usual_steps=5):
        found.setdefault(flag.detector, []).append(flag.step)
    return found


@pytest.mark.parametrize(("task", "step"), [("688", 1), ("50093", 1)])
def test_runs_that_left_the_sites_are_flagged_at_the_action_that_led_away(runs: dict, task: str, step: int):
    assert fired(runs[task])["left-sites"] == [step]


@pytest.mark.parametrize(("task", "last"), [("33", 19), ("415", 19), ("701", 19), ("50091", 49)])
def test_step_limits_are_flagged_at_the_last_step(runs: dict, task: str, last: int):
    assert fired(runs[task])["step-limit"] == [last]


@pytest.mark.parametrize("task", ["10290", "20024", "30051", "50050"])
def test_crashes_are_flagged_even_without_a_step(runs: dict, task: str):
    assert "crash" in fired(runs[task])


def test_endings_are_flagged_on_no_other_run(runs: dict):
    expected = {
        "left-sites": {"688", "50093"},
        "step-limit": {"33", "415", "701", "50091"},
        "crash": {"10290", "20024", "30051", "50050"},
    }
    for detector, tasks in expected.items():
        assert {task for task, run in runs.items() if detector in fired(run)} == tasks


def test_steps_without_a_readable_action_are_flagged_where_they_first_occur(runs: dict):
    seen = 0
    for run, steps in runs.values():
        unread = [step.index for step in steps if step.error_class is ErrorClass.HARNESS]
        assert fired((run, steps)).get("unreadable-output", [])[:1] == unread[:1]
        seen += bool(unread)
    assert seen


def test_runs_stopped_by_their_score_get_nothing_from_their_end(runs: dict):
    stopped = [run for run in runs.values() if run[0].outcome is Outcome.ENDED_BY_ENVIRONMENT]

    assert stopped
    for run in stopped:
        assert not {"no-answer", "gave-up", "crash", "step-limit", "left-sites"} & fired(run).keys()


def test_the_suspect_step_of_a_loop_is_where_it_began(runs: dict):
    run, steps = runs["30051"]
    flags = detect_run(run, steps, 5)

    risk = RiskModel().assess(run.id, flags, run.step_count, 5)

    assert find_suspect(run, steps, flags).step == 4, (
        "the first click on the empty span, not the paging before it"
    )
    assert risk.value > 0.9
    assert "click span without a name" in " ".join(risk.reasons)


@pytest.mark.parametrize(("task", "step"), [("33", 9), ("50091", 4)])
def test_an_earlier_useful_search_is_not_where_a_loop_began(runs: dict, task: str, step: int):
    run, steps = runs[task]

    assert find_suspect(run, steps, detect_run(run, steps, 5)).step == step


def test_every_run_has_a_risk_a_suspect_step_and_a_kind(runs: dict):
    for run, steps in runs.values():
        flags = detect_run(run, steps, 5)
        risk = RiskModel().assess(run.id, flags, run.step_count, 5)

        assert 0 <= risk.value <= 1
        assert 0 <= find_suspect(run, steps, flags).step <= max(0, run.step_count - 1)
        assert cluster_key(run, flags, steps).count(" · ") == 2
