"""Batches on disk: facts are never changed, the present is replaced, and both are there after a restart."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from app.engine.api.run_api import RunRequest
from app.engine.core.batch import BatchState, TaskState
from app.engine.core.cost import Cost
from app.engine.store.supervision.batch_store import BatchHead, BatchRun, BatchStatus
from app.engine.store.workspace import Workspace
from app.errors import NotFound

HEAD = BatchHead(id="batch-1", name="Night", total=2, created_at=5.0)
TASKS = [
    RunRequest(intent=f"Task {number}", start_url="http://shop.test/", batch="batch-1") for number in (1, 2)
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with Workspace.open(tmp_path / "workspace") as workspace:
        workspace.batches.add_batch(HEAD, BatchStatus(max_tokens=100), TASKS)
        workspace.batches.add_run("batch-1", BatchRun(run="r1", number=2))
        workspace.batches.add_retries("batch-1", [2, 2])
    return tmp_path / "workspace"


def test_a_batch_is_there_after_a_restart(place: Path):
    with Workspace.open(place) as workspace:
        found = workspace.batches.batch_of("batch-1")
        assert (found.head, found.status) == (HEAD, BatchStatus(max_tokens=100))
        assert found.tasks == dict(enumerate(TASKS, 1))
        assert found.runs == (BatchRun(run="r1", number=2),)
        assert found.retries == {2: 2}
        assert workspace.batches.batch_of("batch-1", tasks=False).tasks == {}
        assert workspace.batches.ids() == ["batch-1"]


def test_where_it_stands_and_how_its_runs_fare_is_replaced(place: Path):
    status = BatchStatus(state=BatchState.OUT_OF_BUDGET, why="spent", max_tokens=100)
    fared = BatchRun(run="r1", number=2, state=TaskState.FAILED, tokens=9, cost=Cost(known=0.5))
    with Workspace.open(place) as workspace:
        workspace.batches.save_status("batch-1", status)
        workspace.batches.save_runs([fared])
        found = workspace.batches.batch_of("batch-1")
        assert (found.status, found.runs) == (status, (fared,))


@pytest.mark.parametrize("table", ["batch", "batch_task", "batch_run", "batch_retry"])
@pytest.mark.parametrize("change", ["DELETE FROM {}", "UPDATE {} SET rowid = 99"])
def test_facts_are_never_changed(place: Path, table: str, change: str):
    with Workspace.open(place) as workspace, pytest.raises(sqlite3.DatabaseError, match="kept for ever"):
        workspace.review.connection.execute(change.format(table))


def test_an_unknown_batch_is_not_found(place: Path):
    with Workspace.open(place) as workspace, pytest.raises(NotFound, match="no batch 'x'"):
        workspace.batches.batch_of("x")


def test_a_row_that_can_not_be_read_costs_its_task_only(place: Path):
    with Workspace.open(place) as workspace:
        connection = workspace.review.connection
        connection.execute("DROP TRIGGER batch_task_no_update")
        connection.execute("UPDATE batch_task SET request = '{' WHERE number = 1")
        connection.execute("UPDATE batch_state SET document = '{'")
        found = workspace.batches.batch_of("batch-1")
        assert list(found.tasks) == [2]
        assert found.status.state is BatchState.PAUSED, "it starts nothing by itself"
