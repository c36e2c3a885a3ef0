"""Binding of written calls to actions: arguments by position and by name, each read as its parameter's type."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import cast

from app.engine.core.actions.specs import Action, ActionSyntaxError, ArgumentType, CallForm, Parameter
from app.engine.core.actions.syntax import BareToken, WrittenCall, WrittenValue
from app.engine.core.actions.types import Navigate, Scroll, Select, TypeText, Wait


def build_action(form: CallForm, call: WrittenCall) -> Action:
    """Return the action a written call means.

    Raises:
        ActionSyntaxError: an argument is missing, unknown, given twice or of the wrong type.
    """
    arguments: dict[str, object] = {}
    for parameter, value in _paired(form, call):
        if not (isinstance(value, BareToken) and value.is_nothing):
            if parameter.refusal and value not in ("", []):
                raise ActionSyntaxError(parameter.refusal)
            arguments[parameter.name] = _read(form, parameter, value)
    for parameter in form.parameters:
        if parameter.needed and parameter.name not in arguments:
            raise ActionSyntaxError(
                f"{form.name} needs {parameter.name}, {parameter.type.value}; write {form.usage}"
            )
    return form.build(arguments) if form.build is not None else _made(form, arguments)


def _made(form: CallForm, arguments: Mapping[str, object]) -> Action:
    attributes: dict[str, object] = dict(form.fixed)
    points: dict[str, dict[int, object]] = {}
    for parameter in form.parameters:
        if parameter.name in arguments and not parameter.refusal:
            name = parameter.attribute or parameter.name
            if parameter.part is None:
                attributes[name] = arguments[parameter.name]
            else:
                points.setdefault(name, {})[parameter.part] = arguments[parameter.name]
    for name, parts in points.items():
        if name not in attributes and len(parts) == 2:
            attributes[name] = (parts[0], parts[1])
    try:
        return cast("Callable[..., Action]", form.makes)(**attributes)
    except TypeError:
        lacking = [p.name for p in form.parameters if (p.attribute or p.name) not in attributes]
        raise ActionSyntaxError(f"{form.name} needs {' or '.join(lacking)}; write {form.usage}") from None


def _paired(form: CallForm, call: WrittenCall) -> list[tuple[Parameter, WrittenValue]]:
    positional, named = _normalised(form, call)
    if len(positional) > len(form.parameters):
        raise ActionSyntaxError(
            f"{call.name} takes {_signature(form)}, and {len(positional)} values are given; write {form.usage}"
        )
    pairs = list(zip(form.parameters, positional, strict=False))
    known = {name: one for one in form.parameters for name in (one.name, *one.aliases)}
    known |= {one.name: one for one in form.parameters}
    for name, value in named.items():
        parameter = known.get(name)
        if parameter is None:
            raise ActionSyntaxError(
                f"{call.name} has no argument {name!r}; it takes {_signature(form)}; write {form.usage}"
            )
        if any(parameter is other for other, _ in pairs):
            raise ActionSyntaxError(f"{call.name}: {parameter.name} is given twice; write {form.usage}")
        pairs.append((parameter, value))
    return pairs


def _normalised(
    form: CallForm, call: WrittenCall
) -> tuple[tuple[WrittenValue, ...], dict[str, WrittenValue]]:
    """Return the arguments after undoing the liberties that models take with each form."""
    values, named = call.positional, call.named
    if form.makes is Scroll and values and _is_text(values[0]):
        direction, *rest = values
        return tuple(rest[1:]), {"direction": direction, **({"bid": rest[0]} if rest else {}), **named}
    if form.makes is Navigate and len(values) == 3:
        return values[1:], named
    if form.makes is TypeText and call.brackets and form.name == "fill":
        return _typed_in_brackets(values), named
    if form.makes is Wait and call.name == "wait" and len(values) == 1 and not named:
        return (), {"seconds": next(iter(values))}
    if form.name == "press" and len(values) == 1 and not named:
        raise ActionSyntaxError(
            'press takes an element and keys; without an element write keyboard_press("Enter")'
        )
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


def _read(form: CallForm, parameter: Parameter, value: WrittenValue) -> object:
    if parameter.type is ArgumentType.TEXTS:
        items = value if isinstance(value, list) else [value]
        return tuple(_as_text(form, parameter, item) for item in items)
    text = _as_text(form, parameter, value)
    match parameter.type:
        case ArgumentType.FLAG:
            return _as_flag(form, parameter, text.strip().lower())
        case ArgumentType.BUTTON:
            if text.lower() not in ("left", "middle", "right"):
                raise _wrong(form, parameter, text)
            return text.lower()
        case ArgumentType.NUMBER:
            token = BareToken(text.strip())
            if not token.is_number or not math.isfinite(number := float(token)):
                raise _wrong(form, parameter, token)
            return number / parameter.scale
        case ArgumentType.COUNT | ArgumentType.ELEMENT | ArgumentType.MARK:
            return _as_whole(form, parameter, text)
        case ArgumentType.ADDRESS:
            if any(ord(char) < 33 for char in text.strip()):
                raise ActionSyntaxError("an address has no spaces")
            return text.strip()
        case _:
            return text


def _as_text(form: CallForm, parameter: Parameter, value: WrittenValue) -> str:
    if isinstance(value, list):
        raise ActionSyntaxError(f"{form.name}: {parameter.name} is one text, not a list")
    return str(value)


def _as_flag(form: CallForm, parameter: Parameter, text: str) -> bool:
    if text in ("true", "1", "yes"):
        return True
    if text in ("false", "0", "no"):
        return False
    raise _wrong(form, parameter, text)


def _as_whole(form: CallForm, parameter: Parameter, text: str) -> int:
    text = text.strip().strip("[]#").strip()
    if parameter.type is ArgumentType.MARK:
        text = text.lstrip("Vv_")
    negative = text.startswith("-") and parameter.type is not ArgumentType.ELEMENT
    digits = text[1:] if negative else text
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 9):
        raise NotANumber(form, parameter, text)
    return -int(digits) if negative else int(digits)


def _wrong(form: CallForm, parameter: Parameter, text: str) -> ActionSyntaxError:
    return ActionSyntaxError(f"{form.name}: {parameter.name} is {parameter.type.value}, not {text[:20]!r}")


class NotANumber(ActionSyntaxError):
    """A name or another text was given in place of an element's number."""

    def __init__(self, form: CallForm, parameter: Parameter, text: str) -> None:
        self.text = text
        super().__init__(
            f"{form.name}: {parameter.name} is {parameter.type.value}, not {text[:40]!r}; write {form.usage}"
        )


def _signature(form: CallForm) -> str:
    return ", ".join(one.name for one in form.parameters) or "no arguments"
