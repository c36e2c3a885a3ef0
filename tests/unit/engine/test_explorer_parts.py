"""The parts of an exploration by themselves: pace, velocity, what is kept of a page, the way through the graph."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.core import identity
from app.engine.core.page_state import Element, PageCapture, PageKeys, PageState
from app.engine.core.transition import Attempt, Operation, ReplayVerdictKind, Transition
from app.engine.graph.captured_states import contents_of, state_of
from app.engine.graph.explore.exploration_graph import ExplorationGraph
from app.engine.graph.explore.pacing import POLITE, Pacer, is_own_machine
from app.engine.graph.explore.progress import depth_rows, seconds_by_depth
from tests.support.paper_site import NoTime

HOME = "http://shop.example/"


async def _seconds(pacer: Pacer, clock: NoTime, loads: int) -> float:
    began = clock.at
    for _ in range(loads):
        await pacer.wait()
    return clock.at - began


async def test_a_public_host_is_asked_twice_a_second_and_this_machine_without_limit():
    clock = NoTime()
    assert await _seconds(Pacer(HOME, 0.0, clock), clock, 11) == pytest.approx(10 / POLITE, abs=0.1)
    assert await _seconds(Pacer("http://127.0.0.1:8000/", 0.0, clock), clock, 11) < 0.1
    assert await _seconds(Pacer("http://127.0.0.1:8000/", 5.0, clock), clock, 11) == pytest.approx(2, abs=0.1)


async def test_the_crawl_delay_of_robots_txt_is_obeyed_within_limits():
    clock = NoTime()
    assert Pacer(HOME, 0.0, clock, delay=3.0).gap == 3.0
    assert Pacer(HOME, 0.0, clock, delay=86_400.0).gap == 30.0


def test_the_pacer_slows_down_for_an_overloaded_site_and_recovers():
    pacer = Pacer(HOME, 4.0, NoTime())
    pacer.slow_down()
    pacer.slow_down()
    assert pacer.gap == 2.0
    for _ in range(30):
        pacer.speed_up()
    assert pacer.gap == 0.25


@pytest.mark.parametrize(
    ("url", "own"),
    [("http://localhost:1/", True), ("http://127.0.0.9/", True), ("http://[::1]:8/", True),
     ("http://shop.localhost/", True), ("https://example.com/", False), ("http://10.0.0.1/", False)],
)  # fmt: skip
def test_which_hosts_are_this_machine(url: str, own: bool):
    assert is_own_machine(url) is own


def test_discovery_velocity_is_new_states_a_minute_of_each_depth():
    rows = depth_rows([0, 1, 1, 1, 2], {0: 1.0, 1: 30.0, 2: 60.0})
    assert [(row.depth, row.states, row.new, row.velocity) for row in rows] == [
        (0, 1, 1, 60.0),
        (1, 4, 3, 6.0),
        (2, 5, 1, 1.0),
    ]
    assert depth_rows([], {}) == ()


def test_the_depth_seconds_of_a_killed_exploration_come_from_its_states():
    assert seconds_by_depth([(0, 100.0), (1, 103.0), (1, 110.0), (2, 130.0)]) == {1: 10.0, 2: 20.0}


def test_no_secret_and_nothing_typed_is_kept_of_a_page():
    page = PageCapture(
        url="http://shop.example/reset?token=abcdef0123456789abcdef",
        title="Key ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        text="password=hunter2secret\nplain words",
        elements=(
            Element(index=0, role="textbox", name="Search", value="what I typed"),
            Element(index=1, role="link", name="Go", href="http://shop.example/a?access_token=abcdef0123456789abcd"),
        ),
    )  # fmt: skip
    keys = identity.keys_of(page, HOME)
    state = state_of(page, keys, home=HOME, depth=1, exploration=1, at=5.0, direct=True)
    kept = repr(state) + repr(contents_of(page))
    for secret in ("abcdef0123456789", "ghp_abcdef", "hunter2secret", "what I typed"):
        assert secret not in kept
    assert "plain words" in kept
    assert state.id == identity.page_id(keys)
    assert state.controls == ("textbox Search", "link Go")


def _state(name: str, direct: bool | None) -> PageState:
    keys = PageKeys(url=f"/{name}", template=f"/{name}", structure=name, skeleton=name)
    return PageState(id=name, keys=keys, url=f"{HOME}{name}", direct=direct)


def _leg(source: str, target: str) -> Transition:
    return Transition(id=f"{source}>{target}", source=source, target=target, operation=Operation.CLICK)


def _attempt(step: Transition, kind: ReplayVerdictKind = ReplayVerdictKind.EXACT) -> Attempt:
    return Attempt(transition=step.id, at=1.0, arrival=kind, seconds=0.1)


def test_a_failed_path_is_replaced_by_a_working_one():
    graph = ExplorationGraph(HOME)
    for state in (_state("home", True), _state("a", None), _state("b", None), _state("goal", None)):
        graph.put(state)
    path = {pair: _leg(*pair) for pair in (("home", "a"), ("a", "goal"), ("home", "b"), ("b", "goal"))}
    for step in path.values():
        graph.add(step, _attempt(step))
    first = graph.route("goal")
    assert first is not None
    assert len(first.transitions) == 2
    graph.add(first.transitions[1], _attempt(first.transitions[1], ReplayVerdictKind.WRONG))
    second = graph.route("goal")
    assert second is not None
    assert second.transitions[1].source != first.transitions[1].source
    graph.put(replace(graph.states["goal"], direct=True))
    third = graph.route("goal")
    assert third is not None
    assert third.transitions == ()


@given(orders=st.permutations([(3, "c"), (1, "a"), (2, "b")]))
def test_a_state_counts_as_found_by_the_first_element_in_order_whoever_was_faster(
    orders: list[tuple[int, str]],
):
    graph = ExplorationGraph(HOME)
    for order, source in orders:
        graph.found("goal", order, source)
    assert graph.order_of("goal") == 1
    assert graph.ancestors("goal") == ["a"]
