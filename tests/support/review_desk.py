"""A Review in a window of its own, worked by real key events."""

from __future__ import annotations

from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication


class Desk:
    """A Review in a window of its own with the keys of the program."""

    def __init__(self, view, model, engine, center):
        self.view, self.model, self.engine, self.center = view, model, engine, center
        self.said: list[str] = []
        self.keys = 0
        model.notice.connect(self.said.append)

    def press(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        """One real key event where the keys go now."""
        self.keys += 1
        QTest.keyClick(QApplication.focusWidget() or self.view, key, modifier)
        self.wait()

    def type(self, text):
        QTest.keyClicks(QApplication.focusWidget(), text)
        self.wait()

    def wait(self, seconds=0.05):
        inner = QEventLoop()
        QTimer.singleShot(int(seconds * 1000), inner.quit)
        inner.exec()

    def until(self, condition, seconds=5.0):
        for _ in range(int(seconds / 0.02)):
            if condition():
                return
            self.wait(0.02)
        raise AssertionError("it did not happen")
