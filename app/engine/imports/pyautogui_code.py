"""Actions of desktop agents, OSWorld's: ``pyautogui`` code, its ``action_type`` objects, and tools for computers.

Code is parsed and never run: only calls with plain values are read.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, cast

from app.engine.core.actions.recorded import RecordedAction
from app.engine.core.redaction import redact_text
from app.engine.imports.json_values import fields_of
from app.engine.imports.page_contents import as_json, clean_args
from app.engine.imports.step_records import number, text
from app.engine.imports.tool_calls import read_tool_call

MAX_CODE = 20_000
"""Characters of code that are read."""
MAX_CALLS = 200

_Values = dict[str, Any]
_Made = tuple[str, dict[str, Any]]

_NAMES: dict[str, tuple[str, ...]] = {
    "click": ("x", "y", "clicks", "interval", "button"),
    "rightClick": ("x", "y"),
    "middleClick": ("x", "y"),
    "doubleClick": ("x", "y"),
    "tripleClick": ("x", "y"),
    "moveTo": ("x", "y", "duration"),
    "dragTo": ("x", "y", "duration", "button"),
    "scroll": ("amount", "x", "y"),
    "hscroll": ("amount", "x", "y"),
    "vscroll": ("amount", "x", "y"),
    "write": ("message", "interval"),
    "typewrite": ("message", "interval"),
    "press": ("keys", "presses"),
    "keyDown": ("key",),
    "keyUp": ("key",),
    "sleep": ("secs",),
}
"""Positional arguments of the calls."""


def read_desktop_action(value: object) -> RecordedAction | None:
    """Return an action as OSWorld's records have it: code, a word, or an object; ``None`` for what says nothing."""
    if isinstance(value, str):
        return _read_code(value)
    given = fields_of(value)
    if not given:
        return None
    made = _typed(given)
    if made is not None:
        return _recorded(made)
    for name in ("command", "action", "code"):
        if isinstance(given.get(name), str) and "(" in given[name]:
            return _read_code(given[name])
    tool = fields_of(given.get("input")) or fields_of(given.get("action")) or given
    if text(tool.get("action")) or text(tool.get("type")):
        return read_tool_call("computer", tool)[0]
    if word := text(given.get("action")):
        return _read_code(word)
    return RecordedAction(kind="other", args=clean_args(given))


WORDS: dict[str, _Made] = {
    "DONE": ("send_msg_to_user", {}),
    "FAIL": ("report_infeasible", {"reason": ""}),
    "WAIT": ("noop", {}),
}
"""OSWorld's words for actions without code."""


def _read_code(code: str) -> RecordedAction | None:
    source = code[:MAX_CODE].strip().strip("`").strip().removeprefix("python\n")
    if not source:
        return None
    word = source.split("(", 1)[0].strip().upper()
    if word in WORDS and source.strip("().").strip().upper().startswith(word) and "pyautogui" not in source:
        return _recorded(WORDS[word])
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return RecordedAction(kind="code", args=clean_args({"code": code[:MAX_CODE]}))
    calls = [made for statement in statements[:MAX_CALLS] if (made := _call(statement)) is not None]
    made = _joined(calls)
    return (
        _recorded(made)
        if made is not None
        else RecordedAction(kind="code", args=clean_args({"code": source}))
    )


