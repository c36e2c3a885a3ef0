"""The risk of an action that is about to be taken, told from the page it is for."""

from __future__ import annotations

import pytest

from app.engine.agent.risk import Risk, assess
from app.engine.command import (
    AnswerDialog,
    Check,
    Click,
    ClickAt,
    ClickMark,
    Command,
    GoBack,
    Goto,
    Hover,
    NewTab,
    Press,
    Scroll,
    Select,
    Stop,
    TypeKeys,
    TypeText,
    Upload,
)
from app.engine.page_state import Element, PageCapture

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
    ("command", "risk"),
    [
        (Click(0), Risk.READS),
        (Click(14), Risk.READS),
        (Hover(1), Risk.READS),
        (Scroll(200), Risk.READS),
        (GoBack(), Risk.READS),
        (Stop("42"), Risk.READS),
        (Click(1), Risk.DELETES),
        (Click(2), Risk.BUYS),
        (Click(3), Risk.PAYS),
        (Click(4), Risk.SIGNS_OUT),
        (Click(6), Risk.READS),
        (TypeText(5, "shoes", enter=True), Risk.READS),
        (TypeText(7, "hello"), Risk.EDITS),
        (TypeText(7, "hello", enter=True), Risk.SENDS),
        (TypeKeys("hello"), Risk.EDITS),
        (Press("Enter"), Risk.SENDS),
        (Press("Enter", 5), Risk.READS),
        (Press("Enter", 1), Risk.DELETES),
        (Press("Tab", 1), Risk.READS),
        (Press("Control+A", 7), Risk.READS),
        (Click(8), Risk.SENDS),
        (TypeText(9, "x"), Risk.SIGNS_IN),
        (Click(10), Risk.SIGNS_IN),
        (Check(11), Risk.EDITS),
        (Select(13, ("Norway",)), Risk.EDITS),
        (Upload(12, "a.png"), Risk.UPLOADS),
        (Goto("http://shop.test/orders/"), Risk.READS),
        (Goto("http://shop.test/orders/12/delete"), Risk.DELETES),
        (NewTab("http://shop.test/account/logout"), Risk.SIGNS_OUT),
        (NewTab(), Risk.READS),
        (Goto("http://[broken"), Risk.READS),
        (ClickAt((20.0, 15.0)), Risk.DELETES),
        (ClickAt((300.0, 300.0)), Risk.READS),
        (ClickAt((900.0, 900.0)), Risk.READS),
        (ClickMark(3, "Delete account"), Risk.DELETES),
        (ClickMark(3, "Next page"), Risk.READS),
        (AnswerDialog(accept=False), Risk.READS),
        (AnswerDialog(accept=True), Risk.SENDS),
        (Click(99), Risk.READS),
    ],
)
def test_kinds_of_deeds(command: Command, risk: Risk):
    found = assess(command, PAGE)

    assert found.risk is risk, found
    assert found.why


def test_a_dialog_that_was_seen_tells_what_agreeing_would_do():
    page = PageCapture(url="http://shop.test/", language="en", alerts=("Delete this order?",))

    assert assess(AnswerDialog(accept=True), page).risk is Risk.DELETES


def test_what_can_not_be_taken_back_stands_highest():
    assert {risk for risk in Risk if risk.level == 3} == {Risk.BUYS, Risk.PAYS, Risk.DELETES}
    assert not any(risk.changes for risk in (Risk.READS, Risk.EDITS, Risk.SIGNS_IN, Risk.SIGNS_OUT))
