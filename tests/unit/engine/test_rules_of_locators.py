"""When a locator's match is not to be trusted (``browser/locators.py``): each objection, and its
opposite.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.browser.locators import locator_of, resolve
from app.engine.core.page_state import Element, PageCapture

HOME = "http://shop.test/"


def button(name: str, css: str = "", **more: object) -> Element:
    usual: dict[str, object] = {"index": 0, "role": "button", "name": name, "css": css or f"#{name}"}
    return Element(**{**usual, "landmarks": ("main",), **more})  # type: ignore[arg-type]


def page(*elements: Element) -> PageCapture:
    return PageCapture(url=HOME, elements=tuple(replace(one, index=n) for n, one in enumerate(elements)))


def row(number: int, product: str, **more: object) -> tuple[Element, Element]:
    place = {"repeat": "li", "repeat_index": number, "landmarks": ("main",)}
    link = Element(index=0, role="link", name=product, href=f"{HOME}p/{product}", **place)  # type: ignore[arg-type]
    return link, button("Add", f"li:nth-child({number + 1}) > button", **{**place, **more})


ID = (("id", "keep-order"),)
WEAK = (("class", "primary"),)
SAVE, BACK = button("Save", "form > button"), button("Back", "form > a")
MORE = (button("More", "div > button"), button("More", "p > button"))

CASES: tuple[tuple[str, tuple[Element, ...], int, tuple[Element, ...], str | None, str], ...] = (
    (
        "two that nothing tells apart: neither",
        (SAVE, BACK), 0, (replace(SAVE, css="a"), replace(SAVE, css="b")),
        None, "2 elements fit",
    ),
    (
        "two that their landmark tells apart: the one",
        (SAVE, BACK), 0, (replace(SAVE, css="a"), replace(SAVE, css="b", landmarks=("banner",))),
        "a", "landmarks",
    ),
    (
        "several alike, and in the place of one stands something else: none",
        MORE, 0, (*(button("More", css) for css in "xy"), *(button("More info", css) for css in ("div > button", "z"))),
        None, "2 elements fit",
    ),
    (
        "several alike where they stood: the one of its number",
        MORE, 1, (*MORE, BACK),
        "p > button", "number 2 of 2",
    ),
    (
        "its id is on another, and its name too: the one of its name",
        (replace(SAVE, attributes=ID), BACK), 0, (button("Discard", "d", attributes=ID), button("Save", "s")),
        "s", "role and name",
    ),
    (
        "its id is on one of another name, and nothing has its name: renamed",
        (replace(SAVE, attributes=ID), BACK), 0, (button("Store", "d", attributes=ID), BACK),
        "d", "attributes",
    ),
    (
        "its class is on one of another name: not it",
        (replace(SAVE, css="", attributes=WEAK), BACK), 0, (button("Discard", "d", attributes=WEAK), BACK),
        None, "is called 'Discard' now",
    ),
    (
        "its class is on one of nearly its name: it",
        (button("Save order", "s", attributes=WEAK), BACK), 0, (button("Save the order", "d", attributes=WEAK), BACK),
        "d", "attributes",
    ),
    (
        "where it stood stands another: not it",
        (SAVE, BACK), 0, (button("Delete", "form > button"), BACK),
        None, "button 'Delete' is where",
    ),
    (
        "where it stood stands one of nearly its name: it",
        (button("Save order", "form > button"), BACK), 0, (button("Save the order", "form > button"), BACK),
        "form > button", "css",
    ),
    (
        "its row has gone, and one of another row can be seen alone: not it",
        (*row(0, "Apron"), *row(1, "Bowl")), 3, (*row(0, "Cup"), *row(1, "Dish", visible=False)),
        None, "the row of 'Bowl'",
    ),
    (
        "its row has moved: it, in its row",
        (*row(0, "Apron"), *row(1, "Bowl")), 3, (*row(0, "Bowl"), *row(1, "Apron")),
        "li:nth-child(1) > button", "row",
    ),
    (
        "fewer alike than there were: none",
        (*MORE, button("More", "b")), 1, (button("More", "x"),),
        None, "their number has changed",
    ),
    (
        "one alone then and now, elsewhere on the page: it",
        (SAVE, BACK), 0, (BACK, button("Save", "footer > button", landmarks=("contentinfo",))),
        "footer > button", "role and name",
    ),
    ("nothing like it: none", (SAVE, BACK), 0, (BACK,), None, "is not on this page"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("before", "at", "after", "css", "why"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_an_element_is_found_again_or_not_at_all(
    before: tuple[Element, ...], at: int, after: tuple[Element, ...], css: str | None, why: str
) -> None:
    recorded = page(*before)
    found = resolve(locator_of(recorded.elements[at], recorded), page(*after))
    assert (found.element.css if found.element is not None else None) == css
    assert why in found.why
    assert (found.tier is None) is (css is None)
