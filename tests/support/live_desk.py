"""Live in a window of its own over made-up runs, worked by real key events."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication

from tests.support.review_desk import Desk


class LiveDesk(Desk):
    """``engine`` is the made-up engine; keys are counted in ``keys``."""

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
