"""The search field for states, with the hits in a list below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLineEdit,
    QListView,
    QWidget,
)

from app.views.graph.node_rows import HIT, hit_row
from app.views.widgets.build import text_label, vbox
from app.views.widgets.picker import Picker
from app.views.widgets.rows import RowDelegate

if TYPE_CHECKING:
    from app.models.graph.model import MapModel
    from app.views.frame.theme import Theme

WIDE, HIGH = 480, 420
MOST_LETTERS = 80
"""Letters of a description that are said again."""


class FindField(QLineEdit):
    """Type a description; Up and Down choose a hit, Enter opens it, Esc leaves."""

    def __init__(self, model: MapModel, theme: Theme, host: QWidget) -> None:
        super().__init__()
        self._model, self._theme = model, theme
        self._before: QWidget | None = None
        self.setProperty("kind", "quiet")
        self.setClearButtonEnabled(True)
        self.setPlaceholderText(self.tr("Search states: where do I see …"))
        self.setAccessibleName(self.tr("Search states"))
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
        self.picker = Picker(field, self.list, model.search.hits, RowDelegate(theme, hit_row, HIT, self.list))
        self.words = text_label(kind="muted", wrap=True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.words.setContentsMargins(12, 2, 12, 4)
        vbox(self.words, (self.list, 1), parent=self, margins=(2, 6, 2, 6), spacing=2)
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
        if not (search.asking and self.isVisible()):
            words = self._words()
            self.words.setText(words)
            self.words.setVisible(bool(words))
        self.list.setVisible(search.hits.rowCount() > 0)
        self._place()
        self.show()
        self.raise_()

    def _words(self) -> str:
        """Return the line above the hits, or instead of them."""
        search = self._model.search
        if search.asking and not search.hits.rowCount():
            return self.tr("Searching…")
        if search.error or search.asking or search.like:
            return search.error
        if search.hits.rowCount():
            return self.tr("Nothing on this map is like '{0}'. Nearest:").format(search.text[:MOST_LETTERS])
        return self.tr("No state matches '{0}'.").format(search.text)

    def _choose(self, row: int) -> None:
        hit = self._model.search.hits.at(row)
        if hit is not None:
            self._field.leave()
            self._model.open(hit.node)

    def _place(self) -> None:
        px, rows = self._theme.px, self._model.search.hits.rowCount()
        width = min(max(px(WIDE), self._field.width()), self._host.width() - 24)
        words = self.words.heightForWidth(width - 4) + 2 if rows and self.words.isVisibleTo(self) else 0
        height = min(
            px(HIT.height) * rows + words + 14 if rows else px(64), px(HIGH), self._host.height() - px(60)
        )
        below = self._field.mapTo(self._host, self._field.rect().bottomLeft())
        left = max(12, min(below.x(), self._host.width() - width - 12))
        self.setGeometry(left, below.y() + 6, width, height)
