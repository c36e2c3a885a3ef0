"""When an action may use the last capture, and when the page has to be captured again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.agent.vision.freshness import (
    DRIFT_LIMIT,
    HARD_WAIT,
    SOFT_WAIT,
    GroundingMode,
    PageDrift,
    check_freshness,
    mutation_delta,
    page_drift,
)
from app.engine.core.actions.types import Action, Click, ClickMark, Scroll, TypeMark, TypeText
from app.engine.core.fingerprint import FingerprintKind, fingerprints_of
from app.engine.core.page_state import Element, PageCapture

FIELD = Element(index=0, role="textbox", name="Name", rect=(0, 0, 100, 20))
SAVE = Element(index=1, role="button", name="Save", rect=(0, 40, 100, 20))
PAGE = PageCapture(url="https://shop.test/form", elements=(FIELD, SAVE), text="Name\n250 letters left\nSave")


def since(now: PageCapture, then: PageCapture = PAGE) -> PageDrift:
    return page_drift(now, fingerprints_of(now), then, fingerprints_of(then))


def with_elements(*elements: Element) -> PageCapture:
    return replace(PAGE, elements=elements)


@pytest.mark.parametrize(
    "same",
    [
        PAGE,
        with_elements(replace(FIELD, value="Ada", states=("focused",)), SAVE),
        with_elements(FIELD, replace(SAVE, states=("checked",))),
        replace(PAGE, text="Name\n247 letters left\nSave"),
        replace(PAGE, picture=b"other"),
    ],
)
def test_what_is_typed_ticked_or_counted_makes_no_other_page(same: PageCapture):
    assert since(same).within()


@pytest.mark.parametrize(
    "other",
    [
        replace(PAGE, url="https://shop.test/done"),
        replace(PAGE, text="Name\n250 letters left\nSave\nThe name is taken"),
        with_elements(FIELD),
        with_elements(FIELD, replace(SAVE, name="Saved")),
        with_elements(FIELD, replace(SAVE, states=("disabled",))),
        with_elements(FIELD, replace(SAVE, rect=(0, 440, 100, 20))),
        replace(PAGE, frames=1),
    ],
)
def test_anything_else_is_a_drift(other: PageCapture):
    assert not since(other).within()


def test_numbers_that_tick_in_many_places_are_a_drift_too():
    prices = replace(PAGE, text="\n".join(f"price {n}" for n in range(10)))
    few = replace(PAGE, text="\n".join(f"price {n if n > 1 else n + 90}" for n in range(10)))
    many = replace(PAGE, text="\n".join(f"price {n + 90}" for n in range(10)))
    assert since(few, prices).within()
    assert mutation_delta(prices, many) >= DRIFT_LIMIT
    assert not since(many, prices).within()


@pytest.mark.parametrize(
    ("action", "way"),
    [
        (Click(1), GroundingMode.PROCEDURAL),
        (TypeText(0, "Ada"), GroundingMode.PROCEDURAL),
        (ClickMark(1), GroundingMode.PERCEIVED),
        (TypeMark(1, "Ada"), GroundingMode.PERCEIVED),
        (Scroll(300), GroundingMode.PERCEIVED),
    ],
)
@pytest.mark.parametrize("pending", [True, False])
def test_on_the_page_that_was_perceived_nothing_is_waited_for(
    action: Action, way: GroundingMode, pending: bool
):
    found = check_freshness(action, PageDrift(kinds=frozenset(), delta=0), pending=pending)
    assert (found.mode, found.wait) == (way, 0)


@pytest.mark.parametrize("drifted", [None, PageDrift(kinds=frozenset({FingerprintKind.ELEMENTS}), delta=0)])
def test_a_page_that_has_drifted_is_waited_for_or_looked_at(drifted: PageDrift | None):
    assert check_freshness(Click(1), drifted, pending=False).mode is GroundingMode.LOOK
    soft = check_freshness(Click(1), drifted, pending=True)
    hard = check_freshness(Click(1), drifted, pending=True, critical=True)
    assert (soft.mode, soft.wait, hard.wait) == (GroundingMode.WAIT, SOFT_WAIT, HARD_WAIT)
    assert soft.why


def test_delta_beyond_theta_is_a_drift_though_the_key_is_the_same():
    assert not PageDrift(kinds=frozenset(), delta=DRIFT_LIMIT).within()
    assert PageDrift(kinds=frozenset(), delta=DRIFT_LIMIT - 1).within()
