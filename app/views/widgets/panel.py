"""A pane whose lists and fields keep Enter for themselves."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame


class Panel(QFrame):
    """While the focus is inside, Enter activates the row or leaves the field; no command of the place takes it."""

    def event(self, event: QEvent) -> bool:
        """Keep Enter from the window's commands; with Ctrl, Alt or Meta it still reaches them."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
            if plain and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                event.accept()
                return True
        return super().event(event)
