"""The focus can be seen wherever it goes: every tab stop of every perspective changes some pixels."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.workbench import Workbench

FEWEST = 12
"""Pixels that must differ; a text cursor alone has as many."""


def difference(one: QImage, other: QImage) -> int:
    first, second = one.constBits(), other.constBits()
    pairs = zip(memoryview(first).cast("I"), memoryview(second).cast("I"), strict=True)
    return sum(a != b for a, b in pairs)


def tab_stops(window: QWidget) -> list[QWidget]:
    """Return the widgets that Tab reaches now, in its order."""
    found, here = list[QWidget](), window.nextInFocusChain()
    while here is not window:
        reached = here.focusPolicy() & Qt.FocusPolicy.TabFocus
        if reached and here.isEnabled() and here.isVisibleTo(window) and not here.visibleRegion().isEmpty():
            found.append(here)
        here = here.nextInFocusChain()
    return found


@pytest.mark.parametrize("place", ["review", "knowledge", "live", "map", "evaluate"])
def test_every_tab_stop_shows_that_it_has_the_focus(bench: Workbench, settle, place: str) -> None:
    window = bench._window
    window.go(place)
    settle(0.2)
    stops = tab_stops(window)
    window.frame.setFocus()
    settle()
    unseen, seen = list[str](), list[QWidget]()
    for _ in range(2 * len(stops)):
        window.frame.setFocus() if not seen else seen[-1].setFocus()
        settle()
        before = window.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        window.ring.follow(None)
        QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Tab)
        settle()
        here = QApplication.focusWidget()
        if here is None or here in seen:
            break
        seen.append(here)
        corner = here.mapTo(window, QPoint(0, 0))
        area = QRect(corner, here.size()).adjusted(-3, -3, 3, 3).intersected(window.rect())
        after = window.grab(area).toImage().convertToFormat(QImage.Format.Format_RGB32)
        if difference(before.copy(area), after) < FEWEST:
            unseen.append(f"{type(here).__name__} {here.accessibleName()!r}")
    assert len(seen) > 3
    assert not unseen


def test_the_ring_is_gone_after_a_click_or_a_command(bench: Workbench, settle) -> None:
    window = bench._window
    QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Tab)
    settle()
    assert window.ring.isVisible()
    window.center.trigger("review.filter")
    settle()
    assert not window.ring.isVisible()
