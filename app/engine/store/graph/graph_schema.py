"""Tables of a site's interaction graph."""

from __future__ import annotations

import sqlite3


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    connection.execute(
        "CREATE TABLE exploration (number INTEGER PRIMARY KEY AUTOINCREMENT, home TEXT NOT NULL, options TEXT NOT NULL,"
        " started_at REAL NOT NULL, ended_at REAL NOT NULL DEFAULT 0, ended TEXT NOT NULL DEFAULT '',"
        " depth_rows TEXT NOT NULL DEFAULT '[]')"
    )
    connection.execute(
        "CREATE TABLE page (id TEXT PRIMARY KEY, url_key TEXT NOT NULL, template TEXT NOT NULL,"
        " structure TEXT NOT NULL, skeleton TEXT NOT NULL, content TEXT NOT NULL, url TEXT NOT NULL,"
        " title TEXT NOT NULL, depth INTEGER NOT NULL, headings TEXT NOT NULL, controls TEXT NOT NULL,"
        " element_keys BLOB NOT NULL, elements TEXT NOT NULL, text TEXT NOT NULL, picture TEXT NOT NULL,"
        " thumbnail TEXT NOT NULL, direct INTEGER, challenge TEXT NOT NULL, status INTEGER NOT NULL,"
        " source TEXT NOT NULL, exploration INTEGER NOT NULL, first_seen REAL NOT NULL, last_seen REAL NOT NULL,"
        " gone_at REAL NOT NULL, notes TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX page_url ON page (url_key)")
    connection.execute(
        "CREATE TABLE transition (id TEXT PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL,"
        " operation TEXT NOT NULL, value TEXT NOT NULL, locator TEXT, attempts INTEGER NOT NULL,"
        " successes INTEGER NOT NULL, seconds REAL NOT NULL, risk REAL NOT NULL, last_at REAL NOT NULL,"
        " last_ok_at REAL NOT NULL, last_arrival TEXT NOT NULL, last_divergence TEXT NOT NULL, last_tier TEXT NOT NULL,"
        " found_by TEXT NOT NULL, exploration INTEGER NOT NULL, gone_at REAL NOT NULL)"
    )
    connection.execute("CREATE INDEX transition_source ON transition (source)")
    connection.execute(
        "CREATE TABLE attempt (seq INTEGER PRIMARY KEY AUTOINCREMENT, transition_id TEXT NOT NULL, at REAL NOT NULL,"
        " arrival TEXT NOT NULL, seconds REAL NOT NULL, tier TEXT NOT NULL, divergence TEXT NOT NULL,"
        " by TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX attempt_transition ON attempt (transition_id, seq)")
    connection.execute(
        "CREATE TABLE frontier (page TEXT NOT NULL, element TEXT NOT NULL, operation TEXT NOT NULL,"
        " value TEXT NOT NULL, locator TEXT, depth INTEGER NOT NULL, place INTEGER NOT NULL, status TEXT NOT NULL,"
        " reason TEXT NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (page, element, operation, value))"
    )
    connection.execute("CREATE INDEX frontier_status ON frontier (status, depth, page, place)")
    connection.execute(
        "CREATE TABLE decision (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,"
        " members TEXT NOT NULL, author TEXT NOT NULL, at REAL NOT NULL, standing INTEGER NOT NULL DEFAULT 1)"
    )
    connection.execute(
        "CREATE TRIGGER decision_no_delete BEFORE DELETE ON decision"
        " BEGIN SELECT RAISE(ABORT, 'decisions are kept for ever'); END"
    )
    connection.execute(
        "CREATE TABLE passed (page TEXT NOT NULL, run TEXT NOT NULL, step INTEGER NOT NULL,"
        " PRIMARY KEY (run, step)) WITHOUT ROWID"
    )
    connection.execute("CREATE INDEX passed_page ON passed (page, run, step)")
    connection.execute(
        "CREATE TABLE position (id TEXT PRIMARY KEY, x REAL NOT NULL, y REAL NOT NULL) WITHOUT ROWID"
    )
    connection.execute(
        "CREATE TABLE vector (encoder TEXT NOT NULL, key TEXT NOT NULL, data BLOB NOT NULL,"
        " PRIMARY KEY (encoder, key))"
    )


def _keep_what_was_served(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE page ADD COLUMN served TEXT NOT NULL DEFAULT ''")


MIGRATIONS = (_create, _keep_what_was_served)
