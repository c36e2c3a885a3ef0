"""Two runs aligned on page states, and where they part."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.goal_likeness import goal_likeness
from app.engine.core.page_alignment import align_steps, parting_row, parting_words
from app.engine.core.trajectory import Run, Step
from app.engine.detectors.similar_goals import POWER, RunGoal, SimilarGoals
from tests.support.runs import make_run, make_step

SHOP = "http://shop.test"
PASSED = make_run("passed", score=1.0)
FAILED = make_run("failed", score=0.0)


def click(name: str, page: str = "/", role: str = "button", **fields: Any) -> Step:
    return make_step(
        0, url=SHOP + page, title=page, target=ActionTarget(role=role, name=name), action=RecordedAction(kind="click"),
        **fields,
    )  # fmt: skip


def typed(value: str, page: str = "/search") -> Step:
    target = ActionTarget(role="textbox", name="Search")
    action = RecordedAction(kind="fill", args={"bid": "3", "value": value})
    return make_step(0, url=SHOP + page, title=page, target=target, action=action)


def scroll(page: str = "/") -> Step:
    action = RecordedAction(kind="scroll", args={"delta_x": 0, "delta_y": 300})
    return make_step(0, url=SHOP + page, title=page, target=None, action=action)


def rows(
    left: list[Step], right: list[Step], goals: tuple[str, str] = ("", "")
) -> list[tuple[int, int, bool]]:
    return [tuple(row) for row in align_steps(left, right, goals)]


HOME, ORDERS = click("Orders"), click("Open", "/orders")
ORDER_7, ORDER_8 = click("Save", "/orders/7"), click("Save", "/orders/8")


@pytest.mark.parametrize(
    ("left", "right", "aligned"),
    [
        ([], [], []),
        ([HOME], [], [(0, -1, False)]),
        ([HOME, ORDERS], [HOME, ORDERS], [(0, 0, True), (1, 1, True)]),
        # a detour stands alone
        ([HOME, click("x", "/help"), ORDERS], [HOME, ORDERS], [(0, 0, True), (1, -1, False), (2, 1, True)]),
        # another page of the same template stands in one row, another kind of page does not
        ([ORDER_7], [ORDER_8], [(0, 0, True)]),
        ([HOME], [ORDERS], [(0, -1, False), (-1, 0, False)]),
        # the same page with another action
        ([click("A")], [click("B")], [(0, 0, False)]),
        # the same state wins over the same address
        (
            [click("A", state="s1"), click("A", state="s2")],
            [click("A", state="s2")],
            [(0, -1, False), (1, 0, True)],
        ),
        # ids of the graph's page states count before addresses
        (
            [click("A", "/a", page_state="p1")],
            [click("A", "/b", page_state="p1")],
            [(0, 0, True)],
        ),
    ],
)
def test_steps_are_paired_where_both_stand_on_the_same_kind_of_page(left, right, aligned):
    assert rows(left, right) == aligned


def test_doing_the_same_with_what_the_own_task_names_is_the_same_action():
    left, right = [typed("Circe fleece")], [typed("Zing rope")]
    assert rows(left, right) == [(0, 0, False)]
    assert rows(left, right, ("Reviews of Circe fleece", "Reviews of Zing rope")) == [(0, 0, True)]
    assert rows(left, right, ("Reviews", "Reviews of Zing rope")) == [(0, 0, False)]


@pytest.mark.parametrize(
    ("left", "right", "parting"),
    [
        ([], [], -1),
        ([HOME, ORDERS], [HOME, ORDERS], -1),
        ([HOME, click("A", "/orders")], [HOME, click("B", "/orders")], 1),
        ([HOME, ORDERS], [HOME], 1),
        ([HOME], [ORDERS], 0),
        ([HOME, scroll(), ORDERS], [HOME, ORDERS], -1),
        # what comes before they are together is no parting
        ([click("x", "/help"), HOME, click("A", "/orders")], [HOME, click("B", "/orders")], 2),
    ],
)
def test_they_part_where_they_first_do_different_things_after_being_together(left, right, parting):
    assert parting_row(align_steps(left, right), left, right) == parting


def why(left: list[Step], right: list[Step], runs: tuple[Run, Run] = (FAILED, PASSED)) -> str:
    aligned = align_steps(left, right)
    return parting_words(aligned, parting_row(aligned, left, right), (runs[0], left), (runs[1], right))


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        (
            [HOME, click("#187", "/orders", "link")],
            [HOME, click("Filters", "/orders")],
            "Both were on '/orders'; the passed run pressed button 'Filters', this one opened link '#187'.",
        ),
        (
            [HOME, click("x", "/help")],
            [HOME, ORDERS],
            "After '/', the passed run pressed button 'Open', this one pressed button 'x'.",
        ),
        (
            [HOME],
            [HOME, ORDERS],
            "After '/', the passed run pressed button 'Open', this one had ended (answered).",
        ),
        ([HOME], [HOME], "Both did the same from the first step to the last."),
        (
            [click("x", "/help")],
            [HOME],
            "They never stood on the same page: the passed run pressed button 'Orders', this one pressed button 'x'.",
        ),
        ([], [], ""),
    ],
)
def test_how_they_part_is_one_sentence(left, right, words):
    assert why(left, right) == words


def test_of_two_failed_runs_the_other_is_called_so():
    text = why([click("A")], [click("B")], (FAILED, make_run("f2")))
    assert text == "Both were on '/'; this one pressed button 'A', the other run pressed button 'B'."


@given(st.lists(st.integers(0, 3), max_size=9), st.lists(st.integers(0, 3), max_size=9))
def test_each_step_stands_in_one_row_and_in_order(left, right):
    ours, theirs = ([click(str(n), f"/{'abcd'[n]}") for n in one] for one in (left, right))
    aligned = align_steps(ours, theirs)
    assert [row.left for row in aligned if row.left >= 0] == list(range(len(left)))
    assert [row.right for row in aligned if row.right >= 0] == list(range(len(right)))
    assert all(left[row.left] == right[row.right] for row in aligned if min(row.left, row.right) >= 0)
    assert all(row.same_action for row in align_steps(ours, ours))


@pytest.mark.parametrize(
    ("goal", "other", "alike"),
    [
        ("How many orders of 2022?", "How many orders of 1999?", 1.0),
        ("How many orders?", "Delete my account", 0.0),
        ("", "anything", 0.0),
    ],
)
def test_goals_are_alike_by_their_words_and_all_numbers_are_one(goal, other, alike):
    assert goal_likeness(goal, [other]) == [pytest.approx(alike)]


def test_rare_words_count_more_than_frequent_ones():
    others = ["show the Circe fleece", "show the orders", "show the invoices", "show the labels"]
    fleece, orders, *_ = goal_likeness("count the Circe fleece", others)
    assert fleece > orders


def test_side_by_side_and_the_correction_of_the_ranking_have_one_likeness():
    texts = [
        "Show orders of 2022-01",
        "show the orders of 1999",
        "list 3 invoices",
        "Show orders, please",
        "",
    ]
    site = SimilarGoals([RunGoal(str(at), "shop", text) for at, text in enumerate(texts)]).sites["shop"]
    cosines = goal_likeness(texts[0], texts[1:3], texts)
    assert site.likenesses(0)[1:3].tolist() == pytest.approx([cosine**POWER for cosine in cosines])
