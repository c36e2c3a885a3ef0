"""The correction of the ranking by similar goals, and the queue that teaches most: one row a clause of the rules.

The oracle of the correction is written from its formula, over every pair of runs.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from app.engine.core.verdicts import Flag, Label, Severity, Verdict
from app.engine.detectors import teaching
from app.engine.detectors.cross_validation import (
    MIN_GAIN,
    MIN_SIMILAR,
    CrossValidation,
    auroc,
    cross_validate,
    findings,
    held_out_corrections,
    placements,
    standard_error,
)
from app.engine.detectors.ranking import RankedRun, RankingData, rank
from app.engine.detectors.risk import JudgedRun, RiskModel, fold_of
from app.engine.detectors.scorecard import agent_failed
from app.engine.detectors.similar_goals import Correction, Finding, RunGoal, SimilarGoals
from app.engine.detectors.teaching import Pick, covering_picks, teaching_order

_TEXT = "list the ten newest orders of customer ada show issues labelled bug in project sum totals page 3 41"
WORDS = _TEXT.split()


def _goals(count: int, seed: int = 1, sites: Sequence[str] = ("shop", "map")) -> list[RunGoal]:
    dice = random.Random(seed)
    return [
        RunGoal(f"run {at}", dice.choice(list(sites)), " ".join(dice.choices(WORDS, k=dice.randrange(3, 9))))
        for at in range(count)
    ]


def _likeness(goals: Sequence[RunGoal]) -> dict[tuple[str, str], float]:
    """The cube of the cosine of every two goals of a site, by the rule."""
    texts = {goal.run: re.findall(r"\w+", re.sub(r"\d+", "0", goal.text.lower())) for goal in goals}
    distinct = {" ".join(words) for words in texts.values()}
    spread = {
        word: sum(word in text.split() for text in distinct) for words in texts.values() for word in words
    }
    vectors = {
        run: {
            word: words.count(word) * (math.log((1 + len(distinct)) / (1 + spread[word])) + 1)
            for word in words
        }
        for run, words in texts.items()
    }

    def cosine(one: dict[str, float], other: dict[str, float]) -> float:
        length = math.hypot(*one.values()) * math.hypot(*other.values())
        return sum(value * other.get(word, 0.0) for word, value in one.items()) / length if length else 0.0

    return {
        (one.run, other.run): cosine(vectors[one.run], vectors[other.run]) ** 3
        if one.site == other.site
        else 0.0
        for one in goals
        for other in goals
    }


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_correction_is_that_of_the_formula(seed: int):
    goals = _goals(40, seed)
    dice = random.Random(seed)
    judged = {goal.run: Finding(dice.random() < 0.5, dice.random()) for goal in goals if dice.random() < 0.4}
    likeness = _likeness(goals)

    found = SimilarGoals(goals).corrections(judged)

    for goal in goals:
        others = [(likeness[goal.run, run], one) for run, one in judged.items() if run != goal.run]
        pull = sum(alike * (one.failed - one.chance) for alike, one in others)
        expected = 5 * pull / (sum(alike for alike, _ in others) + 0.35)
        assert found[goal.run].shift == pytest.approx(expected, abs=1e-5)
        near = [one for alike, one in others if alike >= 0.125]
        assert (found[goal.run].similar, found[goal.run].failed) == (
            len(near),
            sum(one.failed for one in near),
        )


FAILED, PASSED = Finding(True, 0.3), Finding(False, 0.3)


@pytest.mark.parametrize(
    ("what", "judged", "goal", "sign"),
    [
        (
            "a failure raises a run with the same goal",
            [("shop", "list the orders", FAILED)],
            "list the orders",
            1,
        ),
        ("a success lowers it", [("shop", "list the orders", PASSED)], "list the orders", -1),
        ("letters' case does not matter", [("shop", "List the ORDERS", FAILED)], "list the orders", 1),
        ("numbers are read alike", [("shop", "#12", FAILED)], "3456", 1),
        ("another site's verdicts say nothing", [("map", "list the orders", FAILED)], "list the orders", 0),
        ("no common word, no change", [("shop", "sum totals", FAILED)], "list the orders", 0),
        ("a goal without a word is like none", [("shop", "", FAILED)], "", 0),
        ("no verdict, no change", [], "list the orders", 0),
    ],
)
def test_what_a_verdict_says_of_another_run(
    what: str, judged: list[tuple[str, str, Finding]], goal: str, sign: int
):
    known = [RunGoal(f"judged {at}", site, text) for at, (site, text, _) in enumerate(judged)]
    goals = SimilarGoals([*known, RunGoal("asked", "shop", goal)])
    found = goals.corrections({f"judged {at}": one for at, (_, _, one) in enumerate(judged)}).get("asked")
    shift = found.shift if found is not None else 0.0
    assert (shift > 1e-9) - (shift < -1e-9) == sign, what


def test_a_verdict_never_corrects_its_own_run():
    goals = SimilarGoals([RunGoal("a", "shop", "list orders"), RunGoal("b", "shop", "list orders")])
    assert goals.corrections({"a": FAILED})["a"] == Correction(0.0, 0, 0)
    both = goals.corrections({"a": FAILED, "b": PASSED})
    assert both["a"].shift < 0 < both["b"].shift
    assert (both["a"].similar, both["a"].failed, both["b"].failed) == (1, 0, 1)


def test_a_goal_of_any_length_and_a_verdict_on_an_unknown_run_do_no_harm():
    goals = SimilarGoals([RunGoal("a", "shop", "word " * 500_000), RunGoal("b", "shop", "word")])
    assert goals.corrections({"a": FAILED, "gone": FAILED})["b"].shift > 0


@pytest.mark.parametrize(
    ("similar", "failed", "words"),
    [
        (0, 0, ""),
        (1, 1, "The only judged run with a similar goal failed"),
        (1, 0, "The only judged run with a similar goal did not fail"),
        (4, 3, "3 of 4 judged runs with similar goals failed"),
        (4, 0, "None of 4 judged runs with similar goals failed"),
    ],
)
def test_a_correction_in_words(similar: int, failed: int, words: str):
    assert Correction(1.0, similar, failed).words == words


# ---- which ranking is used


ERROR = 0.03
USED: tuple[tuple[str, int, int, float | None, float | None, float | None, str], ...] = (
    ("no verdict", 0, 0, None, None, None, "built-in"),
    ("one too few", MIN_SIMILAR - 1, 0, None, None, None, "built-in"),
    ("enough, too few to compare", 14, 6, None, None, None, "similar goals"),
    ("all of one kind", MIN_SIMILAR, 0, None, None, None, "similar goals"),
    ("compared: better", 20, 20, 0.7, 0.5, 0.8, "similar goals"),
    ("compared: as good", 20, 20, 0.7, 0.5, 0.7, "similar goals"),
    ("compared: worse within the error", 20, 20, 0.7, 0.5, 0.7 - ERROR * 0.99, "similar goals"),
    ("compared: worse by more", 20, 20, 0.7, 0.5, 0.7 - ERROR * 1.01, "built-in"),
    ("a fit better than both beyond doubt", 20, 20, 0.7, 0.75 + 2.01 * ERROR, 0.75, "fitted"),
    ("a fit better than both, in doubt", 20, 20, 0.7, 0.75 + 1.99 * ERROR, 0.75, "similar goals"),
    ("a fit where similar goals are worse", 20, 20, 0.7, 0.7 + MIN_GAIN * 1.01, 0.6, "fitted"),
    ("a fit better by too little there", 20, 20, 0.7, 0.7 + MIN_GAIN / 2, 0.6, "built-in"),
)


@pytest.mark.parametrize(
    ("failed", "passed", "cold", "fitted", "similar", "used"),
    [row[1:] for row in USED],
    ids=[row[0] for row in USED],
)
def test_which_ranking_is_in_use(
    failed: int,
    passed: int,
    cold: float | None,
    fitted: float | None,
    similar: float | None,
    used: str,
):
    found = CrossValidation(
        failed=failed,
        passed=passed,
        cold=cold,
        fitted=fitted,
        similar=similar,
        similar_error=ERROR,
        fitted_error=ERROR,
    )
    assert found.in_use == used
    says = {
        "built-in": "The built-in ranking is in use",
        "fitted": "The ranking fitted to verdicts is in use",
    }
    corrected = "The built-in ranking, corrected by verdicts on similar goals, is in use"
    assert found.why.startswith(says.get(used, corrected))
    assert found.why.endswith(".")
    if cold is not None:
        assert f"{similar:.3f} with similar goals and {cold:.3f} built-in" in found.why


def _judged(run: str, failed: bool, task: str) -> JudgedRun:
    return JudgedRun(run=run, flags=(), steps=5, usual_steps=5, failed=failed, task=task)


def _topics(count: int) -> tuple[list[JudgedRun], SimilarGoals]:
    """Runs whose goals tell whether they fail, and flags nothing."""
    dice = random.Random(4)
    goals = [
        RunGoal(
            f"run {at}",
            "shop",
            " ".join(
                [*dice.choices(["sum", "totals"] if at % 2 else ["open", "page"], k=4), dice.choice(WORDS)]
            ),
        )
        for at in range(count)
    ]
    return [_judged(goal.run, at % 2 == 1, f"task {at}") for at, goal in enumerate(goals)], SimilarGoals(
        goals
    )


def test_where_goals_tell_failures_the_correction_is_used_and_where_they_mislead_it_is_not():
    judged, goals = _topics(60)
    found = cross_validate(judged, goals)
    assert found.in_use == "similar goals"
    assert found.similar is not None
    assert found.similar > 0.9
    # Of goals that are alike every second failed: the others of a fold say the contrary of the truth.
    misled = [replace(one, failed=at % 4 < 2) for at, one in enumerate(judged)]
    assert cross_validate(misled, goals).in_use == "built-in"
    assert cross_validate(judged).similar is None, "without goals there is nothing to try"


def test_the_standard_error_of_a_difference_is_that_of_drawing_the_runs_anew():
    dice = np.random.default_rng(3)
    failed = np.arange(200) % 2 == 0
    one = failed * 1.0 + dice.normal(size=200)
    other = 0.7 * one + dice.normal(size=200)
    found = standard_error(
        placements([one.tolist()], failed.tolist()), placements([other.tolist()], failed.tolist())
    )
    drawn: list[float] = []
    for _ in range(400):
        again = np.concatenate([dice.choice(np.flatnonzero(kind), 100) for kind in (failed, ~failed)])
        areas = [auroc(values[again].tolist(), failed[again].tolist()) for values in (one, other)]
        drawn.append(areas[0] - areas[1])
    assert found == pytest.approx(float(np.std(drawn)), rel=0.15)


def test_a_held_out_correction_comes_from_other_tasks_alone():
    judged = [_judged(f"run {at}", at % 2 == 0, f"task {at // 2}") for at in range(40)]
    # Both runs of a task have one goal, and one of them failed; goals of tasks have no word in common.
    goals = SimilarGoals(
        [RunGoal(one.run, "shop", one.task.replace(" ", chr(97 + at // 2))) for at, one in enumerate(judged)]
    )
    prior = [RiskModel().logit(one) for one in judged]
    for split in range(3):
        assert held_out_corrections(judged, prior, goals, split) == pytest.approx(prior)
    seen = goals.corrections(findings(judged, dict(zip((one.run for one in judged), prior, strict=True))))
    assert all(abs(one.shift) > 0.5 for one in seen.values())
    assert len({fold_of(one) for one in judged}) > 1


def _verdict(run: str, label: Label) -> Verdict:
    return Verdict(id=f"v {run}", run=run, label=label, author="ana", at=1.0)


def test_corrected_runs_say_so_and_their_flags_stay_among_the_reasons():
    flag = Flag(
        run="x",
        detector="no-effect",
        step=1,
        severity=Severity.HINT,
        confidence=0.5,
        message="Nothing changed",
    )
    known = [RunGoal(f"run {at}", "shop", "sum the totals" if at < 12 else "open a page") for at in range(24)]
    goals = SimilarGoals(
        [*known, RunGoal("bad", "shop", "sum totals"), RunGoal("good", "shop", "open the page")]
    )
    runs = {goal.run: RankedRun(steps=5, usual_steps=5, flags=(flag,), task=goal.run) for goal in goals.goals}
    said = {
        goal.run: [_verdict(goal.run, Label.LOOP if at < 12 else Label.NOT_A_FAILURE)]
        for at, goal in enumerate(known)
    }

    found = rank(RankingData(runs=runs, verdicts=said), goals)

    assert found.trial.in_use == "similar goals"
    risks = {risk.run: risk for risk in found.risks}
    assert risks["bad"].value > 0.6 > 0.3 > risks["good"].value
    assert risks["bad"].reasons == ("12 of 12 judged runs with similar goals failed", "Nothing changed")
    assert risks["good"].reasons == ("Nothing changed", "None of 12 judged runs with similar goals failed")
    assert rank(RankingData(runs=runs), goals).risks[-1].reasons == ("Nothing changed",)


# ---- what teaches most


@pytest.mark.parametrize(
    ("what", "judged", "every", "expected"),
    [
        ("the first is a covering pick", 0, 3, ["p1", "a", "b", "p2", "c"]),
        ("after one verdict a risky run comes next", 1, 3, ["a", "b", "p1", "c", "p2"]),
        ("after three it is a covering pick again", 3, 3, ["p1", "a", "b", "p2", "c"]),
        ("every one", 0, 1, ["p1", "p2", "a", "b", "c"]),
    ],
)
def test_how_covering_picks_are_mixed_in(what: str, judged: int, every: int, expected: list[str]):
    picks = [Pick("p1", 7), Pick("not in this queue", 5), Pick("p2", 1)]
    order = teaching_order(["a", "b", "c", "p1", "p2"], picks, judged, every)
    assert [run for run, _ in order] == expected, what
    assert dict(order)["p1"] == "stands for 7 runs with similar goals"


def test_a_covering_pick_that_was_asked_as_a_risky_run_is_not_asked_twice():
    order = teaching_order(["p2", "a", "p1"], [Pick("p1", 0), Pick("p2", 1)], 0, 2)
    assert order == [
        ("p1", "no judged run has a goal like this one"),
        ("p2", "stands for 1 run with a similar goal"),
        ("a", ""),
    ]


def test_every_run_has_one_place_in_the_queue():
    goals = _goals(60)
    waiting = [goal.run for goal in goals]
    order = teaching_order(waiting, covering_picks(SimilarGoals(goals), (), waiting), 5)
    assert sorted(run for run, _ in order) == sorted(waiting)


def _gains(goals: Sequence[RunGoal], judged: Sequence[str], candidates: Sequence[str]) -> list[str]:
    """Greedy picks by the rule, all pairs compared each time."""
    alike = _likeness(goals)
    waiting = [goal.run for goal in goals if goal.run not in judged]
    taken = list(judged)
    picks: list[str] = []
    while True:
        cover = {run: max((alike[run, one] for one in taken), default=0.0) for run in waiting}
        gains = {
            one: sum(max(0.0, alike[run, one] - cover[run]) for run in waiting)
            for one in candidates
            if one not in taken
        }
        if not gains or max(gains.values()) < 1e-3:
            return picks
        best = max(gains, key=lambda one: (round(gains[one], 4), -candidates.index(one)))
        picks.append(best)
        taken.append(best)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_covering_picks_are_those_of_the_greedy_rule(seed: int):
    goals = _goals(30, seed)
    runs = [goal.run for goal in goals]
    random.Random(seed).shuffle(runs)
    judged, candidates = runs[:6], runs[6:26]
    picks = [pick.run for pick in covering_picks(SimilarGoals(goals), judged, candidates)]
    assert picks == _gains(goals, judged, candidates)


def test_a_pick_stands_for_the_runs_it_is_the_first_for():
    goals = SimilarGoals(
        [RunGoal(f"sum {at}", "shop", f"sum the totals of {at} orders") for at in range(5)]
        + [
            RunGoal("open", "shop", "open a page"),
            RunGoal("sum elsewhere", "map", "sum the totals of 1 orders"),
        ]
    )
    runs = [goal.run for goal in goals.goals]
    first, *rest = covering_picks(goals, (), runs)
    assert (first.run, first.stands_for, first.words) == ("sum 0", 4, "stands for 4 runs with similar goals")
    assert {pick.run: pick.stands_for for pick in rest} == {"open": 0, "sum elsewhere": 0}
    assert [pick.run for pick in covering_picks(goals, ["sum 3"], runs)] == ["open", "sum elsewhere"]


def test_of_more_goals_than_can_be_compared_a_sample_stands_for_all(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(teaching, "MAX_GOALS", 10)
    goals = _goals(50, sites=("shop",))
    runs = [goal.run for goal in goals]
    picks = covering_picks(SimilarGoals(goals), (), runs)
    assert picks == covering_picks(SimilarGoals(goals), (), runs)
    assert 0 < len(picks) <= 10


# ---- whose verdict counts


OK, LOOP, ODD = Label.NOT_A_FAILURE, Label.LOOP, Label.TASK_AMBIGUOUS


VOTES: tuple[tuple[str, list[tuple[str, Label]], bool | None], ...] = (
    ("one's newest counts", [("ana", LOOP), ("ana", OK)], False),
    ("the majority of several", [("ana", LOOP), ("ben", LOOP), ("cid", OK)], True),
    ("of each the newest", [("cid", OK), ("ana", LOOP), ("ben", LOOP), ("ana", OK)], False),
    ("one person has one vote", [("ana", LOOP), ("ana", LOOP), ("ben", OK)], False),
    ("of equal numbers the newest", [("ana", OK), ("ben", LOOP)], True),
    ("labels of one kind add up", [("ana", LOOP), ("ben", Label.WRONG_PAGE), ("cid", OK)], True),
    ("a majority finds the task ambiguous", [("ana", ODD), ("ben", ODD), ("cid", OK)], None),
    ("one that settles counts before all", [("eve settles", OK), ("ana", LOOP), ("ben", LOOP)], False),
    ("of two that settle the newest", [("eve settles", OK), ("eve settles", LOOP), ("ana", OK)], True),
    ("what clears one flag is no vote", [("ana", LOOP), ("ben on a flag", OK)], True),
)
"""Verdicts, oldest first, and whether the agent failed by them."""


@pytest.mark.parametrize(("what", "said", "failed"), VOTES, ids=[row[0] for row in VOTES])
def test_whose_verdict_counts(what: str, said: list[tuple[str, Label]], failed: bool | None):
    verdicts = [
        Verdict(
            id=f"v{at}",
            run="r",
            label=label,
            author=author.split()[0],
            at=at,
            settles="settles" in author,
            detector="crash" if "flag" in author else "",
        )
        for at, (author, label) in enumerate(said)
    ]
    assert agent_failed(verdicts) is failed, what
    assert agent_failed(verdicts[::-1]) is failed, what
