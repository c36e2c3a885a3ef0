"""The risk of a planned action, assessed from its page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.agent.write_gate.action_risk import assess_risk
from app.engine.core.actions.types import (
    Action,
    AnswerDialog,
    Click,
    ClickAt,
    ClickMark,
    GoBack,
    Goto,
    Hover,
    NewTab,
    Press,
    Scroll,
    Select,
    SetChecked,
    Stop,
    TypeKeys,
    TypeText,
    Upload,
)
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.page_state import Element, PageCapture

PAGE = PageCapture(
    url="http://shop.test/basket/",
    language="en",
    elements=(
        Element(index=0, role="link", name="Orders", href="http://shop.test/orders/"),
        Element(index=1, role="button", name="Delete order", form="post:/orders/12/", submits=True),
        Element(index=2, role="button", name="Place order", form="post:/checkout/", submits=True),
        Element(index=3, role="button", name="Pay now", form="post:/pay/", submits=True),
        Element(index=4, role="link", name="Log out", href="http://shop.test/logout/"),
        Element(index=5, role="searchbox", name="Search", form="get:/search/"),
        Element(index=6, role="button", name="Search", form="get:/search/", submits=True),
        Element(index=7, role="textbox", name="Comment", form="post:/comment/", states=("focused",)),
        Element(index=8, role="button", name="Go", form="post:/comment/", submits=True),
        Element(index=9, role="textbox", name="Password", type="password", form="post:/login/"),
        Element(index=10, role="button", name="Log in", form="post:/login/", submits=True),
        Element(index=11, role="checkbox", name="Gift", form="post:/comment/"),
        Element(index=12, role="button", name="Choose file", type="file"),
        Element(index=13, role="combobox", name="Country", form="post:/comment/", options=("Norway",)),
        Element(index=14, role="tab", name="Details"),
        Element(index=15, role="button", name="Löschen", rect=(10.0, 10.0, 50.0, 20.0)),
        Element(index=16, role="button", name="Panel", rect=(0.0, 0.0, 500.0, 500.0)),
    ),
)


@pytest.mark.parametrize(
    ("action", "risk"),
    [
        (Click(0), RiskClass.READS),
        (Click(14), RiskClass.READS),
        (Hover(1), RiskClass.READS),
        (Scroll(200), RiskClass.READS),
        (GoBack(), RiskClass.READS),
        (Stop("42"), RiskClass.READS),
        (Click(1), RiskClass.DELETES),
        (Click(2), RiskClass.BUYS),
        (Click(3), RiskClass.PAYS),
        (Click(4), RiskClass.SIGNS_OUT),
        (Click(6), RiskClass.READS),
        (TypeText(5, "shoes", enter=True), RiskClass.READS),
        (TypeText(7, "hello"), RiskClass.EDITS),
        (TypeText(7, "hello", enter=True), RiskClass.SENDS),
        (TypeKeys("hello"), RiskClass.EDITS),
        (Press("Enter"), RiskClass.SENDS),
        (Press("Enter", 5), RiskClass.READS),
        (Press("Enter", 1), RiskClass.DELETES),
        (Press("Tab", 1), RiskClass.READS),
        (Press("Control+A", 7), RiskClass.READS),
        (Click(8), RiskClass.SENDS),
        (TypeText(9, "x"), RiskClass.SIGNS_IN),
        (Click(10), RiskClass.SIGNS_IN),
        (SetChecked(11), RiskClass.EDITS),
        (Select(13, ("Norway",)), RiskClass.EDITS),
        (Upload(12, "a.png"), RiskClass.UPLOADS),
        (Goto("http://shop.test/orders/"), RiskClass.READS),
        (Goto("http://shop.test/orders/12/delete"), RiskClass.DELETES),
        (NewTab("http://shop.test/account/logout"), RiskClass.SIGNS_OUT),
        (NewTab(), RiskClass.READS),
        (Goto("http://[broken"), RiskClass.READS),
        (ClickAt((20.0, 15.0)), RiskClass.DELETES),
        (ClickAt((300.0, 300.0)), RiskClass.READS),
        (ClickAt((900.0, 900.0)), RiskClass.READS),
        (ClickMark(3, "Delete account"), RiskClass.DELETES),
        (ClickMark(3, "Next page"), RiskClass.READS),
        (AnswerDialog(accept=False), RiskClass.READS),
        (AnswerDialog(accept=True), RiskClass.SENDS),
        (Click(99), RiskClass.READS),
    ],
)
def test_the_risk_of_each_kind_of_action(action: Action, risk: RiskClass):
    found = assess_risk(action, PAGE)

    assert found.risk is risk, found
    assert found.why


def query(button: str, *fields: Element, path: str = "/issue", **more: object) -> PageCapture:
    """A form sent by GET: its button, then its fields."""
    sent = [replace(one, index=at, form=f"get:{path}") for at, one in enumerate(fields, start=1)]
    button_element = Element(index=0, role="button", name=button, form=f"get:{path}", submits=True)
    return PageCapture(url=f"http://x.test{path}", language="en", elements=(button_element, *sent), **more)  # type: ignore[arg-type]


def box(name: str, value: str = "", **more: object) -> Element:
    return Element(index=0, role="textbox", name=name, value=value, **more)  # type: ignore[arg-type]


def tick(name: str, *states: str) -> Element:
    return Element(index=0, role="checkbox", name=name, states=states)


@pytest.mark.parametrize(
    ("page", "risk"),
    [
        pytest.param(query("Search", box("Words", "rain")), RiskClass.READS, id="a search"),
        pytest.param(query("Search", box("Query name**")), RiskClass.READS, id="a name left empty"),
        pytest.param(query("Search", box("Query name**", "Wet")), RiskClass.SENDS, id="a name for the query"),
        pytest.param(
            query("Search", box("Query name", "Wet"), path="/query"),
            RiskClass.READS,
            id="a search for queries",
        ),
        pytest.param(
            query("Find", box("Report title", "Wet"), headings=("Reports",)),
            RiskClass.READS,
            id="a search for reports",
        ),
        pytest.param(query("Search", box("Name", "Wet")), RiskClass.READS, id="a name to search for"),
        pytest.param(query("Filter", box("Filter name", "Wet")), RiskClass.READS, id="a name to filter by"),
        pytest.param(query("Search", box("Save as", "Wet")), RiskClass.SENDS, id="save as"),
        pytest.param(
            query("Search", tick("Save this search", "checked")),
            RiskClass.SENDS,
            id="a ticked box that saves",
        ),
        pytest.param(
            query("Search", tick("Save this search")), RiskClass.READS, id="an unticked box that saves"
        ),
        pytest.param(query("Search", tick("Saved", "checked")), RiskClass.READS, id="a box that filters"),
        pytest.param(query("Save"), RiskClass.SENDS, id="a button that saves"),
        pytest.param(query("Speichern"), RiskClass.SENDS, id="a button that saves, in German"),
        pytest.param(query("Vote"), RiskClass.SENDS, id="a deed at one press"),
        pytest.param(
            query("Go", path="/posts/3/delete"), RiskClass.DELETES, id="an address that says a change"
        ),
        pytest.param(query("Redisplay"), RiskClass.READS, id="a word nobody knows"),
        pytest.param(query("Submit"), RiskClass.READS, id="a word that only finishes a form"),
    ],
)
def test_a_form_sent_by_get_sends_where_it_says_that_it_stores(page: PageCapture, risk: RiskClass):
    assert assess_risk(Click(0), page).risk is risk
    if any(one.value for one in page.elements):
        assert assess_risk(Press("Enter", 1), page).risk is risk


def test_a_name_that_is_typed_and_sent_with_enter_stores_too():
    page = query("Search", box("Query name"))
    assert assess_risk(TypeText(1, "Wet", enter=True), page).risk is RiskClass.SENDS
    assert assess_risk(TypeText(1, "Wet"), page).risk is RiskClass.EDITS


def test_a_dialog_that_was_seen_tells_what_agreeing_would_do():
    page = PageCapture(url="http://shop.test/", language="en", alerts=("Delete this order?",))

    assert assess_risk(AnswerDialog(accept=True), page).risk is RiskClass.DELETES


def test_what_can_not_be_taken_back_stands_highest():
    assert {risk for risk in RiskClass if risk.level == 3} == {
        RiskClass.BUYS,
        RiskClass.PAYS,
        RiskClass.DELETES,
    }
    assert not any(
        risk.changes for risk in (RiskClass.READS, RiskClass.EDITS, RiskClass.SIGNS_IN, RiskClass.SIGNS_OUT)
    )
