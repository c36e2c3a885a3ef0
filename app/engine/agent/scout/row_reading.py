"""Rows of a page: tables with a head, tables of labels, and things that repeat in one shape.  Pure, linear."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.engine.agent.scout.dates import is_date
from app.engine.agent.scout.quantities import is_quantity, money_in
from app.engine.agent.scout.relation_types import Control, Labelled, Reading, Relation, Row
from app.engine.agent.scout.tree_texts import (
    FIELDS,
    PRESSED,
    bare_label,
    is_label,
    number_of_node,
    pairs_in,
    split_label,
)
from app.engine.core.text import word_set

NAME, AMOUNT, DATE, TEXT = "name", "amount", "date", "text"
"""Columns of a card whose values have no words beside them."""
_CELLS = word_set("cell gridcell columnheader rowheader layouttablecell")
_HEADS = word_set("columnheader rowheader")
_NESTED = word_set("table grid treegrid layouttable heading article main navigation form")
_TYPED = word_set("textbox combobox listbox spinbutton")
_ITEMS = word_set("listitem article")
_COUNTED = re.compile(r"\(?(\d[\d,.]*k?)\)?\s+([^\W\d][\w -]{1,30})")
_AROUND_DATE = re.compile(r"^(?:on|at)\s+|\W+$|^\W+", re.IGNORECASE)
_CUT = ("…", "...")
_LONGEST_SHAPE, _LEAST_CARDS = 8, 3


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell; ``field`` is the number of the only field in it, which then holds its text."""

    head: bool
    text: str
    controls: tuple[Control, ...] = ()
    field: int | None = None


def read_table(reading: Reading, at: int) -> list[tuple[int, int]]:
    """Read a table into the reading; return the parts (start, end) of its cells that hold more than a text."""
    tree = reading.tree
    title = tree.nodes[at].name or reading.title
    rows: list[list[_Cell]] = []
    parts: list[tuple[int, int]] = []
    one, end = at + 1, tree.ends[at]
    while one < end:
        role = tree.nodes[one].role.casefold()
        if role == "caption":
            title = tree.text(one) or title
            one = tree.ends[one]
        elif role in ("row", "layouttablerow"):
            cells = [cell for cell in tree.children(one) if tree.nodes[cell].role.casefold() in _CELLS]
            inner = [cell for cell in cells if _holds_more(reading, cell)]
            parts += [(cell + 1, tree.ends[cell]) for cell in inner]
            rows.append([_cell(reading, cell) for cell in cells if cell not in inner])
            one = tree.ends[one]
        else:
            one += 1
    _Table(reading, title).take(rows)
    return parts


def _holds_more(reading: Reading, cell: int) -> bool:
    tree = reading.tree
    below = tree.nodes[cell + 1 : tree.ends[cell]]
    return (
        any(node.role.casefold() in _NESTED for node in below)
        or sum(n.role == "paragraph" for n in below) > 2
    )


def _cell(reading: Reading, at: int) -> _Cell:
    tree = reading.tree
    head = tree.nodes[at].role.casefold() in _HEADS
    controls = _controls(reading, at, tree.ends[at])
    text = "" if head and controls and not tree.says(at) else tree.text(at)
    fields = (
        [one for one in range(at + 1, tree.ends[at]) if tree.nodes[one].role in _TYPED] if controls else []
    )
    number = number_of_node(tree.nodes[fields[0]]) if len(fields) == 1 and not head else None
    return _Cell(head, text if number is None else tree.value(fields[0]), controls, number)


def _controls(reading: Reading, start: int, end: int) -> tuple[Control, ...]:
    found: list[Control] = []
    for node in reading.tree.nodes[start:end]:
        number = number_of_node(node) if node.role in PRESSED or node.role in FIELDS else None
        if number is not None:
            found.append(Control(number, node.role, node.name))
    return tuple(found)


