"""A password that an older version wrote into the review file is nowhere after the file was opened."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.engine.api.run_api import RunRequest
from app.engine.core.supervision import Hint, LiveRow, RunState
from app.engine.store import database
from app.engine.store.database import open_database
from app.engine.store.review_schema import APPEND_ONLY, MIGRATIONS
from app.engine.store.review_store import ReviewStore
from app.engine.store.supervision.json_rows import to_json
from app.engine.store.supervision.supervision_store import SupervisionStore
from kb.database import connect

VALUE = "canary-QUEUE-07x"
ODD = "w\\7ü-word"
TASK = f"Log in as ann with the password '{VALUE}', then read the total"
CLEAN = 'Log in as ann with the password "{secret:WRITTEN_1}", then read the total'
OLD = 3
"""The version before passwords were taken out."""


def put(connection: sqlite3.Connection, run: str, intent: str, state: str = "queued") -> None:
    row = LiveRow(run=run, intent=intent, state=RunState(state), why=f"it said {intent[:200]}")
    request = RunRequest(intent=intent, start_url="http://shop.test/")
    connection.execute(
        "INSERT OR REPLACE INTO live_note (run, state, document, request, at) VALUES (?,?,?,?,0)",
        (run, state, to_json(row), to_json(request)),
    )


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A review file of the version before: the value is in rows, in freed pages, in rows that are kept for ever."""
    path = tmp_path / "review.sqlite"
    with closing(open_database(path, MIGRATIONS[:OLD])) as connection:
        connection.execute("PRAGMA secure_delete=OFF")  # some systems build SQLite with it
        for number in range(60):
            put(connection, f"gone{number}", TASK + f" {number}" * 200)
        connection.execute("DELETE FROM live_note")
        put(connection, "r1", TASK)
        put(connection, "r2", f"Sign in with the password “{ODD}”, and look " + "x" * 9000)
        put(connection, "r3", "No secret here; change the password on the page Settings")
        hint = Hint(id="h1", run="r1", step=1, text=f"it is {VALUE}", author="ana", at=1.0)
        connection.execute(
            "INSERT INTO person_hint (id, run, document) VALUES ('h1', 'r1', ?)", (to_json(hint),)
        )
        connection.execute(
            "INSERT INTO state (key, value, at) VALUES ('session', ?, 0)", (json.dumps({"last": TASK}),)
        )
    assert path.read_bytes().count(VALUE.encode()) > 60, "in pages that are free by now"
    return path


def files_with(folder: Path, *values: str) -> list[str]:
    forms = [form.encode() for value in values for form in (value, json.dumps(value)[1:-1])]
    return [file.name for file in folder.iterdir() if any(form in file.read_bytes() for form in forms)]


def test_the_value_is_in_no_file_of_the_folder_after_opening(old: Path):
    store = ReviewStore(old)
    assert files_with(old.parent, VALUE, "canary-QUEUE", ODD) == []
    backups = [file.name for file in old.parent.iterdir() if ".backup-" in file.name]
    assert len(backups) == 1
    assert backups[0].startswith(f"review.sqlite.backup-v{OLD}-")
    store.close()
    assert files_with(old.parent, VALUE, "canary-QUEUE", ODD) == []


def test_the_value_is_nowhere_even_where_sqlite_is_built_to_leave_what_it_frees(
    old: Path, monkeypatch: pytest.MonkeyPatch
):
    def leaving(*path: object, **options: object) -> sqlite3.Connection:
        connection = connect(*path, **options)  # type: ignore[arg-type]
        connection.execute("PRAGMA secure_delete=OFF")
        return connection

    monkeypatch.setattr(database, "connect", leaving)
    store = ReviewStore(old)
    store.close()
    assert files_with(old.parent, VALUE, "canary-QUEUE", ODD) == []


def test_what_was_noted_of_runs_is_whole_but_for_the_value(old: Path):
    store = ReviewStore(old)
    notes = {note.run: note for note in SupervisionStore(store).snapshots()}
    assert list(notes) == ["r1", "r2", "r3"]
    assert notes["r1"].row.intent == CLEAN
    assert notes["r1"].request is not None
    assert notes["r1"].request.intent == CLEAN
    assert notes["r1"].row.why.startswith("it said Log in as ann with the password")
    assert notes["r3"].row.intent == "No secret here; change the password on the page Settings"
    assert [hint.text for hint in SupervisionStore(store).hints("r1")] == ["it is {secret:WRITTEN_1}"]
    store.close()


def test_the_backup_is_the_file_of_the_version_before_without_the_value(old: Path):
    ReviewStore(old).close()
    (backup,) = old.parent.glob("review.sqlite.backup-*")
    with closing(sqlite3.connect(backup)) as copy:
        assert copy.execute("PRAGMA user_version").fetchone()[0] == OLD
        assert copy.execute("SELECT count(*) FROM live_note").fetchone()[0] == 3
        assert copy.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def test_rows_that_are_kept_for_ever_are_kept_again_afterwards(old: Path):
    store = ReviewStore(old)
    triggers = store.connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
    assert {f"{table}_no_{deed}" for table in APPEND_ONLY for deed in ("delete", "update")} <= {
        row[0] for row in triggers
    }
    with pytest.raises(sqlite3.IntegrityError, match="kept for ever"):
        store.connection.execute("UPDATE person_hint SET document = 'x'")
    store.close()


def test_a_file_without_passwords_is_opened_as_it_was(tmp_path: Path):
    path = tmp_path / "review.sqlite"
    with closing(open_database(path, MIGRATIONS[:OLD])) as connection:
        put(connection, "r1", "Find the shoes")
        before = connection.execute("SELECT document, request FROM live_note").fetchone()
        before = tuple(before)
    store = ReviewStore(path)
    assert tuple(store.connection.execute("SELECT document, request FROM live_note").fetchone()) == before
    assert store.connection.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS)
    store.close()


@pytest.mark.parametrize("version", [1, 2])
def test_a_file_from_before_the_desk_is_opened(tmp_path: Path, version: int):
    path = tmp_path / "review.sqlite"
    open_database(path, MIGRATIONS[:version]).close()
    store = ReviewStore(path)
    assert SupervisionStore(store).snapshots() == []
    store.close()


def test_damaged_notes_don_t_keep_the_file_from_opening(old: Path):
    with closing(sqlite3.connect(old)) as connection, connection:
        connection.execute("UPDATE live_note SET document = '{' WHERE run = 'r3'")
        connection.execute("UPDATE live_note SET document = '[1]' WHERE run = 'r2'")
    store = ReviewStore(old)
    assert [note.run for note in SupervisionStore(store).snapshots()] == ["r1"]
    store.close()
