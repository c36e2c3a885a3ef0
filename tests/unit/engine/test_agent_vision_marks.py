"""Enrichment of marks by the page: elements, split rows, rank; and the anchors of the previous frame."""

from __future__ import annotations

import io
import json

import pytest
from PIL import Image

from app.engine.agent.vision.answers import PageType, SceneRole, SeenBox
from app.engine.agent.vision.mark_enrichment import marks_of, split_row, to_pixels
from app.engine.agent.vision.set_of_marks import MAX_ANCHOR_AGE, with_anchors
from app.engine.agent.vision.vision_frame import VisionFrame, VisionMark
from app.engine.core.fingerprint import fingerprints_of
from app.engine.core.page_state import Element, PageCapture, Rect
from tests.support.scripted_vision import seen

VIEW = (1000, 500)


def element(index: int, role: str, name: str, rect: Rect, **more: object) -> Element:
    return Element(index=index, role=role, name=name, rect=rect, **more)  # type: ignore[arg-type]


def page(*elements: Element, picture: bytes = b"", url: str = "https://shop.test/") -> PageCapture:
    return PageCapture(url=url, elements=elements, viewport=VIEW, picture=picture)


def box(label: str, rect: Rect, **more: object) -> SeenBox:
    return SeenBox.model_validate(seen(label, rect, page(), **more))


ROW: Rect = (100, 100, 300, 30)
CHEVRON = element(1, "button", "▾", (370, 105, 20, 20), states=("collapsed",))


def test_thousandths_of_the_picture_become_pixels_of_the_viewport():
    assert to_pixels(box("x", (100, 50, 300, 30)), VIEW) == (100, 50, 300, 30)


def test_a_mark_is_enriched_by_its_element():
    made = page(
        element(0, "checkbox", "In stock", (10, 10, 100, 20), states=("checked", "disabled")),
        element(1, "button", "Regions", (10, 50, 100, 20), states=("expanded",), text="Regions"),
    )
    first, second = marks_of(
        [box("In stock", (10, 10, 100, 20)), box("Regions", (10, 50, 100, 20), confidence=0.1)], made
    )
    assert (first.element, first.active, first.disabled, first.expanded) == (0, True, True, None)
    assert (second.element, second.expanded, second.name) == (1, True, "Regions")
    assert "on" in first.words
    assert "open" in second.words


def test_a_box_without_an_element_is_still_a_mark():
    (mark,) = marks_of([box("The moon", (600, 300, 50, 50))], page())
    assert (mark.element, mark.label) == (None, "The moon")


def test_a_row_with_an_arrow_becomes_two_marks():
    made = page(element(0, "button", "United States", (100, 100, 240, 30)), CHEVRON)
    marks = {mark.label: mark for mark in marks_of([box("United States ▾", ROW)], made)}
    assert set(marks) == {"United States", "United States ▾"}
    label, chevron = marks["United States"], marks["United States ▾"]
    assert (label.element, chevron.element) == (0, 1)
    assert label.box == (100, 100, 270, 30)
    assert chevron.box == CHEVRON.rect
    assert (chevron.expanded, chevron.row) == (False, ROW)


@pytest.mark.parametrize(
    ("rect", "chevrons"),
    [
        ((100, 100, 50, 30), [CHEVRON]),  # too narrow for a row
        ((100, 40, 300, 200), [CHEVRON]),  # too tall
        (ROW, []),
        (ROW, [CHEVRON, element(2, "button", "▾", (110, 105, 20, 20), states=("collapsed",))]),
        (ROW, [element(1, "button", "▾", (100, 100, 150, 30), states=("collapsed",))]),  # half of the row
        (ROW, [element(1, "button", "▾", (240, 105, 20, 20), states=("collapsed",))]),  # in its middle
        (ROW, [element(1, "button", "Norway ▾", (300, 100, 80, 30), states=("collapsed",))]),  # with words
    ],
)
def test_what_is_no_row_with_one_arrow_at_an_end_stays_whole(rect: Rect, chevrons: list[Element]):
    assert split_row(rect, "United States", chevrons) is None


