"""The checks of the tasks that the scout is measured by: what counts as the right answer."""

from __future__ import annotations

from collections import Counter

import pytest

from kb.exchange import parse_file
from tests.support.shop_facts import TASKS, load_tasks, right


@pytest.mark.parametrize(
    ("kind", "answer", "wanted"),
    [
        ("number", "$1,204.50", ["1204.5"]),
        ("number", "23", ["22.999999999"]),
        ("text", " Ines  SILVA. ", ["Ines Silva"]),
        ("date", "June 14, 2026, 6:58 a.m.", ["2026-06-14 06:58:00"]),
        ("date", "2026-06-14", ["2026-06-14 06:58:00"]),
        ("list", "Pan, large and\nPot", ["Pot", "Pan, large"]),
    ],
)
def test_the_right_answer_counts_however_it_is_written(kind: str, answer: str, wanted: list[str]) -> None:
    assert right(kind, answer, wanted)


@pytest.mark.parametrize(
    ("kind", "answer", "wanted"),
    [
        ("number", "12 or 13", ["12"]),
        ("number", "", ["0"]),
        ("number", "12.01", ["12"]),
        ("text", "Ines Silva or Emma Lopez", ["Ines Silva"]),
        ("date", "July 14, 2026", ["2026-06-14 06:58:00"]),
        ("date", "Xyz 14, 2026", ["2026-06-14 06:58:00"]),
        ("list", "Pot", ["Pot", "Pan"]),
        ("list", "Pot, Pan, Lid", ["Pot", "Pan"]),
    ],
)
def test_a_wrong_vague_or_longer_answer_does_not(kind: str, answer: str, wanted: list[str]) -> None:
    assert not right(kind, answer, wanted)


def test_the_suite_has_tasks_of_every_kind_and_each_can_be_checked() -> None:
    tasks = load_tasks()
    assert len({task.id for task in tasks}) == len(tasks) >= 40
    assert all(bool(task.sql) == bool(task.answer) and (task.sql or task.after) for task in tasks)
    assert all(task.may_change for task in tasks if task.writes)
    assert min(Counter(task.kind for task in tasks).values()) >= 5
    assert {task.login for task in tasks} == {"", "shopper", "admin"}


def test_the_tips_of_the_sites_can_be_imported_and_name_no_task() -> None:
    tips = [parsed for _, parsed in parse_file(TASKS.with_name("scout_tips.jsonl"))]
    assert tips
    assert not [parsed.error for parsed in tips if parsed.error]
    quoted = {word for task in load_tasks() for word in task.intent.split('"')[1::2]}
    for parsed in tips:
        assert parsed.draft is not None
        assert not [word for word in quoted if word in parsed.draft.text], parsed.draft.text
