"""All tips as a table with a filter line, sortable columns and row-by-row updates."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.models.common.object_list import OBJECT_ROLE
from kb.tip import Kind, Status, Tip

Index = QModelIndex | QPersistentModelIndex

COLUMNS = ("site", "kind", "status", "lint", "scope", "text", "revision", "changed")
STATUSES = tuple(status.value for status in Status)
KINDS = tuple(kind.value for kind in Kind)
MAX_ROW_GROUPS = 200
"""When rows change at more places than this at once, the table is reset."""

_MARKS = {"error": "✕", "waived": "(✕)", "warning": "!"}
"""The signs of lint results, the worst first."""

_ROOT = QModelIndex()
_STATUS_RANK = {status: rank for rank, status in enumerate(Status)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TipFilter:
    """A parsed filter: prefixes of sites, kinds, statuses and lint marks (any of them), and words (all of them)."""

    sites: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    lint: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def parse_tip_filter(text: str) -> TipFilter:
    """Parse ``site:gitlab status:draft,active kind:policy lint:error words "two words"``; no input is an error.

    ``lint:`` takes ``error``, ``warning``, ``waived``, ``none`` or a rule's name.
    """
    try:
        parts = shlex.split(text)
    except ValueError:  # a quote that is still open while typing
        parts = text.replace('"', " ").replace("'", " ").split()
    fields: dict[str, list[str]] = {"site": [], "kind": [], "status": [], "lint": []}
    words: list[str] = []
    for part in parts:
        name, colon, value = part.lower().partition(":")
        if colon and name in fields:
            fields[name] += [one for one in value.split(",") if one]
        else:
            words.append(part.lower())
    return TipFilter(
        sites=tuple(fields["site"]),
        kinds=tuple(fields["kind"]),
        statuses=tuple(fields["status"]),
        lint=tuple(fields["lint"]),
        words=tuple(words),
    )


def matches_filter(tip: Tip, which: TipFilter, haystack: str, marks: Sequence[str] = ()) -> bool:
    """Whether a tip matches; ``haystack`` is all its text in lower case, ``marks`` are its lint results."""
    named = [word for mark in marks for word in mark.split(":")] or ["none"]
    return (
        _begins(tip.site.lower(), which.sites)
        and _begins(tip.kind.value, which.kinds)
        and _begins(tip.status.value, which.statuses)
        and (not which.lint or any(_begins(name, which.lint) for name in named))
        and all(word in haystack for word in which.words)
    )


def ago(at: float, now: float | None = None) -> str:
    """Return ``just now``, ``5 min ago``, ``3 h ago``, ``2 d ago``, else the date, for a time in Unix seconds."""
    if not at:
        return "unknown"
    seconds = (time.time() if now is None else now) - at
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{int(seconds // 60)} min ago"
    if seconds < 86400:
        return f"{int(seconds // 3600)} h ago"
    if seconds < 30 * 86400:
        return f"{int(seconds // 86400)} d ago"
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d")


def exact_time(at: float) -> str:
    """Return date and time to the second, in the local time zone."""
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M:%S") if at else ""


class TipTableModel(QAbstractTableModel):
    """All tips, of which ``rows`` are shown.

    A tip that changes is updated in place.  One that no longer matches the filter stays as long as it is held
    (selected), so that a row never vanishes under the pointer.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tips: dict[str, Tip] = {}
        self._haystacks: dict[str, str] = {}
        self._marks: dict[str, tuple[int, tuple[str, ...]]] = {}
        self._rows: list[Tip] = []
        self._places: dict[str, int] | None = None
        self._held: frozenset[str] = frozenset()
        self._filter = TipFilter()
        self.text = ""
        self.sorted_by: str = "changed"
        self.descending: bool = True
        self._titles = (
            self.tr("Site"),
            self.tr("Kind"),
            self.tr("Status"),
            self.tr("Lint"),
            self.tr("Scope"),
            self.tr("Text"),
            self.tr("Rev."),
            self.tr("Changed"),
        )

    # ------------------------------------------------------------ Qt
    def rowCount(self, parent: Index = _ROOT) -> int:
        """Number of tips shown."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Number of columns."""
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The text of a cell, the whole tip for a delegate, or a tooltip."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        tip, column = self._rows[index.row()], COLUMNS[index.column()]
        if role == OBJECT_ROLE:
            return tip
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cell(tip, column)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self._titles[index.column()]}: {self._cell(tip, column)}"
        if role == Qt.ItemDataRole.ToolTipRole and column == "lint":
            return "\n".join(self.marks(tip.id)) or self.tr("No lint errors")
        if role == Qt.ItemDataRole.ToolTipRole:
            return exact_time(tip.changed_at) if column == "changed" else _hover(tip, column)
        if role == Qt.ItemDataRole.TextAlignmentRole and column == "revision":
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Column titles, and that a click sorts."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(COLUMNS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._titles[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.tr("Sort by {0}").format(COLUMNS[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = COLUMNS[section] == "revision"
            side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort the rows; selection and current row follow their tips."""
        if not 0 <= column < len(COLUMNS):
            return
        wanted = (COLUMNS[column], order is Qt.SortOrder.DescendingOrder)
        if wanted == (self.sorted_by, self.descending) and self._rows == self._sorted(self._rows):
            return
        self.sorted_by, self.descending = wanted
        self.layoutAboutToBeChanged.emit()
        old = self.persistentIndexList()
        tips = [self._rows[index.row()].id for index in old]
        self._rows, self._places = self._sorted(self._rows), None
        new = [self.index(self.row_of(tip), index.column()) for tip, index in zip(tips, old, strict=True)]
        self.changePersistentIndexList(old, new)
        self.layoutChanged.emit()

    # ------------------------------------------------------------ what is shown
    @property
    def rows(self) -> Sequence[Tip]:
        """The tips shown, in order; not to be changed."""
        return self._rows

    @property
    def total(self) -> int:
        """Number of tips, shown or not."""
        return len(self._tips)

    @property
    def sites(self) -> list[str]:
        """Sites of all tips, sorted."""
        return sorted({tip.site for tip in self._tips.values()})

    def at(self, row: int) -> Tip | None:
        """The tip in a row, ``None`` beyond the ends."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def row_of(self, tip: str) -> int:
        """The row of a tip, -1 while it is not shown."""
        if self._places is None:
            self._places = {one.id: row for row, one in enumerate(self._rows)}
        return self._places.get(tip, -1)

    def tip(self, tip: str) -> Tip | None:
        """A tip by its id, shown or not."""
        return self._tips.get(tip)

    def counts(self) -> dict[str, int]:
        """Number of tips of each status, in the order of the statuses."""
        found = dict.fromkeys(STATUSES, 0)
        for tip in self._tips.values():
            found[tip.status.value] += 1
        return found

    def marks(self, tip: str) -> tuple[str, ...]:
        """Lint results of a tip: ``error:rule``, ``waived:rule``, ``warning:rule``; empty while unknown."""
        return self._marks[tip][1] if tip in self._marks else ()

    def unmarked(self) -> list[str]:
        """Tips whose lint results are unknown."""
        return [tip.id for tip in self._tips.values() if self._marks.get(tip.id, (0, ()))[0] != tip.revision]

    def mark(self, marks: Mapping[str, Sequence[str]]) -> None:
        """Set the lint results of some tips."""
        for tip, said in marks.items():
            if tip in self._tips:
                self._marks[tip] = (self._tips[tip].revision, tuple(said))
        if self._filter.lint:
            self._refresh()
        if self._rows:
            column = COLUMNS.index("lint")
            self.dataChanged.emit(self.index(0, column), self.index(len(self._rows) - 1, column))

    def _cell(self, tip: Tip, column: str) -> str:
        return lint_label(self.marks(tip.id)) if column == "lint" else cell(tip, column)

    # ------------------------------------------------------------ changes
    def load(self, tips: Iterable[Tip]) -> None:
        """Replace all tips; rows that stay keep their places."""
        new = {tip.id: tip for tip in tips}
        self._haystacks = {
            tip: hay for tip, hay in self._haystacks.items() if self._tips[tip] is new.get(tip)
        }
        self._tips = new
        self._refresh()

    def put(self, tips: Iterable[Tip]) -> None:
        """Add or update tips; the others stay."""
        for tip in tips:
            self._tips[tip.id] = tip
            self._haystacks.pop(tip.id, None)
        self._refresh()

    def set_filter(self, text: str) -> None:
        """Filter the table, in the chosen order."""
        self.text, self._filter = text, parse_tip_filter(text)
        self._held = frozenset()
        self.beginResetModel()
        self._rows, self._places = self._sorted(self._fitting()), None
        self.endResetModel()

    def hold(self, tips: Iterable[str]) -> None:
        """Keep these rows whatever the filter says; release those held before."""
        before, self._held = self._held, frozenset(tips)
        gone = [tip for tip in before - self._held if not self._fits_by_id(tip)]
        if any(self.row_of(tip) >= 0 for tip in gone):
            self._refresh()

    # ------------------------------------------------------------ inside
    def _refresh(self) -> None:
        wanted = {tip.id: tip for tip in self._fitting()}
        for tip in self._held:
            if tip not in wanted and tip in self._tips and self.row_of(tip) >= 0:
                wanted[tip] = self._tips[tip]
        gone = _groups([row for row, tip in enumerate(self._rows) if tip.id not in wanted])
        fresh = self._sorted([tip for tip in wanted.values() if self.row_of(tip.id) < 0])
        if not self._rows or len(gone) + len(fresh) > MAX_ROW_GROUPS:
            self.beginResetModel()
            self._rows, self._places = self._sorted(list(wanted.values())), None
            self.endResetModel()
            return
        for first, last in reversed(gone):
            self.beginRemoveRows(QModelIndex(), first, last)
            del self._rows[first : last + 1]
            self._places = None
            self.endRemoveRows()
        for row, old in enumerate(self._rows):
            if wanted[old.id] != old:
                self._rows[row] = wanted[old.id]
                self.dataChanged.emit(self.index(row, 0), self.index(row, len(COLUMNS) - 1))
        for tip in fresh:
            self._insert(tip)

    def _insert(self, tip: Tip) -> None:
        key = self._key(tip)
        place, end = 0, len(self._rows)
        while place < end:
            middle = (place + end) // 2
            other = self._key(self._rows[middle])
            if other > key if self.descending else other < key:
                place = middle + 1
            else:
                end = middle
        self.beginInsertRows(QModelIndex(), place, place)
        self._rows.insert(place, tip)
        self._places = None
        self.endInsertRows()

    def _fitting(self) -> list[Tip]:
        which = self._filter
        if which == TipFilter():
            return list(self._tips.values())
        return [
            tip
            for tip in self._tips.values()
            if matches_filter(tip, which, self._haystack(tip), self.marks(tip.id))
        ]

    def _fits_by_id(self, tip: str) -> bool:
        found = self._tips.get(tip)
        return found is not None and matches_filter(
            found, self._filter, self._haystack(found), self.marks(tip)
        )

    def _haystack(self, tip: Tip) -> str:
        found = self._haystacks.get(tip.id)
        if found is None:
            parts = (tip.id, tip.site, tip.kind.value, tip.status.value, str(tip.scope), tip.text)
            more = (tip.when, tip.do, tip.before, tip.why, *tip.keywords, tip.provenance.run)
            found = self._haystacks[tip.id] = "\n".join((*parts, *more)).lower()
        return found

    def _sorted(self, tips: Sequence[Tip]) -> list[Tip]:
        return sorted(tips, key=self._key, reverse=self.descending)

    def _key(self, tip: Tip) -> tuple[Any, str]:
        match self.sorted_by:
            case "status":
                return (_STATUS_RANK[tip.status], tip.id)
            case "revision":
                return (tip.revision, tip.id)
            case "changed":
                return (tip.changed_at, tip.id)
            case "lint":
                return (len(_MARKS) - _worst(self.marks(tip.id)), tip.id)
            case column:
                return (cell(tip, column).lower(), tip.id)


