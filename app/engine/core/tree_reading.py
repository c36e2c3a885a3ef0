"""An accessibility tree as a person reads it: wrappers and repeats folded away, nameless controls named.  Pure data.

The rule, clause by clause; ``tests/unit/engine/test_tree_reading.py`` has a row for each:

1. **Never folded away**: the target, rows asked for (hits of a search), and changes. A changed row is left out only
   where a row that is shown bears a change for it: the one it repeats, or is a picture of (2, 3), or its content (4).
2. **Repeat**: a text or a cell that says no more than an ancestor: the same words as a named ancestor, words that
   stand in the name of one that is named after its content (a link, a row of a table, ...), or in a field's value;
   a heading's one link of the same name; and the label right before the field that it names.
3. **Blank**: a picture without a name, and a text or a list's mark without a letter or a digit.
4. **Wrapper**: a container without a name that only groups (``listitem``, ``Section``, ``LabelText``, ...). What it
   holds moves up to its depth.
5. **Joined**: texts that follow one another in one block are one row.
6. **Row of a table**: one without a name is named after its cells.
7. **Nameless control**: named by its own texts and pictures; else "of" the nearest named thing it is part of; else
   "by" the nearest text in the smallest container that has one. Landmarks and the page itself name nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from app.engine.core.ax_tree import AxTreeLine, Change


def _roles(names: str) -> frozenset[str]:
    return frozenset(names.split())


CONTROLS = _roles(
    "button link textbox searchbox combobox checkbox radio switch slider spinbutton menuitem menuitemcheckbox "
    "menuitemradio tab option listbox treeitem DisclosureTriangle"
)
LABELLED_BEHIND = _roles("checkbox radio switch menuitemcheckbox menuitemradio")
"""Controls whose label usually follows them."""
FIELDS = _roles("textbox searchbox combobox checkbox radio switch slider spinbutton listbox")
ALERTS = _roles("alert alertdialog dialog status")
WRAPPERS = _roles(
    "generic none presentation list listitem Section LabelText group paragraph rowgroup LayoutTable LayoutTableRow "
    "LayoutTableCell DescriptionList DescriptionListTerm DescriptionListDetail term definition figure caption "
    "Legend Figcaption strong emphasis code mark subscript superscript insertion deletion blockquote Abbr Pre "
    "cell gridcell Canvas Iframe IframePresentational EmbeddedObject"
)
_INLINE = _roles("generic none presentation LabelText strong emphasis code mark Abbr insertion deletion")
_CELLS = _roles("cell gridcell columnheader rowheader")
_PICTURES = _roles("image img SvgRoot graphics-symbol")
_MARKS = frozenset(("ListMarker",))
_FROM_CONTENT = (
    CONTROLS | _CELLS | {"row", "heading", "listitem", "tooltip", "cell", "term", "definition", "LabelText"}
)
_NAMES_NOTHING = _roles(
    "RootWebArea WebArea main banner contentinfo navigation complementary region search form article document "
    "application table grid treegrid menubar tablist toolbar list"
)
_WORD = re.compile(r"[^\W_]+")
_STATEFUL = re.compile(r"expanded=|hasPopup|checked=|pressed=|selected=")
NEAR = 12
"""Rows in either direction among which a nameless control looks for a neighbour."""

LITTLE = 8
"""Rows below which a page in short is too short to say which page it is."""

LABEL_REACH = 4
"""Lines after a label among which its field must be."""

MAX_NEAR = 60
"""Characters of a neighbour's words."""

MAX_INSIDE = 80
"""Lines within a line that are looked at for its words."""

