"""Laws that hold for all detectors together, whatever the run looks like."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.trajectory import ErrorClass, Outcome, Run, Step
from app.engine.detectors import base
from app.engine.detectors.base import RunEnding, is_worth_flagging, ordinal
from app.engine.detectors.runner import (
    ALL_DETECTORS,
    BY_NAME,
    RuleRunner,
    context_of,
    detect_run,
    ending_of,
    flag_rank,
    without_action,
)

TARGETS = [
    None,
    ActionTarget(role="button", name="Save", bid="1"),
    ActionTarget(role="link", name="Next", bid="2"),
]
ACTIONS = [
    None,
    RecordedAction(kind="click", args={"bid": "1"}),
    RecordedAction(kind="click", args={"bid": "2"}),
    RecordedAction(kind="fill", args={"bid": "3", "value": "x"}),
    RecordedAction(kind="go_back"),
    RecordedAction(kind="noop", args={"wait_ms": 1}),
    RecordedAction(kind="send_msg_to_user", args={"text": "12"}),
]
URLS = [
    "http://a.test/",
    "http://a.test/b",
    "http://a.test/login",
    "http://b.test/",
    "chrome-error://x/",
    "about:blank",
]
ERRORS = [
    ("", ErrorClass.NONE),
    ("TimeoutError: performing click action", ErrorClass.SOFT),
    ("ValueError: x", ErrorClass.HARD),
    ("TimeoutError\n <div class='m'>…</div> intercepts pointer events", ErrorClass.HARD),
    ("ValueError: Received an empty action.", ErrorClass.HARNESS),
]
untimed = settings(deadline=None)  # a busy machine must not fail a law
few_words = st.sampled_from(["", "Shop", "404 Not Found", "Sign in", "Whoops"])


@st.composite
def made_steps(draw: st.DrawFn, index: int = 0) -> Step:
    error, kind = draw(st.sampled_from(ERRORS))
    return Step(
        index=index,
        url=draw(st.sampled_from(URLS)),
        title=draw(few_words),
        action=draw(st.sampled_from(ACTIONS)),
        target=draw(st.sampled_from(TARGETS)),
        executed=kind is not ErrorClass.HARNESS,
        error=error,
        error_class=kind,
        tree=draw(st.sampled_from(["", "t"])),
        state=draw(st.sampled_from(["", "s1", "s2"])),
        notices=draw(st.sampled_from([(), ("Whoops, our bad",), ("Please log in",)])),
    )


@st.composite
def walks(draw: st.DrawFn) -> list[Step]:
    return [replace(step, index=i) for i, step in enumerate(draw(st.lists(made_steps(), max_size=24)))]


scores = st.one_of(st.none(), st.floats(0, 1))


@st.composite
def made_runs(draw: st.DrawFn) -> tuple[Run, list[Step]]:
    steps = draw(walks())
    run = Run(
        id="r",
        source="made up",
        site="a",
        score=draw(scores),
        outcome=draw(st.sampled_from(Outcome)),
        error=draw(st.sampled_from(["", "ValueError: broken"])),
        answer=draw(st.sampled_from([None, "", "12", "I could not find it"])),
        step_limit=draw(st.sampled_from([None, 5, 20])),
        step_count=len(steps),
        final=draw(st.one_of(st.none(), made_steps(index=len(steps)))),
    )
    return run, steps


@untimed
@given(made_runs(), scores)
def test_the_score_never_changes_a_flag(made: tuple[Run, list[Step]], score: float | None):
    run, steps = made

    assert detect_run(run, steps, 3) == detect_run(replace(run, score=score), steps, 3)


@untimed
@given(made_runs())
def test_an_end_made_by_the_score_gives_the_flags_of_a_run_that_goes_on(made: tuple[Run, list[Step]]):
    run, steps = made
    scored = replace(run, outcome=Outcome.ENDED_BY_ENVIRONMENT)
    going_on = replace(run, outcome=Outcome.RUNNING, answer=None, error="", score=None)

    assert detect_run(scored, steps, 3) == detect_run(going_on, steps, 3)


@untimed
@given(made_runs())
def test_an_end_made_by_the_score_looks_like_a_run_that_was_answered(made: tuple[Run, list[Step]]):
    """Neither the presence nor the absence of a flag tells that a score ended the run."""
    run, steps = made
    answered = replace(run, outcome=Outcome.ANSWERED, answer="It costs 12 dollars.")

    assert detect_run(replace(run, outcome=Outcome.ENDED_BY_ENVIRONMENT), steps, 3) == detect_run(
        answered, steps, 3
    )


@untimed
@given(made_runs())
def test_what_was_asked_for_on_the_final_page_and_never_ran_changes_no_flag(made: tuple[Run, list[Step]]):
    run, steps = made
    bare = replace(run, final=without_action(run.final) if run.final else None)

    assert detect_run(run, steps, 3) == detect_run(bare, steps, 3)


@untimed
@given(made_runs())
def test_flags_so_far_do_not_depend_on_what_comes_later(made: tuple[Run, list[Step]]):
    run, steps = made
    for length in range(len(steps) + 1):
        short, whole = RuleRunner(context_of(run, 3)), RuleRunner(context_of(run, 3))
        seen = [flag for step in steps[:length] for flag in short.see(step)]
        everything = [whole.see(step) for step in steps]

        assert seen == [flag for flags in everything[:length] for flag in flags]
        assert all(flag.step < length for flag in seen)


@untimed
@given(made_runs())
def test_a_live_run_and_a_stored_one_give_the_same_flags(made: tuple[Run, list[Step]]):
    run, steps = made
    watch = RuleRunner(context_of(run, 3))
    live = [flag for step in steps for flag in watch.see(step)]
    live += watch.see_last(run.final) if run.final else []
    ending = ending_of(run)
    live += watch.end(ending) if ending else []

    assert sorted(map(repr, live)) == sorted(map(repr, detect_run(run, steps, 3)))


@untimed
@given(made_runs())
def test_flags_are_whole(made: tuple[Run, list[Step]]):
    run, steps = made
    for flag in detect_run(run, steps, 3):
        assert flag.run == "r"
        assert 0 <= flag.step <= max(0, len(steps) - 1)
        assert 0 < flag.confidence <= 1
        assert flag.message
        assert "\n" not in flag.message
        assert flag.version == BY_NAME[flag.detector].version


def test_flags_come_in_step_order_and_names_by_significance():
    steps = [Step(index=i, url="http://a.test/", title="", state="s", action=ACTIONS[1]) for i in range(9)]
    run = Run(id="r", source="made up", outcome=Outcome.STEP_LIMIT, step_count=9)

    flags = detect_run(run, steps, 2)

    assert [flag.step for flag in flags] == sorted(flag.step for flag in flags)
    names = dict.fromkeys(flag.detector for flag in sorted(flags, key=flag_rank))
    assert list(names)[:2] == ["step-limit", "repeated-action"]


@pytest.mark.parametrize("outcome", [Outcome.ENDED_BY_ENVIRONMENT, Outcome.RUNNING, Outcome.INTERRUPTED])
def test_a_run_without_an_ending_of_its_own_has_none(outcome: Outcome):
    assert ending_of(Run(id="r", source="s", outcome=outcome, error="x", answer="y")) is None


def test_the_other_endings_carry_what_a_live_system_knows():
    run = Run(id="r", source="s", error="", answer="said")

    assert ending_of(replace(run, outcome=Outcome.ANSWERED)) == RunEnding(answer="said")
    assert ending_of(replace(run, outcome=Outcome.INFEASIBLE)) == RunEnding(infeasible="said")
    assert ending_of(replace(run, outcome=Outcome.STEP_LIMIT, answer=None)) == RunEnding(at_step_limit=True)
    assert ending_of(replace(run, outcome=Outcome.LEFT_ALLOWED_SITES, answer=None)) == RunEnding(
        left_sites=True
    )
    assert ending_of(replace(run, outcome=Outcome.CRASHED, answer=None)) == RunEnding(crash="unknown error")


def test_no_rule_can_reach_the_score_or_how_the_episode_was_recorded_to_end():
    for path in [Path(base.__file__), *(Path(base.__file__).parent / "rules").glob("*.py")]:
        tree = ast.parse(path.read_text("utf-8"))
        named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        read = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not named & {"Run", "Outcome"}, path
        assert not read & {"score", "outcome", "failed"}, path


def test_names_are_unique_and_every_detector_says_what_it_looks_for():
    assert len(BY_NAME) == len(ALL_DETECTORS)
    assert all(detector.summary.endswith(".") for detector in ALL_DETECTORS)


def test_repeats_are_flagged_at_doublings():
    assert [count for count in range(1, 30) if is_worth_flagging(count, 3)] == [3, 6, 12, 24]


def test_ordinals():
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == [
        *("1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th")
    ]
