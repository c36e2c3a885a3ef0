"""Reads block lists in WebNavigator's format with the meaning its matcher gives them, oddities included.

The format is ``[{block_domain, block_elements: [{name, patterns: [{attribute: expression, ..., logic}]}]}]``.  The
effect of a list in its code often differs from the apparent meaning (a pattern after a ``NOT`` is never checked);
each such place becomes a note, so that the user can correct the list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast
from urllib.parse import urlparse

from app.engine.graph.rules.conditions import AllOf, AnyOf, BadExpression, Condition, NotOf, make_matcher
from app.engine.graph.rules.rule_file import BlockRule, RuleScope
from app.errors import InputError

_THEIRS = frozenset({"xpath", "href", "role", "text", "name", "tag"})
"""Attributes that are facts here; any other is an HTML attribute."""


def is_webnavigator(raw: object) -> bool:
    """Whether JSON values look like such a list."""
    return isinstance(raw, list) and all(
        isinstance(entry, dict) and "block_elements" in entry for entry in cast("list[object]", raw)
    )


def read_webnavigator(raw: object, path: str = "") -> tuple[tuple[BlockRule, ...], tuple[str, ...]]:
    """Return the list's rules, and notes on entries whose effect differs from their apparent meaning.

    Raises:
        InputError: the list has another shape; names the entry.
    """
    rules: list[BlockRule] = []
    notes: list[str] = []
    for entry in cast("list[Mapping[str, object]]", raw):
        domain, elements = entry.get("block_domain", ""), entry.get("block_elements")
        if not isinstance(domain, str) or not isinstance(elements, list):
            raise InputError("an entry needs block_domain and a list block_elements", path=path)
        host = _netloc(domain)
        if domain and not host:
            notes.append(f"'{domain}' is read as a scheme and not as a host: its rules never apply")
            continue
        for element in cast("list[object]", elements):
            rules.append(_rule(element, host, len(rules), notes, path))
    return tuple(rules), tuple(notes)


def _netloc(domain: str) -> str:
    """Host and port as their code finds them: ``localhost:80`` parses as a scheme and yields nothing."""
    try:
        parsed = urlparse(domain)
        if not parsed.netloc and not parsed.scheme:
            parsed = urlparse(f"//{domain}")
    except ValueError:
        return ""
    return parsed.netloc


def _rule(raw: object, host: str, number: int, notes: list[str], path: str) -> BlockRule:
    entry = cast("Mapping[str, object]", raw if isinstance(raw, dict) else {})
    name, patterns = entry.get("name"), entry.get("patterns")
    if not isinstance(name, str) or not isinstance(patterns, list):
        raise InputError(f"element {number + 1} needs a name and a list of patterns", path=path)
    label = f"{host}: {name}" if host else name
    if not patterns:
        notes.append(f"'{label}' has no patterns and therefore blocks every element")
    try:
        when = _combined(cast("list[object]", patterns), label, notes)
    except BadExpression as error:
        raise InputError(f"element '{name}', {error.place}: {error.why}", path=path) from error
    return BlockRule(
        name=label,
        when=when,
        scope=RuleScope(host=host, exact=bool(host)),
        reason="imported WebNavigator rule",
    )


def _combined(patterns: Sequence[object], label: str, notes: list[str]) -> Condition:
    """The chain their matcher builds: each pattern is joined by the logic of the one *before* it."""
    result: Condition | None = None
    before = "AND"
    for number, raw in enumerate(patterns):
        if not isinstance(raw, dict):
            raise BadExpression(
                f"patterns[{number}]", "a pattern must be an object of attributes and expressions"
            )
        pattern = {str(key): value for key, value in cast("Mapping[object, object]", raw).items()}
        logic = str(pattern.pop("logic", "AND"))
        own = _pattern(pattern, number, label, notes)
        if logic == "NOT":
            own = NotOf(own)
        if result is None:
            result = own
        elif before == "AND":
            result = AllOf((result, own))
        elif before == "OR":
            result = AnyOf((result, own))
        else:
            notes.append(
                f"'{label}': pattern {number + 1} is never checked, because the one before has {before}"
            )
        before = logic
    if len(patterns) > 1 and before == "OR":
        notes.append(f"'{label}': the last pattern's OR joins nothing; patterns are joined by the one before")
    return result if result is not None else AllOf(())


def _pattern(pattern: Mapping[str, object], number: int, label: str, notes: list[str]) -> Condition:
    parts: list[Condition] = []
    for attribute, expression in pattern.items():
        place = f"patterns[{number}].{attribute}"
        if not isinstance(expression, str):
            raise BadExpression(place, "an expression must be a text")
        if not attribute:
            raise BadExpression(place, "no attribute has this name")
        attr = attribute if attribute in _THEIRS else f"@{attribute}"
        if not _compiles(expression):
            notes.append(
                f"'{label}': {place} is not a regular expression; it blocks only elements with exactly this text"
            )
        parts.append(_expression(attr, expression, place))
    return AllOf(tuple(parts))


def _expression(attr: str, expression: str, place: str) -> Condition:
    if not expression:  # matches only an empty or missing attribute
        return make_matcher(attr, "equals", "", place=place)
    if not _compiles(expression):  # their matcher falls back to comparing the texts
        return make_matcher(attr, "equals", expression, place=place)
    return make_matcher(attr, "regex", expression, place=place)


def _compiles(expression: str) -> bool:
    try:
        re.compile(expression)
    except (re.error, RecursionError, OverflowError):
        return False
    return True
