"""The review queue: a filter line, and the ranked runs that match it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

from app.engine.api.run_filter_words import parse_filter
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.core.events import IMPORT_JOB_TITLE
from app.models.common.object_list import ObjectList
from app.models.common.tasks import ignore
from app.models.review.filter_completion import FilterCompletionModel, filter_words, unknown_text

if TYPE_CHECKING:
    from app.engine.api.engine_api import WorkspaceInfo
    from app.engine.core.events import JobChanged, RunsChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

COALESCE_MS = 200
"""Changes within this time (an import) load the list once."""

TEACH = "order:teach"
"""The word that puts the runs first from which the ranking learns most."""

MOST_WORDS = 8
"""Words of a filter without which an empty list is tried again."""

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


def verdict_text(row: RunRow) -> str:
    """``loop``, ``2 verdicts``, or "" for an unjudged run."""
    if row.verdicts > 1:
        return QCoreApplication.translate("Review", "{0} verdicts").format(row.verdicts)
    return row.label


def run_words(row: RunRow) -> str:
    """All that the row of a run shows, in reading order."""
    parts = [
        score_text(row.score),
        row.site,
        row.task_id,
        f"risk {row.risk:.2f}" if row.looked_at else "not checked yet",
        verdict_text(row) or (detector_label(row.flags[0]) if row.flags else ""),
        row.intent,
        needs_text(row.needs),
        row.teaches,
    ]
    return ", ".join(part for part in parts if part)


def run_tip(row: RunRow) -> str:
    """The whole goal and reason, which the row elides, all flags, and who judged it."""
    flags = ", ".join(detector_label(name) for name in row.flags)
    by = ", ".join(row.judged_by)
    judged = " · ".join(part for part in (row.label, by) if part)
    parts = (row.intent, row.teaches, flags, needs_text(row.needs), judged)
    return "\n".join(part for part in parts if part)


class RunQueueModel(ObjectList[RunRow]):
    """The rows of the queue, keyed by run id."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.id, parent)

    def words(self, value: RunRow) -> str:
        return run_words(value)

    def tip(self, value: RunRow) -> str:
        return run_tip(value)


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
        self.completion = FilterCompletionModel(self)
        self.text = FIRST_FILTER
        self.author = self.why_empty = ""
        self._before_teaching = FIRST_FILTER
        self.shown = self.total = self._unscored = 0
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

    @property
    def unknown(self) -> str:
        """The words of the filter line that are no filter, in a sentence each."""
        return unknown_text(self.text)

    @property
    def hidden(self) -> str:
        """Say how many runs without a score the usual filter hides; "" for none, and for any other filter."""
        if self.text != FIRST_FILTER or not self._unscored:
            return ""
        one, more = self.tr("1 unscored hidden"), self.tr("{0} unscored hidden")
        return one if self._unscored == 1 else more.format(self._unscored)

    @property
    def teaches(self) -> bool:
        """Whether the runs from which the ranking learns most stand first."""
        return self.filter.order == "teach"

    def teach(self) -> None:
        """Put the unjudged runs first from which the ranking learns most, passed ones too; again: as before."""
        if self.teaches:
            back = self._before_teaching
            self.set_filter(back if TEACH not in back else FIRST_FILTER)
            return
        self._before_teaching = self.text
        kept = [
            word
            for word in filter_words(self.text)
            if word not in ("failed", "passed", "unjudged") and not word.startswith("order:")
        ]
        self.set_filter(" ".join(("unjudged", *kept, TEACH)))

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

        def arrived(answer: tuple[list[RunRow], WorkspaceInfo]) -> None:
            rows, info = answer
            self.author, self._unscored = info.author, info.unscored
            self._show(rows, info.runs, again)

        self._tasks.start(self._fetch(self.filter), arrived, failed, key="review-queue")

    async def _fetch(self, which: RunFilter) -> tuple[list[RunRow], WorkspaceInfo]:
        info = await self._client.api.info()
        return await self._client.api.list_runs(which), info

    def _explain_empty(self) -> None:
        """Find the words of the filter without which there are runs."""
        words = filter_words(self.text)[:MOST_WORDS]

        async def count() -> list[tuple[str, int]]:
            found: list[tuple[str, int]] = []
            for word in words:
                rest = " ".join(one for one in filter_words(self.text) if one != word)
                rows = await self._client.api.list_runs(parse_filter(rest, self._sites))
                found.append((word, len(rows)))
            return found

        def came(found: list[tuple[str, int]]) -> None:
            one, more = self.tr("Without {0}: 1 run."), self.tr("Without {0}: {1} runs.")
            told = [(one if many == 1 else more).format(word, many) for word, many in found if many]
            self.why_empty = "\n".join(told)
            self.changed.emit()

        self._tasks.start(count(), came, ignore, key="review-queue-empty")

    def _show(self, rows: list[RunRow], total: int, again: bool) -> None:
        self.total, self.error, self.why_empty = total, "", ""
        self._tasks.cancel("review-queue-empty")
        self._sites.update(row.site for row in rows)
        self.completion.learn(rows)
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
        if not rows and total:
            self._explain_empty()
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
