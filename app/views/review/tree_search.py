"""The line that finds words on the pages of a step."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget

from app.views.widgets.build import ground, hbox, styled, text_label

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.review.page_search import PageSearch
    from app.views.frame.theme import Theme


class _FindField(QLineEdit):
    """Enter goes to the next match, Shift+Enter to the previous one."""

    go = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.go.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
            return
        super().keyPressEvent(event)


class TreeSearch(QWidget):
    """Hidden until it is asked for."""

    closed = Signal()

    def __init__(self, model: PageSearch, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model = model
        ground(self)
        self.field = styled(_FindField(), "quiet")
        self.field.setPlaceholderText(self.tr("Find on the pages before and after"))
        self.field.setAccessibleName(self.tr("Find on the pages before and after"))
        self.count = text_label(kind="secondary")
        buttons: list[QToolButton] = []
        for command, icon in (("review.find.previous", "arrow-up"), ("review.find.next", "arrow-down")):
            button = QToolButton()
            button.setIcon(theme.icon(icon))
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setToolTip(center.action(command).toolTip())
            button.setAccessibleName(center.title(command))
            button.clicked.connect(partial(center.trigger, command))
            buttons.append(button)
        close = QToolButton()
        close.setIcon(theme.icon("close"))
        close.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        close.setAccessibleName(self.tr("Close the search"))
        close.setToolTip(self.tr("Close the search (Esc)"))
        close.clicked.connect(self.leave)
        hbox((self.field, 1), self.count, *buttons, close, parent=self, margins=(8, 4, 8, 4), spacing=6)
        self.field.textChanged.connect(model.find)
        self.field.go.connect(model.go)
        model.changed.connect(self._show)
        self.hide()

    def begin(self, text: str = "") -> None:
        """Show the line, with these words or the last ones selected."""
        self.show()
        if text:
            self.field.setText(" ".join(text.split()))
        elif self.field.text() != self._model.text:
            self._model.find(self.field.text())
        self.field.setFocus()
        self.field.selectAll()

    def leave(self) -> bool:
        """End the search; returns False when there was none."""
        if self.isHidden():
            return False
        self.hide()
        self._model.find("")
        self.closed.emit()
        return True

    def _show(self) -> None:
        self.count.setText(self._model.words)
        self.count.setAccessibleName(self._model.words)
