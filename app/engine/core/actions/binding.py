"""Binding of written calls to action classes: arguments by position and by name, converted to the type of each
parameter.
"""

from __future__ import annotations

import math

from app.engine.core.actions.specs import ActionSpec, ArgumentType, Parameter
from app.engine.core.actions.syntax import BareToken, CallError, WrittenCall, WrittenValue
from app.engine.core.actions.types import (
    Action,
    ClickMark,
    Navigate,
    Scroll,
    Select,
    TypeMark,
    TypeText,
    Wait,
)


def build_action(form: ActionSpec, call: WrittenCall) -> Action:
    """Return the action a written call means.

    Raises:
        CallError: an argument is missing, unknown, given twice or of the wrong type.
    """
    bound: dict[str, object] = {}
    for parameter, value in _paired(form, call):
        if not (isinstance(value, BareToken) and value.is_nothing):
            bound[parameter.name] = _read(form, parameter, value)
    for parameter in form.parameters:
        if parameter.needed and parameter.name not in bound:
            raise CallError(
                f"{form.names[0]} needs {parameter.name}, {parameter.takes.value}; write {form.usage}"
            )
    return form.build(bound)


def _paired(form: ActionSpec, call: WrittenCall) -> list[tuple[Parameter, WrittenValue]]:
    positional, named = _normalised(form, call)
    if len(positional) > len(form.parameters):
        raise CallError(
            f"{call.name} takes {_signature(form)}, and {len(positional)} values are given; write {form.usage}"
        )
    pairs = list(zip(form.parameters, positional, strict=False))
    known = {
        name: parameter for parameter in form.parameters for name in (parameter.name, *parameter.aliases)
    }
    known |= {parameter.name: parameter for parameter in form.parameters}
    for name, value in named.items():
        parameter = known.get(name)
        if parameter is None:
            raise CallError(
                f"{call.name} has no argument {name!r}; it takes {_signature(form)}; write {form.usage}"
            )
        if any(parameter is other for other, _ in pairs):
            raise CallError(f"{call.name}: {parameter.name} is given twice; write {form.usage}")
        pairs.append((parameter, value))
    return pairs


def _normalised(
    form: ActionSpec, call: WrittenCall
) -> tuple[tuple[WrittenValue, ...], dict[str, WrittenValue]]:
    """Return the arguments after undoing the liberties that models take with each form."""
    values, named = call.positional, call.named
    if form.makes is Scroll and values and _is_text(values[0]):
        return values[2:], {
            "direction": values[0],
            **({"bid": values[1]} if len(values) > 1 else {}),
            **named,
        }
    if form.makes is Navigate and len(values) == 3:
        return values[1:], named
    if form.makes is TypeText and call.brackets and form.name == "fill":
        return _typed_in_brackets(values), named
    if form.makes is Wait and call.name == "wait" and len(values) == 1 and not named:
        return (), {"seconds": values[0]}
    if form.name == "press" and len(values) == 1 and not named:
        raise CallError('press takes an element and keys; without an element write keyboard_press("Enter")')
    if form.makes is Select and len(values) > 2:
        return (values[0], list(values[1:])), named
    return values, named


def _typed_in_brackets(values: tuple[WrittenValue, ...]) -> tuple[WrittenValue, ...]:
    """WebArena's ``type [15] [a text] [1]``: Enter is pressed unless the last field says 0."""
    enter: WrittenValue = BareToken("true")
    if len(values) > 2:
        last = str(values[-1]).rpartition("=")[2].strip()
        if last in ("0", "1"):
            enter, values = BareToken("true" if last == "1" else "false"), values[:-1]
    if len(values) > 2:
        values = (values[0], "] [".join(str(value) for value in values[1:]))
    return (*values, enter) if len(values) == 2 else values


def _is_text(value: WrittenValue) -> bool:
    return (
        isinstance(value, str) and not isinstance(value, BareToken) and not BareToken(value.strip()).is_number
    )


def _read(form: ActionSpec, parameter: Parameter, value: WrittenValue) -> object:
    where = f"{form.name}: {parameter.name}"
    match parameter.takes:
        case ArgumentType.TEXTS:
            items = value if isinstance(value, list) else [value]
            return tuple(_as_text(where, item) for item in items)
        case ArgumentType.TEXT:
            return _as_text(where, value)
        case ArgumentType.FLAG:
            return _as_flag(where, value)
        case ArgumentType.BUTTON:
            text = _as_text(where, value).lower()
            if text not in ("left", "middle", "right"):
                raise CallError(f"{where} is left, middle or right, not {text[:20]!r}")
            return text
        case ArgumentType.NUMBER:
            return _as_number(where, value)
        case ArgumentType.COUNT | ArgumentType.ELEMENT:
            return _as_whole(form, parameter, value)


def _as_text(where: str, value: WrittenValue) -> str:
    if isinstance(value, list):
        raise CallError(f"{where} is one text, not a list")
    return str(value)


def _as_flag(where: str, value: WrittenValue) -> bool:
    text = _as_text(where, value).strip().lower()
    if text in ("true", "1", "yes"):
        return True
    if text in ("false", "0", "no"):
        return False
    raise CallError(f"{where} is true or false, not {text[:20]!r}")


def _as_number(where: str, value: WrittenValue) -> float:
    text = BareToken(_as_text(where, value).strip())
    if not text.is_number or not math.isfinite(number := float(text)):
        raise CallError(f"{where} is a number, not {text[:20]!r}")
    return number


def _as_whole(form: ActionSpec, parameter: Parameter, value: WrittenValue) -> int:
    text = _as_text(f"{form.name}: {parameter.name}", value).strip().strip("[]#").strip()
    if form.makes in (ClickMark, TypeMark):
        text = text.lstrip("Vv_")
    negative = text.startswith("-") and parameter.takes is ArgumentType.COUNT
    digits = text[1:] if negative else text
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 9):
        raise NotANumber(form, parameter, text)
    return -int(digits) if negative else int(digits)


class NotANumber(CallError):
    """A name or another text was given in place of an element's number."""

    def __init__(self, form: ActionSpec, parameter: Parameter, text: str) -> None:
        self.text = text
        super().__init__(
            f"{form.name}: {parameter.name} is {parameter.takes.value}, not {text[:40]!r}; write {form.usage}"
        )


def _signature(form: ActionSpec) -> str:
    names = [parameter.name if parameter.needed else f"{parameter.name}?" for parameter in form.parameters]
    return ", ".join(names) or "no arguments"
