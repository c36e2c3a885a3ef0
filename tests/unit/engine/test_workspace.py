"""A workspace opens, refuses what it must, and mends what it can."""

from __future__ import annotations

import json
import sqlite3
from types import SimpleNamespace

import pytest

from app.engine.api.run_rows import RunFilter
from app.engine.core.verdicts import Label, Verdict
from app.engine.imports.importer import import_paths
from app.engine.store.database import open_database, translate_error
from app.engine.store.locks import FileLock
from app.engine.store.workspace import Workspace
from app.errors import Conflict, NotFound, StoreError
from kb.tip import TipDraft
from tests.support.runs import make_run, make_step, write_run


@pytest.fixture
def place(tmp_path):
    """A closed workspace with two runs."""
    for name in ("task_1", "task_22"):
        write_run(tmp_path / "root" / name, steps=len(name) - 4)
    with Workspace.open(tmp_path / "workspace") as workspace:
        import_paths(workspace, [tmp_path / "root"])
    return tmp_path / "workspace"


def _verdict(name: str, run: str = "r", label: Label = Label.LOOP) -> Verdict:
    return Verdict(id=name, run=run, label=label, step=2, author="me", at=1.0, lead_seconds=3.5)


def test_a_workspace_is_made_only_when_asked_for(tmp_path):
    with pytest.raises(NotFound, match="holds no workspace"):
        Workspace.open(tmp_path / "w", create=False)
    assert not (tmp_path / "w").exists()
    Workspace.open(tmp_path / "w").close()
    Workspace.open(tmp_path / "w", create=False).close()


def test_a_newer_workspace_is_refused(place):
    file = place / "workspace.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "version": 2}))
    with pytest.raises(StoreError, match=r"version 2.*newer Sitelore"):
        Workspace.open(place)


@pytest.mark.parametrize("name", ["review.sqlite", "index.sqlite", "blobs.sqlite"])
def test_a_newer_file_is_refused_and_left_alone(place, name):
    with sqlite3.connect(place / name) as file:
        file.execute("PRAGMA user_version=99")
    file.close()
    before = (place / name).read_bytes()
    with pytest.raises(StoreError, match="version 99"):
        Workspace.open(place)
    assert (place / name).read_bytes() == before


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": "other"}', "null"])
def test_a_folder_of_something_else_is_refused(tmp_path, content):
    (tmp_path / "workspace.json").write_text(content)
    with pytest.raises(StoreError, match="not a Sitelore workspace"):
        Workspace.open(tmp_path)


def test_a_file_in_the_workspaces_place_is_refused(tmp_path):
    (tmp_path / "w").write_text("x")
    with pytest.raises(StoreError, match="nothing was changed"):
        Workspace.open(tmp_path / "w")


@pytest.mark.parametrize("damage", ["garbage", "cut", "page"])
def test_a_damaged_index_is_made_anew_and_said_so(place, damage):
    path = place / "index.sqlite"
    data = path.read_bytes()
    changed = {
        "garbage": b"no database at all" * 300,
        "cut": data[:5000],
        "page": data[:100] + b"\xff" * 9000,
    }
    path.write_bytes(changed[damage])
    with Workspace.open(place) as workspace:
        assert workspace.index.count() == 2
        assert workspace.index_rebuilt
        assert "been rebuilt" in " ".join(workspace.notes)
        assert len(workspace.index.search("thing", 10)) == 2


def test_a_lost_index_is_made_anew(place):
    for file in place.glob("index.sqlite*"):
        file.unlink()
    with Workspace.open(place) as workspace:
        assert workspace.index.count() == 2
        assert workspace.index_rebuilt


def test_rebuilding_gives_the_same_rows_and_finds(place):
    with Workspace.open(place) as workspace:
        rows, hits = workspace.index.rows(RunFilter()), workspace.index.search("save", 50)
        assert workspace.rebuild_index() == 2
        assert workspace.index.rows(RunFilter()) == rows
        assert workspace.index.search("save", 50) == hits


def test_only_one_process_rebuilds(place):
    with Workspace.open(place) as workspace, FileLock(place / "index.lock") as lock:
        assert lock.take()
        with pytest.raises(Conflict, match="another process"):
            workspace.rebuild_index()


@pytest.mark.parametrize(("free", "said"), [(0, "the disk is full"), (2**30, "reading or writing failed")])
def test_an_io_error_for_want_of_room_is_called_a_full_disk(tmp_path, monkeypatch, free, said):
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=free))
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    assert said in str(translate_error(error, tmp_path / "index.sqlite"))


def test_a_run_put_in_place_but_not_indexed_is_found_at_the_next_start(place):
    with Workspace.open(place) as workspace:
        workspace.runs.add(make_run("late", step_count=1), [make_step()], {})
        assert workspace.index.row("late") is None
    with Workspace.open(place) as workspace:
        assert workspace.index.row("late") is not None
        workspace.runs.delete(["late"])
    with Workspace.open(place) as workspace:
        assert workspace.index.row("late") is None


def test_a_damaged_run_keeps_no_other_from_opening(place):
    with Workspace.open(place) as workspace:
        run = sorted(workspace.runs.ids())[0]
    (place / "runs" / run / "run.json").write_text("{")
    (place / "index.sqlite").unlink()
    with Workspace.open(place) as workspace:
        assert workspace.index.count() == 1
        assert run in " ".join(workspace.notes)
        with pytest.raises(StoreError, match="import it again"):
            workspace.runs.load(run)