MAX_ANCESTORS = 12
"""Ancestors looked at; deeper trees are nested wrappers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLine:
    """A row as it is read.

    ``row`` is its place among the lines it was made from; ``near`` names a control that has no name of its own
    ("of 'Reviewer = Byte Blaze'").
    """

    depth: int
    role: str
    name: str
    bid: str
    properties: str
    change: Change = "same"
    is_target: bool = False
    row: int = 0
    near: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeReading:
    """The rows that are shown, and for each line of the page the row that shows it or stands nearest to it."""

    rows: tuple[ReadLine, ...]
    shown_at: tuple[int, ...]


def read_plain(lines: Sequence[AxTreeLine]) -> TreeReading:
    """Return every line as it is: the raw tree."""
    rows = tuple(_line(line, row, line.depth) for row, line in enumerate(lines))
    return TreeReading(rows=rows, shown_at=tuple(range(len(rows))))


def read_folded(lines: Sequence[AxTreeLine], keep: Collection[int] = ()) -> TreeReading:
    """Return the lines as they are read; ``keep`` are lines never folded away."""
    return _Reader(lines, frozenset(keep)).read()


def read_gist(reading: TreeReading, keep: Collection[int] = ()) -> TreeReading:
    """Return what says which page this is: alerts first, then headings and fields, and kept lines, in their order.

    Where that is little, the rest of the page's ``main`` part follows.
    """
    alerts: list[int] = []
    rest: list[int] = []
    main: list[int] = []
    inside = in_main = -1
    for at, line in enumerate(reading.rows):
        if line.depth <= inside:
            inside = -1
        if line.depth <= in_main:
            in_main = -1
        if line.role in ALERTS and inside < 0:
            inside = line.depth
        if inside >= 0:
            alerts.append(at)
        elif line.role == "heading" or line.role in FIELDS or line.is_target or line.row in keep:
            rest.append(at)
        elif in_main >= 0:
            main.append(at)
        if line.role == "main" and in_main < 0:
            in_main = line.depth
    alerts = _with_words(reading, alerts)
    if len(alerts) + len(rest) < LITTLE:
        rest += main
    places = {at: place for place, at in enumerate((*alerts, *rest))}
    nearest: list[int] = []
    for at in range(len(reading.rows)):
        nearest.append(places.get(at, nearest[-1] if nearest else 0))
    rows = tuple(replace(reading.rows[at], depth=0) for at in (*alerts, *rest))
    return TreeReading(rows=rows, shown_at=tuple(nearest[at] for at in reading.shown_at))


def near_name(lines: Sequence[AxTreeLine], row: int) -> str:
    """Return what names the control in this line by its neighbourhood, "" where it has a name or nothing is near."""
    if not 0 <= row < len(lines) or lines[row].name.strip():
        return ""
    return _Reader(lines, frozenset()).near(row)


def _with_words(reading: TreeReading, rows: list[int]) -> list[int]:
    """Leave out alerts in which nothing is said."""
    said = [bool(_WORD.search(reading.rows[at].name)) for at in rows]
    kept: list[int] = []
    for number, at in enumerate(rows):
        depth = reading.rows[at].depth
        inside = number + 1
        while (
            inside < len(rows)
            and rows[inside] == rows[inside - 1] + 1
            and reading.rows[rows[inside]].depth > depth
        ):
            inside += 1
        if any(said[number:inside]):
            kept.append(at)
    return kept


def _line(line: AxTreeLine, row: int, depth: int, name: str | None = None, near: str = "") -> ReadLine:
    return ReadLine(
        depth=depth,
        role=line.role,
        name=line.name if name is None else name,
        bid=line.bid,
        properties=line.properties,
        change=line.change,
        is_target=line.is_target,
        row=row,
        near=near,
    )


def _words(text: str) -> str:
    """The words of a text between spaces, so that whole words are found in others."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


