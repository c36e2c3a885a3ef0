"""Content of a database file from elsewhere (``kb/shape.py``), one row for each thing let pass or refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kb.errors import BadFile
from kb.shape import check_shape, guard
from kb.store import KnowledgeBase

OURS = "CREATE TABLE meta (key, value); CREATE TABLE tip (id, text);"
TABLES = {"meta": ("key", "value"), "tip": ("id", "text")}
KEPT = "CREATE TRIGGER kept BEFORE UPDATE ON tip BEGIN SELECT RAISE(ABORT, 'it is kept'); END;"

META = "CREATE TABLE meta (key, value);"
TRIGGER = "CREATE TRIGGER kept BEFORE UPDATE ON tip BEGIN DELETE FROM meta; END;"

Passes = tuple[bool, bool]
"""In a file of our version, and in one of a newer."""
ALWAYS, NEWER, NEVER = (True, True), (False, True), (False, False)

ROWS: tuple[tuple[str, str, Passes], ...] = (
    ("what the program makes", OURS, ALWAYS),
    ("its own index", OURS + "CREATE INDEX by_text ON tip (text);", ALWAYS),
    ("its own guard", OURS + KEPT, ALWAYS),
    ("a table fewer", META, NEVER),
    ("a column fewer", META + "CREATE TABLE tip (id);", NEVER),
    ("another table", OURS + "CREATE TABLE more (a);", NEWER),
    ("another column", "CREATE TABLE meta (key, value, more); CREATE TABLE tip (id, text);", NEWER),
    ("another index", OURS + "CREATE INDEX other ON tip (id);", NEWER),
    ("a view beside", OURS + "CREATE VIEW more AS SELECT 1;", NEVER),
    ("a view in a table's place", META + "CREATE VIEW tip AS SELECT 1 AS id, 2 AS text;", NEVER),
    ("a computed column", META + "CREATE TABLE tip (id, text AS (hex(id)));", NEVER),
    ("a stored computed column", META + "CREATE TABLE tip (id, text AS (hex(id)) STORED);", NEVER),
    ("a virtual table beside", OURS + "CREATE VIRTUAL TABLE more USING fts5(a);", NEVER),
    ("a virtual table in a table's place", META + "CREATE VIRTUAL TABLE tip USING fts5(id, text);", NEVER),
    ("a trigger of another name", OURS + KEPT.replace("kept ", "other ", 1), NEVER),
    ("a trigger of our name that does something", OURS + TRIGGER, NEVER),
    ("one that does it besides", OURS + KEPT.replace("; END", "; DELETE FROM meta; END"), NEVER),
    ("a trigger of our name after the fact", OURS + KEPT.replace("BEFORE", "AFTER"), NEVER),
)


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as made:
        yield made


@pytest.mark.parametrize("newer", [False, True], ids=["our version", "a newer one"])
@pytest.mark.parametrize(("script", "passes"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_file_passes_only_with_the_shape_the_program_gives_it(
    connection: sqlite3.Connection, script: str, passes: Passes, newer: bool
) -> None:
    connection.executescript(script)

    def check() -> None:
        check_shape(
            connection, Path("f.akb"), TABLES, indexes=("by_text",), triggers=("kept",), may_have_more=newer
        )

    if passes[newer]:
        check()
    else:
        with pytest.raises(BadFile, match=r"^f\.akb: this file is not laid out like a knowledge base"):
            check()


def test_a_statement_that_takes_too_long_is_given_up(connection: sqlite3.Connection) -> None:
    guard(connection, seconds=0.05)
    long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000000) SELECT count(*) FROM n"
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        connection.execute(long).fetchone()


def test_what_a_file_holds_runs_no_function_of_ours(connection: sqlite3.Connection) -> None:
    connection.create_function("ours", 0, lambda: 1)
    connection.execute("CREATE VIEW calls AS SELECT ours() AS a")
    guard(connection)
    with pytest.raises(sqlite3.OperationalError, match="unsafe use of ours"):
        connection.execute("SELECT a FROM calls").fetchone()


def test_an_empty_file_is_refused_and_stays_empty(tmp_path: Path) -> None:
    path = tmp_path / "empty.akb"
    path.touch()
    for read_only in (False, True):
        with pytest.raises(BadFile, match="is empty"):
            KnowledgeBase.open(path, create=False, read_only=read_only)
    assert path.read_bytes() == b""
