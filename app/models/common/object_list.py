"""A list of plain values as a Qt model that changes row by row, so that selection and scroll position stay."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

T = TypeVar("T")
Index = QModelIndex | QPersistentModelIndex

OBJECT_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""Role under which a delegate gets the value itself."""

_ROOT = QModelIndex()


class ObjectList(QAbstractListModel, Generic[T]):
    """A list model of values; subclasses define the key and the text of a row.

    Args:
        key: returns what stays the same while a value changes (an id); no two rows share it.
    """

    def __init__(self, key: Callable[[T], Hashable], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._key = key
        self._rows: list[T] = []
        self._places: dict[Hashable, int] | None = {}

    def words(self, value: T) -> str:
        """Return one line that says all of a row, for screen readers, type-ahead and copying."""
        return str(value)

    def tip(self, value: T) -> str:
        return self.words(value)

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The value, its words, or its tooltip."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        value = self._rows[index.row()]
        if role == OBJECT_ROLE:
            return value
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.words(value)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.tip(value)
        return None

    @property
    def rows(self) -> Sequence[T]:
        """All values in order; not to be changed."""
        return self._rows

    def at(self, row: int) -> T | None:
        """The value in a row, ``None`` beyond the ends."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def row_of(self, key: Hashable) -> int:
        """The row of the value with this key, -1 when there is none."""
        return self._row_of.get(key, -1)

    @property
    def _row_of(self) -> dict[Hashable, int]:
        if (
            self._places is None
        ):  # computed on demand, so that listeners between two changes see the current rows
            self._places = {self._key(value): row for row, value in enumerate(self._rows)}
        return self._places

    def replace(self, rows: Sequence[T]) -> None:
        self.beginResetModel()
        self._rows, self._places = list(rows), None
        self.endResetModel()

    def merge(self, rows: Sequence[T], *, keep_places: bool = False) -> None:
        """Become ``rows`` by removing, updating and inserting single rows.

        With ``keep_places`` rows that stay are never moved, even where ``rows`` has them in another order;
        without, another order resets the model.
        """
        wanted = {self._key(row): row for row in rows}
        stay = [key for key in map(self._key, self._rows) if key in wanted]
        if not keep_places and stay != [key for key in wanted if key in self._row_of]:
            self.replace(rows)
            return
        self._remove_all_but(wanted)
        self._update(wanted)
        self._insert_missing(wanted)

    def put(self, value: T) -> None:
        """Update the row of this key; does nothing when there is none."""
        row = self.row_of(self._key(value))
        if row >= 0 and self._rows[row] != value:
            self._rows[row] = value
            self._tell(row, row)

    def move_row(self, row: int, place: int) -> None:
        """Move one row; selection and scroll position stay."""
        if row == place:
            return
        self.beginMoveRows(_ROOT, row, row, _ROOT, place if place < row else place + 1)
        self._rows.insert(place, self._rows.pop(row))
        self._places = None
        self.endMoveRows()

    def drop(self, key: Hashable) -> None:
        """Remove one row, if it is there."""
        row = self.row_of(key)
        if row >= 0:
            self._remove(row, row)

    def _remove_all_but(self, wanted: dict[Hashable, T]) -> None:
        last = len(self._rows) - 1
        while last >= 0:
            if self._key(self._rows[last]) in wanted:
                last -= 1
                continue
            first = last
            while first > 0 and self._key(self._rows[first - 1]) not in wanted:
                first -= 1
            self._remove(first, last)
            last = first - 1

    def _remove(self, first: int, last: int) -> None:
        self.beginRemoveRows(QModelIndex(), first, last)
        del self._rows[first : last + 1]
        self._places = None
        self.endRemoveRows()

    def _update(self, wanted: dict[Hashable, T]) -> None:
        """Update values in place; neighbours share a signal, as a new ranking changes nearly every row."""
        first = -1
        for row, old in enumerate(self._rows):
            new = wanted[self._key(old)]
            if new != old:
                self._rows[row] = new
                first = row if first < 0 else first
            elif first >= 0:
                self._tell(first, row - 1)
                first = -1
        if first >= 0:
            self._tell(first, len(self._rows) - 1)

    def _insert_missing(self, wanted: dict[Hashable, T]) -> None:
        groups: dict[int, list[T]] = {}
        place, here = 0, self._row_of
        for key, value in wanted.items():
            row = here.get(key)
            if row is None:
                groups.setdefault(place, []).append(value)
            else:
                place = row + 1
        for place in sorted(groups, reverse=True):  # from the end, so that earlier places stay right
            group = groups[place]
            self.beginInsertRows(QModelIndex(), place, place + len(group) - 1)
            self._rows[place:place] = group
            self._places = None
            self.endInsertRows()

    def _tell(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first), self.index(last))


class ReorderableList(ObjectList[T]):
    """A list with ``arrange``, for short lists (tens of rows) that are ranked again and again."""

    def arrange(self, rows: Sequence[T]) -> None:
        """Become ``rows`` in their order by removing, moving, inserting and updating single rows."""
        wanted = {self._key(row): row for row in rows}
        self._remove_all_but(wanted)
        for place, (key, value) in enumerate(wanted.items()):
            row = self.row_of(key)
            if row < 0:
                self._insert(place, value)
            else:
                if row != place:
                    self._move(row, place)
                self.put(value)

    def _insert(self, place: int, value: T) -> None:
        self.beginInsertRows(QModelIndex(), place, place)
        self._rows.insert(place, value)
        self._places = None
        self.endInsertRows()

    def _move(self, row: int, place: int) -> None:
        """``place`` is always above ``row``: everything over it has its place already."""
        self.beginMoveRows(QModelIndex(), row, row, QModelIndex(), place)
        self._rows.insert(place, self._rows.pop(row))
        self._places = None
        self.endMoveRows()
