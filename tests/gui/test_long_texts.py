"""Long words, narrow columns and large text: nothing is cut off, nothing widens its column, what is off looks off."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtWidgets import QLabel, QPushButton, QScrollArea

from app.engine.core.regions import RegionElement
from app.views.knowledge.region_chooser import element_row
from app.views.widgets.build import styled, text_label
from app.views.widgets.elided_label import GAP, breakable
from tests.gui.test_knowledge_view import desk, make_desk  # noqa: F401  fixtures

WORD = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung"


def test_a_wrapped_text_breaks_within_a_long_word_and_stays_the_text(qtbot):
    label = text_label(f"a {WORD}", wrap=True)
    qtbot.addWidget(label)
    assert label.minimumSizeHint().width() < QLabel(WORD).sizeHint().width() / 2
    assert label.text() == label.accessibleName() == f"a {WORD}"
    label.setText("a short text")
    assert (label.text(), label.accessibleName()) == ("a short text", "")
    label.setAccessibleName("its own name")
    label.setText(WORD)
    assert label.accessibleName() == "its own name"


def test_a_short_address_stays_whole():
    assert breakable("give one such as shop.example:8080") == "give one such as shop.example:8080"
    assert GAP in breakable(WORD)


def test_a_long_word_is_copied_without_the_places_where_it_breaks(qtbot):
    label = text_label(f"a {WORD}", wrap=True)
    qtbot.addWidget(label)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.copy()
    assert QGuiApplication.clipboard().text() == f"a {WORD}"
    label.setSelection(2, 20)
    assert GAP in label.selectedText()
    label.copy()
    assert QGuiApplication.clipboard().text() == WORD[:16]


@pytest.mark.parametrize("zoom", [1.0, 1.5])
def test_long_words_of_a_tip_do_not_widen_its_column(desk, theme, zoom):  # noqa: F811
    theme.set_zoom(zoom)
    detail = desk.view.detail
    detail.tests.message.setText(f'It broke at step 2 (press "{WORD * 3}")')
    detail.tests.message.show()
    detail.region.words.setText(WORD * 3)
    detail.region.show()
    desk.wait(0.1)
    around = next(one for one in detail.findChildren(QScrollArea) if one.isAncestorOf(detail.tests))
    assert around.widget().minimumSizeHint().width() <= around.viewport().width()
    theme.set_zoom(1.0)


def test_the_head_of_the_retrieval_test_cuts_no_button_at_large_text(desk, theme):  # noqa: F811
    theme.set_zoom(1.5)
    trying = desk.view.tester
    trying.own.show()
    trying.own.setText("The tip's step  Shift+T")
    trying.summary.setText("12 matched, 0 cut by the token budget · 384 of 1200 tokens")
    desk.wait(0.1)
    assert trying.own.width() >= trying.own.sizeHint().width()
    assert trying.rect().contains(QRect(trying.summary.pos(), trying.summary.size()))
    theme.set_zoom(1.0)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_link_that_can_not_be_pressed_is_not_drawn_in_the_accent(qtbot, theme, mode):
    theme.set_mode(mode)
    link = styled(QPushButton("Remove"), "link")
    qtbot.addWidget(link)
    link.show()
    link.setEnabled(False)
    link.ensurePolished()
    color = link.palette().color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText)
    assert color == theme.color("muted") != theme.color("accent")


def test_a_control_without_a_name_is_listed_in_words():
    row = element_row(RegionElement(number=1, role="button", name="", box=None))
    [line] = row.lines
    assert [span.text for span in line.spans] == ["no name"]