class _Table:
    """Rows of cells, sorted into relations and labelled values."""

    def __init__(self, reading: Reading, title: str) -> None:
        self.reading, self.title = reading, title
        self.head: list[str] = []
        self.sort_controls: tuple[Control, ...] = ()
        self.rows: list[Row] = []
        self.group = ""
        self.bare: list[list[_Cell]] = []

    def take(self, rows: Sequence[list[_Cell]]) -> None:
        """Take all rows in."""
        for cells in rows:
            if any(cell.text for cell in cells):
                self._row(cells)
        self._bare_rows()
        self._finish()

    def _row(self, cells: list[_Cell]) -> None:
        filled = [cell for cell in cells if cell.text]
        all_heads = all(cell.head for cell in filled)
        if len(cells) == 1 or (len(filled) == 1 and all_heads and len(cells) < len(self.head)):
            self._single(filled[0])
        elif all_heads and len(cells) > 1 and any(split_label(cell.text)[1] for cell in filled):
            self._pairs(cells)
        elif all_heads and len(filled) > 1 and all(is_label(cell.text) for cell in filled):
            self._new_head(cells)
        elif self.head and len(cells) >= len(self.head) and not all_heads:
            self._data_row(cells)
        elif self.head and any(cell.head for cell in filled):
            self.reading.labelled.append(Labelled(bare_label(filled[0].text), filled[-1].text, self.title))
        elif all_heads:
            self.reading.counts += [cell.text for cell in filled]  # ``1..50 out of 108`` between two links
        elif any(cell.head for cell in filled) or any(cell.text.endswith(":") for cell in filled):
            self._pairs(cells)
        elif not self.head:
            told = [pair for cell in cells for pair in pairs_in(cell.text)]
            self.reading.labelled += [Labelled(label, value, self.title) for label, value in told]
            self.bare.append(cells)
        elif len(cells) > 1:
            self._summary(filled)

    def _single(self, cell: _Cell) -> None:
        """A row of one cell: the title of what follows, a group of rows, or a sentence."""
        label, value = split_label(cell.text)
        if cell.head and self.head:
            self.group = cell.text
        elif cell.head:
            self.title = cell.text
        elif label and value:
            self.reading.labelled.append(Labelled(label, value, self.title))
        else:
            self.reading.said.append(cell.text)
            self.reading.counts.append(cell.text)

    def _new_head(self, cells: list[_Cell]) -> None:
        chooser = [any(one.role == "checkbox" for one in cell.controls) for cell in cells]  # all rows at once
        names = [
            "" if chosen else bare_label(cell.text).casefold()
            for cell, chosen in zip(cells, chooser, strict=True)
        ]
        if names == self.head:
            return
        self._finish()
        self.head = names
        self.sort_controls = tuple(
            replace(control, column=name)
            for name, cell in zip(names, cells, strict=True)
            for control in cell.controls
            if control.role in PRESSED
        )

    def _pairs(self, cells: list[_Cell]) -> None:
        """Labels with the value behind each: ``th td th td``, ``Label: value`` in a cell, ``Label:`` before a cell."""
        label, values, number = "", list[str](), None
        for cell in (*cells, _Cell(True, "")):
            told, value = ("", "") if cell.field is not None else split_label(cell.text)
            if cell.field is None and (cell.head or cell.text.endswith(":") or (told and value)):
                if label and values:
                    self.reading.labelled.append(Labelled(label, ", ".join(values), self.title, field=number))
                label, values = (told, [value]) if told and value else (bare_label(cell.text), [])
                label, number = label if is_label(label) else "", None
            else:
                values += [cell.text] if cell.text else []
                number = cell.field if number is None else number
                if cell.field is not None and label:
                    self.reading.labels.append((cell.field, label))

    def _data_row(self, cells: list[_Cell]) -> None:
        """A row of values; one right below the head that only holds fields filters the others."""
        row = self._data(cells)
        if cells[0].text.endswith(":") and (
            number := next((c.field for c in cells if c.field is not None), None)
        ):
            self.reading.labels.append((number, bare_label(cells[0].text)))
        fields = [one for one in row.controls if one.role in ("textbox", "combobox", "listbox")]
        if self.rows or len(fields) < 2 or any(cell.text and not _fields(cell) for cell in cells):
            self.rows.append(row)
            return
        self.reading.labelled += [
            Labelled(
                column, text, self.title, field=next(one.index for one in fields if one.column == column)
            )
            for column, text in row.cells
            if text and any(one.column == column for one in fields)
        ]

    def _data(self, cells: list[_Cell]) -> Row:
        """Cells by column; where there are more of them than heads, the first ones stand under the first head."""
        extra = len(cells) - len(self.head)
        groups = [cells[: extra + 1], *([cell] for cell in cells[extra + 1 :])]
        texts = [
            (name, " ".join(dict.fromkeys(cell.text for cell in group if cell.text)))
            for name, group in zip(self.head, groups, strict=True)
        ]
        texts = [(name, text) for name, text in texts if name or text not in ("yes", "no")]
        if self.group:
            texts.append(("group", self.group))
        controls = tuple(
            replace(control, column=name)
            for name, group in zip(self.head, groups, strict=True)
            for cell in group
            for control in cell.controls
        )
        return Row(cells=tuple(texts), controls=controls)

    def _summary(self, filled: Sequence[_Cell]) -> None:
        """A row shorter than the head: a total at the foot."""
        if len(filled) > 1 and is_label(filled[0].text) and is_quantity(filled[-1].text):
            self.reading.labelled.append(Labelled(bare_label(filled[0].text), filled[-1].text, self.title))

    def _bare_rows(self) -> None:
        """Rows of a table without any head: its first row may be one, its first column may be labels."""
        bare, self.bare = self.bare, []
        width = max((len(cells) for cells in bare), default=0)
        full = [cells for cells in bare if len(cells) == width]
        if width < 2:
            return
        if len(full) > 1 and _heads_the_rest(full):
            self._new_head(full[0])
            self.rows += [self._data(cells) for cells in full[1:]]
            return
        labels = [cells[0].text for cells in full]
        if width == 2 and all(is_label(one) for one in labels) and len(set(labels)) == len(labels):
            self.reading.labelled += [
                Labelled(bare_label(cells[0].text), cells[1].text, self.title)
                for cells in full
                if cells[1].text
            ]
        self.head = [str(number) for number in range(width)]
        self.rows += [self._data(cells) for cells in full]

    def _finish(self) -> None:
        """Close the relation at hand."""
        rows = [row for row in self.rows if not _only_buttons(row)]
        if rows or len(self.head) > 2:
            columns = tuple(dict.fromkeys([*self.head, *(name for row in rows for name, _ in row.cells)]))
            self.reading.relations.append(
                Relation(
                    title=self.title, columns=columns, rows=tuple(rows), sort_controls=self.sort_controls
                )
            )
        if len(rows) == 1:
            self.reading.labelled += [
                Labelled(name, text, self.title, listed=True)
                for name, text in rows[0].cells
                if text and is_label(name)
            ]
        self.head, self.rows, self.group, self.sort_controls = [], [], "", ()


