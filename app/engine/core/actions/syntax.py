"""Syntax of written actions: ``click("12")``, ``click [12]``, and the same as JSON.

Reading runs nothing: no ``eval`` and no Python parser, only this reader.  Its time is proportional to the
length of the
text, whatever the text is.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import NoReturn, cast

from app.engine.core.actions.specs import ActionSyntaxError

MAX_ACTION_LENGTH = 50_000
"""Maximum characters of one action block; a longer one is no action."""

NAME_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9_\-]*(?: (?:back|forward|tab)\b)?")
_NAMED = re.compile(r"([A-Za-z_]\w*)\s*[=:](?!=)")
_BARE = re.compile(r"[\w.+\-]+")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?\Z")
_GROUP_END = re.compile(r"[ \t]*(?:[\[;\r\n]|\Z)")
_BRACKET = re.compile(r"[\[\]]")
_PLAIN = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "\\": "\\",
    '"': '"',
    "'": "'",
    "/": "/",
    "\n": "",
    "b": "\b",
    "f": "\f",
}
_CODED = re.compile(r"u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})")
_DEEPEST = 8
_MOST = 100
_WORDS = frozenset({"true", "false", "none", "null"})

_NAMING = ("name", "action", "action_type", "tool", "function", "type")
_GIVING = ("args", "arguments", "parameters", "params", "kwargs", "action_input", "input")
_THINKING = ("thought", "think", "thinking", "reason", "reasoning", "rationale")


class BareToken(str):
    """An unquoted token: a number, ``true``, ``null``; kept as written."""

    __slots__ = ()

    @property
    def is_number(self) -> bool:
        """Whether it is a number."""
        return _NUMBER.match(self) is not None

    @property
    def is_nothing(self) -> bool:
        """Whether it stands for no value."""
        return self.lower() in ("none", "null")


WrittenValue = str | list["WrittenValue"]
"""An argument: a quoted text, a ``BareToken`` token, or a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCall:
    """One action as written; ``brackets``: in WebArena's form, whose defaults differ."""

    name: str
    positional: tuple[WrittenValue, ...] = ()
    named: dict[str, WrittenValue] = field(default_factory=dict[str, WrittenValue])
    brackets: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonAnswer:
    """Calls and thinking of a JSON answer."""

    calls: tuple[WrittenCall, ...]
    thinking: str = ""


def read_calls(text: str) -> list[WrittenCall]:
    """Read all calls of a text that holds nothing else.

    Raises:
        ActionSyntaxError: it holds something else; the message says where.
    """
    if len(text) > MAX_ACTION_LENGTH:
        raise ActionSyntaxError(
            f"the action is {len(text):,} characters long; an action may have {MAX_ACTION_LENGTH:,}"
        )
    return _Reader(text).calls()


