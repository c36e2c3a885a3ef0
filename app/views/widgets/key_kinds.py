"""Kinds of key presses for text fields."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent

from app.models.live.input_guard import KeyKind

LEAVING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
DELETING = (Qt.Key.Key_Backspace, Qt.Key.Key_Delete)
MODIFIERS = (
    Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_AltGr, Qt.Key.Key_Meta, Qt.Key.Key_CapsLock,
)  # fmt: skip
COMMANDING = (
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
)


def is_plain(event: QEvent) -> bool:
    """Whether an event asks if a key without Ctrl, Alt or Meta, and other than Esc, is no shortcut here."""
    return (
        event.type() is QEvent.Type.ShortcutOverride
        and isinstance(event, QKeyEvent)
        and not event.modifiers() & COMMANDING
        and event.key() != Qt.Key.Key_Escape
    )


def key_of(event: QKeyEvent) -> KeyKind | None:
    """Return the kind of a key press, ``None`` for a modifier alone.

    Letters that need AltGr carry their text and are text; some platforms report that key as Ctrl+Alt.
    """
    if event.key() in MODIFIERS:
        return None
    printable = bool(event.text()) and event.text().isprintable()
    held = event.modifiers() & COMMANDING
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    if held and not (printable and held == both):
        return KeyKind.OTHER
    shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
    if event.key() in LEAVING:  # Shift+Enter breaks a line in the middle of a text
        in_text = shifted and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        return KeyKind.TEXT if in_text else KeyKind.LEAVES
    return KeyKind.TEXT if printable or event.key() in DELETING else KeyKind.OTHER
