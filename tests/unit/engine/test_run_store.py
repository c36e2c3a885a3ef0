"""Runs in the workspace: whole or absent, once, and never lost."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.engine.api.exchange_api import AskAgainRequest, AskedAgain, AskedAnswer
from app.engine.api.run_rows import RunFilter
from app.engine.core.chat_messages import PartKind
from app.engine.imports.importer import import_paths
from app.engine.store.asked_again_file import add_asked_again, read_asked_again
from app.engine.store.blob_store import BlobStore
from app.engine.store.run_files import blob_digests
from app.engine.store.workspace import Workspace
from app.errors import Conflict, NotFound, StoreError
from tests.support.runs import TRAJECTORIES, make_run, make_step, needs_collection, write_run

ROOT = Path(__file__).parents[3]


@pytest.fixture
def workspace(tmp_path):
    with Workspace.open(tmp_path / "workspace") as opened:
        yield opened


def _blob(text: str) -> tuple[str, bytes]:
    return hashlib.sha256(text.encode()).hexdigest(), text.encode()


def _whole(workspace: Workspace) -> list[str]:
    """Ids of all runs, each of which can be opened with every page it names."""
    for run in workspace.runs.ids():
        head, steps = workspace.runs.load(run)
        assert len(steps) == head.step_count
        for digest in blob_digests(head, steps):
            assert hashlib.sha256(workspace.runs.read_blob(digest)).hexdigest() == digest
    return sorted(workspace.runs.ids())


def test_a_stored_run_is_loaded_again(workspace):
    digest, content = _blob("RootWebArea 'x'")
    run, steps = make_run(step_count=1), [make_step(tree=digest)]
    assert workspace.runs.add(run, steps, {digest: content})
    assert workspace.runs.load(run.id) == (run, steps)
    assert workspace.runs.read_blob(digest) == content
    assert not workspace.runs.add(run, [], {})
    assert workspace.runs.load(run.id) == (run, steps)


def test_unknown_runs_and_contents_are_not_found(workspace):
    for name in ("gone", "../workspace", "", "a/b", "\0"):
        with pytest.raises(NotFound):
            workspace.runs.load(name)
    for digest in ("0" * 64, "no hex", ""):
        with pytest.raises(NotFound):
            workspace.runs.read_blob(digest)


def test_the_same_page_is_kept_once(workspace):
    digest, content = _blob("page " * 1000)
    for name in ("a", "b"):
        workspace.runs.add(make_run(name), [make_step(tree=digest)], {digest: content})
    with sqlite3.connect(workspace.path / "blobs.sqlite") as file:
        assert file.execute("SELECT count(*) FROM blob").fetchone()[0] == 1
    file.close()


def test_importing_twice_adds_nothing(tmp_path, workspace):
    for name in ("a_1", "b_2"):
        write_run(tmp_path / "root" / name, steps=int(name[-1]))
    first = import_paths(workspace, [tmp_path / "root"])
    again = import_paths(workspace, [tmp_path / "root"])
    assert (first.imported, first.skipped) == (2, 0)
    assert (again.imported, again.skipped, again.runs) == (0, 2, ())


def test_the_same_path_twice_imports_once(tmp_path, workspace):
    write_run(tmp_path / "root" / "a_1")
    report = import_paths(workspace, [tmp_path / "root", tmp_path / "root" / "a_1"])
    assert (report.imported, report.skipped) == (1, 0)


def test_cancelling_keeps_what_was_imported(tmp_path, workspace):
    for number in range(6):
        write_run(tmp_path / "root" / f"task_{number}", steps=number + 1)
    report = import_paths(workspace, [tmp_path / "root"], progress=lambda done, total, what: done < 3)
    assert report.cancelled
    assert report.imported == 3
    assert _whole(workspace) == sorted(report.runs)
    assert import_paths(workspace, [tmp_path / "root"]).imported == 3


def test_progress_counts_up_to_all(tmp_path, workspace):
    for number in range(3):
        write_run(tmp_path / "root" / f"task_{number}", steps=number + 1)
    seen = []
    told = []
    import_paths(
        workspace,
        [tmp_path / "root"],
        progress=lambda done, total, what: bool(seen.append((done, total)) or True),
        on_run=lambda run, steps: told.append((run.id, len(steps))),
    )
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert sorted(count for _, count in told) == [1, 2, 3]


def test_a_deleted_run_comes_back_by_undo_and_goes_by_redo(workspace):
    workspace.runs.add(make_run("a"), [make_step()], {})
    workspace.index.put_run(make_run("a"), [make_step()], workspace.site_of)
    assert workspace.delete_runs(["a", "gone"], "me") == 1
    assert (workspace.runs.ids(), workspace.index.ids()) == (set(), set())
    entry = workspace.undo()
    assert entry is not None
    assert entry.label == "delete a"
    assert (workspace.runs.ids(), workspace.index.ids()) == ({"a"}, {"a"})
    workspace.redo()
    assert workspace.runs.ids() == set()
    workspace.undo()
    assert workspace.runs.load("a")[1] == [make_step()]


def test_undo_survives_a_restart(tmp_path):
    with Workspace.open(tmp_path / "w") as first:
        first.runs.add(make_run("a"), [make_step()], {})
        first.index.put_run(make_run("a"), [make_step()], first.site_of)
        first.delete_runs(["a"])
    with Workspace.open(tmp_path / "w") as second:
        second.undo()
        assert second.index.row("a") is not None


def test_a_run_deleted_twice_is_kept_twice_in_the_trash(workspace):
    for intent in ("first", "second"):
        workspace.runs.add(make_run("a", intent=intent), [], {})
        workspace.runs.delete(["a"])
    assert len(list((workspace.path / "trash").iterdir())) == 2
    assert workspace.runs.restore(["a"]) == ["a"]
    assert workspace.runs.load("a")[0].intent == "second"


def test_exported_runs_can_be_imported_elsewhere(tmp_path, workspace):
    write_run(tmp_path / "root" / "task_1")
    (run,) = import_paths(workspace, [tmp_path / "root"]).runs
    assert workspace.export_runs([run], tmp_path / "out") == 1
    with pytest.raises(Conflict):
        workspace.export_runs([run], tmp_path / "out")
    with pytest.raises(NotFound):
        workspace.export_runs(["gone"], tmp_path / "out")
    with Workspace.open(tmp_path / "other") as other:
        assert import_paths(other, [tmp_path / "out"]).runs == (run,)
        assert _whole(other) == [run]
    assert import_paths(workspace, [tmp_path / "out"]).skipped == 1


def test_an_export_has_the_pictures_of_its_exchanges_and_what_was_asked_again(tmp_path, workspace):
    def stored(data: bytes) -> str:
        contents[hashlib.sha256(data).hexdigest()] = data
        return hashlib.sha256(data).hexdigest()

    def exchange(*pictures: str) -> str:
        parts = [{"kind": PartKind.IMAGE.value, "text": "page", "digest": one} for one in pictures]
        record = {"format": 2, "role": "operator", "messages": [{"role": "user", "parts": parts}]}
        return stored(json.dumps(record).encode())

    contents: dict[str, bytes] = {}
    sent, of_end, of_again, other = (stored(b"\xff\xd8\xff" + name) for name in (b"a", b"b", b"c", b"other"))
    calls = [exchange(sent, "f" * 64, "no digest"), stored(b"{damaged"), exchange(of_end), exchange(of_again)]
    steps = [make_step(0, calls=(calls[0], calls[1]))]
    workspace.runs.add(make_run("r1", calls=(calls[2],), step_count=1), steps, contents)
    answers = (AskedAnswer(digest=calls[3]), AskedAnswer(error="no answer"))
    asked = AskedAgain(request=AskAgainRequest(run="r1", digest=calls[0]), answers=answers)
    add_asked_again(workspace.runs.folder("r1"), asked)

    out = workspace.runs.export("r1", tmp_path / "out")
    names = {path.name.partition(".")[0] for path in (out / "blobs").iterdir()}
    assert names == {sent, of_end, of_again, *calls}
    assert other not in names
    assert read_asked_again(out) == [asked]
    with Workspace.open(tmp_path / "other") as elsewhere:
        report = import_paths(elsewhere, [tmp_path / "out"])
        assert not report.failed
        assert elsewhere.runs.blobs.missing([sent, of_end, *calls[:3]]) == set()


def test_two_runs_of_one_id_both_find_a_place(tmp_path, workspace):
    write_run(tmp_path / "root" / "task_1")
    (run,) = import_paths(workspace, [tmp_path / "root"]).runs
    workspace.export_runs([run], tmp_path / "out")
    head = tmp_path / "out" / run / "run.json"
    text = head.read_text()
    old = workspace.runs.load(run)[0].content_hash
    head.write_text(text.replace(old, "f" * 64))
    report = import_paths(workspace, [tmp_path / "out"])
    assert report.runs == (f"{run}-ffffffffffff",)


def test_what_a_dead_import_left_is_swept_and_a_living_ones_stays(tmp_path):
    with Workspace.open(tmp_path / "w") as living:
        draft = living.runs.draft(make_run("a"), [], {})
        dead = tmp_path / "w" / "runs" / ".incoming-dead"
        dead.mkdir()
        (dead / "half").write_text("x")
        with Workspace.open(tmp_path / "w"):
            assert not dead.exists()
            assert draft.folder.exists()
        assert living.runs.commit([draft]) == ["a"]
    assert {path.name for path in (tmp_path / "w" / "runs").iterdir() if path.is_dir()} == {"a"}


IMPORT = """
import sys
from pathlib import Path
from app.engine.imports.importer import import_paths
from app.engine.store.workspace import Workspace
with Workspace.open(Path(sys.argv[1])) as workspace:
    print("ready", flush=True)
    report = import_paths(workspace, [Path(sys.argv[2])])
    print(report.imported, report.skipped, len(report.failed), flush=True)
