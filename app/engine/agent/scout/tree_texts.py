"""The accessibility tree of a page as nodes with their ends, and the texts they hold.  Pure, linear."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache

from app.engine.core.ax_tree import AxNode, parse_tree
from app.engine.core.page_state import Element
from app.engine.core.text import word_set

FIELDS = word_set("textbox searchbox combobox listbox spinbutton checkbox radio switch slider")
PRESSED = word_set("link button menuitem tab")
_TEXTLESS = word_set(
    "list listitem article navigation group option region section main form figure table grid row rowgroup"
)
_VALUE = re.compile(r"value=(?:'([^']*)'|\"([^\"]*)\"|([^,\s]+))")
_SELECTED = re.compile(r"\bselected(?!=False)")
_SIGNS = " \t\u00a0:*↑↓▲▼△▽⇅"
_LABEL = re.compile(r"[^\W\d][^:]{0,59}")
_CLOCK_BEFORE = re.compile(r"\d$")
_PAIRS = re.compile(
    r"(?:^|[.;,|] )\W{0,3}([A-Z][\w ]{1,30}):\s+(.{1,60}?)(?=\s{0,2}[.;,|]\s{1,2}[A-Z][\w ]{1,30}:|[\s.]{0,3}$)"
)
MOST_LABEL_WORDS = 7


class Outline:
    """Nodes of a page in order.

    Attributes:
        ends: for each node the place behind the last one below it.
        parents: for each node the place of the one around it, -1 for none.
        place: where the element of a number stands.
    """

    def __init__(self, tree: str) -> None:
        self.nodes: list[AxNode] = parse_tree(tree)
        self.ends, self.parents = [len(self.nodes)] * len(self.nodes), [-1] * len(self.nodes)
        self.place: dict[int, int] = {}
        above: list[int] = []
        for at, node in enumerate(self.nodes):
            while above and self.nodes[above[-1]].depth >= node.depth:
                self.ends[above.pop()] = at
            if above:
                self.parents[at] = above[-1]
            above.append(at)
            if node.bid.isdecimal():
                self.place.setdefault(int(node.bid), at)

    def children(self, at: int) -> Iterator[int]:
        """Yield the nodes directly below a node."""
        one, end = at + 1, self.ends[at]
        while one < end:
            yield one
            one = self.ends[one]

    def pieces(self, start: int, end: int) -> Iterator[int]:
        """Yield nodes that are read out, the outermost of each: a link once, not again for the text in it."""
        at = start
        while at < end:
            node = self.nodes[at]
            if node.role == "option":
                at = self.ends[at]
            elif node.name and node.role.casefold() not in _TEXTLESS:
                yield at
                at = self.ends[at]
            else:
                at += 1

    def text(self, at: int) -> str:
        """Return what a node says: its name, or the texts below it where they say more."""
        node = self.nodes[at]
        if self.ends[at] == at + 1:
            return node.name
        below = [self.nodes[one] for one in self.pieces(at + 1, self.ends[at])]
        told = [one.name for one in below if one.role != "image"] or [one.name for one in below]
        joined = " ".join(told)
        if not joined and not node.name:
            return next((held for one in range(at + 1, self.ends[at]) if (held := self.value(one))), "")
        return node.name if len(node.name) >= len(joined) else joined

    def value(self, at: int) -> str:
        """Return what a field holds: its text, its chosen option, ``yes`` or ``no`` of a check box."""
        node = self.nodes[at]
        if node.role in ("checkbox", "switch", "radio"):
            marked = "checked=" in node.properties
            return "yes" if "checked='true'" in node.properties else "no" if marked else ""
        if node.role not in FIELDS:
            return ""
        if found := _VALUE.search(node.properties):
            return (found[1] or found[2] or found[3] or "").strip()
        return ", ".join(self.chosen(at))

    def chosen(self, at: int) -> tuple[str, ...]:
        """Return the chosen options of a list."""
        below = self.nodes[at + 1 : self.ends[at]] if at >= 0 else []
        return tuple(one.name for one in below if one.role == "option" and _SELECTED.search(one.properties))

    def around(self, element: Element, roles: frozenset[str]) -> int:
        """Return the nearest node of one of these roles around an element; -1 without one."""
        at = self.parents[self.place[element.index]] if element.index in self.place else -1
        while at >= 0 and self.nodes[at].role not in roles:
            at = self.parents[at]
        return at

    def names(self, first: int, last: int = -1) -> str:
        """Return the names of the nodes from one place to before another, of all below the first by default."""
        last = self.ends[first] if last < 0 else last
        return " \n ".join(node.name for node in self.nodes[first:last] if node.name)

    def names_without(self, element: Element, others: Sequence[Element]) -> str:
        """Return the names in the largest part of the page around an element in which none of the others stands."""
        at = self.place.get(element.index, -1)
        if at < 0:
            return ""
        rivals = sorted(self.place[one.index] for one in others if one.index in self.place)
        top = at
        while (above := self.parents[top]) >= 0 and bisect_left(rivals, above) == bisect_left(
            rivals, self.ends[above]
        ):
            top = above
        first = top
        if (
            top == at
        ):  # texts before a control, up to the next one like it, are its own: ``<h3>Foo</h3><button>``
            known = set(rivals)
            while (
                first > 0 and self.nodes[first - 1].depth >= self.nodes[at].depth and first - 1 not in known
            ):
                first -= 1
        return self.names(first, self.ends[top])


@lru_cache(maxsize=16)
def outline_of(tree: str) -> Outline:
    """Return the outline of a tree; kept for the pages in use."""
    return Outline(tree)


def bare_label(text: str) -> str:
    """Return a label without its colon and sort marks."""
    return " ".join(text.split()).strip(_SIGNS)


def is_label(text: str) -> bool:
    """Whether a text can be a label: a few words that begin with a letter."""
    bare = bare_label(text)
    return bool(_LABEL.fullmatch(bare)) and len(bare.split()) <= MOST_LABEL_WORDS


def split_label(text: str) -> tuple[str, str]:
    """Return label and value of ``Label: value``; ("", "") for any other text."""
    label, colon, value = text.partition(":")
    if not colon or value.startswith("//") or _CLOCK_BEFORE.search(label) or not is_label(label):
        return "", ""
    return (bare_label(label), value.strip()) if len(label) <= 40 and len(label.split()) <= 5 else ("", "")


def pairs_in(text: str) -> list[tuple[str, str]]:
    """Return labels and values of a text that has one or more (``Distance: 1.9 km. Time: 0:25.``)."""
    found = [(bare_label(one[1]), one[2].strip(" .;,|")) for one in _PAIRS.finditer(text[:300])]
    return found if len(found) > 1 else [one for one in [split_label(text)] if one[1]]
