"""The Live perspective: the wall of runs; one of them large with its reasons beside it; the bar below both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.views.widgets import Splitter

if TYPE_CHECKING:
    from app.models.commands import CommandCenter
    from app.models.live import LiveModel
    from app.views.theme import Theme

LEFT, RIGHT = 264, 340
SLOTS = ("facts", "page", "request", "knowledge", "hint")
"""Places of the large view: left column, middle, and the right column from its top to its foot."""


class Slot(QWidget):
    """A place of the large view that one widget fills."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(f"live-{name}")
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)

    def put(self, widget: QWidget) -> None:
        """Fill it."""
        self._layout.addWidget(widget)


class LiveView(QWidget):
    """``put(slot, widget)`` fills the places of the large view."""

    place = "live"

    def __init__(self, model: LiveModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self.model, self._center, self._theme = model, center, theme
        self.slots = {name: Slot(name) for name in SLOTS}
        self.wall = QWidget()
        self.columns = Splitter(Qt.Orientation.Horizontal, (LEFT, 0, RIGHT))
        self.right = Splitter(Qt.Orientation.Vertical, (220, 0))
        self.right.addWidget(self.slots["request"])
        self.right.addWidget(self.slots["knowledge"])
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.right, 1)
        column.addWidget(self.slots["hint"])
        for pane in (self.slots["facts"], self.slots["page"], side):
            self.columns.addWidget(pane)
        self.faces = QStackedWidget()
        self.faces.addWidget(self.wall)
        self.faces.addWidget(self.columns)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.faces, 1)
        model.opened.connect(self._on_opened)

    def put(self, slot: str, widget: QWidget) -> None:
        """Fill one of ``SLOTS``."""
        self.slots[slot].put(widget)

    def focus_first(self) -> None:
        """Put the hand where the work begins."""
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def save_layout(self) -> dict[str, Any]:
        """Widths, and where the person is."""
        return {"columns": self.columns.save(), "right": self.right.save(), **self.model.session()}

    def restore_layout(self, layout: dict[str, Any]) -> None:
        """Take saved widths and go where the person was."""
        for name, splitter in (("columns", self.columns), ("right", self.right)):
            if isinstance(layout.get(name), dict):
                splitter.restore(layout[name])
        self.model.restore(layout)

    def _on_opened(self, run: str) -> None:
        self.faces.setCurrentWidget(self.columns if run else self.wall)