def _call(statement: ast.stmt) -> _Made | None:
    """Return a statement's call with plain values; ``None`` for imports, and for anything that is none."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
        return None
    if call.func.value.id not in ("pyautogui", "time", "pyperclip", "computer"):
        return None
    name, values = call.func.attr, _Values()
    names = _NAMES.get(name, ())
    try:
        listed = [ast.literal_eval(node) for node in call.args]
        values |= {one.arg: ast.literal_eval(one.value) for one in call.keywords if one.arg is not None}
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return name, {"code": ast.unparse(call)[:2000]}
    if name == "hotkey":
        return _keys({"keys": listed[0] if len(listed) == 1 else listed})
    for position, value in enumerate(listed):
        values[names[position] if position < len(names) else f"arg{position}"] = value
    if isinstance(values.get("x"), list | tuple) and len(values["x"]) == 2:
        values["x"], values["y"] = values["x"]
    convert = CALLS.get(name)
    return (
        convert(values)
        if convert is not None
        else (name, {key: _plain(value) for key, value in values.items()})
    )


def _joined(calls: list[_Made]) -> _Made | None:
    """Return one call for several: pauses and the way to the place of a click go with it."""
    kept = [made for made in calls if made[0] != "noop"] or calls[:1]
    if (
        len(kept) >= 2
        and kept[0][0] == "mouse_move"
        and kept[1][0].startswith("mouse_")
        and "x" not in kept[1][1]
    ):
        kept[:2] = [(kept[1][0], {**kept[0][1], **kept[1][1]})]
    if len(kept) == 1:
        return kept[0]
    if not kept:
        return None
    return "several", {
        "calls": [f"{kind}({', '.join(f'{k}={v!r}' for k, v in args.items())})" for kind, args in kept]
    }


def _at(kind: str, **fixed: object) -> Callable[[_Values], _Made]:
    def made(values: _Values) -> _Made:
        clicks = number(values.get("clicks", values.get("num_clicks")), 1) or 1
        name = "mouse_dblclick" if kind == "mouse_click" and clicks == 2 else kind
        place = {key: values[key] for key in ("x", "y") if number(values.get(key), None) is not None}
        button = values.get("button")
        plain = {"button": button} if isinstance(button, str) and button not in ("left", "primary") else {}
        return name, {**place, **plain, **fixed}

    return made


def _scrolled(across: bool) -> Callable[[_Values], _Made]:
    def made(values: _Values) -> _Made:
        amount = number(values.get("amount", values.get("clicks")), 0.0) or 0.0
        way = ("right" if amount > 0 else "left") if across else ("up" if amount > 0 else "down")
        return "scroll", {"direction": way, "amount": abs(amount)}

    return made


def _scrolled_by(values: _Values) -> _Made:
    """OSWorld's ``SCROLL``: notches of the wheel, up and right."""
    dx, dy = number(values.get("dx"), 0.0) or 0.0, number(values.get("dy"), 0.0) or 0.0
    return _scrolled(across=dx != 0 and dy == 0)({"amount": dx if dx and not dy else dy})


def _keys(values: _Values) -> _Made:
    keys = values.get("keys", values.get("key"))
    listed = list(cast("list[object]", keys)) if isinstance(keys, list | tuple) else [keys or ""]
    said = "+".join(map(str, listed))
    times = number(values.get("presses"), 1) or 1
    return "keyboard_press", {"key": said, **({"presses": times} if times != 1 else {})}


def _typed_text(values: _Values) -> _Made:
    return "keyboard_type", {"text": str(values.get("message", values.get("text", "")))}


def _paused(values: _Values) -> _Made:
    seconds = number(values.get("secs", values.get("seconds")), None)
    return "noop", {"wait_ms": seconds * 1000} if seconds is not None else {}


CALLS: dict[str, Callable[[_Values], _Made]] = {
    "click": _at("mouse_click"),
    "leftClick": _at("mouse_click"),
    "rightClick": _at("mouse_click", button="right"),
    "middleClick": _at("mouse_click", button="middle"),
    "doubleClick": _at("mouse_dblclick"),
    "tripleClick": _at("mouse_tripleclick"),
    "moveTo": _at("mouse_move"),
    "dragTo": _at("mouse_drag"),
    "scroll": _scrolled(across=False),
    "vscroll": _scrolled(across=False),
    "hscroll": _scrolled(across=True),
    "write": _typed_text,
    "typewrite": _typed_text,
    "press": _keys,
    "sleep": _paused,
}
"""Calls of pyautogui; one that is not here keeps its name and its arguments."""

TYPES: dict[str, Callable[[_Values], _Made]] = {
    "CLICK": _at("mouse_click"),
    "LEFT_CLICK": _at("mouse_click"),
    "RIGHT_CLICK": _at("mouse_click", button="right"),
    "DOUBLE_CLICK": _at("mouse_dblclick"),
    "MOVE_TO": _at("mouse_move"),
    "DRAG_TO": _at("mouse_drag"),
    "SCROLL": _scrolled_by,
    "TYPING": _typed_text,
    "TYPE": _typed_text,
    "PRESS": _keys,
    "HOTKEY": _keys,
    "KEY_DOWN": lambda values: ("key_down", {"key": str(values.get("key", ""))}),
    "KEY_UP": lambda values: ("key_up", {"key": str(values.get("key", ""))}),
    "MOUSE_DOWN": _at("mouse_down"),
    "MOUSE_UP": _at("mouse_up"),
    "WAIT": _paused,
    "DONE": lambda values: WORDS["DONE"],
    "FAIL": lambda values: WORDS["FAIL"],
}
"""OSWorld's ``computer_13`` actions."""


def _typed(given: Mapping[str, Any]) -> _Made | None:
    kind = text(given.get("action_type")).upper()
    convert = TYPES.get(kind)
    return convert({**given, **fields_of(given.get("parameters"))}) if convert is not None else None


def _recorded(made: _Made) -> RecordedAction:
    kind, args = made
    return RecordedAction(
        kind=redact_text(kind[:200]), args=clean_args({k: _plain(v) for k, v in args.items()})
    )


def _plain(value: object) -> object:
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    return list(cast("list[object]", value)) if isinstance(value, list | tuple) else as_json(value)
