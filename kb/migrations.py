"""The layout of a knowledge base file, as the sequence of its migrations.

A new file goes through all of them, an old one through those it lacks, in one transaction and with a backup of the
old file beside it.  ``user_version`` is major * 1000 + minor: a newer minor only added things that this version may
ignore, a newer major is refused.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from kb import evidence, journal
from kb.content import content_key
from kb.database import connect, transaction
from kb.errors import BadFile, Frozen
from kb.record import from_row

APPLICATION_ID = 0x53414B42
"""Marks a live knowledge base in the SQLite header ("SAKB")."""

FROZEN_ID = 0x53414B46
"""Marks a frozen one ("SAKF")."""


def migrate(connection: sqlite3.Connection, path: Path, *, keep_backup: bool = True) -> None:
    """Migrate the file to this program's version; raises ``BadFile`` for a newer major or for another kind of
    file.
    """
    if check(connection, path) >= VERSION:
        return
    with transaction(connection):
        # Checked again under the write lock: another process may have migrated it meanwhile.
        version = check(connection, path)
        if version >= VERSION:
            return
        if version and keep_backup:
            back_up(path, version)
        try:
            for number, step in STEPS:
                if version < number:
                    step(connection)
        except (ValueError, TypeError, LookupError) as error:
            raise BadFile(
                f"{path}: it can't be migrated, because a tip in it is damaged ({error}); nothing was changed"
            ) from error
        if connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
            raise BadFile(f"{path}: the file is damaged: a revision belongs to no tip; nothing was changed")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")


def check(connection: sqlite3.Connection, path: Path) -> int:
    """The file's version, 0 for an empty file."""
    own = not connection.in_transaction
    if own:  # one read: another process may be creating the file
        connection.execute("BEGIN")
    try:
        mark = connection.execute("PRAGMA application_id").fetchone()[0]
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    finally:
        if own and connection.in_transaction:
            connection.execute("ROLLBACK")
    if mark == FROZEN_ID:
        raise Frozen(f"{path}: this knowledge base is frozen; it can be read and merged, not changed")
    if version // 1000 > VERSION // 1000:
        raise BadFile(
            f"{path}: made by a newer version of this program (format {shown(version)}, this one reads up to"
            f" {VERSION // 1000}.x); update the program, the file was not changed"
        )
    if mark != APPLICATION_ID and not empty:
        raise BadFile(f"{path}: this is an SQLite file of another kind, not a knowledge base")
    return version


def shown(version: int) -> str:
    """``2000`` as ``2.0``."""
    return f"{version // 1000}.{version % 1000}"


def back_up(path: Path, version: int) -> Path:
    """Copy the file beside it atomically; an older backup is never overwritten."""
    plain = f"{path.name}.backup-{shown(version)}"
    names = [plain, *(f"{plain}-{again}" for again in range(2, 1000))]
    target = next(path.with_name(name) for name in names if not path.with_name(name).exists())
    temporary = target.with_name(f".{target.name}.part")
    temporary.unlink(missing_ok=True)
    with closing(connect(path, read_only=True)) as source, closing(connect(temporary)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(target)
    return target


def _first(connection: sqlite3.Connection) -> None:
    """1.0: tips with all their revisions, the journal, the change counter."""
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL)")
    connection.execute("INSERT INTO meta VALUES ('changes', 0)")
    connection.execute(
        """CREATE TABLE tip (
            id TEXT NOT NULL UNIQUE,
            revision INTEGER NOT NULL,
            gone INTEGER NOT NULL DEFAULT 0,
            created_at REAL NOT NULL
        )"""
    )
    connection.execute(
        """CREATE TABLE revision (
            tip TEXT NOT NULL REFERENCES tip (id),
            revision INTEGER NOT NULL,
            gone INTEGER NOT NULL DEFAULT 0,
            deed TEXT NOT NULL,
            author TEXT NOT NULL,
            at REAL NOT NULL,
            site TEXT NOT NULL, host TEXT NOT NULL, path TEXT NOT NULL, query TEXT NOT NULL,
            kind TEXT NOT NULL, text TEXT NOT NULL,
            "when" TEXT NOT NULL, "do" TEXT NOT NULL, before TEXT NOT NULL, why TEXT NOT NULL,
            keywords TEXT NOT NULL, status TEXT NOT NULL, provenance TEXT NOT NULL, taint TEXT NOT NULL,
            PRIMARY KEY (tip, revision)
        )"""
    )
    journal.create_table(connection)


def _vectors(connection: sqlite3.Connection) -> None:
    """1.1: a cache of vectors by encoder and content."""
    connection.execute(
        "CREATE TABLE vector (encoder TEXT NOT NULL, key TEXT NOT NULL, data BLOB NOT NULL,"
        " PRIMARY KEY (encoder, key)) WITHOUT ROWID"
    )


def _hosts_and_content(connection: sqlite3.Connection) -> None:
    """2.0: the hosts of each site; each revision's content key, to recognise earlier content."""
    connection.execute("CREATE TABLE site_host (site TEXT PRIMARY KEY, hosts TEXT NOT NULL)")
    connection.execute("ALTER TABLE revision ADD COLUMN content TEXT NOT NULL DEFAULT ''")
    for row in connection.execute("SELECT rowid AS number, * FROM revision").fetchall():
        connection.execute(
            "UPDATE revision SET content = ? WHERE rowid = ?",
            (content_key(from_row(row, id=row["tip"])), row["number"]),
        )
    connection.execute("CREATE INDEX revision_content ON revision (content)")
    for happening in ("UPDATE", "DELETE"):
        connection.execute(
            f"CREATE TRIGGER revision_kept_on_{happening.lower()} BEFORE {happening} ON revision"
            " BEGIN SELECT RAISE(ABORT, 'revisions are kept for ever'); END"
        )


def _waivers(connection: sqlite3.Connection) -> None:
    """2.1: a person's waiver of lint errors, with its revision; JSON, empty for none."""
    connection.execute("ALTER TABLE revision ADD COLUMN waiver TEXT NOT NULL DEFAULT ''")


def _steps_anchors_evidence(connection: sqlite3.Connection) -> None:
    """2.2: a tip's steps and anchor with each revision; tests, votes and uses."""
    connection.execute("ALTER TABLE revision ADD COLUMN procedure TEXT NOT NULL DEFAULT ''")
    connection.execute("ALTER TABLE revision ADD COLUMN anchor TEXT NOT NULL DEFAULT ''")
    evidence.create_table(connection)


def _tags(connection: sqlite3.Connection) -> None:
    """2.3: the tags by which people file a tip, with each revision; a JSON list."""
    connection.execute("ALTER TABLE revision ADD COLUMN tags TEXT NOT NULL DEFAULT '[]'")


STEPS: tuple[tuple[int, Callable[[sqlite3.Connection], None]], ...] = (
    (1000, _first),
    (1001, _vectors),
    (2000, _hosts_and_content),
    (2001, _waivers),
    (2002, _steps_anchors_evidence),
    (2003, _tags),
)

VERSION = STEPS[-1][0]
"""The version this program writes."""
