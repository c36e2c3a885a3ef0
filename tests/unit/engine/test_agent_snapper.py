"""The snapper's scores are the paper's, and its choice follows from them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.agent.vision.label_match import (
    chevron_factor,
    expander_indicators,
    is_row,
    label_factor,
    label_matches,
    names_expander,
)
from app.engine.agent.vision.snapper import OPAQUE_FRAME, Phase, middle, sample_points, snap
from app.engine.core.page_state import Element, PageCapture, Rect
from app.engine.core.rectangles import overlap

ROW: Rect = (0, 0, 300, 30)


def element(
    index: int = 0, role: str = "button", name: str = "", rect: Rect = ROW, **more: object
) -> Element:
    return Element(index=index, role=role, name=name, rect=rect, **more)  # type: ignore[arg-type]


def page(*elements: Element) -> PageCapture:
    return PageCapture(url="https://shop.test/", elements=elements)


@pytest.mark.parametrize(
    ("made", "count"),
    [
        (element(name="Open"), 0),
        (element(states=("collapsed",)), 1),
        (element(name="▾", states=("expanded",)), 2),
        (element(name="▼", states=("collapsed", "haspopup")), 3),
        (element(name="Toggle ▶", states=("collapsed", "haspopup")), 4),
        (element(name="Read more"), 1),
        (element(name="Moreover"), 0),
        (element(attributes=(("icon", "fa-chevron-down"),)), 1),
    ],
)
def test_the_signs_of_an_expander_are_counted(made: Element, count: int):
    assert expander_indicators(made) == count
    expected = 1 + 2 * math.tanh(count / 2) if count else 1
    assert chevron_factor(made, ROW) == pytest.approx(expected)


@pytest.mark.parametrize("box", [(0, 0, 59, 40), (0, 0, 200, 23)])
def test_outside_of_rows_an_arrow_weighs_nothing(box: Rect):
    assert not is_row(box)
    assert chevron_factor(element(name="▾", states=("collapsed",)), box) == 1


@pytest.mark.parametrize(
    ("made", "label", "factor"),
    [
        (element(role="gridcell", name="23"), "23", 1),
        (element(role="gridcell", name="23"), "2", 0),
        (element(role="gridcell", name="April 23, 2026", text="23"), "April 23", 1),
        (element(role="gridcell", name="April 23, 2026", text="23"), "May 23", 0),
        (element(role="option", name="Very large"), "large", 1),
        (element(role="option", name="Very large"), "small", 0),
        (element(role="combobox", name="Time", value="10:30 morning"), "morning", 0.7),
        (element(role="combobox", name="Time"), "Time", 1),
        (element(role="combobox", name="Time"), "Date", 0),
        (element(name="Search"), "Search", 1),
        (element(name="Search"), "Cancel", 0.5),
        (element(name="", states=("collapsed", "haspopup")), "United States", 0.5),
        (element(name="Search"), "", 1),
    ],
)
def test_a_label_fits_each_kind_of_widget_by_its_own_rule(made: Element, label: str, factor: float):
    assert label_factor(made, label) == pytest.approx(factor)


@given(
    label=st.floats(0.02, 1.0),
    chevron=st.floats(0.02, 1.0),
    signs=st.integers(1, 3),
)
def test_the_chevron_wins_just_where_the_paper_says(label: float, chevron: float, signs: int):
    """Proposition 1 with the cap of section 6.2, for a label and an arrow side by side that share the row's box."""
    total = label + chevron
    wide = 300 * label / total
    states = (("collapsed",), ("collapsed", "haspopup"), ("collapsed", "haspopup"))[signs - 1]
    arrow = element(1, name="▾" if signs == 3 else "", states=states, rect=(wide, 0, 300 - wide, 30))
    text = element(0, name="Norway", rect=(0, 0, wide, 30))
    ratio = wide / (300 - wide)
    boosted = 1 / ratio >= 0.3
    factor = 1 + 2 * math.tanh(signs / 2) if boosted else 1
    if math.isclose(ratio, factor, rel_tol=1e-6) or math.isclose(1 / ratio, 0.3, rel_tol=1e-6):
        return
    if min(wide, 300 - wide) < 4:
        return
    found = snap(ROW, page(text, arrow))
    assert found is not None
    assert found.element == (1 if ratio < factor else 0)


def test_an_arrow_smaller_than_the_meshes_of_the_grid_is_still_seen():
    arrow = element(1, name="▾", states=("collapsed",), rect=(290, 9, 8, 8))
    found = snap(ROW, page(element(0, name="Elsewhere", rect=(0, 200, 50, 20)), arrow), "United States")
    assert found is not None
    assert (found.element, found.phase) == (1, Phase.SCAN)
    assert overlap((*found.at, 1, 1), (290, 9, 8, 8))


def test_what_is_at_the_middle_and_called_so_is_taken_at_once():
    made = page(element(0, name="Search", rect=(0, 0, 300, 30)), element(1, name="x", rect=(280, 0, 20, 30)))
    found = snap(ROW, made, "search")
    assert found is not None
    assert (found.element, found.phase, found.at, found.candidates) == (0, Phase.PINPOINT, middle(ROW), ())


def test_a_well_named_small_element_beats_a_large_one_called_otherwise():
    large = element(0, role="option", name="Everything", rect=(0, 0, 260, 30))
    small = element(1, role="option", name="Norway", rect=(260, 0, 40, 30))
    found = snap(ROW, page(large, small), "Norway")
    assert found is not None
    assert (found.element, found.matched) == (1, True)


def test_a_label_with_an_arrow_asks_for_an_expander():
    assert names_expander("United States ▾")
    assert names_expander("Expand region")
    assert not names_expander("United States")
    assert not label_matches(element(name="United States"), "United States ▾")
    assert label_matches(element(name="United States ▾", states=("collapsed",)), "United States ▾")


def test_an_arrow_of_several_is_told_by_its_name():
    boxes = [element(i, name=f"Expand {n}", states=("collapsed",), rect=(280, 30 * i, 20, 20))
             for i, n in enumerate(["Chile", "Norway"])]  # fmt: skip
    found = snap((0, 0, 300, 60), page(*boxes), "Norway ▾")
    assert found is not None
    assert found.element == 1


def test_an_empty_box_snaps_to_nothing():
    assert snap((500, 500, 50, 50), page(element(name="Far", rect=(0, 0, 10, 10))), "Far") is None


def test_a_closed_frame_in_the_middle_is_pressed_blindly_and_not_its_neighbour():
    made = page(element(0, name="Beside", rect=(0, 0, 20, 30)))
    stacks = {point: ((OPAQUE_FRAME,) if point[0] > 20 else (0,)) for point in sample_points(ROW, made)}
    found = snap(ROW, made, "Play", stacks)
    assert found is not None
    assert (found.element, found.at, found.phase) == (None, middle(ROW), Phase.BLIND)


def test_without_the_page_a_dialog_lies_before_what_it_covers():
    under = element(0, name="Buy", rect=(0, 0, 50, 30))
    over = element(1, name="Accept all", rect=(0, 0, 300, 200), landmarks=("dialog:Cookies",))
    found = snap((0, 0, 50, 30), page(under, over))
    assert found is not None
    assert found.element == 1
