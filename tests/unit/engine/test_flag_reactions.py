"""An operator's own actions as judgements of the detectors that fired."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.core.supervision import FlagReaction, Intervention, OperatorAction
from app.engine.core.verdicts import Flag, Label, Score, Severity, Verdict
from app.engine.detectors.runner import BY_NAME
from app.engine.detectors.scorecard import agent_failed, fired_correctly, reactions_of, scorecard

VERSION = BY_NAME["left-sites"].version


def flag(step: int = 3, detector: str = "left-sites", version: int = VERSION) -> Flag:
    return Flag(
        run="r",
        detector=detector,
        step=step,
        severity=Severity.ERROR,
        confidence=1,
        message="m",
        version=version,
    )


def deed(what: OperatorAction, about: str = "", author: str = "ana") -> Intervention:
    return Intervention(run="r", step=4, action=what, about=about, author=author, at=9.0)


def reaction(right: bool, at: float = 1.0, **more: object) -> FlagReaction:
    usual = FlagReaction(run="r", step=3, detector="left-sites", right=right, version=VERSION, at=at)
    return replace(usual, **more)


def verdict(label: Label, at: float = 0, detector: str = "") -> Verdict:
    return Verdict(id=f"v{at}", run="r", label=label, at=at, detector=detector)


@pytest.mark.parametrize(
    "what", [OperatorAction.TOOK_OVER, OperatorAction.HINTED, OperatorAction.STOPPED, OperatorAction.DENIED]
)
def test_who_mends_or_ends_what_a_flag_held_says_that_it_called_rightly(what: OperatorAction):
    found = reactions_of(deed(what), [flag(), flag(1, "error-page", 7)])
    assert found == [
        reaction(True, 9.0, how=what.value, author="ana"),
        reaction(True, 9.0, how=what.value, author="ana", step=1, detector="error-page", version=7),
    ]


@pytest.mark.parametrize(
    ("what", "right"), [(OperatorAction.CONFIRMED, True), (OperatorAction.DISMISSED, False)]
)
def test_a_word_on_one_flag_concerns_that_detector_alone(what: OperatorAction, right: bool):
    [found] = reactions_of(deed(what, about="left-sites"), [flag(), flag(detector="error-page")])
    assert (found.detector, found.step, found.right) == ("left-sites", 3, right)
    assert reactions_of(deed(what, about="crash"), [flag()]) == []


REACTIONS = {
    OperatorAction.TOOK_OVER,
    OperatorAction.HINTED,
    OperatorAction.STOPPED,
    OperatorAction.DENIED,
    OperatorAction.CONFIRMED,
    OperatorAction.DISMISSED,
}


@pytest.mark.parametrize("what", sorted(set(OperatorAction) - REACTIONS))
def test_other_operator_actions_are_no_reactions(what: OperatorAction):
    assert reactions_of(deed(what, about="left-sites"), [flag()]) == []


def test_what_no_person_did_is_no_reaction_and_where_no_flag_holds_there_is_none():
    for author in ("policy", "watchdog"):
        assert reactions_of(deed(OperatorAction.STOPPED, author=author), [flag()]) == []
    assert reactions_of(deed(OperatorAction.TOOK_OVER), []) == []


def test_a_flag_that_is_named_twice_is_reacted_to_once():
    assert len(reactions_of(deed(OperatorAction.HINTED), [flag(), flag()])) == 1


@pytest.mark.parametrize(
    ("verdicts", "reactions", "rightly", "failed"),
    [
        ([], [], None, None),
        ([], [reaction(True)], True, True),
        ([], [reaction(False)], False, None),
        ([], [reaction(True, 1), reaction(False, 2)], False, True),
        ([verdict(Label.LOOP)], [reaction(False, 5)], False, True),
        ([verdict(Label.NOT_A_FAILURE, 2)], [reaction(True, 1)], True, False),
        ([verdict(Label.NOT_A_FAILURE, 2, "left-sites")], [reaction(True, 1)], False, True),
        ([verdict(Label.LOOP, 1, "left-sites")], [reaction(False, 2)], False, True),
        ([verdict(Label.TASK_AMBIGUOUS, 2)], [reaction(True, 1)], True, None),
        ([], [reaction(True, detector="error-page")], True, True),
    ],
)
def test_a_reaction_counts_like_a_verdict_on_the_flag(verdicts, reactions, rightly, failed):
    assert fired_correctly("left-sites", verdicts, reactions) is rightly
    assert agent_failed(verdicts, reactions) is failed


def line(scores: list[Score], site: str = "") -> Score:
    [found] = [score for score in scores if (score.detector, score.site) == ("left-sites", site)]
    return found


def test_the_scorecard_counts_the_runs_an_operator_reacted_to_and_how():
    flags = {name: [flag()] for name in "abcd"}
    reactions = {
        "a": [reaction(False, 1), reaction(True, 2, step=5)],
        "b": [reaction(False)],
        "d": [reaction(True, version=VERSION + 1)],
        "e": [reaction(True)],
    }
    sites = {"a": "shop", "b": "map", "c": "map", "d": "map", "e": "map"}

    scores = scorecard(flags, {"c": [verdict(Label.LOOP)]}, sites, None, reactions)

    whole = line(scores)
    assert (whole.fired, whole.judged, whole.right, whole.reacted, whole.reacted_right) == (4, 3, 2, 2, 1)
    assert whole.precision == pytest.approx(2 / 3)
    assert (line(scores, "shop").reacted, line(scores, "map").reacted_right) == (1, 0)


def test_a_run_whose_failure_an_operator_confirmed_counts_as_missed_by_the_others():
    scores = scorecard({"a": [flag(detector="error-page")]}, {}, {"a": "map"}, None, {
        "a": [reaction(True, detector="error-page", version=BY_NAME["error-page"].version)]
    })  # fmt: skip
    assert line(scores).recall == 0.0
