"""Rows of a page: tables with a head, tables of labels, and things that repeat in one shape.  Pure, linear."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from app.engine.agent.scout.dates import is_date
from app.engine.agent.scout.quantities import is_quantity, money_in
from app.engine.agent.scout.relation_types import Control, Relation, RelationReading, Row
from app.engine.agent.scout.tree_texts import FIELDS, PRESSED, bare_label, is_label, pairs_in, split_label
from app.engine.core.text import word_set

NAME, AMOUNT, DATE, TEXT = "name", "amount", "date", "text"
"""Columns of a card whose values have no words beside them."""
_CELLS = word_set("cell gridcell columnheader rowheader layouttablecell")
_HEADS, _ROWS = word_set("columnheader rowheader"), word_set("row layouttablerow")
_NESTED = word_set("table grid treegrid layouttable heading article main navigation form")
_TYPED = word_set("textbox combobox listbox spinbutton")
_NO_CARD = word_set("table grid textbox")
_ITEMS = word_set("listitem article")
_COUNTED = re.compile(r"\(?(\d[\d,.]*k?)\)?\s+([^\W\d][\w -]{1,30})")
_AROUND_DATE = re.compile(r"^(?:on|at)\s+|\W+$|^\W+", re.IGNORECASE)
_BOXES = ("article", "generic")
_LONGEST_SHAPE, _LEAST_CARDS, _MOST_REPEATED, _LARGEST_BOX = 8, 3, 480, 40


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell; ``field`` is the number of the only field in it, which then holds its text."""

    head: bool
    text: str
    controls: tuple[Control, ...] = ()
    field: int | None = None

    @property
    def link(self) -> int | None:
        """Number of the only link in it."""
        links = [one.index for one in self.controls if one.role == "link"]
        return links[0] if len(links) == 1 else None


def read_table(reading: RelationReading, at: int) -> list[tuple[int, int]]:
    """Read a table into the reading; return the parts (start, end) of its cells that hold more than a text."""
    tree, outer = reading.tree, reading.title
    reading.title = tree.nodes[at].name or outer
    rows: list[list[_Cell]] = []
    parts: list[tuple[int, int]] = []
    one = at + 1
    while one < tree.ends[at]:
        role = tree.nodes[one].role.casefold()
        if role == "caption":
            reading.title = tree.text(one) or reading.title
        elif role in _ROWS:
            cells = [cell for cell in tree.children(one) if tree.nodes[cell].role.casefold() in _CELLS]
            inner = {cell for cell in cells if _holds_more(reading, cell)}
            parts += [(cell + 1, tree.ends[cell]) for cell in cells if cell in inner]
            rows.append([_cell(reading, cell) for cell in cells if cell not in inner])
        one = tree.ends[one] if role == "caption" or role in _ROWS else one + 1
    _Table(reading).take(rows)
    reading.title = outer
    return parts


def _holds_more(reading: RelationReading, cell: int) -> bool:
    roles = [node.role.casefold() for node in reading.tree.nodes[cell + 1 : reading.tree.ends[cell]]]
    return not _NESTED.isdisjoint(roles) or roles.count("paragraph") > 2


def _cell(reading: RelationReading, at: int) -> _Cell:
    tree, head = reading.tree, reading.tree.nodes[at].role.casefold() in _HEADS
    controls = _controls(reading, at, tree.ends[at])
    fields = [one for one in controls if one.role in _TYPED and not head]
    if len(fields) != 1:
        return _Cell(head, tree.text(at), controls)
    inside = tree.place[fields[0].index]
    return _Cell(head, tree.value(inside), controls, fields[0].index)


def _controls(reading: RelationReading, start: int, end: int) -> tuple[Control, ...]:
    nodes = (node for node in reading.tree.nodes[start:end] if node.role in PRESSED or node.role in FIELDS)
    return tuple(Control(int(node.bid), node.role, node.name) for node in nodes if node.bid.isdecimal())


