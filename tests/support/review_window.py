"""Review in a window of its own, operated by real key events."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.support import qt_loop


class ReviewWindow:
    """Review in a window of its own with the program's keys."""

    def __init__(self, view, model, engine, center):
        self.view, self.model, self.engine, self.center = view, model, engine, center
        self.said: list[str] = []
        self.keys = 0
        model.notice.connect(self.said.append)

    def press(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        """Send one real key event to the focus widget."""
        self.keys += 1
        QTest.keyClick(QApplication.focusWidget() or self.view, key, modifier)
        self.wait()

    def type(self, text):
        QTest.keyClicks(QApplication.focusWidget(), text)
        self.wait()

    def wait(self, seconds=0.05):
        qt_loop.turn(seconds)

    def until(self, condition):
        qt_loop.until(condition)
