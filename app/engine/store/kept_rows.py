"""Rows of a table as objects in memory, read again only where something was written.

A map that is open while its site is explored is built again after every step.  Reading 10,000 states and 30,000
transitions takes most of a second; reading the few that changed takes none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Protocol, TypeVar

_ASKED_AT_ONCE = 500
"""Parameters of one statement; SQLite takes 999 in old versions."""


class _Named(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=_Named)


class KeptRows(Generic[T]):
    """The rows of one table by id, in the order of insertion.

    Args:
        read: reads the rows of these ids, or all of them for ``None``, in the order of insertion.
    """

    def __init__(self, read: Callable[[Sequence[str] | None], Iterable[T]]) -> None:
        self._read = read
        self._rows: dict[str, T] = {}
        self._changed: dict[str, None] = {}
        self._version = -1

    def changed(self, ids: Iterable[str]) -> None:
        """Something was written to these rows, or they are new."""
        self._changed.update(dict.fromkeys(ids))

    def forget(self) -> None:
        """Nothing is known for sure any more, for example after a transaction was taken back."""
        self._version = -1

    def all(self, version: int) -> list[T]:
        """All rows; ``version`` is another number once another connection has written."""
        if version != self._version:
            self._rows = {row.id: row for row in self._read(None)}
            self._version = version
        elif self._changed:
            ids = list(self._changed)
            found: dict[str, T] = {}
            for start in range(0, len(ids), _ASKED_AT_ONCE):
                found.update((row.id, row) for row in self._read(ids[start : start + _ASKED_AT_ONCE]))
            for name in ids:
                if name not in found:
                    self._rows.pop(name, None)
            self._rows.update(found)
        self._changed.clear()
        return list(self._rows.values())
