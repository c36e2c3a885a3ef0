"""Thorough captures with a real Chromium: script-only controls, drawings, what the pointer meets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.engine.agent.vision.set_of_marks import draw_marks, element_marks, is_markable
from app.engine.browser.capture.frame_decoder import FrameSnapshot
from app.engine.browser.capture.frames import listeners_in, main_world
from app.engine.browser.capture.snapshot import capture, element_handle
from app.engine.browser.session import BrowserSession
from app.engine.core.identity import keys_of
from app.engine.core.page_state import Element, PageCapture
from tests.support.mark_checks import disagreements
from tests.support.pages_server import serving


@pytest.fixture(scope="module")
def pages() -> Iterator[str]:
    with serving() as address:
        yield address


async def look(tab: BrowserSession, pages: str) -> PageCapture:
    await tab.page.goto(f"{pages}/thorough.html")
    return await capture(tab, picture=False, thorough=True)


def ids(page: PageCapture) -> dict[str, Element]:
    """Return elements by their id in the page."""
    return {
        css.rpartition("#")[2]: element
        for element in page.elements
        if "#" in (css := element.css) and " > " not in css
    }


def told(element: Element, word: str) -> str:
    return dict(element.attributes).get(word, "")


def line_of(page: PageCapture, element: Element) -> str:
    return next(
        line.strip() for line in page.tree.split("\n") if line.strip().startswith(f"[{element.index}] ")
    )


@pytest.mark.smoke
async def test_what_scripts_listen_to_is_numbered_and_what_they_do_not_is_not(
    blank: BrowserSession, pages: str
):
    page = await look(blank, pages)
    found = ids(page)
    assert (found["word"].name, found["word"].hears) == ("bonjour", ("click",))
    assert found["box"].hears == ("click",)
    assert not any(element.name == "hello" for element in page.elements)
    assert "window" not in found, "a window that comes to the front when pressed is no control"
    assert "page-wide" not in found, "nor is a part of the page that handles its links' clicks"


async def test_entries_of_a_list_with_one_listener_are_numbered_instead_of_the_list(
    blank: BrowserSession, pages: str
):
    page = await look(blank, pages)
    entries = [element for element in page.elements if element.role == "listitem"]
    assert [(entry.name, entry.hears) for entry in entries] == [("One", ("press",)), ("Two", ("press",))]
    await (await element_handle(blank, entries[1].index)).click()
    assert await blank.page.evaluate("clicked") == ["Two"]


async def test_identity_is_the_same_with_and_without(blank: BrowserSession, pages: str):
    thorough = await look(blank, pages)
    plain = await capture(blank, picture=False)
    assert len(thorough.elements) > len(plain.elements)
    assert keys_of(thorough, pages) == keys_of(plain, pages)
    assert not any(element.hears or element.met for element in plain.elements)


@pytest.mark.smoke
async def test_the_page_neither_sees_it_nor_is_changed(blank: BrowserSession, pages: str):
    await blank.page.goto(f"{pages}/thorough.html")
    await blank.page.evaluate("void (touched = 0)")  # the end of the page came after its script
    await capture(blank, thorough=True)
    assert await blank.page.evaluate("[asked, touched, clicked.length]") == [0, 0, 0]


async def test_helpers_that_a_page_put_in_place_of_the_browsers_bring_nothing_in(
    blank: BrowserSession, pages: str
):
    await blank.page.goto(f"{pages}/thorough.html")
    await blank.page.evaluate(
        "void (window.getEventListeners = () => { window.touched = 99; return { click: 1 } })"
    )
    page = await capture(blank, picture=False, thorough=True)
    assert await blank.page.evaluate("touched") < 99, "the question is refused where it would have an effect"
    assert "word" not in ids(page)
    await blank.page.evaluate("void (window.getEventListeners = () => { throw new Error('no') })")
    assert "city" in ids(await capture(blank, picture=False, thorough=True))
    await blank.page.evaluate('window.$$ = () => ({ length: "1;\')//" })')
    assert await listeners_in(await main_world(blank)) == "", "what it says is checked"


async def test_a_list_of_listeners_of_another_page_is_not_taken(blank: BrowserSession, pages: str):
    await look(blank, pages)
    world = await main_world(blank)
    answer = FrameSnapshot.read(await world.call("sitelore.look(100, true, '3;1:c,')"))
    assert answer.facts["heard"] is False
    assert FrameSnapshot.read(await world.call("sitelore.look(100, true, '')")).facts["heard"] is True


async def test_shapes_of_a_drawing_are_told_by_kind_colour_and_size(blank: BrowserSession, pages: str):
    page = await look(blank, pages)
    shapes = [
        (told(e, "looks"), e.name) for e in page.elements if e.tag in ("circle", "polygon", "line", "text")
    ]
    assert shapes[0] == ("red circle 20x20", "")
    assert shapes[1] == ("green triangle 20x20", "")
    assert shapes[2][0].startswith("black line (")
    assert (shapes[3][0].split()[0], shapes[3][1]) == ("blue", "Q")
    assert len(shapes) == 4, "nothing of what is only defined"
    assert "image '', looks='navy rectangle 20x20'" in page.tree
    assert not any(element.tag in ("rect", "path") for element in page.elements), (
        "a still picture is told, not numbered"
    )
    drawing = ids(page)["drawing"]
    assert (drawing.role, drawing.hears) == ("image", ("click",))


async def test_what_can_be_scrolled_held_or_drawn_on_is_numbered(blank: BrowserSession, pages: str):
    page = await look(blank, pages)
    found = ids(page)
    assert found["pane"].hears == ("scroll",)
    assert line_of(page, found["pane"]).endswith("scrollable")
    assert found["grip"].hears == found["held"].hears == ("press",)
    assert found["paint"].hears == ("click",)


async def test_what_was_scrolled_out_above_in_a_pane_stays_visible_and_is_not_met(
    blank: BrowserSession, pages: str
):
    await blank.page.goto(f"{pages}/thorough.html")
    await blank.page.evaluate(
        "scrollTo(0, 0); document.body.style.marginTop = '-170px'; pane.scrollTop = 1000"
    )
    page = await capture(blank, picture=False, thorough=True)
    first, last = (next(e for e in page.elements if e.name == name) for name in ("First", "Last"))
    assert first.rect is not None
    assert first.rect[1] + first.rect[3] < 0
    assert (first.visible, first.met) == (True, False)
    assert (last.visible, last.met) == (True, True)


async def test_the_pointer_meets_what_lies_on_top_and_in_view(blank: BrowserSession, pages: str):
    page = await look(blank, pages)
    found = ids(page)
    assert (found["under"].visible, found["under"].met) == (True, False)
    assert (found["far"].visible, found["far"].met) == (True, False)
    assert found["iconic"].met
    broken = next(e for e in page.elements if e.href.endswith("/long"))
    assert broken.met, "though its middle may be a hole"


async def test_what_nothing_names_is_told_by_looks_neighbours_or_its_makers(
    blank: BrowserSession, pages: str
):
    page = await look(blank, pages)
    found = ids(page)
    assert told(found["box"], "looks") == "yellow box 30x30"
    assert "looks='yellow box 30x30'" in line_of(page, found["box"])
    assert told(found["secret"], "near") == "Password"
    assert told(found["agree"], "near") == "I agree"
    assert told(found["city"], "near") == "City"
    assert told(found["alone"], "hint") == "quantity"
    trash = next(e for e in page.elements if told(e, "hint") == "icon trash")
    assert trash.hears == ("click",)


async def test_what_is_typed_into_a_password_field_is_nowhere(blank: BrowserSession, pages: str):
    await blank.page.goto(f"{pages}/thorough.html")
    await blank.page.fill("#secret", "hunter2-and-more")
    page = await capture(blank, picture=False, thorough=True)
    assert "hunter2" not in f"{page.tree}{page.text}{page.elements}"


async def test_a_long_text_of_a_field_is_told_whole(blank: BrowserSession):
    await blank.page.set_content(
        "<textarea id=t></textarea><script>t.value = 'word '.repeat(150) + 'end'</script>"
    )
    thorough = await capture(blank, picture=False, thorough=True)
    assert thorough.elements[0].value.endswith("end")
    assert len((await capture(blank, picture=False)).elements[0].value) == 200


@pytest.mark.smoke
async def test_marks_are_drawn_on_what_can_be_seen_and_agree_with_the_text(blank: BrowserSession, pages: str):
    await blank.page.goto(f"{pages}/thorough.html")
    page = await capture(blank, thorough=True)
    marks = element_marks(page)
    numbers = {mark.number for mark in marks}
    found = ids(page)
    assert disagreements(page, marks) == ()
    assert {
        found[name].index for name in ("word", "box", "grip", "held", "iconic", "secret", "agree")
    } <= numbers
    assert not {found[name].index for name in ("under", "far", "pane")} & numbers
    assert all(is_markable(page.elements[number]) for number in numbers)
    picture = draw_marks(page, marks)
    assert picture.startswith(b"\xff\xd8")
    assert picture != page.picture
