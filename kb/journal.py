"""Undo and redo that survive a restart: an append-only history of changes within one SQLite file.

A change is recorded in the same transaction as its effect, with the data to undo and to redo it.  Both are plain JSON
which only their owner interprets: it is passed to ``apply`` on undo and redo.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from kb.database import transaction

Apply = Callable[[str, dict[str, Any]], None]
"""Called with a change's kind and the data recorded for that direction; makes the change, inside a transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One change.  Times are Unix seconds.

    Two journals form one history: the later ``at`` is undone first, the later ``undone_at`` redone first.
    """

    id: int
    kind: str
    label: str
    author: str
    at: float
    undone_at: float | None = None
    dropped: bool = False
    """It was undone, and a newer change replaced it: it can't be redone any more."""


class Journal:
    """The changes in ``table`` of the given connection; a missing table is created.

    A change by another process is visible at once: nothing is cached in memory.
    """

    def __init__(
        self, connection: sqlite3.Connection, table: str = "deed", *, clock: Callable[[], float] = time.time
    ) -> None:
        if not table.isidentifier():
            raise ValueError(f"not a table name: {table!r}")
        self._connection = connection
        self._table = table
        self._clock = clock
        # The trigger is created last: if it exists, everything exists.
        guard = (f"{table}_kept",)
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", guard).fetchone() is None:
            create_table(connection, table)

    def record(
        self, kind: str, label: str, forward: dict[str, Any], backward: dict[str, Any], author: str = ""
    ) -> int:
        """Append a change, inside the caller's transaction; earlier undone ones can't be redone after it."""
        self.drop_redo()
        cursor = self._connection.execute(
            f"INSERT INTO {self._table} (kind, label, author, at, forward, backward) VALUES (?, ?, ?, ?, ?, ?)",
            (kind, label, author, self._clock(), _json(forward), _json(backward)),
        )
        return int(cursor.lastrowid or 0)

    def undo(self, apply: Apply) -> JournalEntry | None:
        """Undo the newest change and return its entry; None if there is none.

        A failing ``apply`` leaves everything as it was.
        """
        with transaction(self._connection):
            return self._move(self._undoable(), apply, "backward", self._clock())

    def redo(self, apply: Apply) -> JournalEntry | None:
        """Redo the change undone last; None if there is none."""
        with transaction(self._connection):
            return self._move(self._redoable(), apply, "forward", None)

    def peek(self) -> tuple[JournalEntry | None, JournalEntry | None]:
        """The changes that undo and redo would affect."""
        undo, redo = self._undoable(), self._redoable()
        return _entry(undo) if undo else None, _entry(redo) if redo else None

    def entries(self, limit: int = 50) -> list[JournalEntry]:
        """The newest changes first, including undone and dropped ones."""
        return [_entry(row) for row in self._rows("1 ORDER BY id DESC", limit)]

    def forward_of(self, kind: str) -> list[dict[str, Any]]:
        """The data with which changes of this kind are redone, the oldest first; undone ones are left out."""
        rows = self._connection.execute(
            f"SELECT forward FROM {self._table} WHERE kind = ? AND undone_at IS NULL ORDER BY id", (kind,)
        ).fetchall()
        return [_data(row[0]) for row in rows]

    def undone_of(self, kind: str) -> list[dict[str, Any]]:
        """The data with which changes of this kind that are undone would be redone, the oldest first."""
        rows = self._connection.execute(
            f"SELECT forward FROM {self._table} WHERE kind = ? AND undone_at IS NOT NULL ORDER BY id", (kind,)
        ).fetchall()
        return [_data(row[0]) for row in rows]

    def reasons(self) -> dict[tuple[str, int], str]:
        """The words after the colon of a change's label, by each tip and revision that the change made."""
        found: dict[tuple[str, int], str] = {}
        rows = self._connection.execute(
            f"SELECT label, forward FROM {self._table} WHERE label LIKE '%: %' ORDER BY id"
        ).fetchall()
        for label, forward in ((row[0], json.loads(row[1])) for row in rows):
            for tip, revision in forward.get("tips", {}).items():
                found[tip, int(revision)] = label.partition(": ")[2]
        return found

    def drop_redo(self) -> None:
        """Make undone changes unavailable for redo: for a change in another journal of the same history."""
        self._connection.execute(
            f"UPDATE {self._table} SET dropped = 1 WHERE undone_at IS NOT NULL AND NOT dropped"
        )

    def _move(
        self, row: dict[str, Any] | None, apply: Apply, direction: str, undone_at: float | None
    ) -> JournalEntry | None:
        if row is None:
            return None
        apply(row["kind"], json.loads(row[direction]))
        self._connection.execute(
            f"UPDATE {self._table} SET undone_at = ? WHERE id = ?", (undone_at, row["id"])
        )
        return _entry({**row, "undone_at": undone_at})

    def _undoable(self) -> dict[str, Any] | None:
        return self._one("undone_at IS NULL ORDER BY id DESC")

    def _redoable(self) -> dict[str, Any] | None:
        # Changes are undone newest first, so the oldest undone one is the last.
        return self._one("undone_at IS NOT NULL AND NOT dropped ORDER BY id")

    def _one(self, condition: str) -> dict[str, Any] | None:
        return next(iter(self._rows(condition, 1)), None)

    def _rows(self, condition: str, limit: int) -> list[dict[str, Any]]:
        # Columns are named here, so that it works with any row factory.
        cursor = self._connection.execute(f"SELECT * FROM {self._table} WHERE {condition} LIMIT ?", (limit,))
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]


def create_table(connection: sqlite3.Connection, table: str = "deed") -> None:
    """Create the journal's table, with the trigger that prevents deletion.

    A table that another process created meanwhile is left as it is.
    """
    connection.execute(
        f"""CREATE TABLE IF NOT EXISTS {table} (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            label TEXT NOT NULL,
            author TEXT NOT NULL,
            at REAL NOT NULL,
            forward TEXT NOT NULL,
            backward TEXT NOT NULL,
            undone_at REAL,
            dropped INTEGER NOT NULL DEFAULT 0
        )"""
    )
    connection.execute(
        f"CREATE TRIGGER IF NOT EXISTS {table}_kept BEFORE DELETE ON {table}"
        " BEGIN SELECT RAISE(ABORT, 'deeds are kept for ever'); END"
    )


def _data(text: object) -> dict[str, Any]:
    """Raise ``sqlite3.DataError`` for what no journal has written: the file may be a stranger's."""
    try:
        data: object = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise sqlite3.DataError("an entry of its journal can't be read")
    return cast("dict[str, Any]", data)


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _entry(row: dict[str, Any]) -> JournalEntry:
    return JournalEntry(
        id=row["id"],
        kind=row["kind"],
        label=row["label"],
        author=row["author"],
        at=row["at"],
        undone_at=row["undone_at"],
        dropped=bool(row["dropped"]),
    )