class _Table:
    """Rows of cells, sorted into relations and labelled values."""

    def __init__(self, reading: RelationReading) -> None:
        self.reading, self.group = reading, ""
        self.head: list[str] = []
        self.sort_controls: tuple[Control, ...] = ()
        self.rows: list[Row] = []
        self.bare: list[list[_Cell]] = []

    def take(self, rows: Sequence[list[_Cell]]) -> None:
        """Take all rows in."""
        for cells in rows:
            filled = [cell for cell in cells if cell.text]
            if filled:
                self._row(cells, filled)
        self._bare_rows()
        self._finish()

    def _row(self, cells: list[_Cell], filled: list[_Cell]) -> None:
        heads = sum(cell.head for cell in filled)
        all_heads = heads == len(filled)
        if len(cells) == 1 or (len(filled) == 1 and all_heads and len(cells) < len(self.head)):
            self._single(filled[0])
        elif all_heads and len(filled) > 1 and all(_is_head(cell.text) for cell in filled):
            self._new_head(cells)
        elif self.head and not all_heads and len(cells) >= len(self.head):
            self._data_row(cells)
        elif self.head and (heads or (is_label(filled[0].text) and is_quantity(filled[-1].text))):
            self.reading.tell(bare_label(filled[0].text), filled[-1].text)  # a total at the foot
        elif all_heads and not any(split_label(cell.text)[1] for cell in filled):
            self.reading.counts += [cell.text for cell in filled]  # ``1..50 out of 108`` between two links
        elif heads or any(cell.text.endswith(":") for cell in filled):
            self._pairs(cells)
        elif not self.head:
            for label, value in (pair for cell in cells for pair in pairs_in(cell.text)):
                self.reading.tell(label, value)
            self.bare.append(cells)

    def _single(self, cell: _Cell) -> None:
        """A row of one cell: the title of what follows, a group of rows, or a sentence."""
        label, value = split_label(cell.text)
        if cell.head and self.head:
            self.group = cell.text
        elif cell.head:
            self.reading.title = cell.text
        elif value:
            self.reading.tell(label, value)
        else:
            self.reading.said.append(cell.text)
            self.reading.counts.append(cell.text)

    def _new_head(self, cells: list[_Cell]) -> None:
        chooser = [any(one.role == "checkbox" for one in cell.controls) for cell in cells]  # all rows at once
        told = zip(cells, chooser, strict=True)
        names = ["" if chosen else bare_label(cell.text).casefold() for cell, chosen in told]
        if names != self.head:
            self._finish()
            self.head = names
            pressed = [one for one in self._by_column([[cell] for cell in cells]) if one.role in PRESSED]
            self.sort_controls = tuple(pressed)

    def _by_column(self, groups: Sequence[Sequence[_Cell]]) -> tuple[Control, ...]:
        """The controls of some cells, with their columns."""
        return tuple(
            replace(control, column=name)
            for name, group in zip(self.head, groups, strict=True)
            for cell in group
            for control in cell.controls
        )

    def _pairs(self, cells: list[_Cell]) -> None:
        """Labels with the value behind each: ``th td th td``, ``Label: value`` in a cell, ``Label:`` before a cell."""
        label, values, held = "", list[str](), _Cell(True, "")
        for cell in (*cells, _Cell(True, "")):
            told, value = split_label(cell.text)
            if cell.field is None and (cell.head or cell.text.endswith(":") or value):
                self.reading.tell(label, ", ".join(values), held.field, link=held.link)
                label, values = (told, [value]) if value else (bare_label(cell.text), [])
                label, held = label if is_label(label) else "", _Cell(True, "")
                continue
            values += [cell.text] if cell.text else []
            held = cell if held.field is None else held
            if cell.field is not None and label:
                self.reading.labels.append((cell.field, label))

    def _data_row(self, cells: list[_Cell]) -> None:
        """A row of values; one right below the head that only holds fields filters the others."""
        row = self._data(cells)
        fields = [one for one in row.controls if one.role in _TYPED]
        told = [cell for cell in cells if cell.text and not any(one.role in FIELDS for one in cell.controls)]
        if self.rows or told or len(fields) < 2:
            self.rows.append(row)
            return
        for one in {one.column: one for one in reversed(fields)}.values():
            self.reading.tell(one.column, row[one.column], one.index)

    def _data(self, cells: list[_Cell]) -> Row:
        """Cells by column; where there are more of them than heads, the first ones stand under the first head."""
        extra = len(cells) - len(self.head)
        groups = [cells[: extra + 1], *([cell] for cell in cells[extra + 1 :])]
        told = (" ".join(dict.fromkeys(cell.text for cell in group if cell.text)) for group in groups)
        texts = [(name, text) for name, text in zip(self.head, told, strict=True)]
        group = [("group", self.group)] if self.group else []
        return Row(cells=(*texts, *group), controls=self._by_column(groups))

    def _bare_rows(self) -> None:
        """Rows of a table without any head: its first row may be one, its first column may be labels."""
        width = max((len(cells) for cells in self.bare), default=0)
        full = [cells for cells in self.bare if len(cells) == width]
        if width < 2:
            return
        labels = [cells[0].text for cells in full]
        if len(full) > 1 and _heads_the_rest(full):
            self._new_head(full.pop(0))
        else:
            if width == 2 and all(is_label(one) for one in labels) and len(set(labels)) == len(labels):
                for cells in full:
                    self.reading.tell(bare_label(cells[0].text), cells[1].text, link=cells[1].link)
            self.head = [str(number) for number in range(width)]
        self.rows += [self._data(cells) for cells in full]

    def _finish(self) -> None:
        """Close the relation at hand."""
        rows = self.rows
        if rows or len(self.head) > 2:
            self.reading.relations.append(_relation(self.reading.title, rows, self.head, self.sort_controls))
        for name, text in rows[0].cells if len(rows) == 1 else ():
            if is_label(name):
                self.reading.tell(name, text, listed=True)
        self.head, self.rows, self.group, self.sort_controls = [], [], "", ()


