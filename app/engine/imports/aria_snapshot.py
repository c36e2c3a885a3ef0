"""Playwright's aria snapshots (``- link "Home" [ref=e4]``) as accessibility trees in BrowserGym's form."""

from __future__ import annotations

import json
import re
from functools import lru_cache

MAX_LINES = 20_000

_REMEMBERED = 300
"""Longest line whose form is remembered."""
_NODE = re.compile(
    r"(?P<role>[A-Za-z][\w-]*)(?:\s+(?P<name>\"(?:[^\"\\]|\\.)*\"|/(?:[^/\\]|\\.)+/))?"
    r"(?P<marks>(?:\s+\[[^\]\n]*\])*)\s*(?P<rest>:.*)?$"
)
_MARK = re.compile(r"\[([^\]=\n]+)(?:=([^\]\n]*))?\]")
_PROPERTY = re.compile(r"/([\w-]+):\s*(.*)$")
_ROLES = {"text": "StaticText", "img": "image"}
_FIELDS = {"textbox", "searchbox", "spinbutton"}
_HIDDEN_MARKS = {"ref", "cursor", "box"}
_ACTIVE = "active"


def tree_of_snapshot(snapshot: str, title: str = "") -> str:
    """Return the tree of a snapshot, below a root that has the page's title; "" where no line is a node."""
    lines = [f"RootWebArea {title!r}"]
    depths = [0]
    for line in snapshot.splitlines()[:MAX_LINES]:
        stripped = line.lstrip(" ")
        if not stripped.startswith("- "):
            continue
        depth = (len(line) - len(stripped)) // 2 + 1
        text = stripped[2:].strip()
        node, words, mark = (_read_line if len(text) <= _REMEMBERED else _read_line.__wrapped__)(text)
        if mark and depths[-1] == depth - 1 and depth > 1:  # of the node above
            lines[-1] += mark
        if node:
            lines.append("\t" * depth + node)
            depths.append(depth)
        if words:
            lines.append("\t" * (depth + 1) + words)
            depths.append(depth + 1)
    return "\n".join(lines) if len(lines) > 1 else ""


@lru_cache(maxsize=2**16)
def _read_line(text: str) -> tuple[str, str, str]:
    """Return the node of a line, the words in it, and the property of the node above; most lines recur from page to
    page.
    """
    text = _unquoted(text)
    found = _PROPERTY.match(text)
    if found is not None:
        return "", "", f", {found[1]}={_scalar(found[2])!r}"
    found = _NODE.match(text)
    if found is None:
        return "", "", ""
    role, name = _ROLES.get(found["role"], found["role"]), _name(found["name"] or "")
    rest = _scalar((found["rest"] or "")[1:].strip())
    if role == "StaticText":
        return f"StaticText {rest or name!r}", "", ""
    bid, properties = "", list[str]()
    if role in _FIELDS and rest:
        properties, rest = [f"value={rest!r}"], ""
    for key, value in _MARK.findall(found["marks"]):
        if key == "ref":
            bid = value
        elif key == _ACTIVE:
            properties.append("focused")
        elif key not in _HIDDEN_MARKS:
            properties.append(f"{key}={value!r}" if value else key)
    head = f"[{bid}] {role} {name!r}" if bid and " " not in bid else f"{role} {name!r}"
    return ", ".join([head, *properties]), f"StaticText {rest!r}" if rest else "", ""


def _name(quoted: str) -> str:
    if quoted.startswith('"'):
        try:
            return str(json.loads(quoted))
        except ValueError:
            return quoted[1:-1]
    return quoted


def _unquoted(text: str) -> str:
    """Return a line of YAML without the quotes around its key (``'link "a: b" [ref=e1]':``)."""
    if text[:1] == "'":
        end = re.match(r"'((?:[^']|'')*)'", text)
        return end[1].replace("''", "'") + text[end.end() :] if end else text
    if text[:1] == '"':
        end = re.match(r'"(?:[^"\\]|\\.)*"', text)
        return _name(end[0]) + text[end.end() :] if end else text
    return text


def _scalar(text: str) -> str:
    """Return a YAML scalar as text."""
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return _name(text) if len(text) > 1 and text[0] == text[-1] == '"' else text
