"""The search field for states, with the hits in a list below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLabel,
    QLineEdit,
    QListView,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.models.common.object_list import OBJECT_ROLE
from app.models.graph.node_table import path_of
from app.views.widgets.keycap import paint_selected
from app.views.widgets.picker import Picker
from app.views.widgets.signs import elided

if TYPE_CHECKING:
    from app.models.graph.model import MapModel
    from app.models.graph.search import NodeHit
    from app.views.frame.theme import Theme

Index = QModelIndex | QPersistentModelIndex
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
WIDE, HIGH, LINE = 480, 420, 44


class FindDelegate(QStyledItemDelegate):
    """Title and address; at the right the score and the matched words."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, self._theme.px(LINE))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        hit: NodeHit | None = index.data(OBJECT_ROLE)
        if hit is None:
            return
        theme, px = self._theme, self._theme.px
        if option.state & QStyle.StateFlag.State_Selected:
            paint_selected(painter, theme, option.rect)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, theme.color("hover"))
        box = option.rect.adjusted(px(12), px(4), -px(10), -px(4))
        half = box.height() // 2
        top, low = (
            QRect(box.left(), box.top(), box.width(), half),
            QRect(box.left(), box.top() + half, box.width(), half),
        )
        small = QFontMetrics(theme.font("secondary"))
        painter.setFont(theme.font("secondary"))
        painter.setPen(theme.color("muted"))
        score = f"{hit.score:.2f}"
        painter.drawText(top, RIGHT, score)
        words = ", ".join(hit.matched[:4])
        taken = min(small.horizontalAdvance(words) + px(10), low.width() // 2) if words else 0
        painter.drawText(low, RIGHT, elided(small, words, taken))
        painter.drawText(low, LEFT, elided(small, path_of(hit.url), low.width() - taken - px(8), middle=True))
        painter.setFont(theme.font())
        painter.setPen(theme.color("text"))
        room = top.width() - small.horizontalAdvance(score) - px(10)
        painter.drawText(top, LEFT, elided(QFontMetrics(theme.font()), hit.title or hit.url, room))


class FindField(QLineEdit):
    """Type a description; Up and Down choose a hit, Enter opens it, Esc leaves."""

    def __init__(self, model: MapModel, theme: Theme, host: QWidget) -> None:
        super().__init__()
        self._model, self._theme = model, theme
        self._before: QWidget | None = None
        self.setProperty("kind", "quiet")
        self.setClearButtonEnabled(True)
        self.setPlaceholderText(self.tr("Find a state: where do I see …"))
        self.setAccessibleName(self.tr("Find a state"))
        self.found = SearchResults(self, model, theme, host)
        self.textEdited.connect(self._ask)

    def take_focus(self) -> None:
        """Focus the field, remembering the previous focus."""
        focused = QApplication.focusWidget()
        if focused is not None and focused is not self:
            self._before = focused
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    def leave(self) -> bool:
        """Go back one level: close the list, then leave the field.  False when it has no focus."""
        if not self.hasFocus():
            return False
        self.found.hide()
        before, self._before = self._before, None
        if before is not None and before.isVisible():
            before.setFocus(Qt.FocusReason.PopupFocusReason)
        else:
            self.clearFocus()
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Search again on Enter when the list is closed."""
        if (
            event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down)
            and not self.found.isVisible()
        ):
            self._ask(self.text())
            return
        super().keyPressEvent(event)

    def _ask(self, text: str) -> None:
        self._model.search.ask(self._model.site, text)


class SearchResults(QFrame):
    """The list of hits below the field."""

    def __init__(self, field: FindField, model: MapModel, theme: Theme, host: QWidget) -> None:
        super().__init__(host)
        self.setProperty("kind", "overlay")
        self._field, self._model, self._theme, self._host = field, model, theme, host
        self.list = QListView()
        self.list.setAccessibleName(self.tr("States found"))
        self.picker = Picker(field, self.list, model.search.hits, FindDelegate(theme, self.list))
        self.words = QLabel()
        self.words.setProperty("kind", "muted")
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.words.setWordWrap(True)
        self._stack = QStackedLayout(self)
        self._stack.setContentsMargins(2, 6, 2, 6)
        self._stack.addWidget(self.list)
        self._stack.addWidget(self.words)
        model.search.changed.connect(self._show)
        self.picker.chosen.connect(self._choose)
        host.installEventFilter(self)
        field.installEventFilter(self)
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the field's size; hide when it loses the focus."""
        if watched is self._host and event.type() is QEvent.Type.Resize and self.isVisible():
            self._place()
        elif watched is self._field and event.type() is QEvent.Type.FocusOut:
            self.hide()
        return super().eventFilter(watched, event)

    def _show(self) -> None:
        search = self._model.search
        if not search.text or not self._field.hasFocus():
            self.hide()
            return
        if search.hits.rowCount():
            self._stack.setCurrentIndex(0)
        elif search.asking:
            if not self.isVisible():
                self.words.setText(self.tr("Searching…"))
                self._stack.setCurrentIndex(1)
        else:
            self.words.setText(search.error or self.tr("No state answers '{0}'.").format(search.text))
            self._stack.setCurrentIndex(1)
        self._place()
        self.show()
        self.raise_()

    def _choose(self, row: int) -> None:
        hit = self._model.search.hits.at(row)
        if hit is not None:
            self._field.leave()
            self._model.open(hit.node)

    def _place(self) -> None:
        px, rows = self._theme.px, self._model.search.hits.rowCount()
        width = min(max(px(WIDE), self._field.width()), self._host.width() - 24)
        height = min(px(LINE) * rows + 14 if rows else px(64), px(HIGH), self._host.height() - px(60))
        below = self._field.mapTo(self._host, self._field.rect().bottomLeft())
        left = max(12, min(below.x(), self._host.width() - width - 12))
        self.setGeometry(left, below.y() + 6, width, height)
