"""The snapper on real pages: what is under a point, and the small arrow beside a large label."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.engine.agent.vision.snapper import Phase, Snap, middle, sample_points, snap
from app.engine.browser.capture.hit_testing import OPAQUE, elements_at
from app.engine.browser.capture.snapshot import capture
from app.engine.browser.session import BrowserSession
from app.engine.core.page_state import Element, PageCapture, Rect
from tests.support.pages_server import serving


@pytest.fixture(scope="module")
def pages() -> Iterator[str]:
    with serving() as address:
        yield address


async def look(tab: BrowserSession, address: str) -> PageCapture:
    await tab.page.goto(address)
    return await capture(tab, picture=False)


def chevron_of(page: PageCapture, frame: tuple[str, ...] = (), nth: int = 0) -> Element:
    return [e for e in page.elements if e.frame == frame and e.role == "button" and "collapsed" in e.states][
        nth
    ]


def row_of(chevron: Element) -> Rect:
    """A vision model's box: the whole row, whose right end is the arrow."""
    assert chevron.rect is not None
    right, across = chevron.rect[0] + chevron.rect[2], chevron.rect[1] + chevron.rect[3] / 2
    return (right - 308, across - 16, 308, 32)


async def snapped(tab: BrowserSession, page: PageCapture, box: Rect, label: str) -> Snap:
    found = snap(box, page, label, await elements_at(tab, page, sample_points(box, page)))
    assert found is not None
    return found


async def press(tab: BrowserSession, found: Snap) -> str:
    await tab.page.mouse.click(*found.at)
    return (await capture(tab, picture=False)).text


@pytest.mark.smoke
@pytest.mark.parametrize("label", ["United States", "United States ▾", ""])
async def test_the_small_arrow_wins_its_row_where_the_label_does_nothing(
    blank: BrowserSession, pages: str, label: str
):
    page = await look(blank, f"{pages}/rows.html")
    chevron = chevron_of(page)
    found = await snapped(blank, page, row_of(chevron), label)
    assert (found.element, found.phase) == (chevron.index, Phase.SCAN)
    assert "Open: United States" in await press(blank, found)


@pytest.mark.parametrize("label", ["", "Mexico ▾", "Toggle the regions"])
async def test_an_arrow_of_fair_size_beats_a_label_that_can_be_pressed_too(
    blank: BrowserSession, pages: str, label: str
):
    page = await look(blank, f"{pages}/rows.html")
    chevron = chevron_of(page, nth=2)
    found = await snapped(blank, page, row_of(chevron), label)
    assert found.element == chevron.index
    assert "Open: Mexico" in await press(blank, found)


async def test_a_label_that_can_be_pressed_keeps_its_row_against_a_tiny_arrow_unless_the_arrow_is_named(
    blank: BrowserSession, pages: str
):
    page = await look(blank, f"{pages}/rows.html")
    chevron = chevron_of(page, nth=3)
    row = row_of(chevron)
    chile = next(e for e in page.elements if e.name == "Chile")
    assert (await snapped(blank, page, row, "Chile")).element == chile.index
    assert (await snapped(blank, page, row, "")).element == chile.index
    assert (await snapped(blank, page, row, "Chile ▾")).element == chevron.index


@pytest.mark.parametrize("frame", ["near", "far"])
async def test_the_arrow_wins_within_a_frame_of_this_site_and_of_another(
    blank: BrowserSession, pages: str, frame: str
):
    page = await look(blank, f"{pages}/rows_within.html")
    chevron = chevron_of(page, (frame,))
    found = await snapped(blank, page, row_of(chevron), "United States ▾")
    assert (found.element, found.frame) == (chevron.index, (frame,))
    assert "Open: United States" in await press(blank, found)


async def test_what_stands_at_the_middle_within_a_frame_decides_by_its_name(
    blank: BrowserSession, pages: str
):
    page = await look(blank, f"{pages}/rows_within.html")
    canada = next(e for e in page.elements if e.frame == ("far",) and "Canada" in e.name)
    assert canada.rect is not None
    found = await snapped(blank, page, canada.rect, "Expand Canada")
    assert (found.element, found.phase, found.matched) == (canada.index, Phase.FRAME, True)


async def test_the_arrow_wins_within_a_shadow_root(blank: BrowserSession, pages: str):
    page = await look(blank, f"{pages}/rows_within.html")
    chevron = next(e for e in page.elements if e.in_shadow)
    found = await snapped(blank, page, row_of(chevron), "United States ▾")
    assert found.element == chevron.index
    assert "Open within" in await press(blank, found)


async def test_an_element_under_a_dialog_is_not_what_lies_in_front(blank: BrowserSession, pages: str):
    page = await look(blank, f"{pages}/rows.html")
    peru = next(e for e in page.elements if e.name == "Peru")
    assert peru.rect is not None
    spot = middle(peru.rect)
    assert (await elements_at(blank, page, [spot]))[spot][0] == peru.index
    await blank.page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<button style=\"position:fixed;inset:0\">Over all</button>')"
    )
    page = await capture(blank, picture=False)
    over = next(e for e in page.elements if e.name == "Over all")
    stack = (await elements_at(blank, page, [spot]))[spot]
    assert stack[0] == over.index
    assert peru.index in stack


async def test_a_frame_that_cannot_be_looked_into_is_told_apart_from_nothing(
    blank: BrowserSession, pages: str
):
    await blank.page.set_content(
        "<body style='margin:0'><button>Here</button>"
        "<iframe srcdoc='<p>words only</p>' style='position:absolute;left:0;top:100px;border:0'></iframe>"
    )
    page = await capture(blank, picture=False)
    stacks = await elements_at(blank, page, [(50, 150), (600, 500)])
    assert stacks == {(50, 150): (OPAQUE,), (600, 500): ()}
    blind = snap((10, 120, 80, 60), page, "Play", stacks)
    assert blind is not None
    assert (blind.element, blind.phase, blind.at) == (None, Phase.BLIND, (50, 150))


async def test_points_of_a_page_that_has_gone_say_nothing(blank: BrowserSession, pages: str):
    page = await look(blank, f"{pages}/rows.html")
    await blank.page.goto(f"{pages}/frames.html")
    assert await elements_at(blank, page, [(10, 10)]) == {}
