"""The review queue: a filter line, and the ranked runs that match it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

from app.engine.api.run_filter_words import parse_filter
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.core.events import IMPORT_JOB_TITLE
from app.models.common.object_list import ObjectList

if TYPE_CHECKING:
    from app.engine.core.events import JobChanged, RunsChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

COALESCE_MS = 200
"""Changes within this time (an import) load the list once."""

FIRST_FILTER = "failed"
"""The filter of a new workspace: the failed runs."""


class QueueState(StrEnum):
    """The state of the queue."""

    LOADING = "loading"
    READY = "ready"
    NO_RUNS = "no runs"
    NO_MATCH = "no match"
    ERROR = "error"


def score_text(score: float | None) -> str:
    """``failed 0.0``, ``partial 0.57``, ``passed`` or ``not scored``."""
    if score is None:
        return "not scored"
    if score >= 1:
        return "passed"
    return f"partial {score:.2f}" if score > 0 else "failed 0.0"


def score_level(score: float | None) -> str:
    """Return the colour role of a score: fail, warn, ok, or muted when the run was not scored."""
    if score is None:
        return "muted"
    return "ok" if score >= 1 else "warn" if score > 0 else "fail"


def detector_label(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")


def needs_text(needs: str) -> str:
    """Return the reason of a run that gave up as a row says it, "" without one."""
    return QCoreApplication.translate("Review", "gave up: {0}").format(needs) if needs else ""


class RunQueueModel(ObjectList[RunRow]):
    """The rows of the queue, keyed by run id."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.id, parent)

    def words(self, value: RunRow) -> str:
        """All that the row shows, in reading order."""
        parts = [
            f"risk {value.risk:.2f}" if value.looked_at else "not checked yet",
            value.site,
            value.task_id,
            score_text(value.score),
            *(detector_label(name) for name in value.flags[:1]),
            value.intent,
            needs_text(value.needs),
            value.label,
        ]
        return ", ".join(part for part in parts if part)

    def tip(self, value: RunRow) -> str:
        """The whole goal and reason, which the row elides, and all flags."""
        flags = ", ".join(detector_label(name) for name in value.flags)
        return "\n".join(part for part in (value.intent, flags, needs_text(value.needs), value.label) if part)


class RunQueue(QObject):
    """Keeps the rows in line with the filter and the engine; knows which run is open.

    Rows that stay are never moved: a new ranking is shown by ``rank_again`` or by another filter.  The open run
    stays in its place even when it no longer matches the filter (it was just judged), until another one is opened.
    """

    changed = Signal()
    """State, counts or filter changed."""
    current_changed = Signal(str)
    loaded = Signal()
    """A list arrived for the first time, or for another filter."""

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.model = RunQueueModel(self)
        self.text = FIRST_FILTER
        self.shown = self.total = 0
        self.state = QueueState.LOADING
        self.error = ""
        self.current = ""
        self._left: str = ""
        self._sites: set[str] = set()
        self._touched = self._again = False
        self._importing: set[str] = set()
        self._timer = QTimer(self, singleShot=True, interval=COALESCE_MS)
        self._timer.timeout.connect(self._ask)
        client.runs_changed.connect(self._on_runs_changed)
        client.job_changed.connect(self._on_job)
        client.host_changed.connect(self._on_host)

    @property
    def is_importing(self) -> bool:
        """Whether an import of runs is under way."""
        return bool(self._importing)

    @property
    def filter(self) -> RunFilter:
        return parse_filter(self.text, self._sites)

    def load(self) -> None:
        self._again = True
        self._ask()

    def set_filter(self, text: str) -> None:
        if text.strip() == self.text.strip():
            return
        self.text, self._touched, self._again = text.strip(), True, True
        self.changed.emit()
        self._timer.start(80)

    def rank_again(self) -> None:
        """Put the rows into the order of the current ranking."""
        self.load()

    def set_current(self, run: str) -> None:
        """Set the open run; the one before is removed if it no longer matches."""
        if run == self.current:
            return
        self.current = run
        if self._left and self._left != run:
            self.model.drop(self._left)
            self._left = ""
            self.changed.emit()
        self.current_changed.emit(run)

    def neighbour(self, offset: int) -> str:
        """Return the run so many rows on, in this filter and order; "" beyond the ends."""
        here = self.model.row_of(self.current)
        if here < 0:
            here = -1 if offset > 0 else self.model.rowCount()
        row = self.model.at(here + offset)
        return row.id if row is not None else ""

    def _on_job(self, job: JobChanged) -> None:
        if job.title != IMPORT_JOB_TITLE:
            return
        before = self.is_importing
        (self._importing.add if job.state == "running" else self._importing.discard)(job.id)
        if self.is_importing != before:
            self.changed.emit()

    def _on_host(self, _message: str) -> None:
        """Forget the running imports: jobs end with the engine."""
        if self._importing:
            self._importing.clear()
            self.changed.emit()

    def _on_runs_changed(self, _event: RunsChanged) -> None:
        if not self._timer.isActive():
            self._timer.start(COALESCE_MS)

    def _ask(self) -> None:
        if not self.model.rowCount():
            self._set_state(QueueState.LOADING)
        again, self._again = self._again, False

        def failed(error: BaseException) -> None:
            self.error = str(error)
            self._set_state(QueueState.ERROR)

        def arrived(answer: tuple[list[RunRow], int]) -> None:
            self._show(*answer, again)

        self._tasks.start(self._fetch(self.filter), arrived, failed, key="review-queue")

    async def _fetch(self, which: RunFilter) -> tuple[list[RunRow], int]:
        info = await self._client.api.info()
        return await self._client.api.list_runs(which), info.runs

    def _show(self, rows: list[RunRow], total: int, again: bool) -> None:
        self.total, self.error = total, ""
        self._sites.update(row.site for row in rows)
        if not rows and total and not self._touched:  # nothing here was ever scored: show everything
            self.set_filter("")
            self._touched = False
            return
        self.shown = len(rows)
        if again:
            self._left = ""
            self.model.replace(rows)
        else:
            self.model.merge(self._with_open_run(rows), keep_places=True)
        empty = QueueState.NO_MATCH if total else QueueState.NO_RUNS
        self._set_state(QueueState.READY if rows else empty)
        if again:
            self.loaded.emit()

    def _with_open_run(self, rows: list[RunRow]) -> list[RunRow]:
        """Return the rows with the open run at its old place where it no longer matches the filter."""
        here = self.model.row_of(self.current)
        kept = self.model.at(here)
        if kept is None or any(row.id == self.current for row in rows):
            self._left = ""
            return rows
        self._left = kept.id
        before = {row.id for row in self.model.rows[:here]}
        place = max((n + 1 for n, row in enumerate(rows) if row.id in before), default=0)
        return [*rows[:place], kept, *rows[place:]]

    def _set_state(self, state: QueueState) -> None:
        self.state = state
        self.changed.emit()
