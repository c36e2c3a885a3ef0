"""Typed fingerprints: kinds never meet, each sees its own change and no other."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.fingerprint import (
    ElementsPrint,
    FramePrint,
    Kind,
    PicturePrint,
    Print,
    ScrollPrint,
    ShapePrint,
    TextPrint,
    picture_print,
    prints_of,
)
from app.engine.page_state import Element, PageCapture

KINDS = (ElementsPrint, TextPrint, ShapePrint, FramePrint, ScrollPrint, PicturePrint)

PAGE = PageCapture(
    url="http://shop.test/list?q=tea",
    title="Tea",
    text="Tea\n3 in stock",
    elements=(
        Element(index=0, role="link", name="Home", rect=(0, 0, 50, 20), css="a"),
        Element(
            index=1, role="checkbox", name="News", states=("checked",), rect=(0, 30, 20, 20), css="input"
        ),
        Element(index=2, role="textbox", name="Name", value="Ada", rect=(0, 60, 90, 20), frame=("inner",)),
    ),
    frames=1,
)


def with_element(number: int, **changes: object) -> PageCapture:
    elements = list(PAGE.elements)
    elements[number] = replace(elements[number], **changes)  # type: ignore[arg-type]
    return replace(PAGE, elements=tuple(elements))


@pytest.mark.parametrize(("one", "other"), list(combinations(KINDS, 2)))
def test_two_kinds_of_fingerprint_can_not_be_compared(one: type[Print], other: type[Print]):
    with pytest.raises(TypeError, match="compared"):
        assert one.over(("same",)) == other.over(("same",))
    with pytest.raises(TypeError):
        assert one.over(("same",)) != other.over(("same",))
    with pytest.raises(TypeError):
        assert one.over(("same",)) == one.over(("same",)).digest


def test_a_page_is_as_it_is():
    assert prints_of(PAGE).changed(prints_of(replace(PAGE, seconds=3.0, picture=b"x"))) == frozenset()


@pytest.mark.parametrize(
    ("after", "kinds"),
    [
        (with_element(0, name="Start"), {Kind.ELEMENTS}),
        (with_element(0, visible=False), {Kind.ELEMENTS, Kind.SCROLL}),
        (with_element(0, states=("expanded",)), {Kind.ELEMENTS}),
        (with_element(0, states=("focused",)), set()),
        (with_element(0, rect=(0, 400, 50, 20)), {Kind.SCROLL}),
        (with_element(0, rect=(1, 1, 50, 20)), set()),
        (with_element(1, states=()), {Kind.VALUES}),
        (with_element(2, value="Bob"), {Kind.VALUES}),
        (replace(PAGE, text="Tea\n4 in stock"), {Kind.TEXT}),
        (replace(PAGE, text="Coffee\n3 in stock"), {Kind.TEXT, Kind.SHAPE}),
        (replace(PAGE, frames=2), {Kind.FRAMES}),
        (replace(PAGE, url="http://shop.test/list?q=milk"), {Kind.ADDRESS}),
        (replace(PAGE, url="http://shop.test/list?q=tea#bottom"), set()),
        (replace(PAGE, url="http://shop.test/list?q=tea#/route"), {Kind.ADDRESS}),
    ],
)
def test_each_kind_sees_its_own_change(after: PageCapture, kinds: set[Kind]):
    assert prints_of(after).changed(prints_of(PAGE)) == kinds


@given(st.lists(st.text(max_size=5), max_size=4), st.lists(st.text(max_size=5), max_size=4))
def test_parts_are_kept_apart(one: list[str], other: list[str]):
    same = [part.encode("utf-8", "replace") for part in one] == [
        part.encode("utf-8", "replace") for part in other
    ]
    assert (TextPrint.over(one) == TextPrint.over(other)) is same


def test_pictures_of_the_same_bytes_are_the_same():
    assert picture_print(b"a") == picture_print(b"a")
    assert picture_print(b"a") != picture_print(b"b")
