"""Live in a window of its own over made-up runs, worked by real key events."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.support.review_desk import Desk


class LiveDesk(Desk):
    """``engine`` is the made-up engine; keys are counted in ``keys``; ``clock`` is the one of the model's hands."""

    def __init__(self, view, model, engine, center, clock):
        super().__init__(view, model, engine, center)
        self.clock = clock

    def press(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        """A key as an unhurried person presses it: a second after what was before it."""
        self.clock.forward()
        super().press(key, modifier)

    def click(self, widget):
        """A click, a second after what was before it."""
        self.clock.forward()
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
        self.wait()

    def number(self, run):
        """The digit of a run's number."""
        return Qt.Key(Qt.Key.Key_0 + self.model.list.numbers.of(run))

    def rest(self):
        """The hands rest until nothing waits for them any more, and what could be undone is done."""
        self.clock.forward(6.0)
        self.model.hands.look()
        self.model.endings.held.look()
        self.wait()

    def put(self, row):
        """A run is somewhere else now."""
        self.engine.put(row)
        self.wait()

    def named(self, widget_type, name):
        """The visible widget with this accessible name."""
        found = [
            one
            for one in self.view.findChildren(widget_type)
            if one.isVisible() and one.accessibleName() == name
        ]
        assert len(found) == 1, [one.accessibleName() for one in self.view.findChildren(widget_type)]
        return found[0]

    def did(self, what):
        """Arguments of every deed of this name that the engine was asked for."""
        return [given for name, given in self.engine.calls if name == what]

    def holds(self, widget):
        """Whether the keys go there."""
        held = QApplication.focusWidget()
        return held is widget or (held is not None and widget.isAncestorOf(held))
