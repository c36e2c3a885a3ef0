"""Notices of a page: texts of its alerts, open dialogs, status lines and error banners.

A string search over the tree's text, since parsing every line of every page would cost more than the rest of an import.
"""

from __future__ import annotations

import re

from app.engine.core.ax_tree import parse_line

ROLES = ("alertdialog", "alert", "dialog", "status")
"""Announcing roles, the most significant first."""

ERROR_PHRASES = (
    "This is a required field",
    "went wrong",
    "Page not found",
    "was not found",
    "404 Not Found",
    "Access denied",
    "Forbidden",
    "Internal Server Error",
    "rror has occurred",
    "can't be blank",
    "is invalid",
    "Couldn't find",
)
"""Phrases of error banners without a role, as the sites of the published runs and their software write them."""

MAX_NOTICES = 8
MAX_CHARS = 300
_MAX_LINES = 40
_ICON = re.compile("[\ue000-\uf8ff]")


def notices(tree: str) -> tuple[str, ...]:
    """Return at most 8 distinct notices, alerts first, each at most 300 characters."""
    found: dict[str, None] = {}
    for role in ROLES:
        at = tree.find(f"{role} ")
        while at != -1 and len(found) < MAX_NOTICES:
            start = tree.rfind("\n", 0, at) + 1
            lead = tree[start:at].lstrip("\t")
            if not lead or (lead[0] == "[" and lead[-2:] == "] "):
                text = _text_of(tree, start)
                if text and not any(text in other for other in found):
                    found[text] = None
            at = tree.find(f"{role} ", at + 1)
    for phrase in ERROR_PHRASES:
        at = tree.find(phrase)
        if at != -1 and len(found) < MAX_NOTICES:
            start = tree.rfind("\n", 0, at) + 1
            text = _own_name(tree[start : _line_end(tree, at)])
            if text and len(text) <= MAX_CHARS and not any(text in other for other in found):
                found[text] = None
    return tuple(found)


def _text_of(tree: str, start: int) -> str:
    """Return the name of the node whose line begins at ``start``, and of all nodes below it."""
    depth, parts, lines = _depth(tree, start), list[str](), 0
    position = start
    while position < len(tree) and lines < _MAX_LINES:
        if lines and _depth(tree, position) <= depth:
            break
        end = _line_end(tree, position)
        name = _own_name(tree[position:end])
        if name and (not parts or parts[-1] != name):
            parts.append(name)
        position, lines = end + 1, lines + 1
    return " ".join(parts)[:MAX_CHARS].strip()


def _own_name(line: str) -> str:
    node = parse_line(line)
    if node is None or node.role in {"button", "image", "InlineTextBox"}:
        return ""
    return " ".join(_ICON.sub("", node.name.replace("\\n", " ")).split())


def _depth(tree: str, start: int) -> int:
    end = start
    while end < len(tree) and tree[end] == "\t":
        end += 1
    return end - start


def _line_end(tree: str, position: int) -> int:
    end = tree.find("\n", position)
    return end if end != -1 else len(tree)