def read_json(text: str) -> JsonAnswer | None:
    """Read the calls of a JSON answer; ``None`` where it is no JSON.

    Raises:
        ActionSyntaxError: it is JSON, but names no action.
    """
    value = _decoded(text)
    if value is None:
        return None
    thinking = ""
    if isinstance(value, dict):
        thinking = next((str(value[key]) for key in _THINKING if isinstance(value.get(key), str)), "")
    return JsonAnswer(calls=tuple(_calls_of(value, 0)), thinking=thinking)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def calls(self) -> list[WrittenCall]:
        found: list[WrittenCall] = []
        while self._skip(" \t\r\n;`") and len(found) < _MOST:
            found.append(self._call())
        return found

    def _call(self) -> WrittenCall:
        start = self.at
        match = NAME_PATTERN.match(self.text, start)
        if match is None:
            self._fail(f"an action begins with its name, not with {self._near()}")
        self.at = match.end()
        name = normalised_name(match[0])
        self._skip(" \t")
        opening = self._peek()
        if opening == "(":
            self.at += 1
            positional, named = self._arguments()
            return WrittenCall(name=name, positional=positional, named=named, text=self.text[start : self.at])
        if opening == "[":
            groups = self._groups()
            return WrittenCall(name=name, positional=groups, brackets=True, text=self.text[start : self.at])
        if opening not in ("", "\n", "\r", ";", "`"):
            self._fail(f"after the name {match[0]!r} comes '(' with the arguments, not {self._near()}")
        return WrittenCall(name=name, text=match[0])

    def _arguments(self) -> tuple[tuple[WrittenValue, ...], dict[str, WrittenValue]]:
        positional: list[WrittenValue] = []
        named: dict[str, WrittenValue] = {}
        while True:
            self._skip(" \t\r\n")
            if self._take(")"):
                return tuple(positional), named
            match = _NAMED.match(self.text, self.at)
            if match is not None:
                self.at = match.end()
                if match[1] in named:
                    self._fail(f"the argument {match[1]!r} is given twice")
                named[match[1]] = self._value(0)
            elif named:
                self._fail("an argument without a name comes after one with a name")
            else:
                positional.append(self._value(0))
            self._skip(" \t\r\n")
            if self._peek() != ")" and not self._take(","):
                self._fail(
                    f"',' or ')' is missing before {self._near()}"
                    " (a quote inside a text needs a backslash before it)"
                )

    def _value(self, depth: int) -> WrittenValue:
        self._skip(" \t\r\n")
        first = self._peek()
        if first in ('"', "'"):
            return self._string(first)
        if first == "[":
            return self._list(depth + 1)
        match = _BARE.match(self.text, self.at)
        if match is None:
            self._fail(f"a value is missing before {self._near()}")
        self.at = match.end()
        token = BareToken(match[0])
        if not token.is_number and token.lower() not in _WORDS:
            self._fail(f"put the text in quotes: {match[0]!r}")
        return token

    def _list(self, depth: int) -> list[WrittenValue]:
        if depth > _DEEPEST:
            self._fail("lists are nested too deep")
        self.at += 1
        items: list[WrittenValue] = []
        while True:
            self._skip(" \t\r\n")
            if self._take("]"):
                return items
            items.append(self._value(depth))
            self._skip(" \t\r\n")
            if self._peek() != "]" and not self._take(","):
                self._fail(f"',' or ']' is missing before {self._near()}")

    def _string(self, quote: str) -> str:
        triple = quote * 3
        if self.text.startswith(triple, self.at):
            end = self.text.find(triple, self.at + 3)
            if end == -1:
                self._fail("a text in three quotes is not closed: the answer was cut off")
            inside, self.at = self.text[self.at + 3 : end], end + 3
            return inside
        self.at += 1
        parts: list[str] = []
        while True:
            match = cast("re.Match[str]", _PLAIN[quote].match(self.text, self.at))
            parts.append(match[0])
            self.at = match.end()
            if self._take(quote):
                return "".join(parts)
            if self.at + 1 >= len(self.text):
                self._fail(
                    "a text is not closed with its quote: the answer was cut off, or the quote is missing"
                )
            parts.append(self._escape())

    def _escape(self) -> str:
        coded = _CODED.match(self.text, self.at + 1)
        if coded is not None:
            code = int(coded[1] or coded[2] or coded[3], 16)
            if code < 0x110000 and not 0xD800 <= code < 0xE000:
                self.at = coded.end()
                return chr(code)
        char = self.text[self.at + 1]
        self.at += 2
        return _ESCAPES.get(char, f"\\{char}")

    def _groups(self) -> tuple[str, ...]:
        groups: list[str] = []
        while self._peek() == "[":
            groups.append(self._group())
            self._skip(" \t\r\n")
        return tuple(groups)

    def _group(self) -> str:
        """Read to the closing bracket; brackets inside may be in pairs, or part of the text."""
        start, depth = self.at + 1, 0
        for bracket in _BRACKET.finditer(self.text, self.at):
            depth += 1 if bracket[0] == "[" else -1
            if depth <= 0 and _GROUP_END.match(self.text, bracket.end()):
                self.at = bracket.end()
                return self.text[start : bracket.start()].strip()
            depth = max(depth, 0)
        last = self.text.rstrip("` \t\r\n;").endswith("]")
        if last:
            end = self.text.rindex("]")
            self.at = end + 1
            return self.text[start:end].strip()
        raise ActionSyntaxError("a bracket is not closed, or text follows it; only the action is allowed")

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _take(self, char: str) -> bool:
        if self._peek() == char:
            self.at += 1
            return True
        return False

    def _skip(self, chars: str) -> bool:
        text, at, end = self.text, self.at, len(self.text)
        while at < end and text[at] in chars:
            at += 1
        self.at = at
        return at < end

    def _near(self) -> str:
        return (
            repr(self.text[self.at : self.at + 30]) if self.at < len(self.text) else "the end of the answer"
        )

    def _fail(self, why: str) -> NoReturn:
        raise ActionSyntaxError(why)


