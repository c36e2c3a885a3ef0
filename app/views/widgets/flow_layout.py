"""A layout that puts widgets side by side and wraps at the width's end."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QStyle, QWidget


class FlowLayout(QLayout):
    """Lays its widgets out in reading direction; hidden ones take no room."""

    def __init__(self, *widgets: QWidget, parent: QWidget | None = None, gap: int = 6) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self.setContentsMargins(0, 0, 0, 0)
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        """Number of items, including hidden ones."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # type: ignore[override]
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # type: ignore[override]
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """It never asks for extra space."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Less width makes more rows."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of the rows at this width."""
        return self._place(QRect(0, 0, width, 0), move=False)

    def sizeHint(self) -> QSize:
        """As narrow as its widest widget: the rows follow the width they get."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """The widest widget."""
        shown = [item.minimumSize() for item in self._items if not item.isEmpty()]
        margins = self.contentsMargins()
        width = max((size.width() for size in shown), default=0) + margins.left() + margins.right()
        height = max((size.height() for size in shown), default=0) + margins.top() + margins.bottom()
        return QSize(width, height)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def _place(self, rect: QRect, *, move: bool) -> int:
        margins = self.contentsMargins()
        inner = rect.marginsRemoved(margins)
        x, y, high = inner.left(), inner.top(), 0
        widget = self.parentWidget()
        direction = widget.layoutDirection() if widget is not None else Qt.LayoutDirection.LeftToRight
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            if x > inner.left() and x + size.width() > inner.right() + 1:
                x, y, high = inner.left(), y + high + self._gap, 0
            if move:
                place = QRect(QPoint(x, y), size)
                item.setGeometry(QStyle.visualRect(direction, inner, place))
            x, high = x + size.width() + self._gap, max(high, size.height())
        return y + high - rect.top() + margins.bottom()
