"""Conditions on an element: a tree of ``any``, ``all``, ``not`` and matchers, parsed from untrusted input.

A matcher checks one fact of the element.  A missing fact reads as empty text, so it matches only ``equals ""`` and
expressions that match the empty text.  Facts with several words (class, state, landmark, frame) match ``equals`` and
``glob`` with any one of them or with all joined by blanks; ``contains`` and ``regex`` see them joined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import translate
from typing import Literal, Protocol, cast
from urllib.parse import SplitResult, urlsplit

from app.engine.core.page_state import Element

Op = Literal["equals", "contains", "regex", "glob"]
OPS: tuple[Op, ...] = ("equals", "contains", "regex", "glob")
MAX_DEPTH = 40
"""Maximum nesting of a tree; hand-written ones stay under ten."""
LONGEST = 1000
"""Characters of a fact that an expression is tried on."""


class BadExpression(ValueError):
    """A condition can't be read: ``place`` is its path within the rule, ``why`` the mistake there."""

    def __init__(self, place: str, why: str, value: str = "") -> None:
        self.place, self.why, self.value = place, why, value
        super().__init__(f"{place}: {why}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The element on a page that a condition is checked against."""

    element: Element
    page_url: str = ""

    def fact(self, attr: str) -> tuple[str, ...]:
        """The values of one fact, empty if it is missing.  ``@x`` is the HTML attribute ``x``."""
        if attr.startswith("@"):
            return _attribute(self.element, attr[1:])
        return _FACTS[attr](self)


class Condition(Protocol):
    """A test of an element."""

    def holds(self, subject: Subject) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Matcher:
    """A test of one fact.  ``pattern`` is ``value`` prepared: the text to find, or a compiled expression."""

    attr: str
    op: Op
    value: str
    flags: str = ""
    pattern: re.Pattern[str] | None = None

    def holds(self, subject: Subject) -> bool:
        """Whether the element's fact matches."""
        values = subject.fact(self.attr)
        joined = " ".join(values)[:LONGEST]
        if self.pattern is not None:
            if self.op == "regex":
                return self.pattern.search(joined) is not None
            return any(self.pattern.match(text[:LONGEST]) for text in (*values, joined))
        ignore_case = "i" in self.flags
        wanted = self.value.casefold() if ignore_case else self.value
        texts = [text.casefold() if ignore_case else text for text in (*values, joined)]
        return wanted in texts if self.op == "equals" else wanted in texts[-1]


@dataclass(frozen=True, slots=True)
class AllOf:
    """Holds if every part does; an empty list holds."""

    parts: tuple[Condition, ...]

    def holds(self, subject: Subject) -> bool:
        """Whether all parts hold."""
        return all(part.holds(subject) for part in self.parts)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Holds if one part does; an empty list never holds."""

    parts: tuple[Condition, ...]

    def holds(self, subject: Subject) -> bool:
        """Whether one part holds."""
        return any(part.holds(subject) for part in self.parts)


@dataclass(frozen=True, slots=True)
class NotOf:
    """Holds if its part does not."""

    part: Condition

    def holds(self, subject: Subject) -> bool:
        """Whether the part does not hold."""
        return not self.part.holds(subject)


def read_condition(raw: object, place: str = "when", depth: int = 0) -> Condition:
    """Parse a condition from JSON values.

    Raises:
        BadExpression: it is no tree, contains an unknown word, or an expression that can't be compiled.
    """
    if depth > MAX_DEPTH:
        raise BadExpression(place, f"nested deeper than {MAX_DEPTH}")
    if not isinstance(raw, dict):
        raise BadExpression(
            place, 'a condition is {"any": [...]}, {"all": [...]}, {"not": {...}} or a matcher'
        )
    entry = cast("Mapping[str, object]", raw)
    words = [word for word in ("any", "all", "not") if word in entry]
    if not words:
        return _read_matcher(entry, place)
    if len(entry) > 1:
        raise BadExpression(place, f"'{words[0]}' must be the only key; move the others into the list")
    word, inner = words[0], entry[words[0]]
    if word == "not":
        return NotOf(read_condition(inner, f"{place}.not", depth + 1))
    if not isinstance(inner, list) or not inner:
        raise BadExpression(f"{place}.{word}", "expected a list of at least one condition")
    parts = tuple(
        read_condition(part, f"{place}.{word}[{i}]", depth + 1)
        for i, part in enumerate(cast("list[object]", inner))
    )
    return AnyOf(parts) if word == "any" else AllOf(parts)


def make_matcher(attr: str, op: Op, value: str, flags: str = "", place: str = "when") -> Matcher:
    """Return a compiled matcher.

    Raises:
        BadExpression: the expression can't be compiled, or could run for ever on a long text.
    """
    pattern = None
    if op in ("regex", "glob"):
        pattern = _compiled(value if op == "regex" else translate(value), value, flags, f"{place}.value", op)
    return Matcher(attr=attr, op=op, value=value, flags=flags, pattern=pattern)


def _read_matcher(entry: Mapping[str, object], place: str) -> Matcher:
    strange = sorted(set(entry) - {"attr", "op", "value", "flags"})
    if strange:
        raise BadExpression(place, f"unknown word '{strange[0]}'; a matcher has attr, op, value, flags")
    attr, op, value, flags = (entry.get(key, "") for key in ("attr", "op", "value", "flags"))
    if not isinstance(attr, str) or not (attr in _FACTS or (attr.startswith("@") and len(attr) > 1)):
        raise BadExpression(
            f"{place}.attr",
            f"unknown fact '{attr}'; known are {', '.join(sorted(_FACTS))}, and @x for the HTML attribute x",
        )
    if op not in OPS:
        raise BadExpression(f"{place}.op", f"unknown operation '{op}'; known are {', '.join(OPS)}")
    if not isinstance(value, str) or "value" not in entry:
        raise BadExpression(f"{place}.value", "expected a text")
    if not value and op != "equals":
        raise BadExpression(f"{place}.value", f"'{op}' with an empty text would match everything")
    if not isinstance(flags, str) or set(flags) - {"i"}:
        raise BadExpression(f"{place}.flags", "the only flag is 'i' (ignore case)")
    return make_matcher(attr, op, value, flags, place)


def _compiled(expression: str, written: str, flags: str, place: str, op: str) -> re.Pattern[str]:
    if op == "regex" and (at := find_runaway_repeat(expression)) is not None:
        raise BadExpression(
            place,
            f"character {at + 1}: a nested repetition may take for ever; rewrite it without one",
            written,
        )
    try:
        return re.compile(expression, re.IGNORECASE if "i" in flags else 0)
    except re.error as error:
        where = f"character {error.pos + 1}: " if error.pos is not None else ""
        raise BadExpression(place, f"{where}{error.msg}", written) from error
    except (RecursionError, OverflowError) as error:
        raise BadExpression(place, "the expression is too deeply nested or too large", written) from error


def find_runaway_repeat(expression: str) -> int | None:
    """Find an unlimited repetition of a group that contains an unlimited repetition, or two branches with the same
    start:
    on hostile text such an expression takes exponential time.
    """
    starts: list[tuple[int, bool, list[str]]] = []
    position, end = 0, len(expression)
    while position < end:
        char = expression[position]
        if char == "\\":
            position += 2
            continue
        if char == "[":
            position = _class_end(expression, position)
            continue
        if char == "(":
            starts.append((position, False, [_branch_start(expression, position + 1)]))
        elif char == "|" and starts:
            starts[-1][2].append(expression[position + 1 : position + 3])
        elif char == ")" and starts:
            start, repeats, branches = starts.pop()
            unlimited = _repeats(expression, position + 1)
            alike = len({branch[:1] for branch in branches}) < len(branches)
            if unlimited and (repeats or alike):
                return start
            if starts and (repeats or unlimited):
                starts[-1] = (starts[-1][0], True, starts[-1][2])
        elif starts and _repeats(expression, position):
            starts[-1] = (starts[-1][0], True, starts[-1][2])
        position += 1
    return None


def _branch_start(expression: str, position: int) -> str:
    if expression[position : position + 1] == "?":
        skipped = re.match(r"\?(?:P<\w+>|[a-zA-Z-]*:|<?[=!]|>)", expression[position:])
        position += skipped.end() if skipped else 1
    return expression[position : position + 2]


def _class_end(expression: str, position: int) -> int:
    """Position after a character class; a leading ``]`` in it is a plain character."""
    position += 2 if expression[position + 1 : position + 2] == "^" else 1
    first = True
    while position < len(expression) and (first or expression[position] != "]"):
        position += 2 if expression[position] == "\\" else 1
        first = False
    return position + 1


def _repeats(expression: str, position: int) -> bool:
    return expression[position : position + 1] in ("*", "+") or bool(
        re.match(r"\{\d*,\}", expression[position:])
    )


def _attribute(element: Element, name: str) -> tuple[str, ...]:
    found = next((value for key, value in element.attributes if key == name), "")
    if name == "class":
        return tuple(found.split())
    return (found,) if found else ()


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")


def _one(text: str | None) -> tuple[str, ...]:
    return (text,) if text else ()


_FACTS: Mapping[str, Callable[[Subject], tuple[str, ...]]] = {
    "role": lambda s: _one(s.element.role),
    "name": lambda s: _one(s.element.name),
    "label": lambda s: _one(s.element.label),
    "text": lambda s: _one(s.element.text),
    "title": lambda s: _attribute(s.element, "title"),
    "placeholder": lambda s: _attribute(s.element, "placeholder"),
    "id": lambda s: _attribute(s.element, "id"),
    "class": lambda s: _attribute(s.element, "class"),
    "test_id": lambda s: _one(s.element.test_id),
    "tag": lambda s: _one(s.element.tag),
    "type": lambda s: _one(s.element.type),
    "value": lambda s: _one(s.element.value),
    "state": lambda s: s.element.states,
    "landmark": lambda s: s.element.landmarks,
    "frame": lambda s: s.element.frame,
    "css": lambda s: _one(s.element.css),
    "xpath": lambda s: _one(s.element.xpath),
    "href": lambda s: _one(s.element.href),
    "scheme": lambda s: _one(_split(s.element.href).scheme),
    "host": lambda s: _one(_split(s.element.href).netloc),
    "path": lambda s: _one(_split(s.element.href).path),
    "query": lambda s: _one(_split(s.element.href).query),
    "fragment": lambda s: _one(_split(s.element.href).fragment),
    "form": lambda s: _one(s.element.form),
    "method": lambda s: _one(s.element.form.partition(":")[0]),
    "action": lambda s: _one(s.element.form.partition(":")[2]),
    "submits": lambda s: ("yes",) if s.element.submits else ("no",),
    "repeat": lambda s: _one(s.element.repeat),
    "page": lambda s: _one(s.page_url),
}
FACTS: tuple[str, ...] = tuple(_FACTS)
