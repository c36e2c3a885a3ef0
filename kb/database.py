"""Connections, transactions, and SQLite's errors as sentences a person can act on."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from kb.errors import BadFile, KbError, Locked
from kb.private import own_file

BUSY_SECONDS = 5.0
"""Seconds a writer waits for another process before it raises ``Locked``."""


def connect(
    path: Path, *, read_only: bool = False, immutable: bool = False, busy_seconds: float = BUSY_SECONDS
) -> sqlite3.Connection:
    """Return a connection in autocommit mode: only ``transaction`` opens transactions.

    It may be passed between threads; its owner ensures that only one uses it at a time.
    """
    mode = "ro" if read_only or immutable else "rwc"
    if mode == "rwc":
        with suppress(OSError):  # SQLite's message is better
            own_file(path)  # SQLite's side files get the same permissions
    uri = f"file:{quote(str(path.absolute()))}?mode={mode}{'&immutable=1' if immutable else ''}"
    connection = sqlite3.connect(
        uri, uri=True, isolation_level=None, check_same_thread=False, timeout=busy_seconds
    )
    connection.row_factory = sqlite3.Row
    return connection


def connect_memory() -> sqlite3.Connection:
    """The same kind of connection, to an empty in-memory database."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    """Run the block as one transaction; inside another transaction, as a savepoint of that one.

    It takes the write lock at once: a transaction that starts by reading can't be upgraded once another process has
    written, and would fail without waiting.
    """
    nested = connection.in_transaction
    connection.execute("SAVEPOINT part" if nested else "BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("RELEASE part" if nested else "COMMIT")
    except BaseException:
        if nested and connection.in_transaction:
            connection.execute("ROLLBACK TO part")
            connection.execute("RELEASE part")
        elif connection.in_transaction:  # on a full disk SQLite has rolled back already
            connection.execute("ROLLBACK")
        raise


def explain(error: sqlite3.Error, path: str | Path) -> KbError:
    """Convert SQLite's error into one about the file ``path`` for a person."""
    primary = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Locked(f"{path}: another process is writing to it; nothing was changed, try again in a moment")
    if primary == sqlite3.SQLITE_FULL:
        return BadFile(f"{path}: the disk is full; nothing was changed, free some space and try again")
    if primary == sqlite3.SQLITE_READONLY:
        return BadFile(f"{path}: the file is read-only; nothing was changed, make it writable or copy it")
    if primary == sqlite3.SQLITE_INTERRUPT:
        return BadFile(
            f"{path}: reading it took too long for a knowledge base and was stopped; ask for an export"
        )
    if primary == sqlite3.SQLITE_TOOBIG:
        return BadFile(f"{path}: it contains a value too large for a knowledge base; ask for an export")
    if primary == sqlite3.SQLITE_NOTADB:
        return BadFile(f"{path}: this is not a knowledge base (not an SQLite file)")
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FORMAT):
        return BadFile(f"{path}: the file is damaged ({error}); take the newest backup beside it")
    if primary == sqlite3.SQLITE_CANTOPEN:
        return BadFile(f"{path}: the file can't be opened; check that its folder exists and is writable")
    return BadFile(f"{path}: reading or writing failed ({error}); nothing was changed")


@contextmanager
def explained(path: str | Path) -> Generator[None]:
    """Convert any SQLite error of the block into one of ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise explain(error, path) from error