def _fields(cell: _Cell) -> bool:
    return any(one.role in FIELDS for one in cell.controls)


def _heads_the_rest(rows: Sequence[Sequence[_Cell]]) -> bool:
    """Whether the first row names the columns: labels over at least one column of numbers or dates alone."""
    first, rest = rows[0], rows[1:]
    if not all(is_label(cell.text) for cell in first) or len({cell.text for cell in first}) < len(first):
        return False
    columns = [[row[number].text for row in rest if row[number].text] for number in range(len(first))]
    return any(texts and all(is_quantity(one) or is_date(one) for one in texts) for texts in columns)


def _only_buttons(row: Row) -> bool:
    """A line of buttons below a list is no row of it."""
    pressed = {control.name for control in row.controls if control.role == "button"}
    return bool(pressed) and all(not text or text in pressed for _, text in row.cells)


# Things that repeat


def read_cards(reading: Reading, at: int) -> int:
    """Read things that repeat from here on; return where they end, ``at`` itself where nothing repeats."""
    tree, role = reading.tree, reading.tree.nodes[at].role.casefold()
    if role in ("list", "feed", "listbox"):
        items = [one for one in tree.children(at) if tree.nodes[one].role.casefold() in _ITEMS]
        spans = [(one, tree.ends[one]) for one in items]
        return tree.ends[at] if spans and _keep_cards(reading, spans) else at
    if role == "article" or role in ("heading", "link"):
        spans = _articles(reading, at) if role == "article" else _repeats(reading, at)
        return spans[-1][1] if len(spans) > 1 and _keep_cards(reading, spans) else at
    return at


def _articles(reading: Reading, at: int) -> list[tuple[int, int]]:
    tree, spans = reading.tree, list[tuple[int, int]]()
    while (
        at < len(tree.nodes)
        and tree.nodes[at].role == "article"
        and (not spans or tree.nodes[at].depth == tree.nodes[spans[0][0]].depth)
    ):
        spans.append((at, tree.ends[at]))
        at = tree.ends[at]
    return spans