def test_an_arrow_that_the_model_drew_itself_is_not_made_twice():
    made = page(element(0, "button", "United States", (100, 100, 240, 30)), CHEVRON)
    marks = marks_of([box("United States", ROW), box("▾", (370, 105, 20, 20))], made)
    assert sorted(mark.label for mark in marks) == ["United States", "▾"]


def test_an_arrow_with_a_name_of_its_own_keeps_it():
    named = element(
        1, "button", "Expand Canada", (370, 105, 20, 20), text="▾", states=("collapsed",),
        attributes=(("aria-label", "Expand Canada"),),
    )  # fmt: skip
    halves = split_row(ROW, "Canada", [named])
    assert halves is not None
    assert (halves.label, halves.chevron_label) == ("Canada", "Expand Canada")


def test_two_boxes_around_one_element_are_one_mark():
    made = page(element(0, "button", "Save", (100, 100, 80, 30)))
    marks = marks_of([box("Save", (100, 100, 80, 30)), box("Save button", (98, 99, 84, 32))], made)
    assert [mark.label for mark in marks] == ["Save"]


def test_what_blocks_comes_first_then_the_step_then_what_can_be_pressed():
    told = [
        box("sure", (0, 0, 10, 10), confidence=0.9),
        box("words", (0, 20, 10, 10), clickable=False, confidence=1),
        box("for the step", (0, 40, 10, 10), relevant=True, confidence=0.2),
        box("target", (0, 60, 10, 10), scene="target", confidence=0.1),
        box("cookies", (0, 80, 10, 10), scene="blocker", confidence=0.1),
        box("unsure", (0, 100, 10, 10), confidence=0.3),
    ]
    marks = marks_of(told, page())
    assert [mark.label for mark in marks] == [
        "cookies", "target", "for the step", "sure", "unsure", "words",
    ]  # fmt: skip
    assert [mark.number for mark in marks] == [1, 2, 3, 4, 5, 6]
    assert marks[0].scene is SceneRole.BLOCKER


def test_the_list_is_capped_and_what_is_expected_stays():
    told = [box(f"link {n}", (n * 10, 0, 8, 8), confidence=0.9) for n in range(80)]
    told.append(box("the Magnifier", (0, 50, 8, 8), confidence=0.01))
    marks = marks_of(told, page(), wanted=("magnifier",))
    assert len(marks) == 50
    assert marks[-1].label == "the Magnifier"
    assert len(marks_of(told, page(), most=60)) == 60


# -- the frames of the look before ---------------------------------------------------------------------------------


def white() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", VIEW, "white").save(out, "JPEG")
    return out.getvalue()


def frame(url: str = "https://shop.test/", at: float = 100.0) -> VisionFrame:
    made = page(url=url)
    mark = VisionMark(number=1, box=(100, 100, 300, 100), label="Save")
    return VisionFrame(
        number=1, page=made, prints=fingerprints_of(made), at=at, marks=(mark,), page_type=PageType.FORM
    )


def test_the_previous_frame_is_drawn_dashed_over_the_new_screenshot():
    drawn = with_anchors(page(picture=white()), frame(), 100 + MAX_ANCHOR_AGE)
    with Image.open(io.BytesIO(drawn)) as image:
        assert image.size == VIEW
        edge = [image.getpixel((x, 100)) for x in range(100, 400)]
        inside = [image.getpixel((x, 150)) for x in range(110, 390)]
    dark = [min(pixel) < 128 for pixel in edge]
    assert 0.4 < sum(dark) / len(dark) < 0.95
    assert all(min(pixel) > 200 for pixel in inside)


@pytest.mark.parametrize(
    ("url", "now"), [("https://shop.test/", 100.1 + MAX_ANCHOR_AGE), ("https://shop.test/b", 101.0)]
)
def test_old_frames_and_those_of_another_page_are_not_drawn(url: str, now: float):
    picture = white()
    assert with_anchors(page(picture=picture, url=url), frame(), now) == picture


def test_a_page_of_words_for_a_list_of_marks():
    words = frame().words
    assert words.splitlines() == ["form", "[V1] thing 'Save'"]
    assert json.dumps(words)
