"""Filters of a list: set as far as the task speaks of them, applied once, and nothing that sends or only orders."""

from __future__ import annotations

import pytest

from app.engine.agent.scout.filters import filter_steps
from app.engine.agent.scout.memory import Memory
from app.engine.agent.scout.page_context import PageContext
from app.engine.agent.scout.part_view import PartView
from app.engine.agent.scout.task import read_task
from app.engine.core.actions.types import Action, Click, Press, Select, SetChecked, TypeText
from app.engine.core.observation import Observation
from app.engine.core.page_state import PageCapture
from tests.support.html_page import html_page

STATE = "<label>State <select name=state><option>any<option>open<option>waiting for parts</select></label>"
OPEN = STATE.replace("<option>open", "<option selected>open")
OWNER = "<label>Assignee <input name=owner></label>"
BUTTON = "<button>Search</button>"
TABLE = "<table><tr><th>Title<th>State</tr><tr><td>Pump<td>open</tr></table>"


def listed(fields: str, method: str = "get") -> PageCapture:
    return html_page(
        f"<title>Jobs</title><h1>Jobs</h1><form method={method} action=/jobs>{fields}</form>{TABLE}"
    )


def steps(intent: str, page: PageCapture, memory: Memory | None = None) -> list[Action]:
    seen = Observation(step=0, steps_left=9, intent=intent, start_url=page.url, page=page)
    view = PartView(seen, read_task(intent).parts[0], PageContext(page), memory or Memory())
    return [one.action for one in filter_steps(view)]


@pytest.mark.parametrize(
    ("intent", "fields", "expected"),
    [
        ("Show the jobs that are open", STATE + BUTTON, [Select(0, ("open",))]),
        ("How many jobs are waiting for parts?", STATE + BUTTON, [Select(0, ("waiting for parts",))]),
        ("How many jobs are there?", STATE + BUTTON, []),
        ("Show the jobs of Ada", STATE + BUTTON, []),
        ('How many jobs have the assignee "Ada Quill"?', OWNER + BUTTON, [TypeText(0, "Ada Quill")]),
        (
            "Show the jobs that were never billed",
            "<label><input type=checkbox name=n>Never billed</label>" + BUTTON,
            [SetChecked(0, on=True)],
        ),
        ("Show open jobs", "<label>Sort by <select name=s><option>open<option>title</select></label>" + BUTTON, []),
    ],
)  # fmt: skip
def test_a_filter_is_set_to_what_the_task_says(intent: str, fields: str, expected: list[Action]) -> None:
    assert steps(intent, listed(fields)) == expected


def test_a_list_that_is_ordered_is_ordered_by_what_the_task_says() -> None:
    page = listed("<label>Sort by <select name=s><option>Title<option>Newest first</select></label>" + BUTTON)
    assert steps("Sort the jobs by newest first", page) == [Select(0, ("Newest first",))]


def test_a_form_that_sends_is_no_filter() -> None:
    assert steps("Show the jobs that are open", listed(STATE + BUTTON, method="post")) == []


def test_a_filled_filter_is_applied_by_its_button_once() -> None:
    page = listed(OPEN + BUTTON)
    memory = Memory(marks={"filter:open"})
    (action,) = steps("Show the jobs that are open", page, memory)
    assert action == Click(1, label="Search")
    tried = Memory(marks={"filter:open"}, tried=dict.fromkeys(_keys("Show the jobs that are open", page), 1))
    assert steps("Show the jobs that are open", page, tried) == []


def _keys(intent: str, page: PageCapture) -> list[str]:
    seen = Observation(step=0, steps_left=9, intent=intent, start_url=page.url, page=page)
    view = PartView(seen, read_task(intent).parts[0], PageContext(page), Memory(marks={"filter:open"}))
    return [one.key for one in filter_steps(view)]


def test_a_filter_without_a_button_is_applied_by_a_key() -> None:
    page = listed(OPEN)
    assert steps("Show the jobs that are open", page, Memory(marks={"filter:open"})) == [Press("Enter", 0)]


def test_a_filter_that_nobody_set_is_not_applied() -> None:
    page = listed(OPEN + BUTTON)
    assert steps("Show the jobs that are open", page) == []


def test_what_was_applied_is_kept_for_the_page_that_follows() -> None:
    memory = Memory(marks={"filter:open", "applied"})
    memory.note_page("site.test/jobs?s=1", ())
    assert memory.applied == {"site.test/jobs?s=1": frozenset({"open"})}
    memory.note_page("site.test/jobs/4", ())
    assert set(memory.applied) == {"site.test/jobs?s=1"}
