"""Tables of the index over the runs."""

from __future__ import annotations

import sqlite3

from app.engine.core.text import one_line
from app.engine.core.trajectory import MAX_NEEDS, Outcome
from app.engine.store.run_search_text import COLUMNS, WEIGHTS


def _create(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE run (id TEXT PRIMARY KEY, source TEXT NOT NULL, suite TEXT NOT NULL, task_id TEXT NOT NULL,"
        " site TEXT NOT NULL, intent TEXT NOT NULL, score REAL, outcome TEXT NOT NULL, steps INTEGER NOT NULL,"
        " started_at REAL NOT NULL, content_hash TEXT NOT NULL, risk REAL NOT NULL DEFAULT 0,"
        " suspect_step INTEGER NOT NULL DEFAULT 0, reasons TEXT NOT NULL DEFAULT '[]',"
        " flags TEXT NOT NULL DEFAULT '[]', signature TEXT NOT NULL DEFAULT '')"
    )
    # One row for a run as a whole (step is NULL) and one for each step; words has the same row ids.
    connection.execute(
        "CREATE TABLE page (id INTEGER PRIMARY KEY, run TEXT NOT NULL, step INTEGER, url TEXT NOT NULL,"
        " site TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX page_run ON page (run)")
    connection.execute(
        f"CREATE VIRTUAL TABLE words USING fts5({', '.join(COLUMNS)},"
        " tokenize = \"unicode61 remove_diacritics 2\", prefix = '2 3')"
    )
    # Ranking inside FTS5 sorts row ids only; as an expression of ours it would carry whole rows through the sorter.
    connection.execute(
        "INSERT INTO words (words, rank) VALUES ('rank', ?)", (f"bm25({', '.join(map(str, WEIGHTS))})",)
    )
    connection.execute(
        "CREATE TABLE flag (run TEXT NOT NULL, detector TEXT NOT NULL, step INTEGER NOT NULL,"
        " severity TEXT NOT NULL, confidence REAL NOT NULL, message TEXT NOT NULL, evidence TEXT NOT NULL,"
        " version INTEGER NOT NULL)"
    )
    connection.execute("CREATE INDEX flag_run ON flag (run)")
    connection.execute("CREATE INDEX flag_detector ON flag (detector, run)")
    connection.execute("CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL)")
    connection.execute("INSERT INTO counter VALUES ('runs', 0)")


def _hands(connection: sqlite3.Connection) -> None:
    # Runs that were recorded before had no step of a person's, so nothing has to be read again.
    connection.execute("ALTER TABLE run ADD COLUMN by_hand INTEGER NOT NULL DEFAULT 0")
    connection.execute("ALTER TABLE page ADD COLUMN by_hand INTEGER NOT NULL DEFAULT 0")


def _basis(connection: sqlite3.Connection) -> None:
    # The detectors and ranking that last judged a run; "" for none, so that old rows are judged again.
    connection.execute("ALTER TABLE run ADD COLUMN basis TEXT NOT NULL DEFAULT ''")


def _needs(connection: sqlite3.Connection) -> None:
    # The reasons of the runs that gave up stand in the searchable text, so no run has to be read again.
    connection.execute("ALTER TABLE run ADD COLUMN needs TEXT NOT NULL DEFAULT ''")
    found = connection.execute(
        "SELECT words.answer, run.id FROM run JOIN page ON page.run = run.id AND page.step IS NULL"
        " JOIN words ON words.rowid = page.id WHERE run.outcome = ?",
        (Outcome.INFEASIBLE.value,),
    ).fetchall()
    reasons = [(one_line(answer or "", MAX_NEEDS), run) for answer, run in found]
    connection.executemany("UPDATE run SET needs = ? WHERE id = ?", reasons)


MIGRATIONS = (_create, _hands, _basis, _needs)