def _relation(
    title: str,
    rows: Sequence[Row],
    head: Sequence[str] = (),
    pressed: tuple[Control, ...] = (),
    kind: str = "table",
) -> Relation:
    columns = dict.fromkeys([*head, *(name for row in rows for name, _ in row.cells)])
    return Relation(title=title, columns=tuple(columns), rows=tuple(rows), sort_controls=pressed, kind=kind)


def _is_head(text: str) -> bool:
    return is_label(text) and not split_label(text)[1]


def _heads_the_rest(rows: Sequence[Sequence[_Cell]]) -> bool:
    """Whether the first row names the columns: labels over at least one column of numbers or dates alone."""
    first, rest = rows[0], rows[1:]
    if not all(is_label(cell.text) for cell in first) or len({cell.text for cell in first}) < len(first):
        return False
    columns = [[row[number].text for row in rest if row[number].text] for number in range(len(first))]
    return any(texts and all(is_quantity(one) or is_date(one) for one in texts) for texts in columns)


# Things that repeat


def read_cards(reading: RelationReading, at: int) -> int:
    """Read things that repeat from here on; return where they end, ``at`` itself where nothing repeats."""
    tree, role = reading.tree, reading.tree.nodes[at].role.casefold()
    spans: list[tuple[int, int]] = []
    if role in ("list", "feed", "listbox"):
        items = [one for one in tree.children(at) if tree.nodes[one].role.casefold() in _ITEMS]
        spans = [(one, tree.ends[one]) for one in items]
        return tree.ends[at] if spans and _keep_cards(reading, spans) else at
    if role in (*_BOXES, "heading", "link"):
        spans = _repeats(reading, at)
    return spans[-1][1] if len(spans) > 1 and _keep_cards(reading, spans) else at


