"""Checks a database file's schema before anything in it is evaluated.

An untrusted file may contain views in the place of tables, triggers, virtual tables or computed columns: reading a
"table" then runs whatever its author wrote, for as long as they like.  So the file's schema is compared with the one
the program creates; a file of a newer minor version may have more plain tables, columns and indexes.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Collection, Mapping
from pathlib import Path

from kb.errors import BadFile

LONGEST_VALUE = 64 * 2**20
"""Maximum bytes of one value; the longest ever written, the journal entry of an import of 500,000 tips, is less
than half of it.
"""

LONGEST_READ = 60.0
"""Maximum seconds of one statement over an untrusted file; a scan of a gigabyte takes a few."""

_EVERY = 20_000
"""SQLite virtual machine steps between two clock checks, well below a millisecond."""

_PLAIN = re.compile(r"CREATE TABLE\s", re.IGNORECASE)
_GUARD = re.compile(
    r"CREATE TRIGGER (\w+) BEFORE (?:UPDATE|DELETE) ON (\w+)"
    r" BEGIN SELECT RAISE\(ABORT, '[^']*'\); END",
    re.IGNORECASE,
)
_OWN = re.compile(r"sqlite_(?:autoindex_\w+|sequence|stat1)")


def guard(connection: sqlite3.Connection, seconds: float = LONGEST_READ) -> None:
    """Prevent the file from running functions, returning huge values, or taking longer than ``seconds``
    altogether.
    """
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    end = time.monotonic() + seconds
    connection.set_progress_handler(lambda: int(time.monotonic() > end), _EVERY)


def check_shape(
    connection: sqlite3.Connection,
    path: Path,
    tables: Mapping[str, Collection[str]],
    *,
    optional: Collection[str] = (),
    indexes: Collection[str] = (),
    triggers: Collection[str] = (),
    may_have_more: bool = False,
) -> None:
    """Raise ``BadFile`` if the file contains anything but these plain tables, indexes and guards.

    Args:
        tables: columns by name of the required tables; those of ``optional`` names may be missing.
        may_have_more: a newer minor version may have further plain tables, columns and indexes.
    """
    found = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    there: set[str] = set()
    for kind, name, owner, sql in found:
        if _OWN.fullmatch(name):
            continue
        text = " ".join(str(sql or "").split())
        may_be = {
            "table": _PLAIN.match(text) is not None and (name in tables or may_have_more),
            "index": owner in tables and (name in indexes or may_have_more),
            "trigger": name in triggers and _is_guard(text, name, owner),
        }
        if not may_be.get(kind, False):
            raise _odd(path, f"it contains the {kind} {str(name)[:60]!r}")
        there.update({name} if kind == "table" else ())
    if missing := sorted(set(tables) - there - set(optional)):
        raise _odd(path, f"it has no table {missing[0]!r}")
    for name in sorted(there & tables.keys()):
        rows = connection.execute(f'PRAGMA table_xinfo("{name}")').fetchall()
        columns = {str(row[1]) for row in rows}
        lacking = sorted(set(tables[name]) - columns)
        if lacking or any(row[6] for row in rows) or (columns - set(tables[name]) and not may_have_more):
            raise _odd(path, f"its table {name!r} has other columns")


def _is_guard(text: str, name: str, owner: str) -> bool:
    match = _GUARD.fullmatch(text)
    return match is not None and match[1] == name and match[2] == owner


def _odd(path: Path, what: str) -> BadFile:
    return BadFile(
        f"{path}: this file is not laid out like a knowledge base ({what}); it was not read, ask for an export"
        " in a text format (jsonl) instead"
    )
