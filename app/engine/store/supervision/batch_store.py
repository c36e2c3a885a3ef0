"""Batches with their tasks and runs.

A batch, its tasks, its runs and its retries are rows that are never changed; where it stands, and how its runs fare,
is current state.  The tables are in the file of the review state.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.engine.api.run_api import RunRequest
from app.engine.core.batch import BatchState, TaskState
from app.engine.core.cost import Cost
from app.engine.store.database import StoreFile
from app.engine.store.review_store import ReviewStore
from app.engine.store.supervision.json_rows import from_json, to_json
from app.errors import NotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchHead:
    """The facts of a batch; the fields are those of ``BatchRow``."""

    id: str
    name: str
    author: str = ""
    source: str = ""
    policy: str = ""
    model: str = ""
    kb: str = ""
    graph: str = ""
    sites: str = ""
    total: int = 0
    created_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStatus:
    """Where a batch stands.

    ``only_retried``: of a stopped batch only those tasks are started that were asked for again.
    """

    state: BatchState = BatchState.ACTIVE
    why: str = ""
    at_once: int = 0
    max_money: float = 0.0
    max_tokens: int = 0
    only_retried: bool = False
    dismissed: bool = False
    ended_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRun:
    """A run of a task as it was last seen.

    Attributes:
        number: of its task.
        lost: its process died before the run had begun; there is no such run.
        why: the answer, or the reason of its end.  ended_by: the person who ended it by hand.
    """

    run: str
    number: int
    state: TaskState = TaskState.ACTIVE
    lost: bool = False
    outcome: str = ""
    why: str = ""
    ended_by: str = ""
    steps: int = 0
    tokens: int = 0
    cost: Cost | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBatch:
    """A batch as it is stored: ``tasks`` by number, ``runs`` in order, ``retries`` as numbers of retries by task."""

    head: BatchHead
    status: BatchStatus
    tasks: Mapping[int, RunRequest] = field(default_factory=dict[int, RunRequest])
    runs: tuple[BatchRun, ...] = ()
    retries: Mapping[int, int] = field(default_factory=dict[int, int])


class BatchStore(StoreFile):
    """The rows of batches; every method raises ``StoreError`` as those of ``SupervisionStore`` do."""

    def __init__(self, review: ReviewStore) -> None:
        super().__init__(review.path, review.connection)

    def add_batch(self, head: BatchHead, status: BatchStatus, tasks: Iterable[RunRequest]) -> None:
        """Store a batch with its tasks, which get numbers from 1; all or nothing."""
        rows = [(head.id, number, to_json(task)) for number, task in enumerate(tasks, 1)]
        with self.batch():
            self._insert("batch", id=head.id, document=to_json(head))
            self.connection.executemany(
                "INSERT INTO batch_task (batch, number, request) VALUES (?, ?, ?)", rows
            )
            self.save_status(head.id, status)

    def ids(self) -> list[str]:
        """Return the ids of all batches, the newest first."""
        return [str(row["id"]) for row in self._all("SELECT id FROM batch ORDER BY seq DESC")]

    def batch_of(self, id: str, *, tasks: bool = True) -> StoredBatch:
        """Return a batch, on request without its tasks' requests.

        Raises:
            NotFound: the id is unknown, or the row is unreadable.
        """
        row = self._one("SELECT document FROM batch WHERE id = ?", id)
        head = from_json(BatchHead, row["document"], f"batch {id}") if row is not None else None
        if head is None:
            raise NotFound(f"no batch {id[:80]!r} in this workspace")
        row = self._one("SELECT document FROM batch_state WHERE batch = ?", id)
        status = from_json(BatchStatus, row["document"], f"state of batch {id}") if row is not None else None
        return StoredBatch(
            head=head,
            status=status or BatchStatus(state=BatchState.PAUSED, why="its state could not be read"),
            tasks=self._tasks(id) if tasks else {},
            runs=tuple(self._runs(id)),
            retries={
                int(row["number"]): int(row["count"])
                for row in self._all(
                    "SELECT number, COUNT(*) AS count FROM batch_retry WHERE batch = ? GROUP BY number", id
                )
            },
        )

    def state_of(self, id: str) -> BatchState | None:
        """Return where a batch stands, ``None`` for one that is unknown or unreadable."""
        row = self._one("SELECT document FROM batch_state WHERE batch = ?", id)
        status = from_json(BatchStatus, row["document"], f"state of batch {id}") if row is not None else None
        return status.state if status is not None else None

    def save_status(self, id: str, status: BatchStatus) -> None:
        """Replace where a batch stands."""
        self._write(
            "INSERT INTO batch_state (batch, document, at) VALUES (?, ?, ?)"
            " ON CONFLICT (batch) DO UPDATE SET document = excluded.document, at = excluded.at",
            id,
            to_json(status),
            time.time(),
        )

    def add_run(self, id: str, run: BatchRun) -> None:
        """Store that a run belongs to a task; do it before the run begins."""
        with self.batch():
            self._insert("batch_run", run=run.run, batch=id, number=run.number, at=time.time())
            self.save_runs([run])

    def save_runs(self, runs: Iterable[BatchRun]) -> None:
        """Replace how runs fare."""
        rows = [(run.run, to_json(run)) for run in runs]
        with self.batch():
            self.connection.executemany(
                "INSERT INTO batch_run_state (run, document) VALUES (?, ?)"
                " ON CONFLICT (run) DO UPDATE SET document = excluded.document",
                rows,
            )

    def add_retries(self, id: str, numbers: Iterable[int]) -> None:
        """Store that tasks are to be started again."""
        rows = [(id, number, time.time()) for number in numbers]
        with self.batch():
            self.connection.executemany("INSERT INTO batch_retry (batch, number, at) VALUES (?, ?, ?)", rows)

    # inside

    def _tasks(self, id: str) -> dict[int, RunRequest]:
        rows = self._all("SELECT number, request FROM batch_task WHERE batch = ? ORDER BY number", id)
        found = (
            (int(row["number"]), from_json(RunRequest, row["request"], f"task {row['number']} of {id}"))
            for row in rows
        )
        return {number: request for number, request in found if request is not None}

    def _runs(self, id: str) -> Iterable[BatchRun]:
        rows = self._all(
            "SELECT batch_run.run, number, document FROM batch_run"
            " LEFT JOIN batch_run_state ON batch_run_state.run = batch_run.run WHERE batch = ? ORDER BY seq",
            id,
        )
        for row in rows:
            known = from_json(BatchRun, row["document"] or "{}", f"run {row['run']} of {id}")
            yield known or BatchRun(run=row["run"], number=int(row["number"]))
