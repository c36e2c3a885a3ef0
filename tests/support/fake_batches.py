"""Batches of an engine without disk: started, steered and followed at once, each change with its event."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

from app.engine.api.batch_api import BatchDetail, BatchRequest, FileTask
from app.engine.api.run_api import RunRequest
from app.engine.core.batch import BatchRow, BatchState, BatchTask, TaskState
from app.engine.core.cost import Cost
from app.engine.core.events import BatchChanged, EventBus
from app.engine.core.supervision import LiveRow
from app.errors import NotFound, SiteloreError
from tests.support.made_up import NOW

SHOP = "http://shop.example/"


def make_batch(number: int, states: Iterable[TaskState], **more: object) -> BatchDetail:
    """Return a batch with a task in each of these states, in this order."""
    tasks = tuple(
        BatchTask(
            number=place,
            intent=f"Task {place}: find the price of article {place}",
            site="shop",
            state=state,
            runs=() if state is TaskState.WAITING else (f"batch-{number}-run-{place}",),
        )
        for place, state in enumerate(states, 1)
    )
    row = BatchRow(
        id=f"batch-{number}", name=f"prices {number}", policy="llm", model="gpt-x", kb="live", sites="shop",
        at_once=4, source="/tasks/prices.jsonl", created_at=NOW + number,
    )  # fmt: skip
    return counted(replace(BatchDetail(row=row, tasks=tasks), row=replace(row, **more)))


def counted(batch: BatchDetail) -> BatchDetail:
    """Return a batch whose numbers are those of its tasks."""
    count = {state: sum(task.state is state for task in batch.tasks) for state in TaskState}
    row = replace(
        batch.row, total=len(batch.tasks), waiting=count[TaskState.WAITING], active=count[TaskState.ACTIVE],
        needy=count[TaskState.NEEDS_PERSON], answered=count[TaskState.ANSWERED],
        failed=count[TaskState.FAILED], stopped=count[TaskState.STOPPED],
    )  # fmt: skip
    return replace(batch, row=row)


def out_of_budget(number: int = 1) -> BatchDetail:
    """Return a batch that spent its five dollars at 12 of 20 tasks."""
    states = [TaskState.ANSWERED] * 9 + [TaskState.FAILED] * 3 + [TaskState.WAITING] * 8
    return make_batch(
        number, states, state=BatchState.OUT_OF_BUDGET, max_money=5.0, cost=Cost(known=5.02), tokens=412_300
    )


class FakeBatches:
    """The batches in ``all_batches`` by id; ``file_tasks`` is what each task file holds."""

    bus: EventBus
    calls: list[tuple[str, tuple[object, ...]]]

    def start_batches(self) -> None:
        self.all_batches: dict[str, BatchDetail] = {}
        self.file_tasks: list[FileTask] | None = None
        self.batch_error = ""
        self._batch_numbers = itertools.count(1)

    def put(self, row: LiveRow) -> None:
        raise NotImplementedError

    def put_batch(self, batch: BatchDetail) -> None:
        """Update a batch, or add it."""
        self.all_batches[batch.row.id] = batch
        self.bus.publish(BatchChanged(row=batch.row))

    async def read_task_file(self, path: str, start_url: str = "") -> list[FileTask]:
        self.calls.append(("read_task_file", (path, start_url)))
        if self.file_tasks is not None:
            return self.file_tasks
        return [
            FileTask(number=number, intent=intent, request=RunRequest(intent=intent, start_url=SHOP))
            for number in (1, 2, 3)
            for intent in [f"Task {number} of {path}"]
        ]

    async def batches(self) -> list[BatchRow]:
        return sorted((one.row for one in self.all_batches.values()), key=lambda row: -row.created_at)

    async def batch(self, batch: str) -> BatchDetail:
        if batch not in self.all_batches:
            raise NotFound(f"no batch {batch!r}")
        return self.all_batches[batch]

    async def start_batch(self, request: BatchRequest) -> BatchRow:
        self.calls.append(("start_batch", (request,)))
        if self.batch_error:
            raise SiteloreError(self.batch_error)
        number = next(self._batch_numbers)
        going = request.at_once or 4
        states = [
            TaskState.ACTIVE if place < going else TaskState.WAITING for place in range(len(request.tasks))
        ]
        made = make_batch(
            number, states, name=request.name, policy=request.tasks[0].policy, at_once=request.at_once,
            max_money=request.max_money, max_tokens=request.max_tokens, source=request.source,
        )  # fmt: skip
        self.put_batch(made)
        return made.row

    async def pause_batch(self, batch: str) -> None:
        self._become(batch, BatchState.PAUSED)

    async def resume_batch(self, batch: str) -> None:
        self._become(batch, BatchState.ACTIVE)

    async def stop_batch(self, batch: str) -> None:
        ended = (TaskState.ANSWERED, TaskState.FAILED)
        found = self._become(batch, BatchState.STOPPED)
        tasks = tuple(
            task if task.state in ended else replace(task, state=TaskState.STOPPED) for task in found.tasks
        )
        self.put_batch(counted(replace(found, tasks=tasks)))

    async def retry_batch(self, batch: str) -> int:
        found = self._become(batch, BatchState.ACTIVE)
        again = [task for task in found.tasks if task.state in (TaskState.FAILED, TaskState.STOPPED)]
        tasks = tuple(
            replace(task, state=TaskState.WAITING) if task in again else task for task in found.tasks
        )
        self.put_batch(counted(replace(found, tasks=tasks)))
        return len(again)

    async def set_batch_limits(self, batch: str, at_once: int, max_money: float, max_tokens: int) -> BatchRow:
        self.calls.append(("set_batch_limits", (batch, at_once, max_money, max_tokens)))
        found = self.all_batches[batch]
        state = BatchState.ACTIVE if found.row.state is BatchState.OUT_OF_BUDGET else found.row.state
        row = replace(found.row, at_once=at_once, max_money=max_money, max_tokens=max_tokens, state=state)
        self.put_batch(replace(found, row=row))
        return row

    async def export_batch(self, batch: str, out: str) -> int:
        self.calls.append(("export_batch", (batch, out)))
        row = self.all_batches[batch].row
        return row.ended

    async def dismiss_batch(self, batch: str) -> None:
        self.calls.append(("dismiss_batch", (batch,)))
        gone = self.all_batches.pop(batch)
        self.bus.publish(BatchChanged(row=replace(gone.row, total=0)))

    def _become(self, batch: str, state: BatchState) -> BatchDetail:
        self.calls.append((f"batch {state.value}", (batch,)))
        found = self.all_batches[batch]
        found = replace(found, row=replace(found.row, state=state, why=""))
        self.put_batch(found)
        return found
