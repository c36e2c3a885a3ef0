"""Steps of fitting tips: where they begin, what is passed over, what they never press or type."""

from __future__ import annotations

import pytest

from app.engine.agent.scout.memory import Memory, ScoutStep
from app.engine.agent.scout.page_context import PageContext
from app.engine.agent.scout.part_view import PartDone, PartView
from app.engine.agent.scout.task import read_task
from app.engine.agent.scout.tip_following import tip_step
from app.engine.core.actions.types import Click, Hover, Select
from app.engine.core.observation import Observation, RetrievedTip
from app.engine.core.page_state import PageCapture
from kb.compiler import compile_text
from tests.support.html_page import html_page

NAV = (
    "<nav><h2>Loans</h2><a href=/loans>All</a><a href=/loans/find>Search</a><a href=/loans/new>Create New</a>"
    "<h2>People</h2><a href=/people>Members</a><a href=/people/new>Create New</a></nav>"
)
HOME = html_page(f"<title>Library</title>{NAV}<h1>Library</h1><p>Welcome to the library of the town.")
FORM = html_page(
    f"<title>Search loans</title>{NAV}<h1>Search loans</h1><form method=get action=/loans>"
    "<label>State <select name=s><option selected>any<option>overdue<option>returned</select></label>"
    "<label>Name of the search <input name=keep></label><input type=submit value=Search></form>"
)
LOAN = html_page(
    f"<title>Loan KX-2041</title>{NAV}<h1>Loan KX-2041</h1><form method=post action=/loans/7>"
    "<label>Note <input name=note></label><input type=submit value='Save loan'></form>"
)


def view(
    task: str, page: PageCapture, do: str, when: str, marks: tuple[str, ...] = (), why: str = ""
) -> PartView:
    tip = RetrievedTip(
        tip="t", text=do, when=when, do=do, kind="operation", procedure=compile_text(do, when, "", why)
    )
    seen = Observation(step=0, steps_left=9, intent=task, start_url=page.url, page=page, tips=(tip,))
    return PartView(seen, read_task(task).parts[-1], PageContext(page), Memory(marks=set(marks)))


def pressed(step: ScoutStep | PartDone | None, page: PageCapture) -> str:
    """Address or name of the control that a step presses."""
    if not isinstance(step, ScoutStep) or not isinstance(step.action, Click):
        return ""
    element = page.elements[step.action.element]
    return element.href or element.name


OVERDUE = "How many loans are overdue?"
FIND = 'Open "Search" under "Loans", choose {state} in "State", press "Search"'


def test_a_step_is_done_where_its_control_stands():
    assert pressed(tip_step(view(OVERDUE, HOME, FIND, "loans are overdue")), HOME).endswith("/loans/find")


def test_the_option_that_the_task_says_is_chosen():
    step = tip_step(view(OVERDUE, FORM, FIND, "loans are overdue", ("tip:t:1",)))
    assert isinstance(step, ScoutStep)
    assert isinstance(step.action, Select)
    assert step.action.options == ("overdue",)


def test_a_form_is_sent_only_behind_a_field_of_the_tip():
    assert pressed(tip_step(view(OVERDUE, FORM, 'Press "Search"', "loans are overdue")), FORM) != "Search"


def test_a_control_is_told_from_its_namesake_by_its_heading():
    step = tip_step(
        view('Create a member "Ann Lee".', HOME, 'Choose "Create New" under "People"', "a member is created")
    )
    assert pressed(step, HOME).endswith("/people/new")


@pytest.mark.parametrize(
    ("task", "page", "do"),
    [
        ("Show me the pictures of the harbour.", HOME, FIND),
        ("Open the loan KX-2041.", LOAN, 'Open "Members"'),
        ("What is the note of the loan KX-2041?", LOAN, 'Type {note} into "Note", press "Save loan"'),
        ("Show me the search for loans that I keep.", FORM, 'Type {name} into "Name of the search"'),
    ],
    ids=["unfitting", "away from the thing", "writes", "types for a way"],
)
def test_no_step_is_due(task: str, page: PageCapture, do: str):
    assert tip_step(view(task, page, do, "loans, notes or the search of loans")) is None


MENU = html_page(
    "<title>Library</title><nav><button aria-haspopup=true>Reports</button></nav><h1>Library</h1><p>Welcome."
)
COUNTS = html_page(
    f"<title>Loans by shelf</title>{NAV}<h1>Loans by shelf</h1><table><tr><th>Shelf<th>Books<th>Loans"
    "<tr><td>Poetry<td>40<td>11<tr><td>Maps<td>90<td>7</table>"
)
SHELVES = 'Hover over "Reports", press "Loans by shelf", then read the "Loans" column'


def test_a_menu_is_opened_by_the_pointer_where_the_tip_says_so():
    step = tip_step(view("Which shelf had the most loans?", MENU, SHELVES, "loans of each shelf are wanted"))
    assert isinstance(step, ScoutStep)
    assert isinstance(step.action, Hover)


def test_a_way_ends_where_the_last_step_of_a_tip_led_if_the_page_shows_the_name():
    task, do = "Show me the history of the loan KX-2041.", 'Open "Loans", press "History"'
    done = tip_step(view(task, LOAN, do, "the history of a loan is wanted", ("tip:t:1", "tip:t:2")))
    assert isinstance(done, PartDone)
    assert not isinstance(
        tip_step(view(task, HOME, do, "the history of a loan is wanted", ("tip:t:1", "tip:t:2"))), PartDone
    )


def test_what_the_tip_warns_of_is_never_pressed():
    do = 'Open "Members". Never press "Search".'
    step = tip_step(view("How many members are overdue?", HOME, do, "members are overdue"))
    assert pressed(step, HOME).endswith("/people")
    assert (
        tip_step(view("How many members are overdue?", HOME, do, "members are overdue", ("tip:t:1",))) is None
    )
