"""Runs that are going on: recorded step by step, taken by one process, gone on with after a kill."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.api.run_rows import RunFilter
from app.engine.core.trajectory import Outcome
from app.engine.imports.importer import import_paths
from app.engine.store import run_locks
from app.engine.store.locks import FileLock
from app.engine.store.run_files import RUN_FILE, STEPS_FILE
from app.engine.store.run_index import RunIndex
from app.engine.store.run_writer import RunWriter
from app.engine.store.workspace import Workspace
from app.errors import Conflict, InputError, NotFound, StoreError
from tests.support.kill_run_writers import page_of, refuses_a_second_writer
from tests.support.runs import make_run, make_step

ROOT = Path(__file__).parents[3]


@pytest.fixture
def place(tmp_path):
    return tmp_path / "workspace"


def _die(live: RunWriter) -> None:
    """Simulate a kill: the system releases the lock, its file stays."""
    live._file.close()
    live._lock.release()
    live._ended = True


def _begun(workspace: Workspace, steps: int, run: str = "live") -> RunWriter:
    live = RunWriter.begin(workspace, make_run(run))
    for number in range(steps):
        digest, content = page_of(number)
        live.append(make_step(number, tree=digest), {digest: content})
    return live


def test_a_step_is_on_the_disk_when_append_returns(place):
    with Workspace.open(place) as workspace, Workspace.open(place) as other, _begun(workspace, 3) as live:
        head, steps = other.runs.load("live")
        assert (head.outcome, head.step_count) == (Outcome.RUNNING, 3)
        assert steps == live.steps
        assert other.runs.read_blob(page_of(2)[0]) == page_of(2)[1]


def test_a_run_that_is_carried_elsewhere_while_it_goes_on_is_interrupted_there(place, tmp_path):
    with Workspace.open(place) as workspace, _begun(workspace, 2):
        workspace.export_runs(["live"], tmp_path / "out")
        assert workspace.runs.load("live")[0].outcome is Outcome.RUNNING
    with Workspace.open(tmp_path / "other") as other:
        import_paths(other, [tmp_path / "out"])
        head, steps = other.runs.load("live")
        assert (head.outcome, len(steps)) == (Outcome.INTERRUPTED, 2)


def test_exchanges_with_a_model_are_carried_along_without_their_secrets(place, tmp_path):
    exchange = b'{"messages": ["the password: hunter2x9 and so on"]}'
    digest = hashlib.sha256(exchange).hexdigest()
    with Workspace.open(place) as workspace:
        live = RunWriter.begin(workspace, make_run("live"))
        live.append(make_step(0, calls=(digest,)), {digest: exchange})
        live.finish(replace(live.run, outcome=Outcome.ANSWERED))
        workspace.export_runs(["live"], tmp_path / "out")
    with Workspace.open(tmp_path / "other") as other:
        import_paths(other, [tmp_path / "out"])
        (call,) = other.runs.load("live")[1][0].calls
        kept = other.runs.read_blob(call)
        assert b"hunter2x9" not in kept
        assert kept.startswith(b'{"messages": ["the password')


def test_the_queue_and_the_search_know_a_run_that_is_going_on(place):
    with Workspace.open(place) as workspace:
        live = _begun(workspace, 2)
        row = workspace.index.row("live")
        assert (row.outcome, row.steps) == ("running", 2)
        live.append(make_step(2, reason="zanzibar"))
        assert [hit.step for hit in workspace.index.search("zanzibar", 5)] == [2]
        live.finish(replace(live.run, outcome=Outcome.ANSWERED, answer="42"))
        row = workspace.index.row("live")
        assert (row.outcome, row.steps) == ("answered", 3)
        assert len(workspace.index.rows(RunFilter(search="42"))) == 1


def test_a_finished_run_is_a_run_like_any_other(place, tmp_path):
    digest, content = page_of(9)
    with Workspace.open(place) as workspace:
        live = _begun(workspace, 2)
        final = make_step(2, tree=digest, executed=False)
        ended = live.finish(replace(live.run, outcome=Outcome.ANSWERED, final=final), {digest: content})
        assert ended.step_count == 2
        head, steps = workspace.runs.load("live")
        assert (head, len(steps)) == (ended, 2)
        assert workspace.runs.read_blob(digest) == content
        assert not workspace.runs.is_live("live")
        (live.folder / "ledger.json").write_text("{}")
        assert workspace.export_runs(["live"], tmp_path / "out") == 1
        assert (tmp_path / "out" / "live" / "ledger.json").read_text() == "{}"
        assert workspace.delete_runs(["live"]) == 1
    with Workspace.open(place) as workspace:
        assert workspace.runs.ids() == set()


def test_nothing_is_added_twice_out_of_order_or_after_the_end(place):
    with Workspace.open(place) as workspace:
        live = _begun(workspace, 2)
        for wrong in (1, 3):
            with pytest.raises(Conflict, match="step 2 is next"):
                live.append(make_step(wrong))
        live.finish(replace(live.run, outcome=Outcome.STEP_LIMIT))
        with pytest.raises(Conflict, match="over"):
            live.append(make_step(2))
        with pytest.raises(Conflict, match="over"):
            live.finish(live.run)
        with pytest.raises(Conflict, match="ended"):
            RunWriter.resume(workspace, "live")
        assert len(workspace.runs.load("live")[1]) == 2


def test_an_end_must_be_one(place):
    with Workspace.open(place) as workspace, _begun(workspace, 0) as live:
        with pytest.raises(ValueError, match="not the end"):
            live.finish(live.run)
        with pytest.raises(ValueError, match="not the end"):
            live.finish(make_run("other"))


def test_one_process_at_a_time_has_a_run(place):
    assert refuses_a_second_writer(place)


def test_a_run_that_is_going_on_is_not_deleted(place):
    with Workspace.open(place) as workspace, _begun(workspace, 1):
        workspace.runs.add(make_run("done"), (), {})
        workspace.index_run("done")
        with pytest.raises(Conflict, match="still active"):
            workspace.delete_runs(["done", "live"])
        assert workspace.runs.ids() == {"done", "live"}


def test_a_run_whose_process_died_is_closed_as_interrupted_and_can_be_gone_on_with(place):
    with Workspace.open(place) as workspace:
        _die(_begun(workspace, 2))
    with Workspace.open(place) as workspace:
        head, steps = workspace.runs.load("live")
        assert (head.outcome, head.step_count, len(steps)) == (Outcome.INTERRUPTED, 2, 2)
        assert workspace.index.row("live").outcome == "interrupted"
        assert not list((place / "runs" / run_locks.LIVE_FOLDER).iterdir())
        live = RunWriter.resume(workspace, "live")
        assert [step.index for step in live.steps] == [0, 1]
        live.append(make_step(2))
        live.finish(replace(live.run, outcome=Outcome.ANSWERED))
    with Workspace.open(place) as workspace:
        head, steps = workspace.runs.load("live")
        assert (head.outcome, head.error, [step.index for step in steps]) == (Outcome.ANSWERED, "", [0, 1, 2])


def test_a_run_that_died_between_its_end_and_the_index_is_brought_in_line(place):
    with Workspace.open(place) as workspace:
        live = _begun(workspace, 1)
        run_locks.replace_run_file(live.folder, replace(live.run, outcome=Outcome.ANSWERED, step_count=1))
        _die(live)
        assert workspace.index.row("live").outcome == "running"
    with Workspace.open(place) as workspace:
        assert workspace.runs.load("live")[0].outcome is Outcome.ANSWERED
        assert workspace.index.row("live").outcome == "answered"


def test_a_run_that_somebody_works_on_is_left_alone_by_whoever_opens_the_workspace(place):
    with Workspace.open(place) as workspace, _begun(workspace, 1) as live:
        with Workspace.open(place) as other:
            assert other.runs.is_live("live")
            assert other.runs.load("live")[0].outcome is Outcome.RUNNING
        live.append(make_step(1))


def test_closing_without_an_end_interrupts_the_run(place):
    with Workspace.open(place) as workspace:
        with _begun(workspace, 1) as live:
            pass
        live.close()
        head, _ = workspace.runs.load("live")
        assert (head.outcome, head.error) == (Outcome.INTERRUPTED, run_locks.INTERRUPTED_REASON)


@pytest.mark.parametrize("cut", [1, 5, 60])
def test_a_step_cut_off_by_the_kill_is_taken_away_and_its_number_is_free_again(place, cut):
    with Workspace.open(place) as workspace:
        live = _begun(workspace, 2)
        _die(live)
        with (live.folder / STEPS_FILE).open("ab") as file:
            file.write(b'{"index":2,"url":"http://shop.example/", "title": "half a line and no end'[:cut])
    with Workspace.open(place) as workspace:
        assert len(workspace.runs.load("live")[1]) == 2
        with RunWriter.resume(workspace, "live") as live:
            live.append(make_step(2))
        assert [step.index for step in workspace.runs.load("live")[1]] == [0, 1, 2]


def test_a_disk_that_is_full_records_nothing_and_the_run_goes_on(place, monkeypatch):
    with Workspace.open(place) as workspace, _begun(workspace, 1) as live:
        real = os.fsync

        def full(handle):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="No space left"):
            live.append(make_step(1))
        monkeypatch.setattr(os, "fsync", real)
        live.append(make_step(1))
        assert [step.index for step in workspace.runs.load("live")[1]] == [0, 1]


def test_an_index_that_can_not_be_written_costs_no_step(place, monkeypatch):
    def busy(*_):
        raise Conflict("another process is writing to it")

    with Workspace.open(place) as workspace:
        live = _begun(workspace, 1)
        monkeypatch.setattr(RunIndex, "add_step", busy)
        monkeypatch.setattr(RunIndex, "put_run", busy)
        live.append(make_step(1))
        live.finish(replace(live.run, outcome=Outcome.ANSWERED))
        assert len(workspace.runs.load("live")[1]) == 2
        monkeypatch.undo()
    with Workspace.open(place) as workspace:
        row = workspace.index.row("live")
        assert (row.outcome, row.steps) == ("answered", 2)


def test_a_damaged_run_is_no_reason_not_to_open_the_workspace(place):
    with Workspace.open(place) as workspace:
        live = _begun(workspace, 1)
        _die(live)
        (live.folder / RUN_FILE).write_text("{")
    with Workspace.open(place) as workspace, pytest.raises(StoreError, match="damaged"):
        workspace.runs.load("live")


def test_a_run_that_is_gone_or_no_run_is_not_resumed(place):
    with Workspace.open(place) as workspace:
        for name in ("gone", "live/../x", ""):
            with pytest.raises((NotFound, InputError)):
                RunWriter.resume(workspace, name)


@pytest.mark.skipif(sys.platform == "win32", reason="an open file can't be taken away there")
def test_a_lock_whose_file_was_taken_away_meanwhile_is_not_a_lock(tmp_path, monkeypatch):
    path = tmp_path / "lock"
    opened = os.open

    def open_and_lose(name, *rest):
        handle = opened(name, *rest)
        if not lost:
            lost.append(name)
            path.unlink()
        return handle

    lost: list[object] = []
    monkeypatch.setattr(os, "open", open_and_lose)
    with FileLock(path) as lock:
        assert lock.take()
        monkeypatch.undo()
        assert path.exists()
        with FileLock(path) as other:
            assert not other.take()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="writers are forked")
def test_a_run_killed_at_any_moment_has_every_step_once_but_the_one_in_flight(tmp_path):
    command = [sys.executable, "-m", "tests.support.kill_run_writers", str(tmp_path / "workspace"), "12", "7"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=240)
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    assert found["faults"] == []
    assert {"remembered", "recorded"} & found["after"].keys()


def test_pages_of_the_writers_are_named_by_their_content():
    digest, content = page_of(3)
    assert hashlib.sha256(content).hexdigest() == digest


def test_a_run_has_what_is_put_beside_it_from_its_first_moment(tmp_path):
    """A kill between a run and its task would leave a run that nobody can go on with."""
    with (
        Workspace.open(tmp_path) as workspace,
        RunWriter.begin(workspace, make_run("new"), {"task.json": b"{}"}) as live,
    ):
        assert (live.folder / "task.json").read_bytes() == b"{}"
        assert sorted(path.name for path in live.folder.iterdir()) == ["run.json", "steps.jsonl", "task.json"]
