"""Batches as they stand, the tasks of the chosen one, and a person's actions on it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine.api.filter_vocabulary import quoted
from app.engine.core.batch import BatchRow, BatchState, BatchTask, TaskState
from app.engine.core.labels import outcome_label
from app.models.common.object_list import ObjectList
from app.models.common.object_table import Column, ObjectTable
from app.models.common.tasks import ignore
from app.models.common.translate import tr
from app.models.live.batch_form import BatchFormModel
from app.models.live.batch_limits import BatchLimits
from app.models.live.batch_words import progress_words
from app.models.live.delayed_actions import DelayedAction, DelayedActions

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from app.engine.api.batch_api import BatchDetail
    from app.engine.core.events import BatchChanged
    from app.engine.core.supervision import LiveRow
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from app.models.live.input_guard import InputGuard

__all__ = ["BatchRow", "BatchState", "BatchTask", "BatchesModel", "TaskState"]

TASKS_MS = 400
"""The tasks of the shown batch are read again at most this often."""
GOING = (BatchState.ACTIVE, BatchState.PAUSED, BatchState.OUT_OF_BUDGET)


@dataclass(frozen=True, slots=True)
class BatchPart:
    """A part of a batch's progress: tasks in a state."""

    state: TaskState
    count: int


def batch_parts(row: BatchRow) -> tuple[BatchPart, ...]:
    """Return the parts of the progress bar in order, without empty ones."""
    counts = (
        (TaskState.ANSWERED, row.answered),
        (TaskState.FAILED, row.failed),
        (TaskState.STOPPED, row.stopped),
        (TaskState.NEEDS_PERSON, row.needy),
        (TaskState.ACTIVE, row.active),
        (TaskState.WAITING, row.waiting),
    )
    return tuple(BatchPart(state, count) for state, count in counts if count)


def part_words(part: BatchPart) -> str:
    """Return ``4 need you``, ``30 answered``."""
    if part.state is TaskState.NEEDS_PERSON and part.count > 1:
        return tr("{0} need you").format(part.count)
    return f"{part.count} {tr(part.state.value)}"


def time_left_words(row: BatchRow) -> str:
    """Return ``about 12 min left``, "" where it is not known."""
    left = row.seconds_left
    if left is None or row.state is not BatchState.ACTIVE:
        return ""
    if left < 90:
        return tr("about a minute left")
    if left < 5400:
        return tr("about {0} min left").format(round(left / 60))
    return tr("about {0} h left").format(f"{left / 3600:.1f}".removesuffix(".0"))


def wall_filter(name: str) -> str:
    """Return the filter of the wall that shows the runs of a batch."""
    return f"batch:{quoted(name)}"


def options_words(row: BatchRow) -> str:
    """Return what all runs of a batch have in common, in a line."""
    tips = {"live": tr("current tips"), "none": tr("no tips")}.get(row.kb, row.kb)
    parallel = tr("{0} parallel").format(row.at_once) if row.at_once else tr("parallel as in the settings")
    policy = tr("{0} with {1}").format(row.policy, row.model) if row.model else row.policy
    sites = row.sites and tr("on {0}").format(row.sites)
    graph = row.graph and tr("graph {0}").format(row.graph)
    return " · ".join(part for part in (policy, parallel, sites, tips, graph, row.source) if part)


class BatchList(ObjectList[BatchRow]):
    """Batches, the newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.id, parent)

    def words(self, value: BatchRow) -> str:
        return f"{value.name}, {tr(value.state.value)}: {progress_words(value)}"


class BatchTasks(ObjectTable[BatchTask]):
    """Tasks of the shown batch, all or those of one state; rows keep the file's order."""

    def __init__(self, outcome: Callable[[BatchTask], str], parent: QObject | None = None) -> None:
        super().__init__(lambda task: task.number, parent, sorted_by="number")
        self.state: TaskState | None = None
        self.columns = (
            Column(
                key="number",
                title=tr("No."),
                cell=lambda task: str(task.number),
                sort=lambda task: task.number,
                numeric=True,
            ),
            Column(key="state", title=tr("State"), cell=lambda task: tr(task.state.value)),
            Column(key="task", title=tr("Task"), cell=lambda task: task.intent),
            Column(key="outcome", title=tr("Outcome"), cell=outcome),
        )

    def matches(self, value: BatchTask) -> bool:
        return self.state is None or value.state is self.state

    def show_state(self, state: TaskState | None) -> None:
        """Show the tasks of a state, or all."""
        if state is not self.state:
            self.state = state
            self.filter_again()

    @property
    def counts(self) -> Counter[TaskState]:
        return Counter(task.state for task in self.values.values())


