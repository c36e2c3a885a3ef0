from __future__ import annotations

from app.engine.agent.tip_query import MOST_CONTROLS, MOST_HEADINGS, step_query
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.actions.types import Action, Click, Goto
from app.engine.core.ledger import Ledger
from app.engine.core.observation import HistoryEntry
from app.engine.core.page_state import Element, PageCapture

PAGE = PageCapture(
    url="http://shop.test/orders",
    title="Orders",
    headings=("Your orders",),
    viewport=(800, 600),
    elements=(
        Element(index=0, role="link", name="Home", rect=(0, 0, 40, 20)),
        Element(index=1, role="button", name="Show Report", rect=(0, 100, 90, 20)),
        Element(index=2, role="button", name="Below", rect=(0, 700, 90, 20)),
        Element(index=3, role="button", name="Hidden", visible=False),
        Element(index=4, role="button", name="", rect=(0, 200, 90, 20)),
        Element(index=5, role="link", name="Home", rect=(0, 300, 40, 20)),
    ),
)


def entry(action: Action, words: str, success: bool, url: str = PAGE.url) -> HistoryEntry:
    result = ActionResult(success=success, effect=Effect.NOTHING, why="" if success else "nothing changed")
    return HistoryEntry(step=1, url=url, title="", state="s", action=action, result=result, words=words)


def test_the_query_shows_the_page_in_view():
    query = step_query(PAGE, "Show the report", Ledger(subgoal="open the orders"), ())

    assert (query.url, query.text, query.subgoal) == (PAGE.url, "Show the report", "open the orders")
    assert (query.title, query.headings) == ("Orders", ("Your orders",))
    assert query.controls == ("link Home", "button Show Report")
    assert (query.element, query.failure) == ("", "")


def test_a_subgoal_that_is_the_task_says_nothing_new():
    assert step_query(PAGE, "Show the report", Ledger(subgoal="Show the report"), ()).subgoal == ""


def test_a_failure_names_what_was_tried_and_the_element():
    failed = entry(Click(element=1), "click button 'Show Report'", False)

    query = step_query(PAGE, "x", Ledger(), (failed,))

    assert query.failure == "click button 'Show Report': nothing changed"
    assert query.element == "button Show Report"


def test_an_action_that_worked_or_another_page_names_no_element():
    worked = entry(Click(element=1), "click button 'Show Report'", True)
    elsewhere = entry(Click(element=1), "click button 'Show Report'", False, "http://shop.test/")
    opened = entry(Goto(url="http://shop.test/x"), "open /x", False)

    assert step_query(PAGE, "x", Ledger(), (worked,)).failure == ""
    assert [step_query(PAGE, "x", Ledger(), (one,)).element for one in (worked, elsewhere, opened)] == [
        "",
        "",
        "",
    ]
    assert step_query(PAGE, "x", Ledger(), (elsewhere,)).failure


def test_a_page_of_a_thousand_controls_makes_no_longer_query():
    elements = tuple(Element(index=n, role="link", name=f"Row {n} " + "x" * 200) for n in range(1_000))
    page = PageCapture(url="http://h/", headings=tuple("abcdefghijklmnop"), elements=elements)

    query = step_query(page, "x", Ledger(), ())

    assert len(query.controls) == MOST_CONTROLS
    assert len(query.headings) == MOST_HEADINGS
    assert max(map(len, query.controls)) < 100
