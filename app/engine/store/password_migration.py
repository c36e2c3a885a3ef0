"""A migration: removes passwords that old versions wrote into the review file.

Snapshots of live runs held the task as it was typed.  The password in it gets the name that a new run would give it.
The same value is replaced in every other text of the file, unless it is a plain word.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from app.engine.core.task_secrets import NAMED, extract_secrets

_TASKS = ("document", "request")
"""Columns of ``live_note`` whose JSON has the task as ``intent``."""
_LONG_ENOUGH = 6
"""Shorter values are common words and numbers, which occur for other reasons."""


def remove_passwords(connection: sqlite3.Connection) -> None:
    """Replace passwords by names, in the tasks of live runs and in every other text."""
    names: dict[str, str] = {}
    for rowid, column, text in _task_documents(connection):
        clean = _without_passwords(text, names)
        if clean != text:
            connection.execute(f"UPDATE live_note SET {column} = ? WHERE rowid = ?", (clean, rowid))
    known = {value: name for value, name in names.items() if _is_distinctive(value)}
    if known:
        for table in _tables(connection):
            _replace_in_table(connection, table, known)


def _task_documents(connection: sqlite3.Connection) -> Iterator[tuple[int, str, str]]:
    if "live_note" not in _tables(connection):
        return
    for column in _TASKS:
        for row in connection.execute(f"SELECT rowid, {column} FROM live_note").fetchall():
            if row[1]:
                yield row[0], column, row[1]


def _without_passwords(text: str, names: dict[str, str]) -> str:
    """Return the JSON with names in its task, noting the names by value; unreadable JSON stays as it is."""
    try:
        note: Any = json.loads(text)
        intent = note["intent"]
        found = dict.fromkeys(NAMED.findall(intent), "")
        clean = extract_secrets(intent, found)
    except (ValueError, KeyError, TypeError):
        return text
    for name, value in found.items():
        if value:
            names.setdefault(value, name)
    return text if clean == intent else json.dumps({**note, "intent": clean}, ensure_ascii=False)


def _is_distinctive(value: str) -> bool:
    return len(value) >= _LONG_ENOUGH and not value.isalpha() and not value.isdigit()


def _stored_forms(value: str) -> tuple[str, ...]:
    return (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])


def _tables(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    )
    return [str(row[0]) for row in found.fetchall()]


def _replace_in_table(connection: sqlite3.Connection, table: str, known: dict[str, str]) -> None:
    """Replace values in every text of a table; this alone may change an append-only row."""
    columns = [
        str(row["name"] if isinstance(row, sqlite3.Row) else row[1])
        for row in connection.execute(f'PRAGMA table_info("{table}")').fetchall()
        if "TEXT" in str(row[2]).upper()
    ]
    forms = {form: name for value, name in known.items() for form in _stored_forms(value)}
    wrong = [
        (column, form, name)
        for column in columns
        for form, name in forms.items()
        if connection.execute(f'SELECT 1 FROM "{table}" WHERE instr("{column}", ?)', (form,)).fetchone()
    ]
    if not wrong:
        return
    guards = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", (table,)
    ).fetchall()
    for guard in guards:
        connection.execute(f'DROP TRIGGER "{guard[0]}"')
    for column, form, name in wrong:
        connection.execute(
            f'UPDATE "{table}" SET "{column}" = replace("{column}", ?, ?)', (form, f"{{secret:{name}}}")
        )
    for guard in guards:
        connection.execute(str(guard[1]))
