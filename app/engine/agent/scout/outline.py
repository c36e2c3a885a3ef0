"""A page as it reads: its lines in order with the elements among them, so that a control has words around it.

Made from the capture's tree.  A page that repeats the task at its top is read without that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from app.engine.core.ax_tree import parse_tree
from app.engine.core.page_state import PageCapture

_WORDS = re.compile(r"\w+")
_LOOKS = re.compile(r"looks='([^']*)'")
_REPEATED = 0.8
"""Share of the task's words that lines at the top must have to be the task repeated."""
NEAR = 12
"""Lines before a control that may belong to it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line: how deep it stands, what it is, its words, the element's number (-1 for plain text), how it looks."""

    depth: int
    role: str
    words: str
    element: int = -1
    looks: str = ""


@dataclass(frozen=True)
class Outline:
    """The lines of a page."""

    lines: tuple[Line, ...]

    @cached_property
    def place(self) -> dict[int, int]:
        """Number of an element's line."""
        return {line.element: number for number, line in enumerate(self.lines) if line.element >= 0}

    @cached_property
    def text(self) -> str:
        """All words, line by line."""
        return "\n".join(line.words for line in self.lines if line.words)

    def inside(self, number: int) -> tuple[Line, ...]:
        """The lines within a line."""
        depth, end = self.lines[number].depth, number + 1
        while end < len(self.lines) and self.lines[end].depth > depth:
            end += 1
        return self.lines[number + 1 : end]

    def words_in(self, element: int) -> str:
        """What an element says: its own words, else those of the lines within it."""
        number = self.place.get(element)
        if number is None:
            return ""
        return self.lines[number].words or " ".join(line.words for line in self.inside(number) if line.words)

    def before(self, element: int, most: int = NEAR) -> list[str]:
        """Words on the plain lines before an element, nearest first, up to the next element."""
        number = self.place.get(element, 0)
        found: list[str] = []
        for line in reversed(self.lines[max(0, number - most) : number]):
            if line.element >= 0 and not self._around(line, number):
                break
            if line.words:
                found.append(line.words)
        return found

    def after(self, element: int, most: int = NEAR) -> list[str]:
        """Words on the plain lines behind an element, nearest first, up to the next element."""
        number = self.place.get(element)
        if number is None:
            return []
        found: list[str] = []
        for line in self.lines[number + 1 : number + 1 + most]:
            if line.element >= 0:
                break
            if line.words:
                found.append(line.words)
        return found

    def between(self, first: int, last: int) -> str:
        """Words of the lines from one number up to another."""
        return "\n".join(line.words for line in self.lines[first:last] if line.words)

    def find(self, words: str) -> int:
        """Number of the first line that says exactly this, without regard to case and signs at its end; -1 for none."""
        wanted = words.strip(" :.*").casefold()
        for number, line in enumerate(self.lines):
            if line.words.strip(" :.*").casefold() == wanted:
                return number
        return -1

    def _around(self, line: Line, number: int) -> bool:
        return line.depth < self.lines[number].depth


def outline_of(page: PageCapture, intent: str = "") -> Outline:
    """The page's lines; where its first lines repeat the intent, without those."""
    return _read(page.tree, intent)


@lru_cache(maxsize=16)
def _read(tree: str, intent: str) -> Outline:
    nodes = parse_tree(tree)
    lines = [
        Line(
            node.depth,
            node.role,
            " ".join(node.name.split()),
            int(node.bid) if node.bid.isdigit() else -1,
            _looks(node.properties),
        )
        for node in nodes
        if node.role != "RootWebArea"
    ]
    return Outline(tuple(lines[_repeats(lines, intent) :]))


def _looks(properties: str) -> str:
    found = _LOOKS.search(properties) if "looks=" in properties else None
    return found[1] if found else ""


def _repeats(lines: list[Line], intent: str) -> int:
    """How many lines at the top repeat the task."""
    left = " ".join(intent.split())
    whole, count = len(_WORDS.findall(left)), 0
    for number, line in enumerate(lines[:40]):
        words = line.words
        if not words or line.element >= 0:
            break
        at = left.find(words)
        if at < 0 or len(_WORDS.findall(left[:at])) > 3:
            break
        left = left[at + len(words) :]
        count = number + 1
    said = whole - len(_WORDS.findall(left))
    return count if whole and said / whole >= _REPEATED else 0
