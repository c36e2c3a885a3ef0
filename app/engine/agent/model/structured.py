"""Read a JSON object out of an answer: complete where the endpoint enforces the schema, found and repaired where not.

Code fences, text before and after, reasoning in tags, extra commas and a missing end are tolerated. Input and time are
bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

MAX_CHARACTERS = 400_000
"""Characters of an answer that are searched; a longer object is none that was asked for."""
MAX_UNCLOSED = 6
"""Unclosed braces that are tried: an object within one of them most likely has no end either."""
MAX_SCANNED = 3 * MAX_CHARACTERS
"""Characters that are scanned in all, where one brace after another turns out to begin nothing."""
MAX_DEPTH = 60
"""Nested brackets; no expected answer has more than a few."""

_MARKS = re.compile(r"\\.|[\"{}\[\]]", re.DOTALL)
_REPAIRS = re.compile(r"(\"(?:\\.|[^\"\\])*\"?)|,(?=\s*[}\]])|\b(True|False|None|NaN|undefined)\b", re.DOTALL)
_AS_JSON = {"True": "true", "False": "false", "None": "null", "NaN": "null", "undefined": "null"}
_OPENING = {"{": "}", "[": "]"}


def read_json(text: str, schema: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
    """Return the object in an answer; ``None`` where there is none.

    Of several it is the last that has what ``schema`` requires, since models restate before they answer; else the
    longest.
    """
    whole = _loaded(text[:MAX_CHARACTERS].strip())
    if whole is not None:
        return whole
    found = list(_objects(text.rpartition("</think>")[2][:MAX_CHARACTERS]))
    required = cast("list[str]", schema.get("required") or []) if schema is not None else []
    fitting = [data for _, data in found if all(name in data for name in required)]
    if schema is not None and fitting:
        return fitting[-1]
    return max(found, key=lambda one: one[0], default=(0, None))[1]


def _objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield length and content of the objects side by side in a text, each repaired on its own."""
    at, work, without_end = text.find("{"), 0, 0
    while at != -1 and work < MAX_SCANNED and without_end < MAX_UNCLOSED:
        end, lacking = _span(text, at)
        work += end - at
        without_end += bool(lacking)
        if len(lacking) > MAX_DEPTH:
            at = text.find("{", at + MAX_DEPTH)
            continue
        data = _loaded(text[at:end] + lacking) or _repaired(text[at:end], lacking)
        if data:
            yield end - at, data
        at = text.find("{", end if data else at + 1)


def _span(text: str, start: int) -> tuple[int, str]:
    """Return where the object beginning at ``start`` ends, and what it still lacks: a quote, brackets."""
    lacking: list[str] = []
    in_string = False
    for mark in _MARKS.finditer(text, start):
        char = mark[0]
        if char == '"':
            in_string = not in_string
        elif in_string or char[0] == "\\":
            continue
        elif char in _OPENING:
            lacking.append(_OPENING[char])
        elif lacking:
            lacking.pop()
            if not lacking:
                return mark.end(), ""
    return len(text), ('"' if in_string else "") + "".join(reversed(lacking))


def _repaired(text: str, lacking: str) -> dict[str, Any] | None:
    """Repair an object's usual faults: commas before a bracket, Python's words, a truncated last entry."""
    attempts = [text]
    if lacking:  # cut in the midst: back to the last entry that is whole
        attempts += [
            text[:cut] for cut in (text.rfind(","), text.rfind("{") + 1, text.rfind("[") + 1) if cut > 0
        ]
    for attempt in attempts:
        data = _loaded(_REPAIRS.sub(_plain, attempt + _span(attempt, 0)[1]))
        if data is not None:
            return data
    return None


def _plain(match: re.Match[str]) -> str:
    return match[1] if match[1] is not None else _AS_JSON.get(match[2] or "", "")


def _loaded(text: str) -> dict[str, Any] | None:
    try:
        data: Any = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", data) if isinstance(data, dict) else None
