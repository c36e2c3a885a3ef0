"""The accessibility tree of a page as nodes with their ends, and the texts they hold.  Pure, linear."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.engine.core.ax_tree import AxNode, parse_tree
from app.engine.core.text import word_set

FIELDS = word_set("textbox searchbox combobox listbox spinbutton checkbox radio switch slider")
PRESSED = word_set("link button menuitem tab")
_TEXTLESS = word_set(
    "list listitem article navigation group option region section main form figure table grid row rowgroup"
)
_VALUE = re.compile(r"value=(?:'([^']*)'|\"([^\"]*)\"|([^,\s]+))")
_SIGNS = " \t\u00a0:*↑↓▲▼△▽⇅"
_LABEL = re.compile(r"[^\W\d][^:]{0,59}")
_CLOCK_BEFORE = re.compile(r"\d$")
_PAIRS = re.compile(
    r"(?:^|[.;,|] )\W{0,3}([A-Z][\w ]{1,30}):\s+(.{1,60}?)(?=\s{0,2}[.;,|]\s{1,2}[A-Z][\w ]{1,30}:|[\s.]{0,3}$)"
)
MOST_LABEL_WORDS = 7


class Tree:
    """Nodes of a page in order; ``ends[i]`` is behind the last node below node ``i``."""

    def __init__(self, tree: str) -> None:
        self.nodes: list[AxNode] = parse_tree(tree)
        self.ends = _ends(self.nodes)

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
        found = _VALUE.search(node.properties)
        if found:
            return (found[1] or found[2] or found[3] or "").strip()
        return ", ".join(
            one.name
            for one in self.nodes[at + 1 : self.ends[at]]
            if one.role == "option" and re.search(r"\bselected(?!=False)", one.properties)
        )


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


def _ends(nodes: list[AxNode]) -> list[int]:
    ends = [len(nodes)] * len(nodes)
    open_nodes: list[int] = []
    for at, node in enumerate(nodes):
        while open_nodes and nodes[open_nodes[-1]].depth >= node.depth:
            ends[open_nodes.pop()] = at
        open_nodes.append(at)
    return ends
