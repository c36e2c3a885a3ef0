"""The filter line over a list; ``/`` focuses it, Enter and Esc leave it.  One form completes the word being typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QPoint, QSignalBlocker, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit

from app.views.widgets.build import styled
from app.views.widgets.rows import RowContent, RowList, RowStyle, line, plain, small

if TYPE_CHECKING:
    from typing import Any

    from app.models.common.filter_completion import Completion
    from app.views.frame.theme import Theme

MOST_ROWS = 9
"""Completions shown at once; the others scroll."""
COMPLETION = RowStyle(margins=(8, 0, 8, 0), height=24)
LEAST_WIDTH = 250
"""Width of the completions at least, in pixels at 100 % text size."""


class FilterLine(QLineEdit):
    """``onward()`` focuses the list."""

    def __init__(self, text: str, placeholder: str, name: str, onward: Callable[[], None]) -> None:
        super().__init__(text)
        self._onward = onward
        self.setProperty("kind", "quiet")
        self.setClearButtonEnabled(True)
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(name)
        self.returnPressed.connect(onward)

    def take_focus(self) -> None:
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    def leave(self) -> bool:
        """Go back one level: clear the line first, then leave it.  False when it is not focused."""
        if not self.hasFocus():
            return False
        if self.text():
            self.clear()
        else:
            self._onward()
        return True

    def show_words(self, text: str) -> None:
        """Follow the model, silently and never while the user types."""
        if not self.hasFocus() and self.text() != text:
            with QSignalBlocker(self):
                self.setText(text)


class Completions(Protocol):
    """Finds completions of a line, as a list model, and completes the line with one of them."""

    def look_up(self, text: str) -> None: ...
    def complete(self, text: str, row: int) -> str: ...


class CompletingFilterLine(FilterLine):
    """Offers completions under the line while a word is typed.

    Down opens them at any time; Down and Up choose one, Enter or Tab takes it (Tab the first if none is chosen), Esc
    closes them.  ``found`` is a list model that is ``Completions`` too.
    """

    def __init__(
        self,
        text: str,
        placeholder: str,
        name: str,
        onward: Callable[[], None],
        found: Any,
        theme: Theme,
    ) -> None:
        super().__init__(text, placeholder, name, onward)
        self._theme = theme
        self._found: Completions = found
        self._rows: QAbstractItemModel = found
        self.popup = styled(
            RowList(theme, completion_row, self.tr("Completions of the filter"), COMPLETION), "overlay"
        )
        self.popup.setParent(self)
        self.popup.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.popup.setUniformItemSizes(True)
        self.popup.setModel(found)
        self.popup.hide()
        self.popup.clicked.connect(self._take)
        self.returnPressed.disconnect()
        self.textEdited.connect(self._offer)

    def leave(self) -> bool:
        """Go back one level: close the completions, then clear the line, then leave it."""
        if self.popup.isVisible():
            self.popup.hide()
            return True
        return super().leave()

    def event(self, event: QEvent) -> bool:
        """Take Tab while completions are on offer."""
        if (
            event.type() is QEvent.Type.KeyPress
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Tab
            and self.popup.isVisible()
        ):
            chosen = self.popup.currentIndex()
            self._take(chosen if chosen.isValid() else self._rows.index(0, 0))
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, is_open = event.key(), self.popup.isVisible()
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            if is_open:
                self._choose(1 if key == Qt.Key.Key_Down else -1)
            elif key == Qt.Key.Key_Down:
                self._offer_all()
            return
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            chosen = self.popup.currentIndex()
            if is_open and chosen.isValid():
                self._take(chosen)
            else:
                self.popup.hide()
                self._onward()
            return
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Close the completions."""
        super().focusOutEvent(event)
        self.popup.hide()

    def _offer(self) -> None:
        """Offer completions of a word that was begun; after a space they would only cover the list."""
        text = self.text()
        if text and not text[-1].isspace() and self.cursorPosition() == len(text):
            self._offer_all()
        else:
            self.popup.hide()

    def _offer_all(self) -> None:
        self._found.look_up(self.text())
        if not self._rows.rowCount():
            self.popup.hide()
            return
        self._place()
        self.popup.setCurrentIndex(QModelIndex())
        self.popup.scrollToTop()
        self.popup.show()
        self.popup.raise_()

    def _place(self) -> None:
        """Put the completions under the line, over the list; they may be wider than the column."""
        window = self.window()
        if self.popup.parent() is not window:
            self.popup.setParent(window)
        corner = self.mapTo(window, QPoint(0, self.height() + 2))
        width = max(self.width(), self._theme.px(LEAST_WIDTH))
        height = self.popup.content_height(rows=MOST_ROWS) + 2
        room = window.height() - corner.y() - 4
        self.popup.setGeometry(corner.x(), corner.y(), width, min(height, room))

    def _choose(self, offset: int) -> None:
        row = self.popup.currentIndex().row() + offset
        self.popup.setCurrentIndex(self._rows.index(row, 0) if row >= 0 else QModelIndex())

    def _take(self, index: QModelIndex) -> None:
        self.setText(self._found.complete(self.text(), index.row()))
        self.textEdited.emit(self.text())


def completion_row(value: Completion) -> RowContent:
    """A word of the filter, and what it does."""
    return RowContent(lines=(line(plain(value.word), right=small(value.help, share=0.6)),))
