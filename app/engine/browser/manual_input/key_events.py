"""Keyboard keys as DevTools expects them: DOM names with the numbers that pages still read.

The numbers are those of UI Events, annex "Legacy key attributes" (``keyCode``), which Chromium also edits by.
"""

from __future__ import annotations

from typing import Any

from app.engine.core.page_input import InputKind, PageInput

ALT, CTRL, META, SHIFT = 1, 2, 4, 8

_NAMED = {
    "Backspace": 8, "Tab": 9, "Enter": 13, "Shift": 16, "Control": 17, "Alt": 18, "Pause": 19, "CapsLock": 20,
    "Escape": 27, " ": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
    "ArrowRight": 39, "ArrowDown": 40, "PrintScreen": 44, "Insert": 45, "Delete": 46, "Meta": 91, "ContextMenu": 93,
    "NumLock": 144, "ScrollLock": 145, "AltGraph": 225, "Clear": 12, "Help": 47,
    **{f"F{number}": 111 + number for number in range(1, 13)},
}  # fmt: skip
_CODES = {
    "Semicolon": 186, "Equal": 187, "Comma": 188, "Minus": 189, "Period": 190, "Slash": 191, "Backquote": 192,
    "BracketLeft": 219, "Backslash": 220, "BracketRight": 221, "Quote": 222, "IntlBackslash": 226, "Space": 32,
    "NumpadMultiply": 106, "NumpadAdd": 107, "NumpadSubtract": 109, "NumpadDecimal": 110, "NumpadDivide": 111,
    "NumpadEnter": 13,
    **{f"Numpad{digit}": 96 + digit for digit in range(10)},
}  # fmt: skip
_EDITS = {
    ("a", CTRL): "selectAll", ("c", CTRL): "copy", ("x", CTRL): "cut", ("v", CTRL): "paste", ("z", CTRL): "undo",
    ("y", CTRL): "redo", ("z", CTRL | SHIFT): "redo",
}  # fmt: skip
_PUTS_IN = {"Enter": "\r", "Tab": "\t"}


def key_code(key: str, code: str) -> int:
    """Return the number of a key, 0 if it has none."""
    if key in _NAMED and not code.startswith("Numpad"):
        return _NAMED[key]
    if code.startswith("Key") and len(code) == 4:
        return ord(code[3])
    if code.startswith("Digit") and len(code) == 6:
        return ord(code[5])
    if code in _CODES:
        return _CODES[code]
    if len(key) == 1 and key.isascii() and key.isalnum():
        return ord(key.upper())
    return _NAMED.get(key, 0)


def key_event(one: PageInput) -> dict[str, Any]:
    """Return the parameters of ``Input.dispatchKeyEvent`` for a key going down or up."""
    modifiers = one.modifiers & 15
    number = key_code(one.key, one.code)
    event: dict[str, Any] = {
        "modifiers": modifiers,
        "key": one.key,
        "code": one.code,
        "windowsVirtualKeyCode": number,
        "nativeVirtualKeyCode": number,
        "location": _location(one.code),
    }
    if one.code.startswith("Numpad"):
        event["isKeypad"] = True
    if one.kind is InputKind.KEY_UP:
        return {"type": "keyUp", **event}
    text = inserted_text(one)
    edit = _EDITS.get((one.key.lower(), modifiers))
    if edit:
        event["commands"] = [edit]
    if not text:
        return {"type": "rawKeyDown", **event}
    return {"type": "keyDown", **event, "text": text, "unmodifiedText": text}


def inserted_text(one: PageInput) -> str:
    """Return the text a key inserts into a field, "" for a shortcut or a key that inserts nothing."""
    if one.modifiers & (CTRL | META) and not one.modifiers & ALT:  # AltGr arrives as Ctrl+Alt on some systems
        return ""
    if one.key in _PUTS_IN:
        return _PUTS_IN[one.key]
    return one.text if one.text.isprintable() else ""


def _location(code: str) -> int:
    if code.startswith("Numpad"):
        return 3
    if code.endswith("Left") and code != "ArrowLeft" and not code.startswith("Bracket"):
        return 1
    return 2 if code.endswith("Right") and code != "ArrowRight" and not code.startswith("Bracket") else 0
