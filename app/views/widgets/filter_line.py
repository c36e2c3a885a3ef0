"""The line over a list that says which rows are wanted; ``/`` goes to it, Enter and Esc leave it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QLineEdit


class FilterLine(QLineEdit):
    """``onward()`` gives the keys to the list."""

    def __init__(self, text: str, placeholder: str, name: str, onward: Callable[[], None]) -> None:
        super().__init__(text)
        self._onward = onward
        self.setProperty("kind", "quiet")
        self.setClearButtonEnabled(True)
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(name)
        self.returnPressed.connect(onward)

    def take_keys(self) -> None:
        """Go to the line with its words selected."""
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    def leave(self) -> bool:
        """One level back: first empty the line, then leave it.  False when the keys are not in it."""
        if not self.hasFocus():
            return False
        if self.text():
            self.clear()
        else:
            self._onward()
        return True

    def show_words(self, text: str) -> None:
        """Follow the model, without telling it and never under somebody's hands."""
        if not self.hasFocus() and self.text() != text:
            with QSignalBlocker(self):
                self.setText(text)
