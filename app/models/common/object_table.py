"""A table of plain values with columns, a filter and a sort order; rows change one by one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QCoreApplication, QModelIndex, QObject, Qt

from app.models.common.object_list import OBJECT_ROLE, Index

T = TypeVar("T")
MAX_ROW_GROUPS = 200
"""When rows change at more places than this at once, the table is reset."""

_ROOT = QModelIndex()
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Generic[T]):
    """A column of an ``ObjectTable``.

    Attributes:
        cell: the text of a cell.
        sort: the sort key of a row; without one the lower-case text.
        numeric: align to the right.
        help: the header's tooltip.
        tooltip: the tooltip of a cell, else its text.
        spoken: the accessible text of a cell, else title and text.
    """

    key: str
    title: str
    cell: Callable[[T], str]
    sort: Callable[[T], Any] | None = None
    numeric: bool = False
    help: str = ""
    tooltip: Callable[[T], str] | None = None
    spoken: Callable[[T], str] | None = None


class ObjectTable(QAbstractTableModel, Generic[T]):
    """All values, of which ``rows`` are shown; a changed value is updated in place.

    A row that no longer matches the filter stays as long as it is held (selected), so that it never vanishes
    under the pointer.  Without ``sorted_by`` the rows keep the order in which they were loaded.

    A subclass sets ``columns``, and overrides ``matches`` where it has a filter.

    Args:
        key: returns what stays the same while a value changes (an id); no two rows share it.
    """

    def __init__(
        self,
        key: Callable[[T], Hashable],
        parent: QObject | None = None,
        *,
        sorted_by: str = "",
        descending: bool = False,
    ) -> None:
        super().__init__(parent)
        self.columns: tuple[Column[T], ...] = ()
        self.key = key
        self.sorted_by, self.descending = sorted_by, descending
        self._all: dict[Hashable, T] = {}
        self._rows: list[T] = []
        self._places: dict[Hashable, int] | None = None
        self._held: frozenset[Hashable] = frozenset()

    def matches(self, value: T) -> bool:
        return True

    # ------------------------------------------------------------ Qt
    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's text, the value for a delegate, or a tooltip."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        value, column = self._rows[index.row()], self.columns[index.column()]
        match role:
            case _ if role == OBJECT_ROLE:
                return value
            case Qt.ItemDataRole.DisplayRole:
                return column.cell(value)
            case Qt.ItemDataRole.AccessibleTextRole:
                return column.spoken(value) if column.spoken else f"{column.title}: {column.cell(value)}"
            case Qt.ItemDataRole.ToolTipRole:
                return column.tooltip(value) if column.tooltip else column.cell(value)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _RIGHT if column.numeric else None
            case _:
                return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.title
            case Qt.ItemDataRole.ToolTipRole if column.help or self.sorted_by:
                sort = QCoreApplication.translate("table", "Sort by {0}")
                return column.help or sort.format(column.title.lower())
            case Qt.ItemDataRole.TextAlignmentRole:
                return _RIGHT if column.numeric else _LEFT
            case _:
                return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort the rows; selection and current row follow their values."""
        if not 0 <= column < len(self.columns):
            return
        self.sorted_by = self.columns[column].key
        self.descending = order is Qt.SortOrder.DescendingOrder
        rows = self._sorted(self._rows)
        if rows == self._rows:
            return
        self.layoutAboutToBeChanged.emit()
        old = self.persistentIndexList()
        keys = [self.key(self._rows[index.row()]) for index in old]
        self._rows, self._places = rows, None
        new = [self.index(self.row_of(key), index.column()) for key, index in zip(keys, old, strict=True)]
        self.changePersistentIndexList(old, new)
        self.layoutChanged.emit()

    # ------------------------------------------------------------ what is shown
    @property
    def rows(self) -> Sequence[T]:
        """The values shown, in order; not to be changed."""
        return self._rows

    @property
    def values(self) -> Mapping[Hashable, T]:
        """All values by key, shown or not."""
        return self._all

    @property
    def total(self) -> int:
        """Number of values, shown or not."""
        return len(self._all)

    def at(self, row: int) -> T | None:
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def row_of(self, key: Hashable) -> int:
        """Return the row of a value, -1 while it is not shown."""
        if self._places is None:
            self._places = {self.key(value): row for row, value in enumerate(self._rows)}
        return self._places.get(key, -1)

    def column_of(self, key: str) -> int:
        return next(number for number, column in enumerate(self.columns) if column.key == key)

    # ------------------------------------------------------------ changes
    def load(self, values: Iterable[T]) -> None:
        """Replace all values; rows that stay keep their places."""
        self._all = {self.key(value): value for value in values}
        self.refresh()

    def put(self, values: Iterable[T]) -> None:
        """Add or update values; the others stay."""
        self._all.update({self.key(value): value for value in values})
        self.refresh()

    def filter_again(self) -> None:
        """Reset the rows to the values that match the filter now."""
        self.beginResetModel()
        self._rows, self._places = self._sorted(filter(self.matches, self._all.values())), None
        self.endResetModel()

    def hold(self, keys: Iterable[Hashable]) -> None:
        """Keep these rows whatever the filter says; release those held before."""
        before, self._held = self._held, frozenset(keys)
        released = [self._all[key] for key in before - self._held if key in self._all]
        if any(not self.matches(value) and self.row_of(self.key(value)) >= 0 for value in released):
            self.refresh()

    def refresh(self) -> None:
        """Insert, remove and update single rows until the table shows what matches."""
        held = self._held
        wanted = {
            key: value
            for key, value in self._all.items()
            if (key in held and self.row_of(key) >= 0) or self.matches(value)
        }
        gone = row_groups([row for row, value in enumerate(self._rows) if self.key(value) not in wanted])
        fresh = self._sorted(value for key, value in wanted.items() if self.row_of(key) < 0)
        if not self._rows or len(gone) + len(fresh) > MAX_ROW_GROUPS:
            self.beginResetModel()
            self._rows, self._places = self._sorted(wanted.values()), None
            self.endResetModel()
            return
        for first, last in reversed(gone):
            self.beginRemoveRows(QModelIndex(), first, last)
            del self._rows[first : last + 1]
            self._places = None
            self.endRemoveRows()
        changed = [row for row, old in enumerate(self._rows) if wanted[self.key(old)] != old]
        for row in changed:
            self._rows[row] = wanted[self.key(self._rows[row])]
        for first, last in row_groups(changed):
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(self.columns) - 1))
        self._insert(fresh)

    def repaint_column(self, key: str = "") -> None:
        """Report that the texts of a column, or of all, changed while the values did not."""
        if self._rows:
            first = last = self.column_of(key) if key else 0
            last = last if key else len(self.columns) - 1
            self.dataChanged.emit(self.index(0, first), self.index(len(self._rows) - 1, last))

    # ------------------------------------------------------------ inside
    def _insert(self, fresh: list[T]) -> None:
        """Insert values, which are sorted; neighbours share a signal."""
        groups: dict[int, list[T]] = {}
        for value in fresh:
            groups.setdefault(self._place_of(value), []).append(value)
        for place in sorted(groups, reverse=True):  # from the end, so that earlier places stay right
            self.beginInsertRows(QModelIndex(), place, place + len(groups[place]) - 1)
            self._rows[place:place] = groups[place]
            self._places = None
            self.endInsertRows()

    def _place_of(self, value: T) -> int:
        """Return the row at which a value belongs, by bisection."""
        rank = self._rank()
        mine, place, end = rank(value), 0, len(self._rows)
        while place < end:
            middle = (place + end) // 2
            other = rank(self._rows[middle])
            if other > mine if self.descending else other < mine:
                place = middle + 1
            else:
                end = middle
        return place

    def _sorted(self, values: Iterable[T]) -> list[T]:
        return sorted(values, key=self._rank(), reverse=self.descending)

    def _rank(self) -> Callable[[T], tuple[Any, ...]]:
        key = self.key
        if not self.sorted_by:
            order = {one: number for number, one in enumerate(self._all)}
            return lambda value: (order[key(value)],)
        column = self.columns[self.column_of(self.sorted_by)]

        def rank(value: T) -> tuple[Any, ...]:
            return (column.sort(value) if column.sort else column.cell(value).lower(), key(value))

        return rank


def row_groups(rows: Iterable[int]) -> list[tuple[int, int]]:
    """Return neighbouring rows as (first, last), in order."""
    found: list[tuple[int, int]] = []
    for row in rows:
        if found and found[-1][1] == row - 1:
            found[-1] = (found[-1][0], row)
        else:
            found.append((row, row))
    return found
