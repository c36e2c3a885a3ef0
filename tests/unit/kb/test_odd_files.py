"""Odd files are refused at once: pipes, devices, sockets, empty files, files that are no tables."""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from app.engine.imports.source_files import read_bytes
from app.errors import InputError
from kb import reading
from kb.errors import BadFile
from kb.exchange import import_file, write
from kb.freeze import freeze, verify
from kb.frozen import open_any
from kb.manifest import manifest_path
from kb.merge import merge
from kb.migrations import APPLICATION_ID, FROZEN_ID, VERSION
from kb.opening import _expected  # pyright: ignore[reportPrivateUsage]
from kb.record import COLUMNS
from kb.store import KnowledgeBase
from kb.tip import Status, TipDraft

LIMIT = 10.0
"""Seconds on a busy machine; alone each of these takes some milliseconds, and before, for ever."""

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


def at_once(call: Callable[[], object]) -> Exception | None:
    """The error of a call that has to come back by itself."""
    caught: list[Exception | None] = []

    def calling() -> None:
        try:
            call()
            caught.append(None)
        except Exception as error:  # noqa: BLE001 it is looked at by the caller
            caught.append(error)

    begun = time.monotonic()
    thread = threading.Thread(target=calling, daemon=True)
    thread.start()
    thread.join(LIMIT)
    assert caught, f"no answer after {time.monotonic() - begun:.0f} s"
    return caught[0]


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(tmp_path / "live.akb") as kb:
        kb.add(TipDraft(site="shop", text="Hover the category first.", status=Status.ACTIVE))
        yield kb


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_socket(path: Path) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as made:
        made.bind(path.name if len(str(path)) > 100 else str(path))


def folder(path: Path) -> None:
    path.mkdir()


def nothing(path: Path) -> None:
    path.write_bytes(b"")


def null(path: Path) -> None:
    path.symlink_to("/dev/null")


ODD = {"pipe": pipe, "device": device, "socket": a_socket, "folder": folder, "empty": nothing, "null": null}

OPENINGS: dict[str, Callable[[KnowledgeBase, Path], object]] = {
    "verify": lambda kb, path: verify(path),
    "open": lambda kb, path: open_any(path),
    "merge": lambda kb, path: merge(kb, open_any(path)),
    "freeze": lambda kb, path: freeze(kb, path),
    "export": lambda kb, path: write(kb.tips(), path, "jsonl"),
    "import": lambda kb, path: import_file(kb, path, "jsonl"),
}