def _repeats(reading: RelationReading, at: int) -> list[tuple[int, int]]:
    """Siblings from here on: articles, or such as repeat in one shape (``heading text text heading text text …``)."""
    tree = reading.tree
    role = tree.nodes[at].role
    if role in _BOXES:
        boxes = takewhile(lambda one: tree.nodes[one].role == role, _siblings(reading, at, _MOST_REPEATED))
        spans = [(one, tree.ends[one]) for one in boxes]
        few = role != "article" and (len(spans) < _LEAST_CARDS or any(b - a > _LARGEST_BOX for a, b in spans))
        return [] if few else spans
    # Only where a shape begins are the siblings behind it gone through; else a long list costs its square.
    near = (tree.nodes[one].role for one in _siblings(reading, at, _LONGEST_SHAPE * _LEAST_CARDS))
    roles = list(takewhile(lambda role: role not in FIELDS, near))
    for length in range(2, len(roles) // _LEAST_CARDS + 1):
        shape, times = roles[:length], 1
        if roles[: length * _LEAST_CARDS] != shape * _LEAST_CARDS or len(set(shape)) == 1:
            continue
        ahead = list(_siblings(reading, at, _MOST_REPEATED))
        roles = [tree.nodes[one].role for one in ahead]
        while roles[times * length : (times + 1) * length] == shape:
            times += 1
        return list(pairwise([*ahead[: times * length : length], tree.ends[ahead[times * length - 1]]]))
    return []


def _siblings(reading: RelationReading, at: int, most: int) -> Iterator[int]:
    """Yield a node and its next siblings."""
    tree, depth = reading.tree, reading.tree.nodes[at].depth
    for _ in range(most):
        if at >= len(tree.nodes) or tree.nodes[at].depth != depth:
            return
        yield at
        at = tree.ends[at]


def _keep_cards(reading: RelationReading, spans: Sequence[tuple[int, int]]) -> bool:
    """Keep a list as rows of cards or of links; ``False`` where it is no list of things."""
    roles = [[node.role.casefold() for node in reading.tree.nodes[start:end]] for start, end in spans]
    if any(one.count("heading") > 2 or not _NO_CARD.isdisjoint(one) for one in roles):
        return False
    rows = [row for start, end in spans if (row := _card(reading, start, end)) is not None]
    if not rows or len(rows) * 5 < len(spans) * 4:
        return False
    links = all(len(row.cells) == 1 for row in rows)
    reading.said += [row.text for row in rows if not links]
    title, last = reading.title, reading.relations[-1] if reading.relations else None
    shared = {name for row in rows for name, _ in row.cells} - {NAME, TEXT}
    if last and last.kind == "cards" and shared & set(last.columns):  # in parts, under a heading each
        title, rows = last.title, [*reading.relations.pop().rows, *rows]
    reading.relations.append(_relation(title, rows, kind="links" if links else "cards"))
    reading.untold, reading.label = False, ""
    return True


def _card(reading: RelationReading, start: int, end: int) -> Row | None:
    """A thing that repeats: its name, and what else it says; ``None`` without a link or heading."""
    tree, controls = reading.tree, _controls(reading, start, end)
    name = _name_of(reading, start, end)
    headed = any(node.role == "heading" for node in tree.nodes[start:end])
    if not name or not (headed or any(one.role == "link" for one in controls)):
        return None
    cells, rest, before = {NAME: name}, list[str](), ""
    for at in tree.pieces(start, end):
        node = tree.nodes[at]
        text = " ".join(node.name.split())
        if text == name or node.role in ("image", "button") or node.role in FIELDS:
            continue
        column, value = _labelled_text(before, text, node.role)
        if column and column not in cells:
            cells[column], before = value, ""
        else:
            rest.append(text)
            before = text
    told = " ".join(cells.values())
    cells[TEXT] = "; ".join(dict.fromkeys(one for one in rest if len(one) > 1 and one not in told))
    return Row(cells=tuple((column, text) for column, text in cells.items() if text), controls=controls)


def _labelled_text(before: str, text: str, role: str) -> tuple[str, str]:
    """Column and value of a text in a card, by its own words or those before it; ("", "") for a plain text."""
    label, value = split_label(text)
    if value:
        return label.casefold(), value
    lead = bare_label(re.sub(r"^\W+", "", before)).casefold()
    lead = lead if is_label(lead) and len(lead.split()) <= 3 else ""
    dated, money, counted = is_date(text), money_in(text), _COUNTED.fullmatch(text)
    if counted and not dated and not money:
        return counted[2].casefold(), counted[1]
    if dated and not before.endswith(":"):
        column = DATE if is_date(before) else re.sub(r"\s+(?:on|at)$", "", lead) or DATE
        return column, _AROUND_DATE.sub("", text)
    led = lead.split()[-1:] == ["by"] or (role == "link" and lead.split()[-1:] in (["in"], ["to"], ["from"]))
    if lead and (led or before.endswith(":")):
        return lead, text
    return (AMOUNT, text) if money and len(text) <= len(money) + 12 else ("", "")


def _name_of(reading: RelationReading, start: int, end: int) -> str:
    """Return the name of a thing: its first heading, else its first link."""
    nodes = [
        one for one in reading.tree.nodes[start:end] if one.name and one.role in ("heading", "link", "image")
    ]
    worded = [one for one in nodes if one.role != "image" and any(letter.isalpha() for letter in one.name)]
    names = [one.name for one in (*sorted(worded, key=lambda one: one.role != "heading"), *nodes)]
    return next(iter(names), "")
