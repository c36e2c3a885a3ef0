"""Columns with remembered widths that collapse with one key."""

from __future__ import annotations

from typing import Any, cast

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget


class Splitter(QSplitter):
    """A splitter whose panes collapse and expand to the width they had; ``save`` and ``restore`` use JSON.

    ``defaults`` are the initial widths (or heights) of the panes in pixels; the one given as 0 takes the rest.
    """

    def __init__(
        self,
        orientation: Qt.Orientation = Qt.Orientation.Horizontal,
        defaults: tuple[int, ...] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(orientation, parent)
        self._defaults = defaults
        self._folded: dict[int, int] = {}
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)

    def addWidget(self, widget: QWidget) -> None:
        """Add a pane; the one whose default is 0 takes what the window gains."""
        super().addWidget(widget)
        number = self.count() - 1
        stretches = number < len(self._defaults) and self._defaults[number] == 0
        self.setStretchFactor(number, 1 if stretches else 0)

    def reset(self) -> None:
        """Expand every pane to its initial width."""
        for number in list(self._folded):
            self.set_folded(number, False)
        if self._defaults:
            room = self.width() if self.orientation() is Qt.Orientation.Horizontal else self.height()
            rest = max(room - sum(self._defaults), 100)
            self.setSizes([size or rest for size in self._defaults])

    def is_folded(self, number: int) -> bool:
        return number in self._folded

    def toggle(self, number: int) -> None:
        """Collapse a pane, or expand it to its earlier width; the last open one stays."""
        self.set_folded(number, not self.is_folded(number))

    def set_folded(self, number: int, folded: bool) -> None:
        if folded == self.is_folded(number) or not 0 <= number < self.count():
            return
        sizes, pane = self.sizes(), self.widget(number)
        assert pane is not None
        if folded:
            if len(self._folded) >= self.count() - 1:
                return
            self._folded[number] = sizes[number]
            pane.hide()
            return
        size = self._folded.pop(number)
        pane.show()
        taker = max(range(len(sizes)), key=sizes.__getitem__)
        sizes[number], sizes[taker] = size, max(sizes[taker] - size, 50)
        self.setSizes(sizes)

    def save(self) -> dict[str, Any]:
        sizes = [self._folded.get(number, size) for number, size in enumerate(self.sizes())]
        return {"sizes": sizes, "folded": sorted(self._folded)}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore saved sizes; values that do not fit these panes are ignored."""
        sizes = [max(0, int(size)) for size in cast("list[Any]", state.get("sizes") or [])]
        if len(sizes) != self.count():
            self.reset()
            return
        self.setSizes(sizes)
        for number in cast("list[Any]", state.get("folded") or []):
            if isinstance(number, int) and 0 <= number < self.count():
                self.set_folded(number, True)
                if self.is_folded(number):
                    self._folded[number] = sizes[number]
