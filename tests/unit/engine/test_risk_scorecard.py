"""The scorecard of detectors by people's verdicts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.core.verdicts import Flag, Label, Score, Severity, Verdict
from app.engine.detectors.runner import BY_NAME
from app.engine.detectors.scorecard import agent_failed, scorecard


def flag(run: str, detector: str = "crash", version: int = 1) -> Flag:
    return Flag(
        run=run,
        detector=detector,
        step=0,
        severity=Severity.ERROR,
        confidence=1,
        message="m",
        version=version,
    )


def verdict(label: Label, at: float = 0, detector: str = "") -> Verdict:
    return Verdict(id=f"v{at}", run="r", label=label, at=at, detector=detector)


def line(scores: list[Score], detector: str = "crash", site: str = "") -> Score:
    [found] = [score for score in scores if (score.detector, score.site) == (detector, site)]
    return found


@pytest.mark.parametrize(
    ("labels", "failed"),
    [
        ([], None),
        ([verdict(Label.LOOP)], True),
        ([verdict(Label.NOT_A_FAILURE)], False),
        ([verdict(Label.EVALUATOR_WRONG)], False),
        ([verdict(Label.TASK_AMBIGUOUS)], None),
        ([verdict(Label.LOOP, 1), verdict(Label.NOT_A_FAILURE, 2)], False),
        ([verdict(Label.NOT_A_FAILURE, 2), verdict(Label.LOOP, 1)], False),
        ([verdict(Label.LOOP, 1), verdict(Label.TASK_AMBIGUOUS, 2)], None),
        ([verdict(Label.NOT_A_FAILURE, 1, "crash")], None),
        ([verdict(Label.LOOP, 1), verdict(Label.NOT_A_FAILURE, 2, "crash")], True),
        ([verdict(Label.LOOP, 1, "crash")], True),
    ],
)
def test_the_newest_verdict_on_the_run_decides(labels: list[Verdict], failed: bool | None):
    assert agent_failed(labels) is failed


def test_precision_and_recall_count_judged_runs_only():
    flags = {"a": [flag("a")], "b": [flag("b"), flag("b")], "c": [flag("c")], "d": [], "e": [flag("e")]}
    verdicts = {
        "a": [verdict(Label.LOOP)],
        "b": [verdict(Label.NOT_A_FAILURE)],
        "d": [verdict(Label.WRONG_ANSWER)],
        "e": [verdict(Label.TASK_AMBIGUOUS)],
    }

    score = line(scorecard(flags, verdicts, dict.fromkeys(flags, "map")))

    assert (score.fired, score.judged, score.right) == (4, 2, 1)
    assert score.precision == 0.5
    assert score.recall == 0.5
    assert score.version == BY_NAME["crash"].version


def test_rates_are_none_without_verdicts():
    score = line(scorecard({"a": [flag("a")]}, {}, {"a": "map"}))

    assert (score.fired, score.judged, score.precision, score.recall) == (1, 0, None, None)


def test_each_site_has_its_own_line_and_a_site_without_calls_or_failures_has_none():
    flags = {"a": [flag("a")], "b": [flag("b")], "c": []}
    verdicts = {"a": [verdict(Label.LOOP)], "b": [verdict(Label.NOT_A_FAILURE)]}

    scores = scorecard(flags, verdicts, {"a": "map", "b": "gitlab", "c": "reddit"})

    assert line(scores, site="map").precision == 1
    assert line(scores, site="gitlab").precision == 0
    assert line(scores, site="gitlab").recall is None
    assert {score.site for score in scores if score.detector == "crash"} == {"", "map", "gitlab"}


def test_an_adjudication_outweighs_later_verdicts():
    settled = replace(verdict(Label.NOT_A_FAILURE, 1), settles=True)
    assert agent_failed([settled, verdict(Label.LOOP, 2)]) is False
    assert agent_failed([verdict(Label.NOT_A_FAILURE, 1), verdict(Label.LOOP, 2)]) is True


def test_a_verdict_on_a_flag_outweighs_the_verdict_on_the_run():
    verdicts = {"a": [verdict(Label.WRONG_ANSWER, 1), verdict(Label.NOT_A_FAILURE, 2, "crash")]}

    scores = scorecard({"a": [flag("a"), flag("a", "no-effect")]}, verdicts, {"a": "map"})

    assert line(scores).precision == 0
    assert line(scores, "no-effect").precision == 1


def test_flags_of_another_version_of_a_detector_are_not_mixed_in():
    assert line(scorecard({"a": [flag("a", version=99)]}, {}, {"a": "map"})).fired == 0


def test_a_failure_that_a_detector_missed_lowers_its_recall():
    verdicts = {"a": [verdict(Label.LOOP)], "b": [verdict(Label.LOOP)], "c": [verdict(Label.LOOP)]}

    assert line(scorecard({"a": [flag("a")]}, verdicts, {})).recall == pytest.approx(1 / 3)
