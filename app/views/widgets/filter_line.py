"""The filter line over a list; ``/`` focuses it, Enter and Esc leave it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QLineEdit


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
