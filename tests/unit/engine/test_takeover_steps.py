"""A person's steps during a takeover: no rule judges them, no length counts them, no tip would have been
retrieved.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.core.trajectory import BY_PERSON, Step
from app.engine.detectors.base import Detector, RunContext
from app.engine.detectors.rules.endings import LeftSites
from app.engine.detectors.rules.errors import HardErrors, UnreadableOutput
from app.engine.detectors.rules.length import TooLong
from app.engine.detectors.rules.loops import (
    ActionCycle,
    PageCycle,
    RepeatedAction,
    StateActionLoop,
    UrlRevisits,
)
from app.engine.detectors.rules.pages import ErrorPage, LoginWall, NoEffect
from app.engine.detectors.runner import RULES, RuleRunner, detect_run
from app.engine.store.workspace import Workspace
from tests.support.detector_steps import click, failed, flags_of, goto, step
from tests.support.runs import make_run, make_step

ALLOWED = frozenset({"shop.test:7770"})


def hand(index: int, page: str = "", **fields: object) -> Step:
    return step(index, page, by=BY_PERSON, **fields)


def fired(detector: type[Detector], *steps: Step, **context: object) -> list[int]:
    return [flag.step for flag in flags_of(detector, steps, **context)]


@pytest.mark.parametrize(
    ("detector", "steps"),
    [
        (RepeatedAction, [hand(at, **click("Next")) for at in range(6)]),
        (StateActionLoop, [hand(at, state="same", **click("Next")) for at in range(6)]),
        (ActionCycle, [hand(at, **click("AB"[at % 2])) for at in range(6)]),
        (PageCycle, [hand(at, "/ab"[at % 2]) for at in range(8)]),
        (UrlRevisits, [hand(at, "/" + "ab"[at % 2]) for at in range(12)]),
        (NoEffect, [hand(at, state="same", **click("Save")) for at in range(6)]),
        (HardErrors, [hand(at, **failed("timeout")) for at in range(6)]),
        (UnreadableOutput, [hand(0, action=None, executed=False), hand(1, action=None, executed=False)]),
        (ErrorPage, [step(0), hand(1), hand(2, title="404 Not Found"), hand(3), step(4)]),
        (LoginWall, [step(0), hand(1), hand(2, "/login"), hand(3), step(4)]),
        (TooLong, [hand(at) for at in range(40)]),
    ],
)
def test_what_a_person_does_is_not_judged(detector: type[Detector], steps: list[Step]):
    assert fired(detector, *steps, usual_steps=2.0) == []


def test_the_page_a_person_takes_over_shows_what_the_agents_last_action_led_to():
    assert fired(NoEffect, step(0, state="a", **click("Save")), hand(1, state="a"), step(2)) == [0]
    assert fired(ErrorPage, step(0, **click("Save")), hand(1, title="404 Not Found"), step(2)) == [0]
    assert fired(LoginWall, step(0, **click("Save")), hand(1, "/login"), step(2)) == [1]
    away = hand(1, url="http://elsewhere.test/")
    assert fired(LeftSites, step(0, **goto("http://elsewhere.test/")), away, allowed_hosts=ALLOWED) == [0]


def test_the_page_handed_back_is_not_blamed_on_the_agent():
    error = {"title": "404 Not Found"}
    assert fired(ErrorPage, step(0), hand(1), step(2, "/x", **error), step(3, "/x", **error)) == []
    assert fired(ErrorPage, step(0), hand(1), step(2), step(3, "/y", **error)) == [2]
    away = {"url": "http://elsewhere.test/"}
    assert fired(LeftSites, step(0), hand(1), step(2, **away), step(3), allowed_hosts=ALLOWED) == []
    assert fired(LeftSites, step(0), hand(1), step(2), step(3, **away), allowed_hosts=ALLOWED) == [2]
    assert fired(NoEffect, step(0), hand(1, state="a", **click("Save")), step(2, state="a")) == []


def test_what_was_in_a_row_before_a_takeover_is_not_in_a_row_with_what_comes_after():
    again = click("Add")
    assert fired(RepeatedAction, step(0, **again), step(1, **again), hand(2), step(3, **again)) == []
    assert fired(RepeatedAction, step(0, **again), step(1, **again), step(2, **again)) == [2]
    turns = [click("A"), click("B"), click("A"), click("B")]
    cycle = [step(at + (at > 1), **turn) for at, turn in enumerate(turns)]
    assert fired(ActionCycle, *cycle[:2], hand(2), *cycle[2:]) == []
    assert fired(ActionCycle, *cycle) == [4]
    pages = [step(0, "/a"), step(1, "/b"), hand(2, "/c"), step(3, "/a"), step(4, "/b")]
    assert fired(PageCycle, *pages) == []


def test_a_persons_return_to_a_page_is_not_the_agents():
    away_and_back = [step(0, "/a"), step(1, "/b"), step(2, "/a"), step(3, "/b"), step(4, "/a"), step(5, "/b")]
    assert fired(UrlRevisits, *away_and_back, step(6, "/a")) == [6]
    assert fired(UrlRevisits, *away_and_back, hand(6, "/b"), step(7, "/a")) == []


def test_the_same_click_on_the_same_page_still_counts_over_a_takeover():
    same = {"state": "same", **click("Save")}
    assert fired(StateActionLoop, step(0, **same), hand(1), step(2, **same), step(3, **same)) == [3]


@given(hands=st.lists(st.booleans(), max_size=13), pages=st.lists(st.sampled_from("ab"), min_size=14))
def test_no_flag_points_at_a_persons_step(hands: list[bool], pages: list[str]):
    steps = [
        step(
            at, f"/{pages[at]}", f"state {pages[at]}", by=BY_PERSON if by_hand else "",
            title="404 Not Found" if pages[at] == "b" else "Shop", **click(pages[at]),
        )
        for at, by_hand in enumerate([False, *hands])
    ]  # fmt: skip
    watch = RuleRunner(RunContext(run="r", usual_steps=2.0, allowed_hosts=ALLOWED), RULES)
    flags = [flag for one in steps for flag in watch.see(one)]
    assert [flag for flag in flags if steps[flag.step].by == BY_PERSON] == []


def test_the_usual_length_of_a_site_and_the_preflight_leave_out_what_a_person_did(tmp_path):
    with Workspace.open(tmp_path / "workspace") as workspace:
        for name, own, by_hand in (("a", 4, 0), ("b", 2, 6), ("c", 0, 3)):
            steps = [make_step(at, by=BY_PERSON if at >= own else "") for at in range(own + by_hand)]
            workspace.runs.add(make_run(name, step_count=len(steps)), steps, {})
            workspace.index_run(name)
        index = workspace.index
        assert index.site_lengths() == {"shopping": 3.0}
        assert index.by_hand() == {"b": 6, "c": 3}
        assert [(one.run, one.step) for one in index.stored_steps()] == [
            ("a", 0), ("a", 1), ("a", 2), ("a", 3), ("b", 0), ("b", 1),
        ]  # fmt: skip
        assert index.row("b").steps == 8
        index.add_step("a", make_step(4, by=BY_PERSON), workspace.site_of)
        assert (index.by_hand()["a"], index.row("a").steps) == (1, 5)
        assert workspace.rebuild_index() == 3


def test_an_index_of_before_is_read_on(tmp_path):
    place = tmp_path / "workspace"
    with Workspace.open(place) as workspace:
        workspace.runs.add(make_run("a", step_count=1), [make_step()], {})
        workspace.index_run("a")
        connection = workspace.index.connection
        for table in ("run", "page"):
            connection.execute(f"ALTER TABLE {table} DROP COLUMN by_hand")
        for column in ("basis", "needs"):
            connection.execute(f"ALTER TABLE run DROP COLUMN {column}")
        connection.execute("PRAGMA user_version = 1")
    with Workspace.open(place) as workspace:
        assert workspace.index.site_lengths() == {"shopping": 1.0}
        assert workspace.index.by_hand() == {}
        assert workspace.index.runs_to_detect("now") == ["a"]
        assert not workspace.index_rebuilt


def test_a_takeover_makes_no_run_a_long_one():
    own = [step(at) for at in range(8)]
    run = make_run(step_count=20)
    taken = [*own, *(hand(at) for at in range(8, 20))]
    assert "far-longer" not in {flag.detector for flag in detect_run(run, taken, 5.0)}
    assert "far-longer" in {flag.detector for flag in detect_run(run, [*own, *map(step, range(8, 20))], 5.0)}