def normalised_name(name: str) -> str:
    """Return an action's name in its compared form: ``Go-Back`` is ``go_back``."""
    return name.lower().replace("-", "_").replace(" ", "_")


def _decoded(text: str) -> dict[str, object] | list[object] | None:
    decoder = json.JSONDecoder(parse_int=BareToken, parse_float=BareToken, parse_constant=BareToken)
    try:
        value, end = cast("tuple[object, int]", decoder.raw_decode(text))
    except (ValueError, RecursionError):
        return None
    if text[end:].strip("` \t\r\n;") or not isinstance(value, dict | list):
        return None
    return cast("dict[str, object] | list[object]", value)


def _calls_of(value: object, depth: int) -> list[WrittenCall]:
    if depth > _DEEPEST:
        raise ActionSyntaxError("the JSON is nested too deep")
    if isinstance(value, str):
        return read_calls(value)
    if isinstance(value, list):
        return [call for item in cast("list[object]", value)[:_MOST] for call in _calls_of(item, depth + 1)]
    if not isinstance(value, dict):
        raise ActionSyntaxError('the JSON has no action; write {"action": "click(\\"12\\")"}')
    return _calls_of_object(cast("dict[str, object]", value), depth)


def _calls_of_object(known: dict[str, object], depth: int) -> list[WrittenCall]:
    for key in ("actions", "action", "tool_calls", "function"):
        inner = known.get(key)
        if isinstance(inner, list | dict):
            return _calls_of(cast("object", inner), depth + 1)
    for key in _NAMING:
        name = known.get(key)
        if isinstance(name, str) and name.strip():
            return _named_call(name, key, known)
    if len(known) == 1:
        name, inner = next(iter(known.items()))
        if isinstance(inner, dict | list) or inner is None:
            return [_with(name, cast("object", inner))]
    raise ActionSyntaxError('the JSON names no action; write {"action": "click(\\"12\\")"}')


def _named_call(name: str, key: str, known: dict[str, object]) -> list[WrittenCall]:
    if "(" in name or "[" in name:
        return read_calls(name)
    for giving in _GIVING:
        if giving in known:
            return [_with(name, known[giving])]
    left_out = (
        {key, *_THINKING, "expect", "id"}
        if "element" in known or "bid" in known
        else {key, *_THINKING, "expect"}
    )
    return [_with(name, {other: value for other, value in known.items() if other not in left_out})]


def _with(name: str, arguments: object) -> WrittenCall:
    if isinstance(arguments, str) and arguments.lstrip().startswith(("{", "[")):
        return _with(name, cast("object", _decoded(arguments.strip())))
    text = f"{name} {json.dumps(arguments, default=str)[:2000]}"
    if isinstance(arguments, dict):
        pairs = cast("dict[str, object]", arguments)
        return WrittenCall(
            name=normalised_name(name), named={k: plain_value(v, 0) for k, v in pairs.items()}, text=text
        )
    items = cast("list[object]", arguments) if isinstance(arguments, list) else []
    if isinstance(arguments, str):
        items = [arguments]
    return WrittenCall(
        name=normalised_name(name), positional=tuple(plain_value(item, 0) for item in items), text=text
    )


def plain_value(value: object, depth: int = 0) -> WrittenValue:
    """Return a value of JSON as if it were written."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return BareToken("true" if value else "false")
    if value is None:
        return BareToken("null")
    if isinstance(value, int | float):
        return BareToken(repr(value))
    if isinstance(value, list) and depth <= _DEEPEST:
        return [plain_value(item, depth + 1) for item in cast("list[object]", value)]
    raise ActionSyntaxError("an argument is an object; arguments are texts, numbers and lists")
