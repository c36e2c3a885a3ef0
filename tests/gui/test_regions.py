"""The region of a page that a tip is about: drawn, chosen by keys or from a list, cleared, undone, kept."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.support.review_window import ReviewWindow

Key = Qt.Key
ALT = Qt.KeyboardModifier.AltModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
PICTURE = "picture-3"
"""The fake engine's picture, 1280 x 800."""


@pytest.fixture
def desk(make_desk) -> ReviewWindow:
    return make_desk()


def compose(desk: ReviewWindow, screenshot: str = PICTURE):
    desk.engine.page_screenshot = screenshot
    desk.press(Key.Key_T)
    desk.until(lambda: desk.model.composer.is_ready)
    return desk.model.composer.region


def choose(desk: ReviewWindow, screenshot: str = PICTURE):
    """Open the chooser on a page that has arrived."""
    region = compose(desk, screenshot)
    desk.press(Key.Key_R, ALT)
    chooser = desk.view.composer.region.chooser
    desk.until(lambda: chooser.isVisible() and region.page is not None)
    if screenshot:
        desk.until(lambda: region.screenshot is not None and chooser.picture.has_image)
    desk.wait()
    return region, chooser


def at(chooser, x: float, y: float) -> QPoint:
    """Return the point of the widget over a point of the page."""
    return (chooser.picture._origin() + QPointF(x, y) * chooser.picture._scale()).toPoint()


def drag(chooser, box: tuple[int, int, int, int]) -> None:
    left, top, right, bottom = box
    QTest.mousePress(chooser.picture, Qt.MouseButton.LeftButton, pos=at(chooser, left, top))
    QTest.mouseMove(chooser.picture, at(chooser, right, bottom))
    QTest.mouseRelease(chooser.picture, Qt.MouseButton.LeftButton, pos=at(chooser, right, bottom))


def test_a_dragged_box_becomes_the_region_with_its_words_role_and_neighbours(desk: ReviewWindow):
    region, chooser = choose(desk)
    drag(chooser, (35, 62, 125, 102))
    assert chooser.words.text() == 'Found by: "Filters" button beside "Clear all"'
    desk.press(Key.Key_Return)
    anchor = desk.model.composer.draft.anchor
    assert not chooser.isVisible()
    assert anchor is not None
    assert (anchor.words, anchor.role, anchor.page) == ("Filters", "button", "/{project}/-/milestones")
    assert anchor.neighbours == ("Clear all", "Milestones", "Sort by")
    assert anchor.screenshot == PICTURE
    assert all(abs(one - other) <= 2 for one, other in zip(anchor.box, (35, 62, 90, 40), strict=True))
    desk.until(lambda: region.picture is not None)
    assert desk.view.composer.region.cutout.isVisible()
    assert "Filters" in desk.view.composer.region.words.text()


def test_tab_goes_through_the_controls_and_arrows_move_and_resize_the_box(desk: ReviewWindow):
    region, chooser = choose(desk)
    assert chooser.picture.hasFocus()
    desk.press(Key.Key_Tab)
    desk.press(Key.Key_Tab)
    assert region.choice is not None
    assert region.choice.words == "Filters"
    assert chooser.list.currentIndex().row() == 1
    desk.press(Key.Key_Down)
    assert region.choice.box == (40, 74, 80, 28)
    desk.press(Key.Key_Right, SHIFT)
    assert region.choice.box == (40, 74, 84, 28)
    desk.press(Key.Key_Backspace)
    desk.press(Key.Key_Backspace)
    assert region.choice.box == (40, 70, 80, 28)
    for _ in range(4):
        desk.press(Key.Key_Tab)
    assert chooser.picture.hasFocus()
    desk.press(Key.Key_Tab)
    assert chooser.list.hasFocus()


def test_a_click_chooses_the_control_under_it(desk: ReviewWindow):
    region, chooser = choose(desk)
    QTest.mouseClick(chooser.picture, Qt.MouseButton.LeftButton, pos=at(chooser, 650, 84))
    assert region.choice is not None
    assert (region.choice.words, region.choice.role) == ("Sort by", "combobox")


def test_an_icon_without_a_name_is_found_by_what_is_beside_it(desk: ReviewWindow):
    region, chooser = choose(desk)
    QTest.mouseClick(chooser.picture, Qt.MouseButton.LeftButton, pos=at(chooser, 774, 84))
    assert region.choice is not None
    assert region.choice.words == ""
    assert chooser.words.text() == 'Found by: button beside "Sort by"'


def test_without_a_screenshot_a_control_is_chosen_from_the_list(desk: ReviewWindow):
    _, chooser = choose(desk, screenshot="")
    assert not chooser.picture.isVisible()
    assert chooser.list.hasFocus()
    desk.press(Key.Key_Down)
    desk.press(Key.Key_Down)
    desk.press(Key.Key_Return)
    anchor = desk.model.composer.draft.anchor
    assert anchor is not None
    assert (anchor.words, anchor.screenshot) == ("Clear all", "")
    assert not desk.view.composer.region.cutout.isVisible()


def test_esc_changes_nothing_and_gives_the_keys_back(desk: ReviewWindow):
    _, chooser = choose(desk)
    drag(chooser, (35, 62, 125, 102))
    desk.press(Key.Key_Escape)
    assert not chooser.isVisible()
    assert desk.model.composer.is_open
    assert desk.model.composer.draft.anchor is None
    assert QApplication.focusWidget() is desk.view.composer.text


def test_a_region_is_cleared_put_back_and_kept_with_the_draft(desk: ReviewWindow):
    region, chooser = choose(desk)
    drag(chooser, (35, 62, 125, 102))
    desk.press(Key.Key_Return)
    chosen = desk.model.composer.draft.anchor
    desk.press(Key.Key_R, ALT | SHIFT)
    assert desk.model.composer.draft.anchor is None
    assert "None" in desk.view.composer.region.words.text()
    desk.press(Key.Key_Z, ALT)
    assert desk.model.composer.draft.anchor == chosen
    desk.press(Key.Key_Escape)
    desk.until(lambda: desk.model.composer.key in desk.engine.drafts)
    compose(desk)
    assert desk.model.composer.draft.anchor == chosen
    assert region.anchor == chosen


def test_a_page_that_cannot_be_read_is_said_in_the_chooser(desk: ReviewWindow, monkeypatch):
    async def missing(_run, _step):
        raise RuntimeError("the page is gone")

    monkeypatch.setattr(desk.engine, "page_elements", missing)
    compose(desk)
    desk.press(Key.Key_R, ALT)
    chooser = desk.view.composer.region.chooser
    desk.until(chooser.error.isVisible)
    assert "the page is gone" in chooser.error.text()
    assert not chooser.use.isEnabled()


def test_a_step_asks_for_tips_with_the_controls_of_its_page(desk: ReviewWindow, monkeypatch):
    asked = []
    real = desk.engine.retrieve

    async def retrieve(query, k=None, kb=""):
        asked.append(query)
        return await real(query, k, kb)

    monkeypatch.setattr(desk.engine, "retrieve", retrieve)
    desk.model.show_step(3)
    desk.until(lambda: asked)
    assert asked[-1].controls == (
        "button Filters",
        "link Clear all",
        "combobox Sort by",
        "link Release 1",
    )
    assert asked[-1].headings == ("Milestones",)