def test_verdicts_are_kept_and_taken_back_and_kept_again(place):
    with Workspace.open(place) as workspace:
        review = workspace.review
        review.add_verdict(_verdict("v1"))
        review.add_verdict(_verdict("v2", run="other", label=Label.GAVE_UP))
        assert review.verdicts("r") == [_verdict("v1")]
        assert review.withdraw("v1") == "r"
        assert review.verdicts("r") == []
        with pytest.raises(NotFound):
            review.withdraw("v1")
        entry = workspace.undo()
        assert entry is not None
        assert entry.label == "withdraw 'loop' on r"
    with Workspace.open(place) as workspace:
        assert workspace.review.verdicts("r") == [_verdict("v1")]
        workspace.redo()
        assert [v.id for v in workspace.review.verdicts()] == ["v2"]
        workspace.undo()
        workspace.undo()
        workspace.undo()
        assert workspace.review.verdicts() == []
        assert workspace.undo() is None


def test_verdicts_can_be_neither_changed_nor_deleted(place):
    with Workspace.open(place) as workspace:
        workspace.review.add_verdict(_verdict("v1"))
        for statement in ("DELETE FROM verdict", "UPDATE verdict SET label = 'x'", "DELETE FROM mark"):
            with pytest.raises(sqlite3.IntegrityError, match="kept for ever"):
                workspace.review.connection.execute(statement)


def test_the_queue_shows_the_latest_standing_label(place):
    with Workspace.open(place) as workspace:
        run = workspace.index.rows(RunFilter())[0].id
        workspace.review.add_verdict(_verdict("v1", run))
        workspace.review.add_verdict(_verdict("v2", run, Label.GAVE_UP))

        def label() -> str:
            row = workspace.index.row(run)
            return row.label if row else "?"

        assert label() == "gave up"
        assert [row.id for row in workspace.index.rows(RunFilter(label="gave up"))] == [run]
        assert run not in [row.id for row in workspace.index.rows(RunFilter(unjudged=True))]
        workspace.undo()
        assert label() == "loop"
        workspace.review.withdraw("v1")
        assert label() == ""


def test_sessions_states_and_drafts_are_remembered(place):
    draft = TipDraft(site="shopping", text="half a sentence", keywords=("a",))
    with Workspace.open(place) as workspace:
        assert workspace.review.load_session() == {}
        workspace.review.save_session({"run": "r", "width": [1, 2]})
        workspace.review.save_state("risk-model", {"weights": {"a": 1.5}})
        workspace.review.save_draft("r/3", draft)
    with Workspace.open(place) as workspace:
        assert workspace.review.load_session() == {"run": "r", "width": [1, 2]}
        assert workspace.review.load_state("risk-model") == {"weights": {"a": 1.5}}
        assert workspace.review.load_draft("r/3") == draft
        workspace.review.save_draft("r/3", None)
        assert workspace.review.load_draft("r/3") is None


def test_an_older_file_is_backed_up_before_it_is_migrated(tmp_path):
    path = tmp_path / "file.sqlite"

    def first(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE a (x)")
        connection.execute("INSERT INTO a VALUES (1)")

    def second(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE a ADD COLUMN y")

    open_database(path, [first]).close()
    open_database(path, [first, second]).close()
    (backup,) = tmp_path.glob("file.sqlite.backup-v1-*")
    old = sqlite3.connect(backup)
    assert old.execute("SELECT * FROM a").fetchall() == [(1,)]
    old.close()
    with pytest.raises(StoreError, match="version 2"):
        open_database(path, [first])


def test_a_migration_that_fails_changes_nothing(tmp_path):
    path = tmp_path / "file.sqlite"

    def first(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE a (x)")

    def fails(connection: sqlite3.Connection) -> None:
        connection.execute("DROP TABLE a")
        connection.execute("SELECT no_such_function()")

    open_database(path, [first]).close()
    with pytest.raises(StoreError):
        open_database(path, [first, fails])
    again = open_database(path, [first])
    assert again.execute("SELECT count(*) FROM a").fetchone()[0] == 0
    again.close()


def test_two_open_workspaces_see_each_others_changes(place):
    with Workspace.open(place) as one, Workspace.open(place) as two:
        run = one.index.rows(RunFilter())[0].id
        version = two.index.data_version
        one.delete_runs([run])
        assert two.index.row(run) is None
        assert two.index.data_version != version
        two.review.add_verdict(_verdict("v9", "x"))
        assert one.review.verdicts("x") != []
        two.undo()
        two.undo()
        assert one.index.row(run) is not None


def test_sites_are_kept_in_the_workspace_and_can_be_edited(place):
    with Workspace.open(place) as workspace:
        assert workspace.site_of("http://h:7770/") == "shopping"
        assert workspace.sites["map"] == ("openstreetmap.org", "*.openstreetmap.org")
    file = place / "workspace.json"
    document = json.loads(file.read_text())
    document["sites"] = {"intranet": ["*.corp.example"]}
    file.write_text(json.dumps(document))
    with Workspace.open(place) as workspace:
        assert workspace.site_of("https://wiki.corp.example/a") == "intranet"
