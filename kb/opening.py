"""Opens a live knowledge base file: durable, waiting for other writers, checked for damage and version."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import cast

from kb import evidence
from kb.database import connect, connect_memory, explained
from kb.errors import BadFile
from kb.migrations import STEPS, VERSION, check, migrate
from kb.reading import refuse_odd_database
from kb.shape import check_shape, guard

_QUICK_CHECK_UP_TO = 16 * 1024 * 1024
"""Maximum size in bytes of a file that is checked for damage at every opening (about 30 ms); vectors can make it
large.
"""


def open_live(
    path: Path, *, create: bool, read_only: bool, busy_seconds: float
) -> tuple[sqlite3.Connection, bool]:
    """Return a connection to the migrated file, and whether it is writable."""
    if path.is_dir():
        raise BadFile(f"{path}: this is a folder; a knowledge base is one file, like knowledge.akb")
    new = not path.exists()
    if new and (read_only or not create):
        raise BadFile(f"{path}: there is no such knowledge base")
    refuse_odd_database(path)
    if not new and (read_only or not create) and path.stat().st_size == 0:
        raise BadFile(f"{path}: the file is empty, so it is not a knowledge base; take another copy of it")
    writable = not read_only and (new or is_writable(path))
    with explained(path):
        connection = connect(path, read_only=not writable, busy_seconds=busy_seconds)
        try:
            if writable:
                _patiently(lambda: _prepare(connection, path), busy_seconds)
            else:
                connection = _only_reading(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection, writable


def is_writable(path: Path) -> bool:
    """Check the mode as well: the system lets an administrator write everything."""
    return bool(path.stat().st_mode & 0o222) and os.access(path, os.W_OK)


def read_hosts(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """Host globs by site; raises ``sqlite3.DataError`` for what are none."""
    rows = connection.execute("SELECT site, hosts FROM site_host ORDER BY site").fetchall()
    return {row["site"]: _globs(row["hosts"]) for row in rows}


def _globs(text: object) -> tuple[str, ...]:
    try:
        globs: object = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        globs = None
    if not isinstance(globs, list) or not all(isinstance(one, str) for one in cast("list[object]", globs)):
        raise sqlite3.DataError("the hosts of a site in it can't be read")
    return tuple(cast("list[str]", globs))


def whole(connection: sqlite3.Connection, path: Path) -> None:
    """Raise ``BadFile`` if SQLite finds damage."""
    answer = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if answer != "ok":
        raise BadFile(f"{path}: the file is damaged ({answer}); take the newest backup beside it")


def _patiently(action: Callable[[], None], seconds: float) -> None:
    """Retry while another process is creating or migrating the file.

    SQLite itself waits for a writer, but not if two processes switch the same file to WAL mode.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            action()
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
            return


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    guard(connection)
    # Before anything is written: a foreign or newer file stays unchanged.
    _check_all(connection, path, check(connection, path))
    connection.set_progress_handler(None, 0)
    if path.stat().st_size <= _QUICK_CHECK_UP_TO:
        whole(connection, path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    migrate(connection, path)


def _check_all(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Compare the file's schema with the one its version's migrations create."""
    if not version:
        return
    guards = ("deed_kept", "revision_kept_on_update", "revision_kept_on_delete", *evidence.GUARDS)
    check_shape(
        connection,
        path,
        _expected(min(version, VERSION)),
        indexes=("revision_content", evidence.INDEX),
        triggers=guards,
        may_have_more=version > VERSION,
    )


@lru_cache(maxsize=8)
def _expected(version: int) -> dict[str, tuple[str, ...]]:
    with closing(connect_memory()) as made:
        for number, step in STEPS:
            if number <= version:
                step(made)
        names = [row[0] for row in made.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: tuple(row[1] for row in made.execute(f'PRAGMA table_xinfo("{name}")'))
            for name in names
            if not name.startswith("sqlite_")
        }


def _only_reading(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    try:
        guard(connection)
        version = check(connection, path)
    except sqlite3.OperationalError:
        # A file in WAL mode needs a writable folder for its shared memory; in a read-only folder there is none,
        # and nobody can change the file either.
        connection.close()
        connection = connect(path, immutable=True)
        guard(connection)
        version = check(connection, path)
    if not version:
        connection.close()
        raise BadFile(f"{path}: this is not a knowledge base, it contains no tables; take another copy of it")
    _check_all(connection, path, version)
    connection.set_progress_handler(None, 0)
    if version < VERSION:
        # It must not be changed, so a copy in memory is migrated and read.
        with closing(connection):
            copy = connect_memory()
            connection.backup(copy)
        migrate(copy, path, keep_backup=False)
        return copy
    return connection
