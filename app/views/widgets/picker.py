"""Lets an input line drive a list, for the palette and the search."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QListView, QStyledItemDelegate


class Picker(QObject):
    """Up and down move, Enter chooses, the first row is selected.

    ``chosen`` carries the row.
    """

    chosen = Signal(int)

    def __init__(
        self, line: QLineEdit, view: QListView, model: QAbstractItemModel, delegate: QStyledItemDelegate
    ) -> None:
        super().__init__(line)
        self._line, self._view = line, view
        view.setModel(model)
        view.setItemDelegate(delegate)
        view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        view.setUniformItemSizes(False)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setMouseTracking(True)
        view.clicked.connect(self._clicked)
        model.modelReset.connect(self.to_first)
        line.installEventFilter(self)

    def to_first(self) -> None:
        self.to(0)

    def to(self, row: int) -> None:
        """Select a row and scroll to it."""
        model = self._view.model()
        count = model.rowCount()
        if count:
            index = model.index(row % count, 0)
            self._view.setCurrentIndex(index)
            self._view.scrollTo(index)

    def _clicked(self, index: QModelIndex) -> None:
        self.chosen.emit(index.row())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the keys that belong to the list."""
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            row = self._view.currentIndex().row()
            match event.key():
                case Qt.Key.Key_Down:
                    self.to(row + 1)
                case Qt.Key.Key_Up:
                    self.to(row - 1)
                case Qt.Key.Key_PageDown:
                    self.to(min(row + 8, self._view.model().rowCount() - 1))
                case Qt.Key.Key_PageUp:
                    self.to(max(row - 8, 0))
                case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                    if row >= 0:
                        self.chosen.emit(row)
                case _:
                    return super().eventFilter(watched, event)
            return True
        return super().eventFilter(watched, event)
