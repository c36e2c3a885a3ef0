"""The one rule by which an element is found in another capture (``core/element_identity.py``): one row a clause."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.core.actions.types import Action, Click, Drag, Press, TypeText
from app.engine.core.element_identity import renumber_action, same_element
from app.engine.core.page_state import Element, PageCapture

SAVE = Element(index=0, role="button", name="Save", css="#save", form="post:/save", landmarks=("main",))
LINK = Element(index=0, role="link", name="Next", css="#next", href="http://shop.test/list?page=2")


def page(*elements: Element) -> PageCapture:
    numbered = tuple(replace(one, index=number) for number, one in enumerate(elements))
    return PageCapture(url="http://shop.test/", elements=numbered)


def row(number: int, *names: str) -> tuple[Element, ...]:
    return tuple(
        Element(index=0, role="button", name=name, css=f"li:nth-of-type({number + 1}) > b:nth-of-type({at})",
                repeat="list", repeat_index=number)
        for at, name in enumerate(names)
    )  # fmt: skip


OTHER = Element(index=0, role="button", name="Other", css="#other")
ROWS = (*row(0, "Ann", "Delete"), *row(1, "Bob", "Delete"), *row(2, "Cid", "Delete"))
SWAPPED = (*row(0, "Ann", "Delete"), *row(1, "Cid", "Delete"), *row(2, "Bob", "Delete"))

CLAUSES: tuple[tuple[str, tuple[Element, ...], int, tuple[Element, ...], int | None], ...] = (
    ("unchanged", (SAVE, OTHER), 0, (SAVE, OTHER), 0),
    ("under another number", (SAVE,), 0, (OTHER, SAVE), 1),
    ("gone", (SAVE, OTHER), 0, (OTHER,), None),
    ("of another role", (SAVE,), 0, (replace(SAVE, role="link"),), None),
    ("of another name", (SAVE,), 0, (replace(SAVE, name="Save all"),), None),
    ("in another frame", (SAVE,), 0, (replace(SAVE, frame=("inner",)),), None),
    ("in another landmark", (SAVE,), 0, (replace(SAVE, landmarks=("banner",)),), None),
    ("in another form", (SAVE,), 0, (replace(SAVE, form="post:/delete"),), None),
    ("leading elsewhere", (LINK,), 0, (replace(LINK, href="http://shop.test/pay"),), None),
    ("at another path", (SAVE,), 0, (replace(SAVE, css="#save2"),), None),
    ("with another state or value", (SAVE,), 0, (replace(SAVE, states=("focused",), value="x"),), 0),
    ("elsewhere on the screen", (SAVE,), 0, (replace(SAVE, rect=(1, 2, 3, 4)),), 0),
    ("in the same row", ROWS, 3, ROWS, 3),
    ("in a row that has changed places", ROWS, 3, SWAPPED, None),
    ("in a row that stayed", ROWS, 1, SWAPPED, 1),
    ("the second of two alike", (SAVE, OTHER, SAVE), 2, (OTHER, SAVE, SAVE), 2),
    ("the first of two alike", (SAVE, OTHER, SAVE), 0, (OTHER, SAVE, SAVE), 1),
    ("one of two alike, one of them gone", (SAVE, SAVE), 0, (SAVE,), None),
    ("one that has got a twin", (SAVE,), 0, (SAVE, SAVE), None),
)


@pytest.mark.parametrize(
    ("before", "number", "now", "found"),
    [clause[1:] for clause in CLAUSES],
    ids=[clause[0] for clause in CLAUSES],
)
def test_an_element_is_found_again_or_it_is_not_known(
    before: tuple[Element, ...], number: int, now: tuple[Element, ...], found: int | None
):
    was = page(*before)
    assert same_element(was.elements[number], was, page(*now)) == found


RENUMBERED: tuple[tuple[str, Action, Action | int], ...] = (
    ("an element", Click(0, label="Save"), Click(1, label="Save")),
    ("both ends of a drag", Drag(0, 1), Drag(1, 2)),
    ("one end of a drag to a point", Drag(0, (5.0, 5.0)), Drag(1, (5.0, 5.0))),
    ("an action without an element", Press("Enter"), Press("Enter")),
    ("a number that the page never had", TypeText(99, "x"), TypeText(99, "x")),
    ("an element that is gone", Click(2), 2),
    ("an end of a drag that is gone", Drag(0, 2), 2),
)


@pytest.mark.parametrize(
    ("action", "expected"), [clause[1:] for clause in RENUMBERED], ids=[clause[0] for clause in RENUMBERED]
)
def test_an_action_is_renumbered_or_the_lost_element_named(action: Action, expected: Action | int):
    before, now = page(SAVE, OTHER, LINK), page(replace(LINK, css="#new"), SAVE, OTHER)
    assert renumber_action(action, before, now) == expected