@pytest.mark.skipif(os.name == "nt", reason="no such files there")
@pytest.mark.parametrize("what", ODD)
@pytest.mark.parametrize("opening", OPENINGS)
def test_an_odd_file_is_refused_at_once_in_one_sentence(
    kb: KnowledgeBase, tmp_path: Path, what: str, opening: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "strange.akb"
    ODD[what](path)
    error = at_once(lambda: OPENINGS[opening](kb, path))
    if what == "empty" and opening in ("verify", "import", "export"):
        return  # a regular file without content: verify says so in its report, an exchange file may hold nothing
    assert isinstance(error, BadFile), error
    assert error.exit_code == 3
    assert str(error).startswith(str(path))
    assert "\n" not in str(error)


def test_verify_of_an_empty_file_says_so(tmp_path: Path):
    (tmp_path / "e.akb").write_bytes(b"")
    report = verify(tmp_path / "e.akb")
    assert not report.ok
    assert "this is not a frozen knowledge base" in report.problems


@pytest.mark.skipif(os.name == "nt", reason="no such files there")
def test_nothing_odd_is_replaced_by_a_file(kb: KnowledgeBase, tmp_path: Path):
    pipe(tmp_path / "p")
    for writing in (lambda: write(kb.tips(), tmp_path / "p", "jsonl"), lambda: freeze(kb, tmp_path / "p")):
        assert isinstance(at_once(writing), BadFile)
    assert (tmp_path / "p").is_fifo()


@pytest.mark.skipif(os.name == "nt", reason="no such files there")
@pytest.mark.parametrize("beside", ["-wal", "-journal", "-shm"])
def test_what_sqlite_would_open_beside_is_looked_at_too(kb: KnowledgeBase, tmp_path: Path, beside: str):
    kb.close()
    for name in tmp_path.glob("live.akb-*"):
        name.unlink()
    pipe(tmp_path / f"live.akb{beside}")
    assert isinstance(at_once(lambda: open_any(tmp_path / "live.akb")), BadFile)


@pytest.mark.skipif(os.name == "nt", reason="no such files there")
def test_a_manifest_that_is_a_pipe_is_a_problem_not_a_wait(kb: KnowledgeBase, tmp_path: Path):
    freeze(kb, tmp_path / "f.akb")
    manifest_path(tmp_path / "f.akb").unlink()
    pipe(manifest_path(tmp_path / "f.akb"))
    reports: list[object] = []
    assert at_once(lambda: reports.append(verify(tmp_path / "f.akb"))) is None
    assert "named pipe" in str(reports)


@pytest.mark.skipif(os.name == "nt", reason="no such files there")
def test_importers_of_runs_read_by_the_same_rules(tmp_path: Path):
    (tmp_path / "real").write_bytes(b"x" * 20)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    pipe(tmp_path / "p")
    assert read_bytes(tmp_path / "real", 20) == b"x" * 20
    for name, words in (("link", "not followed"), ("p", "named pipe"), ("none", "can't be read")):
        with pytest.raises(InputError, match=words):
            read_bytes(tmp_path / name, 20)
    with pytest.raises(InputError, match="larger than"):
        read_bytes(tmp_path / "real", 19)
    assert reading.read_bytes(tmp_path / "link", 20) == b"x" * 20


# databases that look like ours


@contextmanager
def made(path: Path, mark: int, version: int) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as connection:
        yield connection
        connection.execute(f"PRAGMA application_id = {mark}")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()


def _columns(names: tuple[str, ...]) -> str:
    return ", ".join(f'i AS "{name}"' for name in names)


def endless_live(path: Path) -> None:
    with made(path, APPLICATION_ID, VERSION) as connection:
        for table, columns in _expected(VERSION).items():
            connection.execute(f'CREATE VIEW "{table}" AS {ENDLESS} SELECT {_columns(columns)} FROM n')


def endless_frozen(path: Path) -> None:
    with made(path, FROZEN_ID, 1000) as connection:
        for table, columns in (("meta", ("key", "value")), ("site_host", ("site", "hosts"))):
            connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        connection.execute(f"CREATE VIEW tip AS {ENDLESS} SELECT {_columns(('id', *COLUMNS))} FROM n")


def _changed(statement: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        KnowledgeBase.open(path).close()
        with made(path, APPLICATION_ID, VERSION) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute(statement)

    return make


HOSTILE = {
    "endless views, live": endless_live,
    "endless view, frozen": endless_frozen,
    "a view beside": _changed("CREATE VIEW more AS SELECT 1"),
    "a trigger": _changed("CREATE TRIGGER t AFTER INSERT ON tip BEGIN DELETE FROM meta; END"),
    "a guard that does something else": _changed(
        "CREATE TRIGGER IF NOT EXISTS deed_kept_not BEFORE DELETE ON deed BEGIN DELETE FROM tip; END"
    ),
    "a full-text table": _changed("CREATE VIRTUAL TABLE words USING fts5(text)"),
    "a table of nobody's": _changed("CREATE TABLE more (x)"),
    "an index of nobody's": _changed("CREATE INDEX more ON tip (revision)"),
    "a computed column": _changed("ALTER TABLE tip ADD COLUMN more AS (abs(-1))"),
    "a column more": _changed("ALTER TABLE revision ADD COLUMN more"),
    "a table less": _changed("DROP TABLE site_host"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_of_another_shape_is_refused_at_once(tmp_path: Path, name: str):
    path = tmp_path / "strange.akb"
    HOSTILE[name](path)
    before = path.read_bytes()
    error = at_once(lambda: open_any(path))
    assert isinstance(error, BadFile), error
    assert "not laid out like a knowledge base" in str(error)
    if "frozen" not in name:
        assert isinstance(at_once(lambda: KnowledgeBase.open(path)), BadFile), "nor is it opened for writing"
    assert path.read_bytes() == before


def test_verify_of_endless_views_is_an_answer(tmp_path: Path):
    endless_frozen(tmp_path / "f.akb")
    reports: list[str] = []
    assert at_once(lambda: reports.extend(verify(tmp_path / "f.akb").problems)) is None
    assert any("not laid out like a knowledge base" in problem for problem in reports)


def test_a_newer_minor_version_may_have_more(tmp_path: Path):
    path = tmp_path / "newer.akb"
    _changed("CREATE TABLE more (x)")(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        connection.execute("ALTER TABLE revision ADD COLUMN more")
        connection.commit()
    with open_any(path) as kb:
        assert kb.tips() == []


def test_a_huge_value_is_refused(tmp_path: Path):
    path = tmp_path / "huge.akb"
    with KnowledgeBase.open(path) as kb:
        tip = kb.add(TipDraft(site="shop", text="Hover the category first.")).id
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER revision_kept_on_update")
        connection.execute("UPDATE revision SET why = zeroblob(70000000) WHERE tip = ?", (tip,))
        connection.commit()

    def reading_it() -> None:
        with open_any(path) as kb:
            kb.tips()

    error = at_once(reading_it)
    assert isinstance(error, BadFile)
    assert "too large" in str(error)


def test_an_sqlite_file_without_tables_is_no_knowledge_base(tmp_path: Path):
    path = tmp_path / "bare.akb"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 0")
        connection.execute("VACUUM")
        connection.commit()
    with pytest.raises(BadFile, match=r"not a knowledge base|file is empty"):
        open_any(path)


def test_a_new_workspace_may_begin_with_an_empty_file(tmp_path: Path):
    (tmp_path / "knowledge.akb").write_bytes(b"")
    with KnowledgeBase.open(tmp_path / "knowledge.akb") as kb:
        assert kb.tips() == []


# exchange files


def test_a_folder_without_a_file_of_the_format_is_refused(kb: KnowledgeBase, tmp_path: Path):
    (tmp_path / "tips.csv").mkdir()
    with pytest.raises(BadFile, match=r"no \.csv file in this folder"):
        import_file(kb, tmp_path / "tips.csv", "csv")


@pytest.mark.parametrize("format", ["txt", "numbered"])
def test_a_text_without_a_tip_in_it_is_named(kb: KnowledgeBase, tmp_path: Path, format: str):
    (tmp_path / "hostname").write_text("somewhere.example\n")
    report = import_file(kb, tmp_path / "hostname", format, site="shop")
    assert report.added == ()
    assert "there is no tip in this file" in report.failed[0]


@pytest.mark.parametrize("format", ["jsonl", "csv", "txt"])
def test_what_an_empty_knowledge_base_gave_out_is_taken_in(tmp_path: Path, format: str):
    with KnowledgeBase.open(tmp_path / "a.akb") as kb:
        write([], tmp_path / f"t.{format}")
        assert import_file(kb, tmp_path / f"t.{format}").failed == ()
