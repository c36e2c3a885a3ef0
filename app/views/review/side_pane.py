"""A pane in place of the verdicts, and a list whose rows answer keys of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QWidget

from app.views.widgets.build import Panel, ground, hbox, text_label, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.rows import FittedList, RowContent, RowStyle

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.views.frame.theme import Theme

PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class KeyedList(FittedList):
    """A list that keeps some plain keys from the place's commands.

    Args:
        keys: the characters it takes.

    Signals:
        opened(row): Enter, or a double click.
        keyed(row, key): one of its characters was pressed on a row.
    """

    opened = Signal(int)
    keyed = Signal(int, str)

    def __init__(
        self,
        theme: Theme,
        describe: Callable[[Any], RowContent],
        name: str,
        style: RowStyle | None = None,
        *,
        keys: str = "",
        most: int = 1_000,
    ) -> None:
        super().__init__(theme, describe, name, style, most=most)
        self._keys = keys
        self.doubleClicked.connect(self._on_double_click)

    @property
    def row(self) -> int:
        """The current row, else the first; -1 in an empty list."""
        if self.currentIndex().isValid():
            return self.currentIndex().row()
        return 0 if self.model().rowCount() else -1

    def take_focus(self) -> None:
        """Focus it, with a row selected."""
        if not self.currentIndex().isValid() and self.model().rowCount():
            self.setCurrentIndex(self.model().index(0, 0))
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def event(self, event: QEvent) -> bool:
        if (
            event.type() is QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and self._takes(event)
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.row
        if not self._takes(event) or row < 0:
            super().keyPressEvent(event)
        elif event.key() in ENTER:
            self.opened.emit(row)
        else:
            self.keyed.emit(row, event.text().upper())

    def _takes(self, event: QKeyEvent) -> bool:
        if event.modifiers() not in PLAIN:
            return False
        return event.key() in ENTER or bool(event.text() and event.text().upper() in self._keys)

    def _on_double_click(self, index: QModelIndex) -> None:
        self.opened.emit(index.row())


class SidePane(Panel):
    """A heading with a close link over a body; Esc or its own key closes it.  ``closed`` asks for that."""

    closed = Signal()

    def __init__(self, title: str, command: str, center: CommandCenter) -> None:
        super().__init__()
        self._command, self._center = command, center
        ground(self)
        self.setAccessibleName(title)
        self.head = text_label(title, "heading", wrap=True)
        self.close_button = command_link(center, command)
        self.body = vbox(spacing=0)
        top = hbox((self.head, 1), self.close_button, margins=(12, 8, 8, 4))
        vbox(top, (self.body, 1), parent=self, spacing=0)
        center.keys_changed.connect(self._show_key)
        self._show_key()

    def watch(self, on: bool) -> None:
        """Load, and follow changes, while the pane is shown."""

    def take_focus(self) -> None:
        """Focus the part that the keys are for."""
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> bool:
        """Go back one level inside the pane; False where there is none."""
        return False

    def _show_key(self) -> None:
        show_command(self.close_button, self._center, self._command, self.tr("Close"))
        self.close_button.setAccessibleName(self.tr("Back to the verdicts"))


def section(text: str) -> QLabel:
    """Return the heading of a part of a pane."""
    label = text_label(text, "section")
    label.setContentsMargins(12, 10, 12, 2)
    return label


def quiet(text: str = "") -> QLabel:
    """Return a remark that wraps."""
    label = text_label(text, "muted", wrap=True)
    label.setContentsMargins(12, 2, 12, 6)
    return label


def column(*parts: QWidget) -> QWidget:
    """Return the parts one below the other, at the top."""
    inner = QWidget()
    ground(inner)
    vbox(*parts, 1, parent=inner, spacing=0)
    return inner