def _repeats(reading: Reading, at: int) -> list[tuple[int, int]]:
    """Siblings from here on that repeat in one shape (``heading text text heading text text …``)."""
    tree, depth = reading.tree, reading.tree.nodes[at].depth
    ahead: list[int] = []
    one = at
    while one < len(tree.nodes) and tree.nodes[one].depth == depth and len(ahead) < _LONGEST_SHAPE * 60:
        ahead.append(one)
        one = tree.ends[one]
    roles = [tree.nodes[one].role for one in ahead]
    for length in range(2, min(_LONGEST_SHAPE, len(roles) // _LEAST_CARDS) + 1):
        shape = roles[:length]
        times = 1
        while roles[times * length : (times + 1) * length] == shape:
            times += 1
        if times >= _LEAST_CARDS and len(set(shape)) > 1 and not FIELDS & set(shape):
            starts = [ahead[number * length] for number in range(times)]
            ends = [*starts[1:], tree.ends[ahead[times * length - 1]]]
            return list(zip(starts, ends, strict=True))
    return []


def _keep_cards(reading: Reading, spans: Sequence[tuple[int, int]]) -> bool:
    """Keep a list as rows of cards or of links; ``False`` where it is no list of things."""
    tree = reading.tree
    rows: list[Row] = []
    for start, end in spans:
        below = tree.nodes[start:end]
        headings = sum(node.role == "heading" for node in below)
        if headings > 2 or any(node.role.casefold() in ("table", "grid", "textbox") for node in below):
            return False
        row = _card(reading, start, end)
        if row is not None:
            rows.append(row)
    if not rows or len(rows) * 5 < len(spans) * 4:
        return False
    links = all(len(row.cells) == 1 for row in rows)
    last = reading.relations[-1] if reading.relations else None
    shared = {name for row in rows for name, _ in row.cells} - {NAME, TEXT}
    title, known = reading.title, ()
    if (
        last and last.kind == "cards" and shared & set(last.columns)
    ):  # one list in parts, under a heading each
        title, known = last.title, reading.relations.pop().rows
    rows = [*known, *rows]
    columns = tuple(dict.fromkeys(name for row in rows for name, _ in row.cells))
    reading.relations.append(
        Relation(title=title, columns=columns, rows=tuple(rows), kind="links" if links else "cards")
    )
    reading.said += [row.text for row in rows[len(known) :] if not links]
    reading.untold, reading.label = False, ""
    return True


def _card(reading: Reading, start: int, end: int) -> Row | None:
    """A thing that repeats: its name, and what else it says; ``None`` without a link or heading."""
    tree = reading.tree
    controls = _controls(reading, start, end)
    name = _name_of(reading, start, end)
    if not name or not (any(one.role == "link" for one in controls) or _headed(reading, start, end)):
        return None
    cells: dict[str, str] = {NAME: name}
    rest: list[str] = []
    before = ""
    for at in tree.pieces(start, end):
        node = tree.nodes[at]
        text = " ".join(node.name.split())
        if text == name or node.role in ("image", "button") or node.role in FIELDS or _same_cut(name, text):
            continue
        column, value = _told(before, text, node.role)
        if column and column not in cells:
            cells[column] = value
        elif text not in rest:
            column = ""
            rest.append(text)
        before = "" if column else text
    told = " ".join(cells.values())
    rest = [text for text in rest if len(text) > 1]
    if rest:
        cells[TEXT] = "; ".join(text for text in rest if text not in told)
    return Row(cells=tuple((column, text) for column, text in cells.items() if text), controls=controls)


def _headed(reading: Reading, start: int, end: int) -> bool:
    return any(node.role == "heading" for node in reading.tree.nodes[start:end])


def _told(before: str, text: str, role: str) -> tuple[str, str]:
    """Column and value of a text in a card, by its own words or those before it; ("", "") for a plain text."""
    label, value = split_label(text)
    if label and value:
        return label.casefold(), value
    lead = bare_label(re.sub(r"^\W+", "", before)).casefold()
    short = bool(lead) and is_label(lead) and len(lead.split()) <= 3
    counted = _COUNTED.fullmatch(text)
    if counted and not is_date(text) and not money_in(text):
        return counted[2].casefold(), counted[1]
    if before.endswith(":") and short:
        return lead, text
    if is_date(text):
        column = re.sub(r"\s+(?:on|at)$", "", lead) if short and not is_date(before) else DATE
        return column, _AROUND_DATE.sub("", text)
    if short and lead.split()[-1] in (("by", "in", "to", "from") if role == "link" else ("by",)):
        return lead, text
    if money_in(text) and len(text) <= len(money_in(text)) + 12:
        return AMOUNT, text
    return "", ""


def _same_cut(name: str, text: str) -> bool:
    """Whether a text is the name cut short, or the name with more."""
    return text.endswith(_CUT) and name.startswith(text.rstrip("….").rstrip())


def _name_of(reading: Reading, start: int, end: int) -> str:
    """What a thing is called: its first heading, else its first link, in the longer form that a link beside it has."""
    nodes = reading.tree.nodes[start:end]
    names = [node.name for node in nodes if node.name and node.role in ("heading", "link", "image")]
    told = [name for name in names if any(letter.isalpha() for letter in name)]
    headed = next((node.name for node in nodes if node.role == "heading" and node.name), "")
    headed = (
        headed
        or next((n.name for n in nodes if n.role == "link" and n.name in told), "")
        or (names or [""])[0]
    )
    if not headed.endswith(_CUT):
        return headed
    bare = headed.rstrip("….").rstrip()
    return next((name for name in names if name.startswith(bare) and not name.endswith(_CUT)), headed)
