"""The states of a site as a table: the map for the keyboard and the screen reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt

from app.models.common.object_list import OBJECT_ROLE, Index
from app.models.graph.filter import MapFilter, matches, parse_map_filter
from app.models.graph.map_graph import node_words
from app.models.knowledge.tip_table import ago, exact_time

if TYPE_CHECKING:
    from app.engine.api.graph_api import NodeRow

MAX_GROUPS = 200
"""With more separate groups of new or removed rows than this, the table is reset."""
NUMBERS = ("depth", "outgoing", "incoming", "elements", "waiting", "runs", "failures", "tips")
COLUMNS = ("title", "url", *NUMBERS, "seen")

_ROOT = QModelIndex()
_KEYS: dict[str, Callable[[NodeRow], Any]] = {
    "title": lambda row: row.title.lower(),
    "url": lambda row: row.url.lower(),
    "depth": lambda row: row.depth,
    "outgoing": lambda row: row.outgoing,
    "incoming": lambda row: row.incoming,
    "elements": lambda row: row.elements,
    "waiting": lambda row: row.waiting,
    "runs": lambda row: row.runs,
    "failures": lambda row: row.failures,
    "tips": lambda row: row.tips,
    "seen": lambda row: row.last_seen,
}


class NodeTableModel(QAbstractTableModel):
    """All states, of which ``rows`` are shown; rows are inserted, removed and updated in place."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: dict[str, NodeRow] = {}
        self._rows: list[NodeRow] = []
        self._places: dict[str, int] | None = None
        self._filter = MapFilter()
        self._held = ""
        self.text = ""
        self.sorted_by, self.descending = "depth", False
        self._titles = {
            "title": self.tr("State"),
            "url": self.tr("Address"),
            "depth": self.tr("Depth"),
            "outgoing": self.tr("Out"),
            "incoming": self.tr("In"),
            "elements": self.tr("Elements"),
            "waiting": self.tr("To try"),
            "runs": self.tr("Runs"),
            "failures": self.tr("Failed"),
            "tips": self.tr("Tips"),
            "seen": self.tr("Last seen"),
        }

    # ------------------------------------------------------------ Qt
    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's text, the row for a delegate, or a tooltip."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = self._rows[index.row()], COLUMNS[index.column()]
        if role == OBJECT_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return cell(row, column)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return (
                node_words(row) if column == "title" else f"{self._titles[column]}: {cell(row, column) or 0}"
            )
        if role == Qt.ItemDataRole.ToolTipRole:
            return exact_time(row.last_seen) if column == "seen" else node_words(row, lines=True)
        if role == Qt.ItemDataRole.TextAlignmentRole and column in NUMBERS:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(COLUMNS):
            return None
        column = COLUMNS[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._titles[column]
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.tr("Sort by {0}").format(self._titles[column].lower())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if column in NUMBERS else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort the rows; selection and current row follow their states."""
        if not 0 <= column < len(COLUMNS):
            return
        self.sorted_by, self.descending = COLUMNS[column], order is Qt.SortOrder.DescendingOrder
        self.layoutAboutToBeChanged.emit()
        old = self.persistentIndexList()
        nodes = [self._rows[index.row()].id for index in old]
        self._rows, self._places = self._sorted(self._rows), None
        new = [self.index(self.row_of(node), index.column()) for node, index in zip(nodes, old, strict=True)]
        self.changePersistentIndexList(old, new)
        self.layoutChanged.emit()

    # ------------------------------------------------------------ what is shown
    @property
    def rows(self) -> Sequence[NodeRow]:
        """The states shown, in order; read-only."""
        return self._rows

    @property
    def total(self) -> int:
        """Number of states, shown or not."""
        return len(self._all)

    def at(self, row: int) -> NodeRow | None:
        """Return the state in a row, ``None`` outside."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def row_of(self, node: str) -> int:
        """Return the row of a state, -1 where it is not shown."""
        if self._places is None:
            self._places = {row.id: at for at, row in enumerate(self._rows)}
        return self._places.get(node, -1)

    def fits(self, row: NodeRow) -> bool:
        """Whether a state matches the filter."""
        return matches(row, self._filter)

    @property
    def is_filtered(self) -> bool:
        """Whether a filter is set."""
        return self._filter != MapFilter()

    # ------------------------------------------------------------ changes
    def load(self, rows: Iterable[NodeRow]) -> None:
        """Become these states; rows that stay keep their places."""
        self._all = {row.id: row for row in rows}
        self._refresh()

    def set_filter(self, text: str) -> None:
        """Show the states that match, in the chosen order."""
        self.text, self._filter = text, parse_map_filter(text)
        self.beginResetModel()
        self._rows, self._places = self._sorted(self._fitting().values()), None
        self.endResetModel()

    def hold(self, node: str) -> None:
        """Keep a state in the table whatever the filter; the one held before goes if it does not match."""
        before, self._held = self._held, node
        if before and before != node and before in self._all and not matches(self._all[before], self._filter):
            self._refresh()

    # ------------------------------------------------------------ inside
    def _fitting(self) -> dict[str, NodeRow]:
        which = self._filter
        if which == MapFilter():
            return dict(self._all)
        return {node: row for node, row in self._all.items() if matches(row, which)}

    def _refresh(self) -> None:
        wanted = self._fitting()
        if self._held in self._all and self.row_of(self._held) >= 0:
            wanted.setdefault(self._held, self._all[self._held])
        gone = groups([at for at, row in enumerate(self._rows) if row.id not in wanted])
        fresh = self._sorted(row for row in wanted.values() if self.row_of(row.id) < 0)
        if not self._rows or len(gone) + len(fresh) > MAX_GROUPS:
            self.beginResetModel()
            self._rows, self._places = self._sorted(wanted.values()), None
            self.endResetModel()
            return
        for first, last in reversed(gone):
            self.beginRemoveRows(QModelIndex(), first, last)
            del self._rows[first : last + 1]
            self._places = None
            self.endRemoveRows()
        self._update(wanted)
        for row in fresh:
            self._insert(row)

    def _update(self, wanted: dict[str, NodeRow]) -> None:
        changed = [at for at, old in enumerate(self._rows) if wanted[old.id] != old]
        for at in changed:
            self._rows[at] = wanted[self._rows[at].id]
        for first, last in groups(changed):
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(COLUMNS) - 1))

    def _insert(self, row: NodeRow) -> None:
        key = self._key(row)
        place, end = 0, len(self._rows)
        while place < end:
            middle = (place + end) // 2
            other = self._key(self._rows[middle])
            if other > key if self.descending else other < key:
                place = middle + 1
            else:
                end = middle
        self.beginInsertRows(QModelIndex(), place, place)
        self._rows.insert(place, row)
        self._places = None
        self.endInsertRows()

    def _sorted(self, rows: Iterable[NodeRow]) -> list[NodeRow]:
        return sorted(rows, key=self._key, reverse=self.descending)

    def _key(self, row: NodeRow) -> tuple[Any, str, str]:
        return (_KEYS[self.sorted_by](row), row.title.lower(), row.id)


def cell(row: NodeRow, column: str) -> str:
    """Return a cell's text; zeros are blank except for the depth."""
    match column:
        case "title":
            return row.title or row.url
        case "url":
            return path_of(row.url)
        case "seen":
            return ago(row.last_seen)
        case "tips":
            return f"{row.tips}?" if row.suspect_tips else str(row.tips or "")
        case "depth":
            return str(row.depth)
        case _:
            return str(_KEYS[column](row) or "")


def path_of(url: str) -> str:
    """Return the part of an address that differs within a site."""
    parts = urlsplit(url)
    path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
    return f"{path}#{parts.fragment}" if parts.fragment else path


def groups(rows: list[int]) -> list[tuple[int, int]]:
    """Return neighbouring rows as (first, last), in order."""
    found: list[tuple[int, int]] = []
    for row in rows:
        if found and found[-1][1] == row - 1:
            found[-1] = (found[-1][0], row)
        else:
            found.append((row, row))
    return found
