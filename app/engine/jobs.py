"""Long work with progress and cancellation.  The only place that creates tasks."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Callable, Coroutine
from enum import StrEnum
from typing import Any, TypeVar

from app.engine.core.events import EventBus, JobChanged
from app.errors import NotFound, SiteloreError

log = logging.getLogger(__name__)

T = TypeVar("T")

PROGRESS_INTERVAL = 0.05
"""Seconds between two progress events of one job; a burst in between is reported once."""


class JobState(StrEnum):
    """The state of a job; the last three are final."""

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Job:
    """One piece of long work.

    Attributes:
        done: units finished.  total: units in all, ``None`` while unknown.  detail: what is being worked on.
        error: a sentence for a person, when it failed.
    """

    def __init__(self, job_id: str, title: str, bus: EventBus) -> None:
        self.id, self.title, self.state = job_id, title, JobState.RUNNING
        self.done, self.detail, self.error = 0, "", ""
        self.total: int | None = None
        self._bus, self._told, self.cancel_requested = bus, 0.0, False

    def advance(self, done: int, total: int | None, detail: str = "") -> None:
        """Report progress; call it on the loop."""
        self.done, self.total, self.detail = done, total, detail
        now = time.monotonic()
        if now - self._told >= PROGRESS_INTERVAL:
            self._told = now
            self._tell()

    def request_cancel(self) -> None:
        """Ask work in a thread to stop at its next chunk."""
        self.cancel_requested = True

    def finish(self, state: JobState, error: str = "") -> None:
        """Set the final state and publish it."""
        self.state, self.error = state, error
        self._tell()

    def snapshot(self) -> JobChanged:
        """Return the job as an event, for a late listener."""
        return JobChanged(
            id=self.id,
            title=self.title,
            state=self.state.value,
            done=self.done,
            total=self.total,
            detail=self.detail,
            error=self.error,
        )

    def _tell(self) -> None:
        self._bus.publish(self.snapshot())


class JobRegistry:
    """Starts, lists, cancels and finally awaits all jobs.  The loop keeps only weak references to tasks."""

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._ids = itertools.count(1)
        self._jobs: dict[str, Job] = {}
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._cooperative: set[str] = set()
        self._quiet: set[asyncio.Task[Any]] = set()

    @property
    def jobs(self) -> list[Job]:
        """Every job of this process, oldest first."""
        return list(self._jobs.values())

    def start(
        self, title: str, work: Callable[[Job], Coroutine[Any, Any, T]], *, cooperative: bool = True
    ) -> tuple[Job, asyncio.Task[T]]:
        """Start ``work(job)``; await the task for its result or its error.

        Cooperative work checks ``job.cancel_requested`` between chunks and returns what it has; other work is
        cancelled at its next await.
        """
        job = Job(f"job-{next(self._ids)}", title, self._bus)
        self._jobs[job.id] = job
        if cooperative:
            self._cooperative.add(job.id)
        self._bus.publish(job.snapshot())
        task = asyncio.create_task(self._run(job, work), name=title)
        self._tasks[job.id] = task
        task.add_done_callback(lambda ended: self._ended(job, ended))
        return job, task

    def hold(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a short task in the background; its error is logged."""
        task = asyncio.create_task(work)
        self._quiet.add(task)
        task.add_done_callback(self._quiet_ended)
        return task

    def cancel(self, job_id: str) -> None:
        """Cancel a job: a thread's at its next chunk, a coroutine's at its next await."""
        job = self._jobs.get(job_id)
        if job is None:
            raise NotFound(f"no job {job_id}")
        job.request_cancel()
        if job_id not in self._cooperative and job_id in self._tasks:
            self._tasks[job_id].cancel()

    async def aclose(self) -> None:
        """Cancel all jobs and wait until they have ended."""
        for job_id in list(self._tasks):
            self.cancel(job_id)
        tasks = [*self._tasks.values(), *self._quiet]
        for task in self._quiet:
            task.cancel()
        if tasks:
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, job: Job, work: Callable[[Job], Coroutine[Any, Any, T]]) -> T:
        try:
            result = await work(job)
        except asyncio.CancelledError:
            job.finish(JobState.CANCELLED)
            raise
        except SiteloreError as error:
            job.finish(JobState.FAILED, str(error))
            raise
        except Exception as error:
            log.exception("job %s failed", job.title)
            job.finish(JobState.FAILED, f"{type(error).__name__}: {error}")
            raise
        job.finish(JobState.CANCELLED if job.cancel_requested else JobState.DONE)
        return result

    def _ended(self, job: Job, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(job.id, None)
        if not task.cancelled():
            task.exception()  # retrieved: it stands on the job

    def _quiet_ended(self, task: asyncio.Task[Any]) -> None:
        self._quiet.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a background task failed", exc_info=error)
