"""A page given as text, read for what retrieval compares: title, headings and controls.

Read are BrowserGym's accessibility tree (``[12] button 'Save'``), Playwright's ARIA snapshot (``- button "Save"``),
Markdown, and plain text, of which short lines count as what can be seen to press.  The text is data: nothing in it is
followed, and characters that nobody can see are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kb.invisible import visible

MOST_CONTROLS, MOST_HEADINGS, LONGEST_NAME = 120, 12, 80
"""As many as the agent of this project compares at a step; names in characters."""

LONGEST_PAGE = 400_000
"""Characters of a page that are read."""

_NODE = re.compile(
    r"^\s*(?:-\s+)?(?:\[[^\]\s]{1,40}\]\s+)?(?P<role>[A-Za-z]{3,30})\s+"
    r"(?:'(?P<single>[^'\\]*(?:\\.[^'\\]*)*)'|\"(?P<double>[^\"\\]*(?:\\.[^\"\\]*)*)\")"
)
_MARKED = re.compile(r"^#{1,4}\s+(?P<name>\S.*)$")
_ESCAPED = re.compile(r"\\(.)")
_TITLE_ROLES = frozenset({"RootWebArea", "WebArea", "document"})
_CONTROLS = frozenset(
    {"button", "link", "textbox", "searchbox", "combobox", "listbox", "checkbox", "radio", "switch", "slider"}
    | {"spinbutton", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "treeitem", "gridcell"}
)
_LEAST_NODES = 2
"""Lines that must look like nodes before a text counts as a tree."""


@dataclass(frozen=True, slots=True)
class PageWords:
    """The page in front, as retrieval compares it.

    Attributes:
        controls: role and name each (``button Save``).
    """

    title: str = ""
    headings: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> PageWords:
        """Read a tree, a snapshot, Markdown or plain text; at most the first ``LONGEST_PAGE`` characters."""
        lines = visible(text[:LONGEST_PAGE]).splitlines()
        nodes = [match for line in lines if (match := _NODE.match(line)) is not None]
        return _of_nodes(nodes) if len(nodes) >= _LEAST_NODES else _of_lines(lines)


def _of_nodes(nodes: list[re.Match[str]]) -> PageWords:
    title, headings, controls = "", list[str](), list[str]()
    for node in nodes:
        role = node["role"]
        name = _short(_ESCAPED.sub(r"\1", node["single"] or node["double"] or ""))
        if not name:
            continue
        if role in _TITLE_ROLES:
            title = title or name
        elif role == "heading":
            headings.append(name)
        elif role in _CONTROLS:
            controls.append(f"{role} {name}")
    return PageWords(title, _distinct(headings, MOST_HEADINGS), _distinct(controls, MOST_CONTROLS))


def _of_lines(lines: list[str]) -> PageWords:
    headings = [_short(match["name"]) for line in lines if (match := _MARKED.match(line)) is not None]
    short = (f"text {line}" for raw in lines if (line := raw.strip(" \t#*->")) and len(line) <= LONGEST_NAME)
    return PageWords("", _distinct(headings, MOST_HEADINGS), _distinct(short, MOST_CONTROLS))


def _short(name: str) -> str:
    return " ".join(name.split())[:LONGEST_NAME]


def _distinct(names: Iterable[str], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))[:most]
