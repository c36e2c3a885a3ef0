"""The region of an open tip in Knowledge: shown, changed as a revision, and said where there is no page."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt

from app.engine.core.events import KnowledgeChanged
from kb.tip import Anchor, Provenance
from tests.gui.test_knowledge_view import desk, make_desk  # noqa: F401  fixtures

Key = Qt.Key
ALT = Qt.KeyboardModifier.AltModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
FILTERS = Anchor(
    screenshot="picture-3", box=(35, 62, 90, 40), words="Filters", role="button", neighbours=("Clear all",)
)
PAGE = Provenance(run="cba-gitlab-100", step=4)


def give(desk, **fields):  # noqa: F811
    """Change the open tip in the base."""
    desk.engine.page_screenshot = "picture-3"
    desk.engine.tips["gitlab-001"] = replace(desk.engine.tips["gitlab-001"], revision=7, **fields)
    desk.engine.bus.publish(KnowledgeChanged(tips=("gitlab-001",)))
    desk.until(lambda: desk.model.editor.tip is not None and desk.model.editor.tip.revision == 7)
    desk.wait()
    return desk.view.detail.region


def test_the_open_tip_shows_its_region_cut_out_and_in_words(desk):  # noqa: F811
    pane = give(desk, anchor=FILTERS, provenance=PAGE)
    desk.until(lambda: pane.cutout.isVisibleTo(desk.view))
    assert pane.words.text() == 'Found by: "Filters" button beside "Clear all"'
    assert not pane.links.isVisibleTo(desk.view)


def test_a_tip_without_a_region_shows_nothing_until_it_is_edited(desk):  # noqa: F811
    pane = give(desk, anchor=None, provenance=PAGE)
    assert not pane.isVisibleTo(desk.view)
    desk.press(Key.Key_E)
    assert pane.isVisibleTo(desk.view)
    assert desk.center.action("tip.region").isEnabled()


def test_another_region_becomes_a_revision(desk):  # noqa: F811
    pane = give(desk, anchor=FILTERS, provenance=PAGE)
    desk.press(Key.Key_E)
    desk.press(Key.Key_R, ALT)
    desk.until(lambda: pane.chooser.isVisible() and desk.model.editor.region.screenshot is not None)
    desk.wait()
    assert pane.chooser.words.text() == 'Found by: "Filters" button beside "Clear all"'
    for _ in range(4):
        desk.press(Key.Key_Tab)
    desk.press(Key.Key_Return)
    assert desk.model.editor.draft.anchor.words == "Sort by"
    desk.press(Key.Key_S, CONTROL)
    desk.until(lambda: not desk.model.editor.is_editing)
    assert desk.engine.tips["gitlab-001"].anchor.words == "Sort by"
    assert '"Sort by" combobox' in pane.words.text()


def test_a_tip_from_no_step_says_that_there_is_no_page_to_choose_on(desk):  # noqa: F811
    pane = give(desk, anchor=None, provenance=Provenance(source="tips.csv"))
    desk.press(Key.Key_E)
    assert "no page to choose on" in pane.words.text()
    assert not desk.center.action("tip.region").isEnabled()


def test_leaving_the_edit_shows_the_stored_region_again(desk):  # noqa: F811
    pane = give(desk, anchor=FILTERS, provenance=PAGE)
    desk.press(Key.Key_E)
    desk.press(Key.Key_R, ALT | Qt.KeyboardModifier.ShiftModifier)
    assert desk.model.editor.draft.anchor is None
    desk.press(Key.Key_Escape)
    assert not desk.model.editor.is_editing
    assert "Filters" in pane.words.text()
