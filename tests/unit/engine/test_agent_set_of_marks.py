"""Marks on a picture: which elements get one, where its number stands, and that picture and text agree."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from app.engine.agent.vision.set_of_marks import (
    MAX_MARKS,
    ElementMark,
    draw_marks,
    element_marks,
    is_markable,
    visible_part,
)
from app.engine.core.page_state import Element, PageCapture, Rect
from tests.support.mark_checks import disagreements

VIEWPORT = (400, 300)


def button(index: int, rect: Rect | None, **more: object) -> Element:
    return Element(index=index, **{"role": "button", "name": f"B{index}", "rect": rect, "met": True, **more})  # type: ignore[arg-type]


def page(*elements: Element, picture: bytes = b"") -> PageCapture:
    tree = "\n".join(["RootWebArea 'Page'", *[f"\t[{e.index}] {e.role} '{e.name}'" for e in elements]])
    return PageCapture(url="http://x/", elements=elements, tree=tree, viewport=VIEWPORT, picture=picture)


def picture(size: tuple[int, int] = VIEWPORT, colour: tuple[int, int, int] = (255, 255, 255)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "JPEG", quality=95)
    return out.getvalue()


def inside(rect: Rect) -> bool:
    left, top, width, height = rect
    return left >= 0 and top >= 0 and left + width <= VIEWPORT[0] and top + height <= VIEWPORT[1]


numbers = st.floats(-200, 600, allow_nan=False)
sizes = st.floats(0, 500, allow_nan=False)
rects = st.tuples(numbers, numbers, sizes, sizes)
pages = st.lists(
    st.tuples(
        st.none() | rects, st.sampled_from(["button", "link", "generic"]), st.booleans(), st.booleans()
    ),
    max_size=25,
).map(
    lambda drawn: page(
        *[
            button(at, rect, role=role, met=met, hears=("click",) if hears else ())
            for at, (rect, role, met, hears) in enumerate(drawn)
        ]
    )
)


@given(pages)
def test_whatever_the_page_picture_and_text_agree(seen: PageCapture):
    marks = element_marks(seen)
    assert disagreements(seen, marks) == ()
    assert [mark.number for mark in marks] == sorted({mark.number for mark in marks})
    assert all(inside(mark.box) and inside(mark.tag) for mark in marks)
    assert all(is_markable(seen.elements[mark.number], thorough=False) for mark in marks)


@given(rects)
def test_the_visible_part_lies_in_the_viewport_and_on_the_element(rect: Rect):
    part = visible_part(button(0, rect), VIEWPORT)
    if part is not None:
        assert inside(part)
        assert part[0] >= rect[0]
        assert part[1] >= rect[1]
        assert part[0] + part[2] <= rect[0] + rect[2] + 1e-6
        assert part[1] + part[3] <= rect[1] + rect[3] + 1e-6


def test_what_cannot_be_seen_reached_or_acted_on_gets_no_mark():
    seen = page(
        button(0, (10, 10, 50, 20)),
        button(1, (10, 50, 50, 20), visible=False),
        button(2, (10, 90, 50, 20), met=False),
        button(3, (10, 400, 50, 20)),
        button(4, None),
        button(5, (100, 10, 50, 20), role="generic"),
        button(6, (100, 50, 50, 20), role="generic", hears=("scroll",)),
        button(7, (100, 90, 50, 20), role="listitem", hears=("press",)),
        button(8, (200, 10, 2, 20)),
    )
    assert [mark.number for mark in element_marks(seen)] == [0, 7]


def test_a_plain_look_knows_nothing_of_what_lies_on_top_so_what_is_visible_counts():
    seen = page(button(0, (10, 10, 50, 20), met=False), button(1, (10, 50, 50, 20), met=False, visible=False))
    assert [mark.number for mark in element_marks(seen)] == [0]


def test_of_two_that_are_one_box_to_the_eye_the_one_with_a_role_stays():
    seen = page(
        button(0, (10, 10, 100, 20), role="listitem", hears=("click",)),
        button(1, (11, 10, 99, 20), role="link"),
        button(2, (10, 50, 100, 20), role="tab"),
        button(3, (10, 50, 100, 20), role="link"),
        button(4, (10, 90, 100, 60), role="generic", hears=("click",)),
        button(5, (80, 95, 20, 20)),
    )
    assert [mark.number for mark in element_marks(seen)] == [1, 2, 4, 5]


def test_numbers_do_not_lie_on_one_another_where_there_is_room():
    seen = page(*[button(at, (40.0 + 60 * (at % 5), 40.0 + 50 * (at // 5), 50, 24)) for at in range(20)])
    tags = [mark.tag for mark in element_marks(seen)]
    for at, one in enumerate(tags):
        for other in tags[at + 1 :]:
            apart = (
                one[0] + one[2] <= other[0] or other[0] + other[2] <= one[0] or one[1] + one[3] <= other[1]
                or other[1] + other[3] <= one[1]
            )  # fmt: skip
            assert apart


def test_no_more_marks_than_can_be_told_apart():
    seen = page(*[button(at, ((at % 40) * 10.0, (at // 40) * 12.0, 8, 10)) for at in range(MAX_MARKS + 100)])
    assert len(element_marks(seen)) == MAX_MARKS
    assert len(element_marks(seen, most=7)) == 7


def test_a_mark_is_drawn_in_its_colour_around_its_box_and_nowhere_else():
    seen = page(button(0, (100, 100, 80, 40)), picture=picture())
    mark = element_marks(seen)[0]
    with Image.open(io.BytesIO(draw_marks(seen))) as image:
        assert image.size == VIEWPORT
        edge = image.getpixel((140, 99))
        tag = image.getpixel((int(mark.tag[0]) + 1, int(mark.tag[1]) + 1))
        assert [abs(a - b) < 40 for a, b in zip(edge, mark.colour, strict=True)] == [True] * 3
        assert [abs(a - b) < 40 for a, b in zip(tag, mark.colour, strict=True)] == [True] * 3
        assert all(
            value > 240 for place in ((140, 120), (20, 20), (300, 200)) for value in image.getpixel(place)
        )


def test_marks_of_a_picture_with_more_pixels_are_scaled():
    seen = page(button(0, (100, 100, 80, 40)), picture=picture((800, 600)))
    with Image.open(io.BytesIO(draw_marks(seen))) as image:
        assert image.size == (800, 600)
        assert min(image.getpixel((280, 198))) < 120
        assert min(image.getpixel((140, 101))) > 240


def test_without_a_picture_or_marks_nothing_is_drawn():
    assert draw_marks(page(button(0, (10, 10, 50, 20)))) == b""
    plain = picture()
    assert draw_marks(page(picture=plain)) == plain


def test_what_is_no_picture_is_an_error_of_the_system():
    with pytest.raises(OSError, match="identify"):
        draw_marks(page(button(0, (10, 10, 50, 20)), picture=b"no picture"))


def test_every_disagreement_is_said():
    seen = page(button(0, (10, 10, 50, 20)), button(1, (10, 50, 50, 20)))
    good = element_marks(seen)
    renamed = replace(seen, tree=seen.tree.replace("[1] button", "[1] link"))
    doubled = replace(seen, tree=seen.tree + "\n\t[0] button 'again'")
    said = {
        "twice": disagreements(seen, (*good, good[0])),
        "role": disagreements(renamed, good),
        "doubled": disagreements(doubled, good),
        "box": disagreements(seen, (replace(good[0], box=(0, 0, 5, 5)), good[1])),
        "outside": disagreements(seen, (replace(good[0], tag=(-5, 0, 10, 10)), good[1])),
        "no element": disagreements(seen, (ElementMark(9, (0, 0, 5, 5), (0, 0, 5, 5)),)),
    }
    assert said["twice"] == ("0 is marked twice",)
    assert said["role"] == ("1 is a button, in the tree a link",)
    assert said["doubled"] == ("0 stands 2 times in the tree",)
    assert said["box"] == ("the box of 0 does not lie on its element",)
    assert said["outside"] == ("the number 0 lies outside of the picture",)
    assert said["no element"] == ("9 is no element of the page",)
