"""Background jobs as rows: title, progress and outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractListModel,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from app.engine.core.events import JobChanged

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

Index = QModelIndex | QPersistentModelIndex
RUNNING = "running"
KEEP_ENDED = 12
"""Ended jobs that stay in the list."""
JOB_ROLE = Qt.ItemDataRole.UserRole + 1


class JobList(QAbstractListModel):
    """Newest first.  ``running_changed`` carries the number of running jobs; ``ended`` each job that ends by
    itself.
    """

    running_changed = Signal(int)
    ended = Signal(object)
    failed = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self._jobs: list[JobChanged] = []
        client.job_changed.connect(self.take)
        client.host_changed.connect(self._host_changed)

    @property
    def jobs(self) -> list[JobChanged]:
        """Newest first."""
        return list(self._jobs)

    @property
    def running(self) -> list[JobChanged]:
        """Jobs that have not ended."""
        return [job for job in self._jobs if job.state == RUNNING]

    def load(self) -> None:
        """Ask for the jobs that began before this list."""
        self._tasks.start(self._client.api.jobs(), self._take_all, self._unknown, key="frame-jobs")

    def cancel(self, job: str) -> None:
        """Ask a job to stop; an event follows when it has."""
        self._tasks.start(self._client.api.cancel_job(job), None, lambda error: self.failed.emit(str(error)))

    def cancel_all(self) -> None:
        """Ask every running job to stop."""
        for job in self.running:
            self.cancel(job.id)

    def take(self, job: JobChanged) -> None:
        """Insert a new job at the top or change its row."""
        before = len(self.running)
        row = next((number for number, known in enumerate(self._jobs) if known.id == job.id), None)
        if row is None:
            self.beginInsertRows(QModelIndex(), 0, 0)
            self._jobs.insert(0, job)
            self.endInsertRows()
            was_running = job.state == RUNNING
        else:
            was_running = self._jobs[row].state == RUNNING
            self._jobs[row] = job
            self.dataChanged.emit(self.index(row), self.index(row))
        if was_running and job.state != RUNNING:
            self.ended.emit(job)
        self._forget_old()
        if before != len(self.running):
            self.running_changed.emit(len(self.running))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 Qt's own signature
        """Number of jobs."""
        return 0 if parent.isValid() else len(self._jobs)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The title, or the job itself as ``JOB_ROLE``."""
        if not index.isValid() or not 0 <= index.row() < len(self._jobs):
            return None
        job = self._jobs[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return job.title
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{job.title}, {progress_text(job)}"
            case _ if role == JOB_ROLE:
                return job
            case _:
                return None

    def _take_all(self, jobs: list[JobChanged]) -> None:
        for job in jobs:
            self.take(job)

    def _unknown(self, _error: Exception) -> None:
        """Do nothing: the host is gone and ``_host_changed`` marks its jobs as ended."""

    def _forget_old(self) -> None:
        ended = [number for number, job in enumerate(self._jobs) if job.state != RUNNING]
        for row in reversed(ended[KEEP_ENDED:]):
            self.beginRemoveRows(QModelIndex(), row, row)
            del self._jobs[row]
            self.endRemoveRows()

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