class _Reader:
    """One reading of one tree."""

    def __init__(self, lines: Sequence[AxTreeLine], keep: frozenset[int]) -> None:
        self._lines, self._keep = lines, keep
        self._parents: list[int] = []
        self._ends = [0] * len(lines)
        self._spelled: dict[int, str] = {}
        open_rows: list[int] = []
        for row, line in enumerate(lines):
            while open_rows and lines[open_rows[-1]].depth >= line.depth:
                self._ends[open_rows.pop()] = row
            self._parents.append(open_rows[-1] if open_rows else -1)
            open_rows.append(row)
        for row in open_rows:
            self._ends[row] = len(lines)

    def read(self) -> TreeReading:
        lines, parents = self._lines, self._parents
        rows: list[ReadLine] = []
        shown_at = [0] * len(lines)
        depths = [0] * len(lines)
        """Depth at which the children of a row are shown."""
        blocks: list[int] = []
        """For each shown row the block of text it belongs to, -1 for a row that is no plain text."""
        waiting: list[int] = []
        for row, line in enumerate(lines):
            over = parents[row]
            depth = depths[over] if over >= 0 else 0
            stand = self._fold(row)
            if stand is not None:
                depths[row] = depth
                if stand >= 0:
                    shown_at[row] = shown_at[stand]
                else:
                    waiting.append(row)
                continue
            depths[row] = depth + 1
            block = self._block(row)
            if block >= 0 and blocks and blocks[-1] == block:
                last = rows[-1]
                rows[-1] = replace(last, name=f"{last.name} {line.name.strip()}")
            else:
                rows.append(self._shown(row, depth))
                blocks.append(block)
            shown_at[row] = len(rows) - 1
            for folded in waiting:
                shown_at[folded] = len(rows) - 1
            waiting.clear()
        for folded in waiting:
            shown_at[folded] = max(len(rows) - 1, 0)
        return self._without_blank(rows, shown_at)

    def _without_blank(self, rows: list[ReadLine], shown_at: list[int]) -> TreeReading:
        """Leave out texts that have no letter and no digit even when joined."""
        places: list[int] = []
        kept: list[ReadLine] = []
        for line in rows:
            blank = line.role == "StaticText" and not self._is_fixed(line.row) and not _WORD.search(line.name)
            if not blank:
                kept.append(line)
            places.append(max(len(kept) - 1, 0))
        return TreeReading(rows=tuple(kept), shown_at=tuple(places[at] if places else 0 for at in shown_at))

    def _fold(self, row: int) -> int | None:
        """Return the line that stands for a folded one, -1 for the next one shown; ``None`` where it is shown."""
        line = self._lines[row]
        if line.is_target or row in self._keep:
            return None
        role, name = line.role, line.name.strip()
        if name and (role == "StaticText" or role in _CELLS or role in _PICTURES):
            over = self._said_above(row)
            if over is not None and (line.change == "same" or self._lines[over].change != "same"):
                return over
        if role == "link" and name and self._is_heading_link(row):
            return self._parents[row]
        if role == "StaticText" and line.change == "same" and (not name or self._is_label(row)):
            return -1
        if name and role not in _MARKS:
            return None
        if role in _PICTURES or role in _MARKS:
            if line.change != "same" and self._says_above(row):
                return self._parents[row]
            return -1 if line.change == "same" and not _WORD.search(name) else None
        if role in WRAPPERS and not _STATEFUL.search(line.properties):
            return -1 if line.change == "same" or self._says(row, line.change) else None
        return None

    def _inside(self, row: int) -> range:
        """The first lines in a line; a page that nests a thousand controls costs no more than another one."""
        return range(row + 1, min(self._ends[row], row + 1 + MAX_INSIDE))

    def _is_heading_link(self, row: int) -> bool:
        """Whether a link is all that its heading says."""
        over = self._parents[row]
        line = self._lines[row]
        return (
            over >= 0
            and self._lines[over].role == "heading"
            and line.change in ("same", self._lines[over].change)
            and self._spell(over) == _words(line.name) != "  "
        )

    def _is_label(self, row: int) -> bool:
        """Whether a text only names the field that follows it."""
        own = _words(self._lines[row].name)
        for after in self._lines[row + 1 : row + 1 + LABEL_REACH]:
            if after.role in FIELDS:
                return own == _words(after.name) != "  "
            if after.name.strip():
                return False
        return False

    def _is_fixed(self, row: int) -> bool:
        line = self._lines[row]
        return line.is_target or line.change != "same" or row in self._keep

    def _says(self, row: int, change: Change) -> bool:
        """Whether something in this line says the same change in words."""
        inside = (self._lines[at] for at in self._inside(row))
        return any(line.change == change and _WORD.search(line.name) for line in inside)

    def _says_above(self, row: int) -> bool:
        """Whether the control that a picture is part of is marked as changed."""
        over = self._parents[row]
        return over >= 0 and self._lines[over].role in CONTROLS and self._lines[over].change != "same"

    def _spell(self, row: int) -> str:
        """The words of a line's name, or of the name that its cells give it."""
        words = self._spelled.get(row)
        if words is None:
            line = self._lines[row]
            name = self._row_name(row) if line.role == "row" and not line.name.strip() else line.name
            words = self._spelled[row] = _words(name)
        return words

    def _said_above(self, row: int) -> int | None:
        """The ancestor that says what this text says."""
        own = _words(self._lines[row].name)
        over = self._parents[row]
        for _ in range(MAX_ANCESTORS):
            if over < 0 or self._lines[over].role in ("RootWebArea", "WebArea"):
                return None
            there = self._spell(over)
            if there != "  ":
                if own == there and own != "  ":
                    return over
                if self._lines[over].role in _FROM_CONTENT and (
                    own in there if own != "  " else self._lines[row].name.strip() in self._lines[over].name
                ):
                    return over
            if (
                self._lines[over].role in FIELDS
                and self._lines[row].name.strip() in self._lines[over].properties
            ):
                return over
            over = self._parents[over]
        return None

    def _block(self, row: int) -> int:
        """The container in which a plain text may join the one before it, -1 for rows that stand alone."""
        if self._lines[row].role != "StaticText" or self._is_fixed(row):
            return -1
        over = self._parents[row]
        while over >= 0 and self._lines[over].role in _INLINE and not self._lines[over].name.strip():
            over = self._parents[over]
        return max(over, 0)

    def _shown(self, row: int, depth: int) -> ReadLine:
        line = self._lines[row]
        if line.name.strip():
            return _line(line, row, depth)
        if line.role == "row":
            return _line(line, row, depth, name=self._row_name(row))
        near = self.near(row) if line.role in CONTROLS or line.is_target else ""
        return _line(line, row, depth, near=near)

    def _row_name(self, row: int) -> str:
        """The cells of a row of a table, one after the other."""
        cells = [at for at in self._inside(row) if self._lines[at].role in _CELLS]
        said = [self._content(at) or self._lines[at].name.strip() for at in cells]
        return " | ".join(text for text in said if text)

    def _content(self, row: int) -> str:
        """The plain texts in a line, or its name."""
        if self._lines[row].name.strip():
            return self._lines[row].name.strip()
        inside = self._inside(row)
        texts = (self._lines[at].name.strip() for at in inside if self._lines[at].role == "StaticText")
        return " ".join(text for text in texts if text)

    def near(self, row: int) -> str:
        """Return the words that name a line without a name."""
        inside = (self._lines[at].name.strip() for at in self._inside(row))
        own = [text for text in dict.fromkeys(inside) if _WORD.search(text)]
        if own:
            return _quoted(" ".join(own))
        over = self._parents[row]
        for level in range(MAX_ANCESTORS):
            if over < 0:
                return ""
            line = self._lines[over]
            if line.role not in _NAMES_NOTHING and _WORD.search(line.name):
                return f"of {_quoted(line.name)}"
            found = self._neighbour(row, over)
            if found:
                return f"by {_quoted(found)}"
            if line.role in _NAMES_NOTHING and line.role != "list" and level:
                return ""
            over = self._parents[over]
        return ""

    def _neighbour(self, row: int, within: int) -> str:
        """The nearest words in a container: before the line, or after a control whose label follows it."""
        first, last = within + 1, self._ends[within]
        before = 1 if self._lines[row].role in LABELLED_BEHIND else -1
        for distance in range(1, NEAR + 1):
            for at in (row + before * distance, row - before * distance):
                if first <= at < last and not row < at < self._ends[row]:
                    text = self._lines[at].name.strip()
                    if _WORD.search(text):
                        return text
        return ""


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return f"'{text if len(text) <= MAX_NEAR else text[: MAX_NEAR - 1] + '…'}'"
