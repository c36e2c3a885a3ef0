"""The forms that start runs in Live: one task, a file of tasks, or the task of an earlier run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.engine.api.run_api import LIVE_KNOWLEDGE, RunRequest
from app.models.common.object_list import ObjectList
from app.models.graph.explore_form import Problem, complete_url
from app.models.live.run_form import RunFormModel

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

READ_DELAY = 0.25
"""Seconds without a key press before the file is read."""
MAX_CONCURRENCY = 32


class LiveRunFormModel(RunFormModel):
    """The form of one run.

    Signals:
        sent(runs): ids of the runs started.
        taken: the form was filled with an earlier run's task.
    """

    sent = Signal(list)
    taken = Signal()

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(client, tasks, parent)
        self._like: RunRequest | None = None
        self.is_sending = False

    def again(self, request: RunRequest) -> None:
        """Fill the form with a run's task, with the current tips and map and all else unchanged."""
        self._like = request
        self.values.update(
            intent=request.intent, start_url=request.start_url, max_steps=str(request.max_steps), kb=LIVE_KNOWLEDGE,
            storage_state=request.storage_state,
        )  # fmt: skip
        self.policy, self.headed, self.error = request.policy, request.headed, ""
        self.graph = next(iter(request.graph), "")
        self.load()
        self.changed.emit()
        self.taken.emit()

    @property
    def is_again(self) -> bool:
        """Whether the form holds an earlier run's task."""
        return self._like is not None and self.values["intent"].strip() == self._like.intent.strip()

    def clear(self) -> None:
        """Clear the form for another task; the start address stays, as the next task often starts there too."""
        self._like = None
        self.values["intent"], self.error = "", ""
        self.changed.emit()

    def request(self) -> RunRequest:
        """Return the form as a request; settings the form does not show are those of the run it was taken from."""
        made = super().request()
        if not self.is_again or self._like is None:
            return made
        return replace(
            self._like, intent=made.intent, start_url=made.start_url, policy=made.policy, kb=made.kb,
            graph=made.graph, max_steps=made.max_steps, headed=made.headed, storage_state=made.storage_state,
        )  # fmt: skip

    def start(self) -> bool:
        """Start the run; False while something is wrong."""
        if self.problems or self.is_sending:
            self.changed.emit()
            return False
        self.error, self.is_sending = "", True

        def came(runs: list[str]) -> None:
            self.is_sending = False
            self.clear()
            self.sent.emit(runs)

        def failed(error: Exception) -> None:
            self.is_sending = False
            self._failed(error)

        self._tasks.start(self._client.api.start_runs([self.request()]), came, failed)
        self.started.emit()
        self.changed.emit()
        return True

    def _on_advanced(self, event: object) -> None:
        """Ignore progress: the run list shows it."""


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
        """Number and task."""
        return f"{value.number}  {value.request.intent}"

    def tip(self, value: FileTask) -> str:
        """The whole task and its start address."""
        return f"{value.request.intent}\n{value.request.start_url}"


class TaskFileModel(QObject):
    """A task file, its contents, and the number of parallel runs.

    Signals:
        changed: a value, the tasks, or a problem.
        sent(runs): ids of the runs started.
    """

    changed = Signal()
    sent = Signal(list)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.values = {"path": "", "start_url": "", "at_once": ""}
        self.list = TaskList(self)
        self.error = ""
        self.is_reading = self.is_sending = False

    def set(self, name: str, text: str) -> None:
        """Set a field; the file is read after a short pause."""
        if self.values[name] == text:
            return
        self.values[name], self.error = text, ""
        if name != "at_once":
            self._read()
        self.changed.emit()

    @property
    def problems(self) -> list[Problem]:
        """All problems, in the order of the form."""
        found: list[Problem] = []
        if not self.values["path"].strip():
            found.append(Problem("path", _tr("Choose a file of tasks")))
        at_once = self.values["at_once"].strip()
        if at_once and not (at_once.isdecimal() and 1 <= int(at_once) <= MAX_CONCURRENCY):
            found.append(
                Problem("at_once", _tr("Type a whole number from {0} to {1}").format(1, MAX_CONCURRENCY))
            )
        return found

    @property
    def can_start(self) -> bool:
        """Whether there are tasks and no problem."""
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
        at_once = int(self.values["at_once"].strip() or 0)
        self.is_sending = True

        def came(runs: list[str]) -> None:
            self.is_sending = False
            self.changed.emit()
            self.sent.emit(runs)

        self._tasks.start(self._client.api.start_runs(wanted, at_once), came, self._failed)
        self.changed.emit()
        return True

    def _read(self) -> None:
        path, start = self.values["path"].strip(), self.values["start_url"].strip()
        if not path:
            self._tasks.cancel("live-tasks")
            self.is_reading = False
            self.list.replace([])
            return
        self.is_reading = True
        reading = self._client.api.read_tasks(path, complete_url(start) if start else "")
        self._tasks.start(reading, self._came, self._unread, key="live-tasks", delay=READ_DELAY)

    def _came(self, requests: list[RunRequest]) -> None:
        self.is_reading = False
        self.list.replace([FileTask(number, request) for number, request in enumerate(requests, 1)])
        self.changed.emit()

    def _unread(self, error: Exception) -> None:
        self.is_reading = False
        self.list.replace([])
        self._failed(error)

    def _failed(self, error: Exception) -> None:
        self.is_sending = False
        self.error = str(error)
        self.changed.emit()


def _tr(text: str) -> str:
    return QCoreApplication.translate("live", text)