class BatchesModel(QObject):
    """Signals:

    changed: the list, the shown batch, or what can be done with it.
    tasks_changed: the tasks of the shown batch.
    notice(text): something was done.  undo_offered(text): something was requested that undo can still prevent.
    run_wanted(run): a task's live run should be opened.  review_wanted(run, step): one that is no longer live.
    panel_wanted: the panel should be opened on the shown batch.
    wall_wanted(batch): the wall should show this batch's runs only.
    out_of_budget(BatchRow): a batch has just run out of its budget.
    """

    changed = Signal()
    tasks_changed = Signal()
    notice = Signal(str)
    undo_offered = Signal(str)
    run_wanted = Signal(str)
    review_wanted = Signal(str, object)
    panel_wanted = Signal()
    wall_wanted = Signal(object)
    out_of_budget = Signal(object)

    def __init__(
        self,
        client: EngineEvents,
        tasks: Tasks,
        hands: InputGuard,
        held: DelayedActions,
        row_of: Callable[[str], LiveRow | None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._clock, self._held = client, tasks, hands.now, held
        self._row_of = row_of
        self.list = BatchList(self)
        self.table = BatchTasks(self.outcome_words, self)
        self.form = BatchFormModel(client, tasks, self)
        self.limits = BatchLimits(client, tasks, self)
        self.current = ""
        self.is_loaded = self.is_shown = False
        self.error = self.export_words = ""
        self._exporting = ""
        self._paused: set[str] = set()
        self._later = QTimer(self, singleShot=True, interval=TASKS_MS)
        self._later.timeout.connect(self._read_tasks)
        self.form.sent.connect(self._on_started)
        self.limits.saved.connect(self._on_limits)
        self.limits.changed.connect(self.changed)
        held.changed.connect(self.changed)
        client.batch_changed.connect(self._on_batch)

    # ------------------------------------------------------------ what is shown
    def load(self) -> None:
        self._tasks.start(self._client.api.batches(), self._take_all, self._failed, key="batches")

    @property
    def row(self) -> BatchRow | None:
        """The shown batch."""
        return self.list.at(self.list.row_of(self.current))

    @property
    def going(self) -> int:
        """Number of batches that have not ended."""
        return sum(row.state in GOING for row in self.list.rows)

    def select(self, batch: str) -> None:
        """Show a batch with its tasks."""
        if batch == self.current:
            return
        self.current = batch
        self.limits.close()
        self.table.state = None
        self.table.load(())
        self.changed.emit()
        self._read_tasks()

    def open(self, batch: str) -> None:
        """Show a batch in the panel."""
        self.select(batch)
        self.panel_wanted.emit()

    def set_shown(self, shown: bool) -> None:
        """Follow the tasks of the shown batch only while the panel is visible."""
        self.is_shown = shown
        if shown:
            self._read_tasks()

    def outcome_words(self, task: BatchTask) -> str:
        """Return what its newest run came to, or what it is at; "" before it has started."""
        row = self._row_of(task.runs[-1]) if task.runs else None
        if task.outcome:
            label = tr(outcome_label(task.outcome))
            words = f"{label}: {task.why}" if task.why else label
        elif row is not None:
            words = row.needs[0].question if row.needs else row.why or row.words
        else:
            words = task.why
        tries = len(task.runs)
        return tr("{0} ({1} tries)").format(words, tries) if tries > 1 else words

    def open_task(self, number: int) -> None:
        """Show the newest run of a task."""
        task = self.table.values.get(number)
        if task is None:
            return
        if task.runs and self._row_of(task.runs[-1]) is not None:
            self.run_wanted.emit(task.runs[-1])
        elif task.runs:
            self.review_wanted.emit(task.runs[-1], None)
        else:
            self.notice.emit(tr("Task {0} has not started yet").format(number))

    # ------------------------------------------------------------ what can be done
    def is_stopping(self, row: BatchRow) -> bool:
        """Whether its end was requested and can still be undone."""
        return self._held.get(row.id) is not None

    @property
    def can_pause(self) -> bool:
        row = self.row
        return row is not None and row.state is BatchState.ACTIVE and not self.is_stopping(row)

    @property
    def can_resume(self) -> bool:
        row = self.row
        return (
            row is not None
            and not self.is_stopping(row)
            and (
                row.state is BatchState.PAUSED
                or (row.state is BatchState.STOPPED and bool(row.waiting or row.stopped))
            )
        )

    @property
    def can_stop(self) -> bool:
        row = self.row
        return row is not None and row.state in GOING and not self.is_stopping(row)

    @property
    def can_retry(self) -> bool:
        row = self.row
        return row is not None and bool(row.failed + row.stopped) and not self.is_stopping(row)

    @property
    def can_export(self) -> bool:
        row = self.row
        return row is not None and row.waiting < row.total and not self._exporting

    @property
    def can_dismiss(self) -> bool:
        row = self.row
        return row is not None and row.state in (BatchState.ENDED, BatchState.STOPPED)

    def toggle_pause(self) -> None:
        """Pause the shown batch, or resume it."""
        if self.can_pause:
            self._do(self._client.api.pause_batch)
        elif self.can_resume:
            self._do(self._client.api.resume_batch)

    def stop(self) -> None:
        """End the shown batch with its active runs; can be undone for a few seconds, in which it is paused."""
        row = self.row
        if row is None or not self.can_stop:
            return
        api, batch, name = self._client.api, row.id, row.name
        was_active = row.state is BatchState.ACTIVE

        def sent(_none: object) -> None:
            self.notice.emit(tr("Stopped: batch {0}").format(name))

        def undone() -> None:
            if was_active:
                self._tasks.start(api.resume_batch(batch))

        self._held.hold(
            DelayedAction(
                key=batch, label=tr("stop of batch {0}").format(name), at=self._clock(),
                send=lambda: api.stop_batch(batch), sent=sent, failed=self._tell, undone=undone,
            )
        )  # fmt: skip
        if was_active:
            self._tasks.start(api.pause_batch(batch), failed=self._tell)
        self.undo_offered.emit(tr("Stops in 5 seconds: batch {0}, {1}").format(name, progress_words(row)))

    def retry(self) -> None:
        """Start the failed and stopped tasks of the shown batch again."""

        def retried(count: int) -> None:
            self.notice.emit(
                tr("1 task starts again") if count == 1 else tr("{0} tasks start again").format(count)
            )

        if self.can_retry:
            self._do(self._client.api.retry_batch, retried)

    def export(self, folder: str) -> None:
        """Write the runs of the shown batch and a table of its tasks into a new folder of its name in this one."""
        row = self.row
        if row is None or not self.can_export:
            return
        out = str(PurePath(folder) / re.sub(r"[^\w.-]+", "-", row.name).strip("-."))

        def written(count: int) -> None:
            self._exporting = self.export_words = ""
            self.notice.emit(tr("{0} runs of batch {1} exported to {2}").format(count, row.name, out))
            self.changed.emit()

        def failed(error: Exception) -> None:
            self._exporting = self.export_words = ""
            self._tell(error)
            self.changed.emit()

        self._exporting, self.export_words = row.id, tr("Exporting…")
        self._tasks.start(self._client.api.export_batch(row.id, out), written, failed)
        self.changed.emit()

    def dismiss(self) -> None:
        """Remove the shown batch from the list; its runs stay."""
        if self.can_dismiss:
            self._do(self._client.api.dismiss_batch)

    def show_on_wall(self) -> None:
        if self.row is not None:
            self.wall_wanted.emit(self.row)

    def change_limits(self) -> None:
        """Open the form of budget and parallel runs for the shown batch."""
        if self.row is not None:
            self.limits.show(self.row)

    # ------------------------------------------------------------ answers
    def take(self, row: BatchRow) -> None:
        """Follow a batch that was started, went on, or was dismissed (it has no tasks then)."""
        before = self.list.at(self.list.row_of(row.id))
        if not row.total:
            place = self.list.row_of(row.id)
            self.list.drop(row.id)
            if row.id == self.current:
                after = self.list.at(min(max(place, 0), len(self.list.rows) - 1))
                self.select(after.id if after is not None else "")
        elif before is None:
            self.list.merge(_newest_first([row, *self.list.rows]))
        else:
            self.list.put(row)
        if row.state is BatchState.OUT_OF_BUDGET and (before is not None and before.state is not row.state):
            self.out_of_budget.emit(row)
        if row.state in (BatchState.ENDED, BatchState.STOPPED):
            self._held.drop(row.id)
        if row.id == self.current and self.is_shown and not self._later.isActive():
            self._later.start()
        self.changed.emit()

    def _on_batch(self, event: BatchChanged) -> None:
        self.take(event.row)

    def _on_started(self, row: BatchRow) -> None:
        self.take(row)
        self.notice.emit(tr("Batch {0} started: {1} tasks").format(row.name, row.total))
        self.open(row.id)

    def _take_all(self, rows: Sequence[BatchRow]) -> None:
        self.is_loaded, self.error = True, ""
        self.form.known_names = frozenset(row.name for row in rows)
        self.list.merge(_newest_first(rows))
        if self.row is None:
            self.current = ""
            self.select(rows[0].id if rows else "")
        self.changed.emit()

    def _failed(self, error: Exception) -> None:
        self.is_loaded, self.error = True, str(error)
        self.changed.emit()

    def _read_tasks(self) -> None:
        batch = self.current

        def came(detail: BatchDetail) -> None:
            if batch == self.current:
                self.table.load(detail.tasks)
                self.tasks_changed.emit()

        if batch and self.is_shown:
            self._tasks.start(self._client.api.batch(batch), came, ignore, key="batch-tasks")

    def _do(
        self, work: Callable[[str], Coroutine[Any, Any, Any]], then: Callable[[Any], None] | None = None
    ) -> None:
        if self.current:
            self._tasks.start(work(self.current), then, self._tell)

    def _tell(self, error: Exception) -> None:
        self._tasks.error.emit(str(error))

    def _on_limits(self, row: BatchRow) -> None:
        self.take(row)
        self.notice.emit(tr("Changed: batch {0}, {1}").format(row.name, progress_words(row)))


def _newest_first(rows: Sequence[BatchRow]) -> list[BatchRow]:
    return sorted(rows, key=lambda row: -row.created_at)
