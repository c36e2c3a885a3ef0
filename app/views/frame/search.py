"""The popup under the search field: matching runs, steps and tips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QListView,
    QStackedLayout,
    QStyleOptionViewItem,
    QWidget,
)

from app.models.common.search import SearchModel, marked_pieces
from app.views.frame.theme import Theme
from app.views.frame.top_bar import SearchField
from app.views.widgets.build import text_label
from app.views.widgets.picker import Picker
from app.views.widgets.rows import RowContent, RowDelegate, RowStyle, Span, line, plain, small
from app.views.widgets.signs import icon_sign

if TYPE_CHECKING:
    from app.engine.api.engine_api import SearchHit

Index = QModelIndex | QPersistentModelIndex
ICONS = {"run": "play-box-outline", "step": "cursor-default-click-outline", "tip": "lightbulb-outline"}
WIDE, HIGH = 560, 420


GROUP_HEIGHT = 22
HIT = RowStyle(margins=(12, 3, 12, 3), gutter=26, height=42)


class SearchHitDelegate(RowDelegate["SearchHit"]):
    """The group's title where a group begins, then icon, title, and the snippet with its matches marked."""

    def __init__(self, model: SearchModel, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, hit_row, HIT, parent)
        self._model = model

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        head = GROUP_HEIGHT if self._model.begins_group(index.row()) else 0
        return super().sizeHint(option, index) + QSize(0, self._theme.px(head))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        group = self._model.begins_group(index.row())
        if group:
            px, box = self._theme.px, QRectF(option.rect)
            head = QRectF(box.left() + px(12), box.top(), box.width(), px(GROUP_HEIGHT))
            self.paint_span(painter, option, head, small(group, bold=True))
            option.rect.setTop(option.rect.top() + px(GROUP_HEIGHT))  # pyright: ignore[reportAttributeAccessIssue]
        super().paint(painter, option, index)


def hit_row(hit: SearchHit) -> RowContent:
    """Icon and title; below, the snippet with its matches marked."""
    step = "" if hit.step is None else QCoreApplication.translate("search", "step {0}").format(hit.step)
    pieces = (
        small(piece, "accent" if found else "muted", bold=found, gap=0)
        for piece, found in marked_pieces(hit.snippet)
    )
    return RowContent(
        sign=Span(sign=icon_sign(ICONS.get(hit.kind, "magnify"), "muted"), size=(16, 16)),
        lines=(line(plain(hit.title), right=small(step)), line(*pieces)),
    )


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
        self.words = text_label(kind="muted", wrap=True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
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
        hit = self._model.at(row)
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
