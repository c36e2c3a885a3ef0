"""Live in its own window over fake runs, operated by real key events."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.support.review_window import ReviewWindow


class LiveWindow(ReviewWindow):
    """``engine`` is the fake engine; ``keys`` counts key presses; ``clock`` is the clock of the model's input
    guard.
    """

    def __init__(self, view, model, engine, center, clock):
        super().__init__(view, model, engine, center)
        self.clock = clock

    def press(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        """Press a key a second after the previous input."""
        self.clock.forward()
        super().press(key, modifier)

    def click(self, widget):
        """Click a second after the previous input."""
        self.clock.forward()
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
        self.wait()

    def wait(self, seconds=0.05):
        """Turn the loop for some time, then until Live has shown all that came: its changes are put together."""
        super().wait(seconds)
        model = self.model
        collecting = (model._soon, model.wall._soon)
        while any(timer.isActive() for timer in collecting):
            self.until(lambda: not any(timer.isActive() for timer in collecting))
            super().wait(0)

    def number(self, run):
        """Return the key of a run's number."""
        return Qt.Key(Qt.Key.Key_0 + self.model.list.numbers.of(run))

    def rest(self):
        """Wait until the operator counts as idle and the time to undo is over."""
        self.clock.forward(6.0)
        self.model.hands.look()
        self.model.delayed_stops.held.look()
        self.wait()

    def put(self, row):
        """Update a run."""
        self.engine.put(row)
        self.wait()

    def named(self, widget_type, name):
        """Return the visible widget with this accessible name."""
        found = [
            one
            for one in self.view.findChildren(widget_type)
            if one.isVisible() and one.accessibleName() == name
        ]
        assert len(found) == 1, [one.accessibleName() for one in self.view.findChildren(widget_type)]
        return found[0]

    def did(self, what):
        """Return the arguments of every engine call of this name."""
        return [given for name, given in self.engine.calls if name == what]

    def holds(self, widget):
        """Whether the widget has the focus."""
        held = QApplication.focusWidget()
        return held is widget or (held is not None and widget.isAncestorOf(held))
