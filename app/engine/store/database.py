"""Opens the workspace's SQLite files: write-ahead log, schema versions, a backup before each migration.

Rule for every connection of this package: one thread at a time uses it, the process's store thread (or the thread of
an import, which opens a workspace of its own).  SQLite's own check is off, since that thread is not the one that
opened it.  Two processes may have the same files open: transactions are short and wait for each other.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from app.errors import Conflict, DamagedIndex, SiteloreError, StoreError
from kb.database import connect, connect_memory, transaction

Migration = Callable[[sqlite3.Connection], None]
"""Brings a file from the previous version to its own; runs in a transaction."""

BUSY_SECONDS = 15.0

INDEX_FILE = "index.sqlite"
"""The one file that can be rebuilt from the others."""

WAL_INDEX_BYTES = 2**15
"""Space that SQLite needs beside a file even to read it."""

_REFUSED = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT)


def open_database(
    path: Path,
    migrations: Sequence[Migration],
    *,
    pragmas: Sequence[str] = (),
    checkpointed: bool = True,
    purging: Collection[Migration] = (),
) -> sqlite3.Connection:
    """Open or create a file whose version is the number of ``migrations``.

    ``checkpointed`` waits for the disk at every commit; without it a power cut may lose the latest commits, never
    damage
    the file: for files that can be rebuilt.  Migrations in ``purging`` remove contents for good: afterwards they are
    in none of the file's free pages, nor in the backup.

    Raises:
        StoreError: the file is of a newer version, damaged, or can't be written.  Conflict: another process holds it.
    """
    with translated_errors(path):
        connection = connect(path, busy_seconds=BUSY_SECONDS)
        try:
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if version > len(migrations):
                raise StoreError(
                    f"{path}: written in version {version}, this program reads up to {len(migrations)};"
                    " use a newer Sitelore"
                )
            if version == 0:
                for pragma in pragmas:
                    connection.execute(f"PRAGMA {pragma}")
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(f"PRAGMA synchronous={'FULL' if checkpointed else 'NORMAL'}")
            connection.execute("PRAGMA foreign_keys=ON")
            if version < len(migrations):
                _migrate(connection, path, version, migrations, purging)
        except BaseException:
            connection.close()
            raise
        return connection


def _migrate(
    connection: sqlite3.Connection,
    path: Path,
    version: int,
    migrations: Sequence[Migration],
    purging: Collection[Migration],
) -> None:
    purges = [migration for migration in migrations[version:] if version and migration in purging]
    if version:
        backup = path.with_name(f"{path.name}.backup-v{version}-{int(time.time())}")
        _back_up(connection, backup, purges)
    if purges:
        # What earlier changes left in free pages goes now, what this one frees is written over.
        connection.execute("VACUUM")
        connection.execute("PRAGMA secure_delete=ON")
    with transaction(connection):
        # Another process may have done it while this one waited.
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        for migration in migrations[version:]:
            migration(connection)
        connection.execute(f"PRAGMA user_version={max(version, len(migrations))}")
    if purges:
        connection.execute("VACUUM")  # pages that a change has emptied or put in order may hold a copy still
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _back_up(connection: sqlite3.Connection, backup: Path, purges: Sequence[Migration]) -> None:
    """Copy the file; contents to be purged are removed before the copy is on the disk."""
    with closing(connect(backup)) as copy:
        if not purges:
            connection.backup(copy)
            return
        with closing(connect_memory()) as clean:
            connection.backup(clean)
            for purge in purges:
                purge(clean)
            clean.execute("VACUUM")
            clean.backup(copy)


def copy_database(source: Path, copy: Path) -> None:
    """Copy a file as it is at one moment, also while another connection writes it.

    Raises:
        StoreError: it can't be read, or the copy can't be written.
    """
    with translated_errors(source), closing(connect(source)) as from_file, closing(connect(copy)) as to_file:
        from_file.backup(to_file)


def _is_full(path: Path) -> bool:
    """Return whether the shared memory of a write-ahead log has no room, which SQLite reports as an I/O error."""
    try:
        return shutil.disk_usage(path.parent).free < WAL_INDEX_BYTES
    except OSError:
        return False


def _is_read_only(path: Path) -> bool:
    """Return whether the file system is read-only, as one becomes when it fails."""
    try:
        return bool(os.statvfs(path.parent).f_flag & os.ST_RDONLY) if hasattr(os, "statvfs") else False
    except OSError:
        return False


@contextmanager
def translated_errors(path: Path) -> Generator[None]:
    """Translate errors of SQLite or of the file system into sentences for a person."""
    try:
        yield
    except sqlite3.Error as error:
        raise translate_error(error, path) from error
    except OSError as error:
        raise StoreError(
            f"{error.filename or path}: {error.strerror or error}; nothing was changed"
        ) from error


def translate_error(error: sqlite3.Error, path: Path) -> SiteloreError:
    """Return an error of SQLite as a sentence for the user of the file ``path``."""
    primary = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Conflict(f"{path}: another process is writing to it; try again in a moment")
    if primary == sqlite3.SQLITE_FULL or (primary == sqlite3.SQLITE_IOERR and _is_full(path)):
        return StoreError(f"{path}: the disk is full; stored data is intact; free some space and try again")
    if primary == sqlite3.SQLITE_READONLY or (primary in _REFUSED and _is_read_only(path)):
        return StoreError(
            f"{path}: it can't be written to; make the folder writable or choose another workspace"
        )
    if primary == sqlite3.SQLITE_CANTOPEN:
        return StoreError(f"{path}: it can't be opened; see that its folder exists and may be written to")
    if primary in _DAMAGED and path.name == INDEX_FILE:
        return DamagedIndex(
            f"{path}: the search index is damaged ({error}); 'sitelore runs reindex', or Rebuild the search index in"
            " the File menu, rebuilds it from the runs: nothing else is lost"
        )
    if primary in _DAMAGED:
        return StoreError(f"{path}: the file is damaged ({error}); move it away or take a backup")
    return StoreError(f"{path}: reading or writing failed ({error})")


class StoreFile:
    """An open file; errors in its statements are sentences for a person.

    Private methods are for the kinds of files; SQL that needs more of them uses ``connection`` in a ``batch``.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self.connection = path, connection

    @contextmanager
    def batch(self) -> Generator[None]:
        """Make one transaction of all changes in the block; may be nested."""
        with translated_errors(self.path), transaction(self.connection):
            yield

    def close(self) -> None:
        """Close the file; its log is merged in."""
        self.connection.close()

    def _all(self, sql: str, *values: object) -> list[Any]:
        with translated_errors(self.path):
            return self.connection.execute(sql, values).fetchall()

    def _one(self, sql: str, *values: object) -> Any:
        """Return the first row, ``None`` where there is none."""
        with translated_errors(self.path):
            return self.connection.execute(sql, values).fetchone()

    def _write(self, sql: str, *values: object) -> None:
        with self.batch():
            self.connection.execute(sql, values)

    def _insert(self, table: str, **columns: object) -> int:
        """Insert a row and return its number."""
        marks = ",".join("?" * len(columns))
        with self.batch():
            cursor = self.connection.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", tuple(columns.values())
            )
        return int(cursor.lastrowid or 0)
