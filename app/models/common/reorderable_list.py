"""A list whose rows change their order without being reset, so that selection and scroll position stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from PySide6.QtCore import QModelIndex

from app.models.common.object_list import ObjectList

T = TypeVar("T")


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
