"""Use cases of batches: runs that are started together and share a budget.  Part of ``EngineApi``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from app.engine.api.run_api import RunRequest
from app.engine.core.batch import BatchRow, BatchTask


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRequest:
    """A batch to start.

    Attributes:
        name: for people; "" takes the name of the file, or the first task.
        tasks: one request a task, each as it will be run; they are started in this order.
        at_once: parallel runs of this batch at most; 0 for as many as the workspace allows.
        max_money, max_tokens: budget of the whole batch in US dollars and tokens; 0 for none.
        source: the task file, "" for none.
    """

    name: str
    tasks: tuple[RunRequest, ...]
    at_once: int = 0
    max_money: float = 0.0
    max_tokens: int = 0
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTask:
    """A task of a file, as it can be put into a batch.

    Attributes:
        number: from 1, in the order of the file.
        request: its run by what the file and the table of sites say; ``None`` while it can't be run.
        given: fields of the request that the file sets itself, which a batch does not change.
        problem: why it can't be run, in a sentence.
        names: names such as ``__SHOPPING__`` that it needs and the table of sites does not have.
    """

    number: int
    intent: str
    request: RunRequest | None = None
    given: tuple[str, ...] = ()
    problem: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchDetail:
    """A batch with its tasks in order."""

    row: BatchRow
    tasks: tuple[BatchTask, ...]


class BatchApi(Protocol):
    """Use cases of batches.  Errors are ``SiteloreError``s; changes come as ``BatchChanged``."""

    async def batches(self) -> list[BatchRow]:
        """Return all batches that were not dismissed, the newest first."""
        ...

    async def batch(self, batch: str) -> BatchDetail: ...

    async def read_task_file(self, path: str, start_url: str = "") -> list[FileTask]:
        """Return the tasks of a file, also those that can't be run yet.

        ``start_url`` is the start address of tasks that name neither an address nor a site.

        Raises ``InputError``: the file can't be read, or is no task file.
        """
        ...

    async def start_batch(self, request: BatchRequest) -> BatchRow:
        """Start a batch; if one of its tasks is invalid, none is started."""
        ...

    async def pause_batch(self, batch: str) -> None: ...

    async def resume_batch(self, batch: str) -> None: ...

    async def stop_batch(self, batch: str) -> None:
        """End its active runs and start no more."""
        ...

    async def retry_batch(self, batch: str) -> int:
        """Start its failed and stopped tasks again; return how many."""
        ...

    async def set_batch_limits(self, batch: str, at_once: int, max_money: float, max_tokens: int) -> BatchRow:
        """Change parallel runs and budget; a batch that was out of budget goes on if it can."""
        ...

    async def export_batch(self, batch: str, out: str) -> int:
        """Write the runs of a batch as ``export_runs`` does, and a table of its tasks; return the number of runs."""
        ...

    async def dismiss_batch(self, batch: str) -> None:
        """Remove an ended or stopped batch from the list; its runs stay."""
        ...
