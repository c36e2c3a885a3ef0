"""Actions as steps store them: a call with named arguments, its text, and its description in words.  Pure data.

The call form ``name("arg", ...)`` is BrowserGym's.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import cast

from app.engine.core.actions.binding import build_action
from app.engine.core.actions.specs import (
    FORMS,
    SPECS,
    Action,
    ActionSyntaxError,
    ArgumentType,
    CallForm,
    Parameter,
    Stored,
)
from app.engine.core.actions.syntax import WrittenCall, plain_value

_FOREIGN = {
    "focus": CallForm(names=("focus",), parameters=(Parameter(name="bid"),), words="focus{what}"),
    "expect": CallForm(
        names=("expect",), parameters=(Parameter(name="assertion"),), words="expect{what} {assertion}"
    ),
}
"""Calls of other agents that ours has no action for."""

Scalar = str | int | float | bool | None
ArgValue = Scalar | list[Scalar]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAction:
    """One call of an agent; ``args`` are named, in call order."""

    kind: str
    args: dict[str, ArgValue] = field(default_factory=dict[str, ArgValue])

    @property
    def bid(self) -> str | None:
        """Id of the target element, where the action has one."""
        value = self.args.get("bid", self.args.get("from_bid"))
        return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionTarget:
    """The target element of an action, as the page named it at that moment.

    ``locator`` is how it is found again, as JSON; only actions of a person have one.
    """

    role: str
    name: str
    bid: str = ""
    locator: str = ""


def to_recorded(action: Action) -> RecordedAction:
    """Return the form a step stores: the field's own names where it has one (``fill``, ``send_msg_to_user``)."""
    for form in SPECS[type(action)].forms:
        values = {one.name: _stored(action, one) for one in form.parameters if one.stored is not Stored.NEVER}
        fixed = all(getattr(action, name) == value for name, value in form.fixed.items())
        if fixed and all(values[one.name] is not None for one in form.parameters if one.needed):
            return RecordedAction(
                kind=form.name, args={name: v for name, v in values.items() if v is not None}
            )
    raise TypeError(f"no call can express {action!r}")


def _stored(action: Action, parameter: Parameter) -> ArgValue:
    name = parameter.attribute or parameter.name
    value: object = getattr(action, name)
    is_point = isinstance(value, tuple) and parameter.type in (ArgumentType.NUMBER, ArgumentType.ELEMENT)
    if parameter.part is not None:
        value = cast("tuple[float, float]", value)[parameter.part] if is_point else None
    elif is_point or (parameter.stored is Stored.IF_SET and value == _default(type(action), name)):
        value = None
    if value is None or isinstance(value, tuple):
        return None if value is None else list(cast("tuple[str, ...]", value))
    if parameter.type is ArgumentType.ELEMENT:
        return str(value)
    return cast("ArgValue", value if parameter.scale == 1 else cast("float", value) * parameter.scale)


def _default(kind: type[Action], name: str) -> object:
    return next(one.default for one in fields(kind) if one.name == name)  # pyright: ignore[reportArgumentType]


def from_recorded(recorded: RecordedAction) -> Action | None:
    """Return the action of a stored step, without its beliefs; ``None`` for an action that is none of ours.

    ``from_recorded(to_recorded(a)) == a`` except for the ``label`` of a click.
    """
    form = FORMS.get(recorded.kind)
    if form is None or form.name != recorded.kind:
        return None
    known = {one.name for one in form.parameters if one.stored is not Stored.NEVER}
    try:
        named = {name: plain_value(value) for name, value in recorded.args.items() if name in known}
        return build_action(form, WrittenCall(name=recorded.kind, named=named))
    except ActionSyntaxError:
        return None


def signature(kind: str) -> tuple[str, ...]:
    """Return the argument names of a call by position; empty for an unknown one."""
    form = _form(kind)
    return tuple(one.name for one in form.parameters) if form is not None else ()


def _form(kind: str) -> CallForm | None:
    form = _FOREIGN.get(kind) or FORMS.get(kind)
    return form if form is not None and form.name == kind else None


def format_recorded(recorded: RecordedAction) -> str:
    """Print the call as Python would read it."""
    names = signature(recorded.kind)
    parts: list[str] = []
    positional = True
    for position, (name, value) in enumerate(recorded.args.items()):
        expected = names[position] if position < len(names) else f"arg{position}"
        positional = positional and name == expected
        parts.append(repr(value) if positional else f"{name}={value!r}")
    return f"{recorded.kind}({', '.join(parts)})"


def describe_action(
    recorded: RecordedAction | None, target: ActionTarget | None, *, page_known: bool = True
) -> str:
    """Describe the action in words: ``click option 'Year'``, never ``click("744")``.

    ``page_known`` is False where no record says what was on the page.
    """
    if recorded is None:
        return "unreadable output"
    what = ""
    if target is not None:
        what = f" {target.role or 'element'} " + (_quoted(target.name) if target.name else "without a name")
    elif recorded.bid is not None:
        what = f" element {recorded.bid} ({'not on the page' if page_known else 'its page is unknown'})"
    form = _form(recorded.kind)
    if form is None or not form.words:
        return format_recorded(recorded)
    return form.words.format_map(
        _Placeholders({name: _Word(value) for name, value in recorded.args.items()} | {"what": what})
    )


class _Placeholders(dict[str, object]):
    def __missing__(self, name: str) -> _Word:
        return _Word(None)


class _Word:
    """An argument in a description: plain, quoted (``q``), or a text where it is true (``?text``)."""

    def __init__(self, value: ArgValue) -> None:
        self._value = value

    def __format__(self, spec: str) -> str:
        value = self._value
        if spec == "q":
            return ", ".join(map(_quoted, value)) if isinstance(value, list) else _quoted(value)
        if spec.startswith("?"):
            return spec[1:] if value else ""
        return "" if value is None else str(value)


def _quoted(value: object) -> str:
    text = " ".join(str(value if value is not None else "").split())
    return f"'{text if len(text) <= 80 else text[:79] + '…'}'"
