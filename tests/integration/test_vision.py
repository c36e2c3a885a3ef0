"""Vision on real pages with a scripted model: its boxes are enriched, split, pointed at and acted on."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from app.engine.agent.vision.vision_cache import VisionCache
from app.engine.agent.vision.vision_client import VisionClient, VisionFocus
from app.engine.browser.capture.hit_testing import elements_at
from app.engine.browser.executor import Executor
from app.engine.browser.session import BrowserSession
from app.engine.core.action_result import Effect
from app.engine.core.actions.types import ClickMark, TypeMark, TypeText
from tests.support.booking_form import SENT, fill_in, row_aware
from tests.support.pages_server import serving
from tests.support.scripted_vision import Background, ScriptedVision, answer, seen


@pytest.fixture(scope="module")
def pages() -> Iterator[str]:
    with serving() as address:
        yield address


async def test_a_form_of_twenty_actions_needs_seven_looks_at_most(blank: BrowserSession, pages: str):
    filled = await fill_in(blank, f"{pages}/booking.html", gated=True)
    assert filled.refusals == []
    assert filled.sent == SENT
    assert filled.perceptions <= 7


async def test_a_look_before_every_action_comes_to_the_same(blank: BrowserSession, pages: str):
    filled = await fill_in(blank, f"{pages}/booking.html", gated=False)
    assert (filled.sent, filled.perceptions) == (SENT, 20)


@pytest.mark.smoke
async def test_a_row_drawn_as_one_becomes_its_label_and_its_arrow_and_the_arrow_opens_it(
    blank: BrowserSession, pages: str
):
    hand, background = Executor(blank), Background()
    await blank.page.goto(f"{pages}/rows.html")
    page = await hand.look()
    row = (0.0, 40.0, 308.0, 32.0)
    chevron = next(element for element in page.elements if "collapsed" in element.states)
    assert chevron.rect is not None
    row = (0.0, chevron.rect[1] - 6, 308.0, 32.0)
    vision = VisionCache(
        VisionClient(ScriptedVision(lambda _: answer(seen("United States ▾", row, page)))),
        spawn=background.spawn,
        under=partial(elements_at, blank),
    )
    shown = await vision.frame_for_policy(page)
    assert shown is not None
    marks = {mark.label: mark for mark in shown.marks}
    assert set(marks) == {"United States", "United States ▾"}
    assert marks["United States ▾"].element == chevron.index
    assert marks["United States ▾"].expanded is False
    for label in (
        "United States",
        "United States ▾",
    ):  # the words alone do nothing, so they stand for their row
        command, refusal = await vision.resolve(ClickMark(marks[label].number), page)
        assert refusal is None
        assert command is not None
        result = await hand.do(command)
        assert result.effect is Effect.CHANGED
    await vision.aclose()


async def test_text_goes_into_a_field_in_a_frame_of_another_site(blank: BrowserSession, pages: str):
    hand, background = Executor(blank), Background()
    await blank.page.goto(f"{pages}/frames.html")
    page = await hand.look()
    coupon = next(e for e in page.elements if e.frame == ("abroad",) and e.name == "Coupon")
    assert coupon.rect is not None
    box = (coupon.rect[0] - 10, coupon.rect[1] - 4, coupon.rect[2] + 20, coupon.rect[3] + 8)
    vision = VisionCache(
        VisionClient(ScriptedVision(lambda _: answer(seen("Coupon", box, page)))),
        spawn=background.spawn,
        under=partial(elements_at, blank),
    )
    await vision.frame_for_policy(page)
    command, refusal = await vision.resolve(TypeMark(1, "SPRING"), page)
    assert (command, refusal) == (TypeText(coupon.index, "SPRING"), None)
    assert (await hand.do(command)).success
    now = await hand.look()
    assert [e.value for e in now.elements if e.frame == ("abroad",) and e.name == "Coupon"] == ["SPRING"]
    await vision.aclose()


async def test_marks_of_a_real_page_know_their_elements(blank: BrowserSession, pages: str):
    await blank.page.goto(f"{pages}/booking.html")
    page = await Executor(blank).look()
    frame = await VisionClient(ScriptedVision(lambda _: row_aware(page))).look(page, VisionFocus())
    assert [page.elements[mark.element].name for mark in frame.marks if mark.element is not None] == [
        mark.label for mark in frame.marks
    ]
