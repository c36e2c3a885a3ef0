"""A folder with a Sitelore workspace: its runs are imported with their pages, or one sentence says why not."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from app.engine.core.trajectory import Outcome
from app.engine.imports.importer import import_paths
from app.engine.store.blob_store import BlobStore, pack_blobs, read_foreign
from app.engine.store.run_files import blob_digests, encode_run
from app.engine.store.workspace import Workspace
from app.errors import InputError
from tests.support.runs import summary, write_run


@pytest.fixture
def theirs(tmp_path):
    """A closed workspace of three runs, one of them deleted."""
    for number in range(3):
        write_run(tmp_path / "root" / f"task_{number}", about=summary(2, cum_reward=number / 8))
    with Workspace.open(tmp_path / "theirs") as workspace:
        runs = import_paths(workspace, [tmp_path / "root"]).runs
        workspace.delete_runs([runs[2]])
    return tmp_path / "theirs"


@pytest.fixture
def ours(tmp_path):
    with Workspace.open(tmp_path / "ours") as workspace:
        yield workspace


def _tree(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_its_runs_import_with_their_pages_and_without_what_was_deleted(theirs, ours):
    before = _tree(theirs)
    report = import_paths(ours, [theirs])

    assert (report.imported, report.failed) == (2, ())
    for run in report.runs:
        head, steps = ours.runs.load(run)
        assert blob_digests(head, steps)
        for digest in blob_digests(head, steps):
            assert hashlib.sha256(ours.runs.read_blob(digest)).hexdigest() == digest
    assert _tree(theirs) == before
    assert import_paths(ours, [theirs]).imported == 0


def test_a_folder_above_it_imports_as_well(theirs, ours):
    assert import_paths(ours, [theirs.parent / "root", theirs]).failed == ()
    assert ours.index.count() == 3


def test_a_run_that_was_going_on_there_is_interrupted_here(theirs, ours):
    run = next(path for path in (theirs / "runs").iterdir() if not path.name.startswith("."))
    with Workspace.open(theirs) as workspace:
        head, _ = workspace.runs.load(run.name)
    (run / "run.json").write_bytes(encode_run(replace(head, outcome=Outcome.RUNNING)))
    import_paths(ours, [theirs])
    assert ours.runs.load(run.name)[0].outcome is Outcome.INTERRUPTED


def test_one_that_is_open_is_one_sentence_and_imports_nothing(theirs, ours):
    with Workspace.open(theirs) as workspace:
        workspace.runs.blobs.add(pack_blobs({hashlib.sha256(b"x").hexdigest(): b"x"}))
        report = import_paths(ours, [theirs])
    assert report.imported == 0
    (failure,) = report.failed
    assert failure.path == str(theirs)
    assert "close it" in failure.error
    assert "runs export" in failure.error
    assert import_paths(ours, [theirs]).imported == 2


def test_its_folder_of_runs_alone_imports_nothing_and_says_to_choose_the_whole(theirs, ours):
    report = import_paths(ours, [theirs / "runs"])
    assert report.imported == 0
    assert len(report.failed) == 2
    assert all("whole workspace" in failure.error for failure in report.failed)
    assert import_paths(ours, [theirs]).imported == 2


def test_a_file_of_pages_that_was_made_to_do_harm_is_refused(theirs, ours, tmp_path):
    (theirs / "blobs.sqlite").unlink()
    with closing(sqlite3.connect(theirs / "blobs.sqlite")) as made:
        made.execute(
            "CREATE VIEW blob AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
            " SELECT x AS id, x AS digest, 0 AS codec, x AS data FROM n"
        )
    report = import_paths(ours, [theirs])
    assert report.imported == 2
    assert all("not a file of page contents" in one.error or "missing" in one.error for one in report.failed)
    assert not (tmp_path / "x").exists()


def test_a_pipe_in_the_place_of_its_pages_does_not_hang(theirs, ours):
    (theirs / "blobs.sqlite").unlink()
    os.mkfifo(theirs / "blobs.sqlite")
    report = import_paths(ours, [theirs])
    assert any("not a regular file" in failure.error for failure in report.failed)


def test_a_content_that_is_not_what_its_name_says_is_left_out(tmp_path):
    store = BlobStore(tmp_path / "blobs.sqlite")
    right, wrong = hashlib.sha256(b"right").hexdigest(), hashlib.sha256(b"wrong").hexdigest()
    store.add(pack_blobs({right: b"right", wrong: b"another"}))
    store.close()
    assert read_foreign(tmp_path / "blobs.sqlite", [right, wrong, "0" * 64], 10**6) == {right: b"right"}
    assert read_foreign(tmp_path / "blobs.sqlite", [right], 3) == {}
    (tmp_path / "blobs.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(InputError, match="can't be read"):
        read_foreign(tmp_path / "blobs.sqlite", [right], 10**6)
