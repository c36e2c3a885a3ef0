"""A cache of a table's rows as objects, which reads only changed rows again.

An open map is rebuilt after every step of an exploration.  Reading 10,000 states and 30,000 transitions takes most
of a second; reading the few that changed takes none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Protocol, TypeVar

_MAX_PARAMETERS = 500
"""Parameters of one statement; old versions of SQLite take 999."""


class _WithId(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=_WithId)


class RowCache(Generic[T]):
    """The rows of one table by id, in the order of insertion.

    Args:
        read: returns the rows of these ids, or all of them for ``None``, in the order of insertion.
    """

    def __init__(self, read: Callable[[Sequence[str] | None], Iterable[T]]) -> None:
        self._read = read
        self._rows: dict[str, T] = {}
        self._changed: dict[str, None] = {}
        self._version = -1

    def invalidate(self, ids: Iterable[str]) -> None:
        """Mark rows as written or new."""
        self._changed.update(dict.fromkeys(ids))

    def clear(self) -> None:
        """Invalidate everything, for example after a rollback."""
        self._version = -1

    def all(self, version: int) -> list[T]:
        """Return all rows; ``version`` changes when another connection has written."""
        if version != self._version:
            self._rows = {row.id: row for row in self._read(None)}
            self._version = version
        elif self._changed:
            ids = list(self._changed)
            found: dict[str, T] = {}
            for start in range(0, len(ids), _MAX_PARAMETERS):
                found.update((row.id, row) for row in self._read(ids[start : start + _MAX_PARAMETERS]))
            for name in ids:
                if name not in found:
                    self._rows.pop(name, None)
            self._rows.update(found)
        self._changed.clear()
        return list(self._rows.values())
