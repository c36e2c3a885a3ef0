"""The form that starts the tasks of a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.models.common.form import FormModel, Problem, complete_url
from app.models.common.object_list import ObjectList
from app.models.common.translate import tr

if TYPE_CHECKING:
    from app.engine.api.run_api import RunRequest
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

READ_DELAY = 0.25
"""Seconds without a key press before the file is read."""
MAX_CONCURRENCY = 32


@dataclass(frozen=True, slots=True)
class FileTask:
    """A task of a file, with its number from 1."""

    number: int
    request: RunRequest


class TaskList(ObjectList[FileTask]):
    """Tasks of a file."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda task: task.number, parent)

    def words(self, value: FileTask) -> str:
        return f"{value.number}  {value.request.intent}"

    def tip(self, value: FileTask) -> str:
        """The whole task and its start address."""
        return f"{value.request.intent}\n{value.request.start_url}"


class TaskFileModel(FormModel):
    """A task file, its contents, and the number of parallel runs.

    Signals:
        sent(runs): ids of the runs started.
    """

    sent = Signal(list)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__({"path": "", "start_url": "", "at_once": ""}, parent)
        self._client, self._tasks = client, tasks
        self.list = TaskList(self)
        self.is_reading = self.is_sending = False

    @property
    def problems(self) -> list[Problem]:
        found = [] if self.values["path"].strip() else [Problem("path", tr("Choose a task file"))]
        return found + (
            self._integer_problem("at_once", 1, MAX_CONCURRENCY) if self.values["at_once"].strip() else []
        )

    @property
    def can_start(self) -> bool:
        return bool(self.list.rows) and not (
            self.problems or self.is_reading or self.is_sending or self.error
        )

    def start(self, numbers: Iterable[int] = ()) -> bool:
        """Start the tasks with these numbers, or all; False while that is impossible."""
        if not self.can_start:
            self.changed.emit()
            return False
        chosen = set(numbers)
        wanted = [task.request for task in self.list.rows if not chosen or task.number in chosen]
        self.is_sending = True

        def sent(runs: list[str]) -> None:
            self.is_sending = False
            self.changed.emit()
            self.sent.emit(runs)

        concurrency = int(self.values["at_once"].strip() or 0)
        self._tasks.start(self._client.api.start_runs(wanted, concurrency), sent, self.fail)
        self.changed.emit()
        return True

    def fail(self, error: BaseException) -> None:
        """Show why the tasks were not started."""
        self.is_sending = False
        super().fail(error)

    def _on_set(self, name: str) -> None:
        """Read the file after a short pause."""
        path, start = self.values["path"].strip(), self.values["start_url"].strip()
        if name == "at_once":
            return
        self.is_reading = bool(path)
        if not path:
            self._tasks.cancel("live-tasks")
            self.list.replace([])
            return

        def read(requests: list[RunRequest]) -> None:
            self.is_reading = False
            self.list.replace([FileTask(number, request) for number, request in enumerate(requests, 1)])
            self.changed.emit()

        def failed(error: Exception) -> None:
            self.is_reading = False
            self.list.replace([])
            self.fail(error)

        reading = self._client.api.read_tasks(path, complete_url(start) if start else "")
        self._tasks.start(reading, read, failed, key="live-tasks", delay=READ_DELAY)
