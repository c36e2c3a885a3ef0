"""Tables of the review state."""

from __future__ import annotations

import sqlite3

from app.engine.store.password_migration import remove_passwords
from app.engine.store.supervision.supervision_schema import create_supervision_tables


def _create(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE verdict (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, run TEXT NOT NULL,"
        " label TEXT NOT NULL, step INTEGER, detector TEXT NOT NULL, note TEXT NOT NULL, author TEXT NOT NULL,"
        " at REAL NOT NULL, guideline TEXT NOT NULL, lead_seconds REAL NOT NULL)"
    )
    connection.execute("CREATE INDEX verdict_run ON verdict (run)")
    connection.execute(
        "CREATE TABLE mark (seq INTEGER PRIMARY KEY AUTOINCREMENT, verdict TEXT NOT NULL REFERENCES verdict (id),"
        " standing INTEGER NOT NULL, at REAL NOT NULL)"
    )
    connection.execute("CREATE INDEX mark_verdict ON mark (verdict, seq)")
    for table in ("verdict", "mark"):
        for deed in ("DELETE", "UPDATE"):
            connection.execute(
                f"CREATE TRIGGER {table}_no_{deed.lower()} BEFORE {deed} ON {table}"
                f" BEGIN SELECT RAISE(ABORT, 'verdicts are kept for ever'); END"
            )
    connection.execute("CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL, at REAL NOT NULL)")


def _opinions(connection: sqlite3.Connection) -> None:
    # A model's opinion costs money, so it is stored with people's verdicts and not in the index.
    connection.execute(
        "CREATE TABLE opinion (seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, at REAL NOT NULL,"
        " model TEXT NOT NULL, document TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX opinion_run ON opinion (run, seq)")


MIGRATIONS = (_create, _opinions, create_supervision_tables, remove_passwords)
PURGING = (remove_passwords,)
