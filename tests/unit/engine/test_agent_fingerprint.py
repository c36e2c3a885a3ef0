"""Typed fingerprints: kinds never meet, each sees its own change and no other."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.core.fingerprint import (
    ElementsFingerprint,
    Fingerprint,
    FingerprintKind,
    FrameFingerprint,
    ScrollFingerprint,
    ShapeFingerprint,
    TextFingerprint,
    fingerprints_of,
)
from app.engine.core.page_state import Element, PageCapture

KINDS = (
    ElementsFingerprint,
    TextFingerprint,
    ShapeFingerprint,
    FrameFingerprint,
    ScrollFingerprint,
)

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
def test_two_kinds_of_fingerprint_can_not_be_compared(one: type[Fingerprint], other: type[Fingerprint]):
    with pytest.raises(TypeError, match="compared"):
        assert one.over(("same",)) == other.over(("same",))
    with pytest.raises(TypeError):
        assert one.over(("same",)) != other.over(("same",))
    with pytest.raises(TypeError):
        assert one.over(("same",)) == one.over(("same",)).digest


def test_a_page_is_as_it_is():
    assert (
        fingerprints_of(PAGE).changed(fingerprints_of(replace(PAGE, seconds=3.0, picture=b"x")))
        == frozenset()
    )


@pytest.mark.parametrize(
    ("after", "kinds"),
    [
        (with_element(0, name="Start"), {FingerprintKind.ELEMENTS}),
        (with_element(0, visible=False), {FingerprintKind.ELEMENTS, FingerprintKind.SCROLL}),
        (with_element(0, states=("expanded",)), {FingerprintKind.ELEMENTS}),
        (with_element(0, states=("focused",)), set()),
        (with_element(0, rect=(0, 400, 50, 20)), {FingerprintKind.SCROLL}),
        (with_element(0, rect=(1, 1, 50, 20)), set()),
        (with_element(1, states=()), {FingerprintKind.VALUES}),
        (with_element(2, value="Bob"), {FingerprintKind.VALUES}),
        (replace(PAGE, text="Tea\n4 in stock"), {FingerprintKind.TEXT}),
        (replace(PAGE, text="Coffee\n3 in stock"), {FingerprintKind.TEXT, FingerprintKind.SHAPE}),
        (replace(PAGE, frames=2), {FingerprintKind.FRAMES}),
        (replace(PAGE, url="http://shop.test/list?q=milk"), {FingerprintKind.ADDRESS}),
        (replace(PAGE, url="http://shop.test/list?q=tea#bottom"), set()),
        (replace(PAGE, url="http://shop.test/list?q=tea#/route"), {FingerprintKind.ADDRESS}),
    ],
)
def test_each_kind_sees_its_own_change(after: PageCapture, kinds: set[FingerprintKind]):
    assert fingerprints_of(after).changed(fingerprints_of(PAGE)) == kinds


@given(st.lists(st.text(max_size=5), max_size=4), st.lists(st.text(max_size=5), max_size=4))
def test_parts_are_kept_apart(one: list[str], other: list[str]):
    same = [part.encode("utf-8", "replace") for part in one] == [
        part.encode("utf-8", "replace") for part in other
    ]
    assert (TextFingerprint.over(one) == TextFingerprint.over(other)) is same
