"""An import with a worker process gives the same as without, and survives the worker's death."""

from __future__ import annotations

import hashlib

import pytest

from app.engine.imports import importer
from app.engine.imports import worker_process as helper_module
from app.engine.imports.importer import import_paths
from app.engine.store.run_files import blob_digests
from app.engine.store.workspace import Workspace
from tests.support.runs import write_run


@pytest.fixture
def root(tmp_path):
    """Forty runs, one of them damaged, two equal but for their folder."""
    root = tmp_path / "root"
    for number in range(40):
        write_run(
            root / f"task_{number}",
            steps=number % 5 + 1,
            about={"n_steps": number % 5 + 1, "cum_reward": number / 80},
        )
    (root / "task_7" / "steps_info_0.json").write_text("{")
    bad = root / "task_bad"
    bad.mkdir()
    (bad / "summary_info.json").write_text("[]")
    write_run(root / "copy_of_3", steps=4, about={"n_steps": 4, "cum_reward": 3 / 80})
    return root


def _contents(workspace: Workspace) -> dict[str, tuple[object, ...]]:
    found = {}
    for run in workspace.runs.ids():
        head, steps = workspace.runs.load(run)
        for digest in blob_digests(head, steps):
            assert hashlib.sha256(workspace.runs.read_blob(digest)).hexdigest() == digest
        found[head.content_hash] = (steps, head.score, head.notes)
    return found


def _import(place, root, monkeypatch, *, alone: bool):
    with monkeypatch.context() as patch:
        if alone:
            patch.setattr(importer, "MIN_RUNS", 10**9)
        with Workspace.open(place) as workspace:
            report = import_paths(workspace, [root])
            assert workspace.index.count() == report.imported
            return report, _contents(workspace)


def test_the_result_is_the_same_with_and_without_a_helper(tmp_path, root, monkeypatch):
    alone, stored_alone = _import(tmp_path / "a", root, monkeypatch, alone=True)
    helped, stored_helped = _import(tmp_path / "b", root, monkeypatch, alone=False)
    assert stored_alone == stored_helped
    assert sorted(alone.failed, key=str) == sorted(helped.failed, key=str)
    assert (alone.imported, alone.skipped) == (helped.imported, helped.skipped) == (40, 1)


def test_a_helper_that_dies_loses_nothing(tmp_path, root, monkeypatch):
    given = helper_module.WorkerProcess.give
    calls = []

    def give_and_kill(self, *arguments):
        given(self, *arguments)
        calls.append(arguments)
        if len(calls) == 3:
            self._process.kill()

    monkeypatch.setattr(helper_module.WorkerProcess, "give", give_and_kill)
    report, stored = _import(tmp_path / "a", root, monkeypatch, alone=False)
    assert (report.imported, len(stored)) == (40, 40)


def test_a_helper_that_cannot_start_is_not_needed(tmp_path, root, monkeypatch):
    monkeypatch.setattr(helper_module, "child_command", lambda *parts: [str(tmp_path / "no python"), *parts])
    report, _ = _import(tmp_path / "a", root, monkeypatch, alone=False)
    assert report.imported == 40


def test_cancelling_with_a_helper_keeps_whole_runs(tmp_path, root):
    with Workspace.open(tmp_path / "a") as workspace:
        report = import_paths(workspace, [root], progress=lambda done, total, what: done < 20)
        assert report.cancelled
        assert len(_contents(workspace)) == report.imported >= 10
    with Workspace.open(tmp_path / "a") as workspace:
        assert import_paths(workspace, [root]).imported + report.imported == 40
    assert not list((tmp_path / "a" / "runs").glob(".incoming-*"))