def lint_label(marks: Sequence[str]) -> str:
    """Return ``✕ instruction`` for an error, ``! long`` for a warning, ``(✕) secret`` for a waived one; the
    worst first.
    """
    if not marks:
        return ""
    worst = min(marks, key=lambda mark: list(_MARKS).index(mark.partition(":")[0]))
    kind, _, rule = worst.partition(":")
    more = f" +{len(marks) - 1}" if len(marks) > 1 else ""
    return f"{_MARKS[kind]} {rule}{more}"


def _worst(marks: Sequence[str]) -> int:
    kinds = list(_MARKS)
    return min((kinds.index(mark.partition(":")[0]) for mark in marks), default=len(kinds))


def cell(tip: Tip, column: str) -> str:
    """Return the text of a cell; the lint column belongs to the model."""
    match column:
        case "site":
            return tip.site
        case "kind":
            return tip.kind.value
        case "status":
            return tip.status.value
        case "scope":
            return str(tip.scope) or "every page"
        case "revision":
            return str(tip.revision)
        case "changed":
            return ago(tip.changed_at)
        case "lint":
            return ""
        case _:
            return " ".join((tip.text or tip.do).split())


def _hover(tip: Tip, column: str) -> str:
    return f"{tip.text}\n\n{tip.id}" if column == "text" else cell(tip, column)


def _begins(value: str, wanted: tuple[str, ...]) -> bool:
    return not wanted or any(value.startswith(one) for one in wanted)


def _groups(rows: list[int]) -> list[tuple[int, int]]:
    """Return neighbouring rows as (first, last), in order."""
    groups: list[tuple[int, int]] = []
    for row in rows:
        if groups and groups[-1][1] == row - 1:
            groups[-1] = (groups[-1][0], row)
        else:
            groups.append((row, row))
    return groups
