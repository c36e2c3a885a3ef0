"""What a page lists: tables, rows of cards, labels with their values, read from its accessibility tree.  Pure.

A table with a head gives rows by column; a table of head and value, a list of definitions and a table with a single row
give labelled values; a list of cards (a shop's products) gives rows whose columns are a name, a price and what else it
says.  Nothing here knows a site.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from app.engine.core.ax_tree import AxNode, parse_tree

NAME, PRICE, TEXT = "name", "price", "text"
"""Columns of a card."""
_MONEY = re.compile(r"(?:[$€£]|\b(?:USD|EUR|GBP)\b)\s?-?\d[\d,]*(?:\.\d+)?")
_ASIDE = frozenset({"navigation", "complementary", "banner", "contentinfo", "menu", "tablist"})
_CELLS = frozenset({"cell", "gridcell", "columnheader", "rowheader", "LayoutTableCell"})
_HEADS = frozenset({"columnheader", "rowheader"})
_ACTS = frozenset({"link", "button", "checkbox", "radio", "textbox", "combobox", "spinbutton"})
_FIELDS = frozenset({"textbox", "searchbox", "combobox", "listbox", "spinbutton", "checkbox", "radio"})
_COUNT = re.compile(r"\b(\d[\d,]*)\s+(?:results?|items?|records?|entries|matches|found)\b", re.IGNORECASE)
_CUT = ("…", "...")
_VALUE = re.compile(r"value='([^']*)'")


@dataclass(frozen=True, slots=True)
class Control:
    """A link or control within a row: its number on the page, role and name, and the column it stands in."""

    index: int
    role: str
    name: str
    column: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row: texts by column (in lower case, as the head has it), and what can be pressed in it."""

    cells: tuple[tuple[str, str], ...]
    controls: tuple[Control, ...] = ()

    def __getitem__(self, column: str) -> str:
        return next((text for name, text in self.cells if name == column), "")

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join(text for _, text in self.cells if text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Rows of one kind; ``title`` is the heading or caption they stand under, ``cards`` that they are no table."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    heads: tuple[Control, ...] = ()
    """Links of the head, which usually sort."""
    cards: bool = False


@dataclass(frozen=True, slots=True)
class Labelled:
    """A value with its label; ``title`` is the heading or caption around it, ``listed`` that it is a cell of a row."""

    label: str
    value: str
    title: str = ""
    listed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFacts:
    """Everything a page lists."""

    headings: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()
    labelled: tuple[Labelled, ...] = ()
    said: tuple[str, ...] = ()
    """Texts outside of tables and menus, in order."""
    trail: tuple[str, ...] = ()
    """Its breadcrumb."""
    labels: tuple[tuple[int, str], ...] = ()
    """Labels that stand before a field without being tied to it."""
    ratings: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Rows of three to ten nameless things to press behind a label: stars."""


@dataclass(slots=True)
class _Reading:
    nodes: list[AxNode]
    headings: list[str] = field(default_factory=list[str])
    grids: list[Grid] = field(default_factory=list[Grid])
    labelled: list[Labelled] = field(default_factory=list[Labelled])
    said: list[str] = field(default_factory=list[str])
    trail: list[str] = field(default_factory=list[str])
    labels: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    stars: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    title: str = ""
    label: str = ""


@lru_cache(maxsize=8)
def facts_of(tree: str) -> PageFacts:
    """What a page lists; the tree is in the form ``app.engine.core.ax_tree`` reads."""
    reading = _Reading(parse_tree(tree))
    _walk(reading, 0, len(reading.nodes))
    return PageFacts(
        headings=tuple(reading.headings),
        grids=tuple(reading.grids),
        labelled=tuple(reading.labelled),
        said=tuple(reading.said),
        trail=tuple(reading.trail),
        labels=tuple(reading.labels),
        ratings=tuple((label, tuple(ids)) for label, ids in reading.stars.items() if 3 <= len(ids) <= 10),
    )


def count_in(texts: Sequence[str]) -> int | None:
    """The number of results a page speaks of (``Found 8 results``); ``None`` where it speaks of none."""
    found = _COUNT.search(" ".join(texts))
    return int(found[1].replace(",", "")) if found else None


def money_in(text: str) -> str:
    """The first amount of money in a text, as it stands."""
    found = _MONEY.search(text)
    return found[0] if found else ""


def _end(nodes: Sequence[AxNode], start: int) -> int:
    """Behind the last node below this one."""
    depth = nodes[start].depth
    end = start + 1
    while end < len(nodes) and nodes[end].depth > depth:
        end += 1
    return end


def _children(nodes: Sequence[AxNode], start: int, end: int) -> Iterator[int]:
    at = start + 1
    while at < end:
        yield at
        at = _end(nodes, at)


def _walk(reading: _Reading, start: int, end: int) -> None:
    at = start
    nodes = reading.nodes
    while at < end:
        node = nodes[at]
        below = _end(nodes, at)
        if node.role in _ASIDE:
            if "breadcrumb" in node.name.casefold():
                reading.trail = [text for text in _texts(nodes, at, below) if text]
            at = below
        elif node.role in ("table", "grid", "treegrid"):
            _table(reading, at, below)
            at = below
        elif node.role == "list" and _cards(reading, at, below):
            at = below
        elif node.role == "DescriptionList":
            _definitions(reading, at, below)
            at = below
        elif node.role == "option":
            at = below
        elif node.role == "label":
            reading.label = node.name or " ".join(_texts(nodes, at + 1, below))
            at += 1
        else:
            _note(reading, node)
            at += 1


def _note(reading: _Reading, node: AxNode) -> None:
    if node.role == "heading" and node.name:
        reading.headings.append(node.name)
        reading.title = node.name
    elif node.role in ("generic", "image") and node.bid.isdigit() and not node.name and reading.label:
        reading.stars.setdefault(reading.label, []).append(int(node.bid))
    elif node.role in _FIELDS and node.bid.isdigit():
        if reading.label and (not node.name or f"value='{node.name}'" in node.properties):
            reading.labels.append((int(node.bid), reading.label))
        if node.role == "combobox" or node.name:
            reading.label = ""
    elif node.role == "StaticText" and node.name:
        reading.said.append(node.name)
        label, colon, value = node.name.partition(":")
        if colon and value.strip() and len(label) < 40:
            reading.labelled.append(Labelled(label.strip(), value.strip(), reading.title))
        elif reading.title and not _has_value(reading):
            reading.labelled.append(Labelled(reading.title, node.name, reading.title))


def _has_value(reading: _Reading) -> bool:
    """Whether the heading has had a text of its own already: only the first one is its value."""
    return any(one.label == reading.title == one.title for one in reading.labelled)


def _texts(nodes: Sequence[AxNode], start: int, end: int) -> list[str]:
    """Names of what is read out, the outermost of each: a link's name once, not again for the text in it."""
    found: list[str] = []
    at = start
    while at < end:
        node = nodes[at]
        if node.name and node.role not in ("list", "listitem", "article", "navigation", "group", "option"):
            found.append(node.name)
            at = _end(nodes, at)
        else:
            at += 1
    return found


def _controls(nodes: Sequence[AxNode], start: int, end: int) -> list[Control]:
    return [
        Control(int(node.bid), node.role, node.name)
        for node in nodes[start:end]
        if node.bid.isdigit() and node.role in _ACTS
    ]


@dataclass(frozen=True, slots=True)
class _Cell:
    head: bool
    text: str
    controls: tuple[Control, ...] = ()


def _table(reading: _Reading, start: int, end: int) -> None:
    nodes = reading.nodes
    title = reading.title
    rows: list[list[_Cell]] = []
    at = start + 1
    while at < end:
        node = nodes[at]
        below = _end(nodes, at)
        if node.role == "caption":
            named = [
                one.name
                for one in nodes[at + 1 : below]
                if one.role in ("heading", "StaticText") and one.name
            ]
            title = named[0] if named else title
            at = below
        elif node.role in ("row", "LayoutTableRow"):
            cells = (one for one in _children(nodes, at, below) if nodes[one].role in _CELLS)
            rows.append([_cell(nodes, one) for one in cells])
            at = below
        else:
            at += 1
    _sort_out(reading, title, rows)


def _cell(nodes: Sequence[AxNode], at: int) -> _Cell:
    """A cell's text: what it says, else what the field in it holds; where it begins with a link, that link's name."""
    node, end = nodes[at], _end(nodes, at)
    controls = tuple(_controls(nodes, at, end))
    text = node.name
    if not text:
        held = (_VALUE.search(one.properties) for one in nodes[at + 1 : end])
        text = next((found[1] for found in held if found), "") or " ".join(_texts(nodes, at + 1, end))
    lead = next((one.name for one in controls if one.role == "link" and one.name), "")
    if lead and text.startswith(lead):
        text = lead
    return _Cell(node.role in _HEADS, text, controls)


def _sort_out(reading: _Reading, title: str, rows: list[list[_Cell]]) -> None:
    """Rows of a table into a grid, or into labelled values."""
    head: list[str] = []
    heads: tuple[Control, ...] = ()
    made: list[Row] = []
    for cells in rows:
        filled = [cell for cell in cells if cell.text]
        if not head and not made and len(cells) > 1 and filled and all(cell.head for cell in filled):
            head = [" ".join(cell.text.casefold().split()) for cell in cells]
            heads = tuple(control for cell in cells for control in cell.controls)
        elif len(cells) == 2 and cells[0].head and cells[0].text:
            reading.labelled.append(Labelled(cells[0].text, cells[1].text, title))
        elif any(cell.head for cell in filled):
            reading.labelled.append(Labelled(filled[0].text, filled[-1].text, title))
        elif len(cells) > 1 and len(cells) >= len(head):
            made.append(_row(head, cells))
    if head:
        made = [row for row in made if not _only_buttons(row)]
    if made:
        reading.grids.append(Grid(title=title, columns=tuple(head), rows=tuple(made), heads=heads))
        if len(made) == 1 and head:
            reading.labelled += [
                Labelled(name, text, title, listed=True) for name, text in made[0].cells if name and text
            ]


def _only_buttons(row: Row) -> bool:
    """A line of buttons below a list is no row of it."""
    pressed = {control.name for control in row.controls if control.role == "button"}
    return all(not text or text in pressed for _, text in row.cells)


def _row(head: list[str], cells: list[_Cell]) -> Row:
    """Cells by column; where there are more of them than heads, the first ones stand under the first head."""
    extra = len(cells) - len(head) if head else 0
    first = cells[: extra + 1]
    texts = [
        " ".join(dict.fromkeys(cell.text for cell in first if cell.text)),
        *(c.text for c in cells[extra + 1 :]),
    ]
    names = head or [str(number) for number in range(len(cells))]
    groups = [first, *([cell] for cell in cells[extra + 1 :])]
    controls = [
        Control(control.index, control.role, control.name, name)
        for name, group in zip(names, groups, strict=True)
        for cell in group
        for control in cell.controls
    ]
    return Row(cells=tuple(zip(names, texts, strict=True)), controls=tuple(controls))


def _definitions(reading: _Reading, start: int, end: int) -> None:
    term = ""
    for at in _children(reading.nodes, start, end):
        node = reading.nodes[at]
        text = node.name or " ".join(_texts(reading.nodes, at + 1, _end(reading.nodes, at)))
        if node.role == "term":
            term = text
        elif term and text:
            reading.labelled.append(Labelled(term, text, reading.title))


def _cards(reading: _Reading, start: int, end: int) -> bool:
    """A list whose items have a heading or a price and lead somewhere."""
    nodes = reading.nodes
    items = [at for at in _children(nodes, start, end) if nodes[at].role == "listitem"]
    rows: list[Row] = []
    for at in items:
        below = _end(nodes, at)
        controls = _controls(nodes, at, below)
        texts = _texts(nodes, at + 1, below)
        price = next((money_in(text) for text in texts if money_in(text)), "")
        if not controls or not (price or any(node.role == "heading" for node in nodes[at:below])):
            return False
        name = _name_of(nodes, at, below)
        rest = [text for text in dict.fromkeys(texts) if text not in (name, price)]
        rows.append(
            Row(cells=((NAME, name), (PRICE, price), (TEXT, "; ".join(rest))), controls=tuple(controls))
        )
    if not rows:
        return False
    reading.grids.append(Grid(title=reading.title, columns=(NAME, PRICE, TEXT), rows=tuple(rows), cards=True))
    return True


def _name_of(nodes: Sequence[AxNode], start: int, end: int) -> str:
    """What a card is called: its first heading, in the longer form that a link or picture beside it may have."""
    names = [
        node.name for node in nodes[start:end] if node.name and node.role in ("heading", "link", "image")
    ]
    headed = next((node.name for node in nodes[start:end] if node.role == "heading" and node.name), "")
    headed = headed or (names[0] if names else "")
    if not headed.endswith(_CUT):
        return headed
    bare = headed.rstrip("….").rstrip()
    return next((name for name in names if name.startswith(bare) and not name.endswith(_CUT)), headed)
