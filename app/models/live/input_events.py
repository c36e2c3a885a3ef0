"""Qt mouse and key events as page input: DOM key names, CSS pixels, DevTools modifier bits."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from app.engine.core.page_input import InputKind, MouseButton, PageInput

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

__all__ = ["InputKind", "MouseButton", "PageInput", "key", "mouse", "text", "up", "wheel"]

ALT, CTRL, META, SHIFT = 1, 2, 4, 8
MAX_TEXT_LENGTH = 100_000
"""Characters of one paste."""

_BUTTONS = {
    Qt.MouseButton.LeftButton: MouseButton.LEFT,
    Qt.MouseButton.MiddleButton: MouseButton.MIDDLE,
    Qt.MouseButton.RightButton: MouseButton.RIGHT,
}

_NAMED = {
    Qt.Key.Key_Return: ("Enter", "Enter", "\r"),
    Qt.Key.Key_Enter: ("Enter", "NumpadEnter", "\r"),
    Qt.Key.Key_Tab: ("Tab", "Tab", ""),
    Qt.Key.Key_Backtab: ("Tab", "Tab", ""),
    Qt.Key.Key_Escape: ("Escape", "Escape", ""),
    Qt.Key.Key_Backspace: ("Backspace", "Backspace", ""),
    Qt.Key.Key_Delete: ("Delete", "Delete", ""),
    Qt.Key.Key_Insert: ("Insert", "Insert", ""),
    Qt.Key.Key_Home: ("Home", "Home", ""),
    Qt.Key.Key_End: ("End", "End", ""),
    Qt.Key.Key_PageUp: ("PageUp", "PageUp", ""),
    Qt.Key.Key_PageDown: ("PageDown", "PageDown", ""),
    Qt.Key.Key_Left: ("ArrowLeft", "ArrowLeft", ""),
    Qt.Key.Key_Right: ("ArrowRight", "ArrowRight", ""),
    Qt.Key.Key_Up: ("ArrowUp", "ArrowUp", ""),
    Qt.Key.Key_Down: ("ArrowDown", "ArrowDown", ""),
    Qt.Key.Key_Space: (" ", "Space", " "),
    Qt.Key.Key_Shift: ("Shift", "ShiftLeft", ""),
    Qt.Key.Key_Control: ("Control", "ControlLeft", ""),
    Qt.Key.Key_Alt: ("Alt", "AltLeft", ""),
    Qt.Key.Key_AltGr: ("AltGraph", "AltRight", ""),
    Qt.Key.Key_Meta: ("Meta", "MetaLeft", ""),
    Qt.Key.Key_CapsLock: ("CapsLock", "CapsLock", ""),
    Qt.Key.Key_Menu: ("ContextMenu", "ContextMenu", ""),
    **{getattr(Qt.Key, f"Key_F{number}"): (f"F{number}", f"F{number}", "") for number in range(1, 13)},
}
"""Key and code as in DOM events, and the text it enters."""

_SIGNS = {
    "-": "Minus", "_": "Minus", "=": "Equal", "+": "Equal", "[": "BracketLeft", "{": "BracketLeft",
    "]": "BracketRight", "}": "BracketRight", "\\": "Backslash", "|": "Backslash", ";": "Semicolon",
    ":": "Semicolon", "'": "Quote", '"': "Quote", "`": "Backquote", "~": "Backquote", ",": "Comma", "<": "Comma",
    ".": "Period", ">": "Period", "/": "Slash", "?": "Slash", "!": "Digit1", "@": "Digit2", "#": "Digit3",
    "$": "Digit4", "%": "Digit5", "^": "Digit6", "&": "Digit7", "*": "Digit8", "(": "Digit9", ")": "Digit0",
}  # fmt: skip
"""The key of a character on an American keyboard, which gives a page's ``code`` its name."""


