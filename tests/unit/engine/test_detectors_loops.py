"""Detectors of loops."""

from __future__ import annotations

import pytest

from app.engine.detectors.base import SINCE
from app.engine.detectors.rules.loops import (
    ActionCycle,
    PageCycle,
    RepeatedAction,
    StateActionLoop,
    UrlRevisits,
    rounds_at_end,
)
from tests.support.detector_steps import SHOP, action, click, flags_of, messages, step


def on_pages(*pages: str) -> list:
    return [step(index, page) for index, page in enumerate(pages)]


def test_the_same_action_on_the_same_content_is_a_loop_the_third_time():
    steps = [step(index, state=f"state {index % 2}", **click("Save")) for index in range(5)]

    [flag] = flags_of(StateActionLoop, steps)

    assert (flag.step, flag.evidence[SINCE], flag.evidence["times"]) == (4, 2, 3), (
        "the first press was of use"
    )
    assert flag.message == "3rd time on the same page content: click button 'Save'"


def test_a_loop_of_fifty_steps_gives_a_handful_of_flags():
    assert [flag.evidence["times"] for flag in flags_of(StateActionLoop, same(50, "Save"))] == [
        3,
        6,
        12,
        24,
        48,
    ]


def same(count: int, name: str) -> list:
    return [step(index, state="same", **click(name)) for index in range(count)]


@pytest.mark.parametrize(
    "steps",
    [
        same(2, "Save"),
        [step(index, **click("Next")) for index in range(9)],
        [step(index, state="", **click("Next")) for index in range(9)],
        [step(index, state="same", **click("Edit", bid=str(index))) for index in range(9)],
        [step(index, state="same", action=action("noop", wait_ms=100)) for index in range(9)],
        [step(index, state="same", executed=False, **click("Save")) for index in range(9)],
    ],
    ids=["twice", "new content", "content unknown", "other elements", "waiting", "never ran"],
)
def test_no_state_action_loop(steps: list):
    assert not flags_of(StateActionLoop, steps)


def test_the_same_action_three_times_in_a_row_and_five_times_in_a_run():
    steps = [step(index, **click("Add")) for index in range(5)]

    assert messages(RepeatedAction, steps) == [
        "3 times in a row: click button 'Add'",
        "5 times in this run: click button 'Add'",
    ]


def test_four_times_with_others_between_is_not_yet_repeated():
    names = ["Add", "Add", "Edit", "Add", "Back", "Add"]

    assert not flags_of(RepeatedAction, [step(i, **click(name)) for i, name in enumerate(names)])


def test_thinking_breaks_a_row():
    thought = step(2, action=action("take_note", text="x"))

    assert not flags_of(
        RepeatedAction, [step(0, **click("A")), step(1, **click("A")), thought, step(3, **click("A"))]
    )


def test_two_actions_in_turn_are_a_cycle_at_the_second_round():
    steps = [
        step(i, **click(name)) for i, name in enumerate(["Open", "Edit", "Back", "Edit", "Back", "Edit"])
    ]

    [flag] = flags_of(ActionCycle, steps)

    assert (flag.step, flag.evidence[SINCE], flag.evidence["rounds"]) == (4, 1, 2)
    assert (
        flag.message
        == "The same 2 actions in the same order, 2 times: click button 'Edit', then click button 'Back'"
    )


def test_a_continued_cycle_is_flagged_again_only_at_a_doubling():
    steps = [step(i, **click(name)) for i, name in enumerate(["Edit", "Back", "Look"] * 4)]

    assert [(flag.step, flag.evidence["rounds"]) for flag in flags_of(ActionCycle, steps)] == [
        (5, 2),
        (11, 4),
    ]


@pytest.mark.parametrize("names", ["ABA", "AAAAAA", "ABCDABC", "ABXAB"])
def test_no_cycle(names: str):
    assert not flags_of(ActionCycle, [step(i, **click(name)) for i, name in enumerate(names)])


def test_back_and_forth_between_two_pages_with_names_and_counts():
    [flag] = flags_of(PageCycle, on_pages("/list", "/item", "/item#top", "/list", "/item/"))

    assert (flag.step, flag.evidence[SINCE]) == (4, 0)
    assert flag.message == "Went back and forth between 2 pages 2 times: '/list' and '/item/'".replace(
        "/item/", "/item"
    )


def test_the_last_page_can_complete_back_and_forth():
    [flag] = flags_of(PageCycle, on_pages("/a", "/b", "/a"), final=step(3, "/b"))

    assert flag.step == 2


def test_a_list_and_its_items_in_turn_are_not_back_and_forth():
    assert not flags_of(PageCycle, on_pages("/list", "/1", "/list", "/2", "/list", "/3"))


def test_the_third_return_to_an_address_is_flagged():
    [flag] = flags_of(UrlRevisits, on_pages("/list", "/1", "/list", "/2", "/list", "/3", "/list"))

    assert (flag.step, flag.evidence[SINCE]) == (6, 2)
    assert flag.message == "Came back to '/list' for the 3rd time"


def test_staying_on_an_address_is_no_return():
    assert not flags_of(UrlRevisits, on_pages("/list", "/list", "/list#a", "/1", "/list", "/2", "/list"))


def test_long_addresses_stay_apart_in_messages():
    one, two = (f"{SHOP}/list?{'x' * 90}&page={n}" for n in (1, 2))
    steps = [step(i, url=url) for i, url in enumerate([one, two, one, two])]

    [told] = messages(PageCycle, steps)

    assert "page=1'" in told
    assert "page=2'" in told
    assert len(told) < 220


@pytest.mark.parametrize(
    ("items", "period", "rounds"),
    [("abab", 2, 2), ("xababab", 2, 3), ("aaaa", 2, 0), ("ab", 2, 0), ("abcabc", 3, 2)],
)
def test_rounds_at_end(items: str, period: int, rounds: int):
    assert rounds_at_end(items, period) == rounds
