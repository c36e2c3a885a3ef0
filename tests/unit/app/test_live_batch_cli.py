"""``sitelore live batch`` over a stored batch that no process runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import main
from app.engine.api.run_api import RunRequest
from app.engine.core.batch import BatchState, TaskState
from app.engine.store.supervision.batch_store import BatchHead, BatchRun, BatchStatus
from app.engine.store.workspace import Workspace

TASKS = [RunRequest(intent=f"Task {number}", start_url="http://shop.test/") for number in (1, 2, 3)]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("app.log.setup", lambda level="": None)
    with Workspace.open(tmp_path / "workspace") as workspace:
        workspace.batches.add_batch(
            BatchHead(id="batch-1", name="Night", policy="llm", total=3, created_at=5.0),
            BatchStatus(max_tokens=500),
            TASKS,
        )
        ended = BatchRun(run="r1", number=1, state=TaskState.ANSWERED, outcome="answered", tokens=120)
        workspace.batches.add_run("batch-1", ended)
    return tmp_path / "workspace"


def said(place: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["--workspace", str(place), "live", "batch", *words])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_an_active_batch_that_nobody_runs_is_paused_and_says_why(place, capsys):
    code, out, _ = said(place, capsys, "list", "--json")
    (row,) = json.loads(out)
    assert (code, row["state"], row["answered"], row["waiting"]) == (0, "paused", 1, 2)
    assert row["why"] == "the program that ran it ended; resume it to go on"
    _, out, _ = said(place, capsys, "show", "Night")
    assert "1 of 3, 100 % answered, 120 of 500 tokens" in out
    assert "go on: sitelore live batch resume batch-1" in out
    assert "Task 3" in out


def test_it_is_stopped_and_dismissed_by_its_name(place, capsys):
    code, _, err = said(place, capsys, "dismiss", "Night")
    assert code != 0
    assert "stop it first" in err
    assert said(place, capsys, "stop", "Night")[0] == 0
    assert said(place, capsys, "dismiss", "Night")[0] == 0
    assert "no batches" in said(place, capsys, "list")[1]


def test_limits_of_a_batch_that_does_not_run_are_changed_without_waiting(place, capsys):
    code, out, _ = said(place, capsys, "limits", "Night", "--max-tokens", "900", "--json")
    row = json.loads(out)
    assert (row["max_tokens"], row["state"]) == (900, "paused")
    assert code == 1, "not every task is answered"
    with Workspace.open(place) as workspace:
        status = workspace.batches.batch_of("batch-1").status
    assert (status.max_tokens, status.state) == (900, BatchState.PAUSED)


def test_one_that_is_not_there_is_named(place, capsys):
    code, _, err = said(place, capsys, "show", "Day")
    assert code != 0
    assert "no batch 'Day' in this workspace" in err