def modifier_bits(modifiers: Qt.KeyboardModifier) -> int:
    held = Qt.KeyboardModifier
    return (
        (ALT if modifiers & held.AltModifier else 0)
        | (CTRL if modifiers & held.ControlModifier else 0)
        | (META if modifiers & held.MetaModifier else 0)
        | (SHIFT if modifiers & held.ShiftModifier else 0)
    )


def mouse_button(button: Qt.MouseButton) -> MouseButton:
    """Return the button, ``NONE`` for those that a page does not get."""
    return _BUTTONS.get(button, MouseButton.NONE)


def held_button(buttons: Qt.MouseButton) -> MouseButton:
    """Return the button held during a move, the left before the others."""
    return next((name for button, name in _BUTTONS.items() if buttons & button), MouseButton.NONE)


def mouse(
    kind: InputKind,
    place: tuple[float, float],
    modifiers: Qt.KeyboardModifier,
    button: MouseButton = MouseButton.NONE,
    clicks: int = 1,
) -> PageInput:
    return PageInput(
        kind=kind,
        x=place[0],
        y=place[1],
        button=button,
        clicks=clicks,
        modifiers=modifier_bits(modifiers),
        at=monotonic(),
    )


def wheel(
    place: tuple[float, float], turned: tuple[float, float], modifiers: Qt.KeyboardModifier
) -> PageInput:
    """Return a wheel event at a point, in CSS pixels; down and right are positive, as in a page."""
    return PageInput(
        kind=InputKind.WHEEL,
        x=place[0],
        y=place[1],
        dx=turned[0],
        dy=turned[1],
        modifiers=modifier_bits(modifiers),
        at=monotonic(),
    )


def text(words: str) -> PageInput:
    return PageInput(kind=InputKind.TEXT, text=words[:MAX_TEXT_LENGTH], at=monotonic())


def key(event: QKeyEvent, *, down: bool) -> PageInput | None:
    """Return a key event; ``None`` for a key that has no DOM event (a dead key, a media key).

    Characters typed with AltGr are text, whatever the modifiers say: with Ctrl and Alt set a page would take them for
    a shortcut.
    """
    typed = event.text()
    bits = modifier_bits(event.modifiers())
    if event.key() == Qt.Key.Key_Backtab:
        bits |= SHIFT
    own = _MODIFIERS.get(event.key(), 0)  # Qt gives the modifiers before the event, the DOM those after it
    bits = bits | own if down else bits & ~own
    named = _BY_NUMBER.get(event.key())
    if named is not None:
        name, code, put = named
    else:
        printable = typed if typed and typed.isprintable() else ""
        if printable and bits & CTRL and bits & ALT:
            bits &= ~(CTRL | ALT)
        name = printable or _plain(event.key(), bits)
        code, put = _code(name), printable
        if not name:
            return None
    if bits & (CTRL | META | ALT):
        put = ""
    return PageInput(
        kind=InputKind.KEY_DOWN if down else InputKind.KEY_UP,
        key=name,
        code=code,
        text=put if down else "",
        modifiers=bits,
        at=monotonic(),
    )


def up(pressed: PageInput) -> PageInput:
    return replace(pressed, kind=InputKind.KEY_UP, text="", modifiers=0)


_MODIFIERS = {
    int(Qt.Key.Key_Shift): SHIFT,
    int(Qt.Key.Key_Control): CTRL,
    int(Qt.Key.Key_Alt): ALT,
    int(Qt.Key.Key_Meta): META,
}
_BY_NUMBER = {int(known): names for known, names in _NAMED.items()}
"""Qt gives a key as a number, which need not be a member of the enum."""


def _plain(key: int, bits: int) -> str:
    """The character of a key whose event has no text, as with Ctrl."""
    if not 0x21 <= key < 0x01000000 or not chr(key).isprintable():
        return ""
    return chr(key) if bits & SHIFT else chr(key).lower()


def _code(name: str) -> str:
    if len(name) != 1:
        return ""
    if name.isascii() and name.isalpha():
        return f"Key{name.upper()}"
    if name.isascii() and name.isdigit():
        return f"Digit{name}"
    return _SIGNS.get(name, "")
