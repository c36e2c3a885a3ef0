"""Background jobs as rows: title, progress and outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QLocale,
    QObject,
    Signal,
)

from app.engine.core.events import JobChanged
from app.models.common.object_list import ObjectList
from app.models.common.tasks import ignore

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

RUNNING = "running"
KEEP_ENDED = 12
"""Ended jobs that stay in the list."""


class JobList(ObjectList[JobChanged]):
    """Newest first.  ``running_changed`` carries the number of running jobs; ``ended`` each job that ends by
    itself.
    """

    running_changed = Signal(int)
    ended = Signal(object)
    failed = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(lambda job: job.id, parent)
        self._client, self._tasks = client, tasks
        client.job_changed.connect(self.take)
        client.host_changed.connect(self._host_changed)

    def words(self, value: JobChanged) -> str:
        return f"{value.title}, {progress_text(value)}"

    @property
    def running(self) -> list[JobChanged]:
        """Jobs that have not ended."""
        return [job for job in self.rows if job.state == RUNNING]

    def load(self) -> None:
        """Ask for the jobs that began before this list; a lost host marks its jobs as ended anyway."""
        self._tasks.start(self._client.api.jobs(), self._take_all, ignore, key="frame-jobs")

    def cancel(self, job: str) -> None:
        """Ask a job to stop; an event follows when it has."""
        self._tasks.start(self._client.api.cancel_job(job), None, lambda error: self.failed.emit(str(error)))

    def cancel_all(self) -> None:
        for job in self.running:
            self.cancel(job.id)

    def take(self, job: JobChanged) -> None:
        """Insert a new job at the top or change its row."""
        before = len(self.running)
        known = self.at(self.row_of(job.id))
        if known is None:
            self.merge([job, *self.rows])
        else:
            self.put(job)
        if (known is None or known.state == RUNNING) and job.state != RUNNING:
            self.ended.emit(job)
        self._forget_old()
        if before != len(self.running):
            self.running_changed.emit(len(self.running))

    def _take_all(self, jobs: list[JobChanged]) -> None:
        for job in jobs:
            self.take(job)

    def _forget_old(self) -> None:
        for job in [job for job in self.rows if job.state != RUNNING][KEEP_ENDED:]:
            self.drop(job.id)

    def _host_changed(self, message: str) -> None:
        if not message:
            return
        for job in self.running:
            self.take(replace(job, state="failed", error=self.tr("the engine stopped")))


def progress_text(job: JobChanged) -> str:
    """``34 of 59 · 57 % · task 12``, or how it ended."""
    number = QLocale().toString
    match job.state:
        case "running" if job.total:
            words = f"{number(job.done)} of {number(job.total)} · {job.done * 100 // job.total} %"
        case "running":
            words = f"{number(job.done)} so far" if job.done else "starting"
        case "done":
            return f"done · {number(job.done)}" if job.done else "done"
        case "failed":
            return f"failed: {job.error}" if job.error else "failed"
        case state:
            return f"{state} · {number(job.done)}" if job.done else state
    return f"{words} · {job.detail}" if job.detail else words
