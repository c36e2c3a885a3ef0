"""The popup under the search field: matching runs, steps and tips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLabel,
    QListView,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.models.common.search import HIT_ROLE, SearchModel, marked_pieces
from app.views.frame.theme import Theme
from app.views.frame.top_bar import SearchField
from app.views.widgets.keycap import paint_selected
from app.views.widgets.picker import Picker

if TYPE_CHECKING:
    from app.engine.api.engine_api import SearchHit

Index = QModelIndex | QPersistentModelIndex
ICONS = {"run": "play-box-outline", "step": "cursor-default-click-outline", "tip": "lightbulb-outline"}
WIDE, HIGH = 560, 420


class SearchHitDelegate(QStyledItemDelegate):
    """The group's title where a group begins, then icon, title, and the snippet with its matches marked."""

    def __init__(self, model: SearchModel, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._model, self._theme = model, theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Two lines, and one more for a group's title."""
        head = self._theme.px(22) if self._model.begins_group(index.row()) else 0
        return QSize(200, self._theme.px(42) + head)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one hit."""
        hit: SearchHit | None = index.data(HIT_ROLE)
        if hit is None:
            return
        theme, px, rect = self._theme, self._theme.px, QRect(option.rect)
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        group = self._model.begins_group(index.row())
        if group:
            painter.setFont(theme.font("secondary", bold=True))
            painter.setPen(theme.color("muted"))
            painter.drawText(QRect(rect.left() + px(12), rect.top(), rect.width(), px(22)), flags, group)
            rect.setTop(rect.top() + px(22))
        if option.state & QStyle.StateFlag.State_Selected:
            paint_selected(painter, theme, rect)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        icon = QRect(rect.left() + px(12), rect.top() + px(6), px(16), px(16))
        theme.icon(ICONS.get(hit.kind, "magnify"), "muted").paint(painter, icon)
        text = rect.adjusted(px(38), px(3), -px(12), -px(3))
        top = QRect(text.left(), text.top(), text.width(), text.height() // 2)
        low = QRect(text.left(), top.bottom(), text.width(), text.height() // 2)
        if hit.step is not None:
            words = QCoreApplication.translate("search", "step {0}").format(hit.step)
            painter.setFont(theme.font("secondary"))
            painter.setPen(theme.color("muted"))
            painter.drawText(top, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)
            top.setRight(top.right() - QFontMetrics(theme.font("secondary")).horizontalAdvance(words) - px(8))
        painter.setFont(theme.font())
        painter.setPen(theme.color("text"))
        shown = QFontMetrics(theme.font()).elidedText(hit.title, Qt.TextElideMode.ElideRight, top.width())
        painter.drawText(top, flags, shown)
        self._paint_snippet(painter, low, hit.snippet)

    def _paint_snippet(self, painter: QPainter, rect: QRect, snippet: str) -> None:
        theme, left = self._theme, rect.left()
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        for piece, found in marked_pieces(snippet):
            font = theme.font("secondary", bold=found)
            metrics = QFontMetrics(font)
            room = rect.right() - left
            if room < theme.px(12):
                return
            shown = metrics.elidedText(piece, Qt.TextElideMode.ElideRight, room)
            painter.setFont(font)
            painter.setPen(theme.color("accent" if found else "muted"))
            painter.drawText(QRect(left, rect.top(), room, rect.height()), flags, shown)
            left += metrics.horizontalAdvance(shown)


class SearchPopup(QFrame):
    """Opens under the field while it has text; ``opened`` carries the chosen hit."""

    opened = Signal(object)

    def __init__(self, field: SearchField, model: SearchModel, theme: Theme, host: QWidget) -> None:
        super().__init__(host)
        self.setProperty("kind", "overlay")
        self._field, self._model, self._theme, self._host = field, model, theme, host
        self._before: QWidget | None = None
        self.list = QListView()
        self.list.setAccessibleName(self.tr("Search results"))
        self.picker = Picker(field, self.list, model, SearchHitDelegate(model, theme, self.list))
        self.words = QLabel()
        self.words.setProperty("kind", "muted")
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.words.setWordWrap(True)
        self._stack = QStackedLayout(self)
        self._stack.setContentsMargins(2, 6, 2, 6)
        self._stack.addWidget(self.list)
        self._stack.addWidget(self.words)
        field.textEdited.connect(model.ask)
        field.entered.connect(self._enter)
        field.left.connect(self.leave)
        model.changed.connect(self._show)
        self.picker.chosen.connect(self._open)
        host.installEventFilter(self)
        field.installEventFilter(self)
        self.hide()

    def begin(self) -> None:
        """Focus the field, remembering the focus before."""
        focused = QApplication.focusWidget()
        if focused is not None and focused is not self._field:
            self._before = focused
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._field.selectAll()

    def leave(self) -> None:
        """Close, and restore the focus."""
        self.hide()
        before, self._before = self._before, None
        if before is not None and before.isVisible():
            before.setFocus(Qt.FocusReason.PopupFocusReason)
        else:
            self._field.clearFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the window's size; close when the focus moves elsewhere."""
        if watched is self._host and event.type() is QEvent.Type.Resize and self.isVisible():
            self._place()
        elif watched is self._field and event.type() is QEvent.Type.FocusOut:
            self.hide()
        return super().eventFilter(watched, event)

    def _enter(self) -> None:
        self._model.ask(self._field.text())
        self._show()

    def _show(self) -> None:
        model = self._model
        if model.state == "empty" or not self._field.hasFocus():
            self.hide()
            return
        if model.rowCount():
            self._stack.setCurrentIndex(0)
        else:
            self.words.setText(
                {
                    "asking": self.tr("Searching…"),
                    "failed": model.error,
                }.get(model.state, self.tr("No results for '{0}'.").format(model.text))
            )
            self._stack.setCurrentIndex(1)
            if model.state == "asking" and self.isVisible():
                return
        self._place()
        self.show()
        self.raise_()

    def _open(self, row: int) -> None:
        hit = self._model.hit(row)
        if hit is not None:
            self._before = None
            self.hide()
            self._field.clearFocus()
            self.opened.emit(hit)

    def _place(self) -> None:
        px, rows = self._theme.px, self._model.rowCount()
        wide = max(px(WIDE), self._field.width()) if rows else self._field.width()
        width = min(wide, self._host.width() - 24)
        content = sum(
            px(42) + (px(22) if self._model.begins_group(row) else 0) for row in range(min(rows, 12))
        )
        height = min(content + 14 if rows else px(72), px(HIGH), self._host.height() - px(80))
        below = self._field.mapTo(self._host, self._field.rect().bottomRight())
        left = max(12, min(below.x() - width, self._host.width() - width - 12))
        self.setGeometry(left, below.y() + 6, width, height)