"""


def _start(workspace: Path, root: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", IMPORT, str(workspace), str(root)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


@needs_collection
@pytest.mark.shared_data
def test_killed_at_any_moment_every_run_is_whole_or_absent(tmp_path):
    place = tmp_path / "w"
    counts = []
    for delay in (0.0, 0.05, 0.15, 0.3, 0.5, 0.7, 0.9):
        with _start(place, TRAJECTORIES) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        with Workspace.open(place) as workspace:
            runs = _whole(workspace)
            assert workspace.index.ids() == set(runs)
            assert not list((place / "runs").glob(".incoming-*"))
            counts.append(len(runs))
    assert counts == sorted(counts)
    with Workspace.open(place) as workspace:
        report = import_paths(workspace, [TRAJECTORIES])
        assert report.imported + counts[-1] == 59
        assert len(_whole(workspace)) == 59


@needs_collection
@pytest.mark.shared_data
def test_two_processes_importing_at_once_store_every_run_once(tmp_path):
    place = tmp_path / "w"
    with _start(place, TRAJECTORIES) as one, _start(place, TRAJECTORIES) as two:
        results = []
        for process in (one, two):
            out, _ = process.communicate(timeout=120)
            assert process.returncode == 0
            results.append([int(word) for word in out.split()[1:]])
    assert sum(imported for imported, _, _ in results) == 59
    assert all(imported + skipped == 59 and not failed for imported, skipped, failed in results)
    with Workspace.open(place) as workspace:
        assert len(_whole(workspace)) == 59
        assert workspace.index.count() == 59
        assert len(workspace.index.stored_steps()) == 418


def test_a_full_disk_says_so_and_leaves_the_runs_before_whole(tmp_path, workspace, monkeypatch):
    for number in range(4):
        write_run(tmp_path / "root" / f"task_{number}", steps=number + 1)
    import_paths(workspace, [tmp_path / "root" / "task_0"])
    real, written = os.fsync, []

    def full(handle):
        written.append(handle)
        if len(written) > 4:
            raise OSError(28, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left on device"):
        import_paths(workspace, [tmp_path / "root"])
    monkeypatch.undo()
    assert 1 <= len(_whole(workspace)) < 4
    import_paths(workspace, [tmp_path / "root"])
    assert len(_whole(workspace)) == 4


def test_a_full_disk_under_the_contents_says_so(tmp_path):
    store = BlobStore(tmp_path / "blobs.sqlite")
    store.connection.execute("PRAGMA max_page_count=4")
    digest, content = hashlib.sha256(os.urandom(1)).digest(), os.urandom(200_000)
    with pytest.raises(StoreError, match="disk is full"):
        store.add([(digest, 0, content)])
    assert store.missing([digest.hex()]) == {digest.hex()}
    store.close()


def test_many_runs_do_not_fill_the_memory_of_opened_ones(workspace):
    for number in range(20):
        workspace.runs.add(make_run(f"r{number}"), [make_step()], {})
    for number in range(20):
        workspace.runs.load(f"r{number}")
    assert len(workspace.runs._opened) <= 8
    assert workspace.index.rows(RunFilter()) == []
