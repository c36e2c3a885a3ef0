"""The Evaluate perspective: suites, evaluations, the open one, the forms."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.models.evaluate.evaluation_form import EvaluationFormModel
from app.models.evaluate.evaluation_list import RUNNING, EvaluationListModel, ProgressRate
from app.models.evaluate.evaluation_result import EvaluationResult
from app.models.evaluate.figures import hours_words
from app.models.evaluate.rescoring_model import RescoringModel
from app.models.evaluate.suites_model import SuitesModel

if TYPE_CHECKING:
    from app.engine.api.evaluation_api import EvaluationRow, ReportFiles
    from app.engine.core.events import EvaluationAdvanced
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

LIST_MS = 1000
"""Shortest time between two loads of the list while an evaluation runs."""


class EvaluatePage(StrEnum):
    """A page in the middle of the perspective."""

    RESULT = "result"
    SUITE = "suite"
    FORM = "form"
    RESCORE = "rescore"


class EvaluateModel(QObject):
    """Signals:

    changed: lists, the open evaluation or its progress changed.
    page_changed: the middle shows something else.
    current_changed: another evaluation or suite is open; the lists mark it.
    run_requested(run), tip_requested(tip): show a run in Review, a tip in Knowledge.
    pair_requested(run, other): show two runs side by side in Review.
    report_written(path): open the report's page.
    notice: a sentence for a passing message.
    """

    changed = Signal()
    page_changed = Signal()
    current_changed = Signal()
    run_requested = Signal(str)
    pair_requested = Signal(str, str)
    tip_requested = Signal(str)
    report_written = Signal(str)
    notice = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.suites = SuitesModel(client, tasks, self)
        self.list = EvaluationListModel(self)
        self.result = EvaluationResult(client, tasks, self)
        self.form = EvaluationFormModel(client, tasks, self.suites, self)
        self.rescoring = RescoringModel(client, tasks, self.suites, self)
        self.page = EvaluatePage.RESULT
        self.current = ""
        self.is_loaded = False
        self.error = ""
        self.is_writing_report = False
        self._rate = ProgressRate()
        self._last: dict[str, str] = {}
        self._wanted = self._begun = ""
        self._timer = QTimer(self, singleShot=True, interval=LIST_MS)
        self._timer.timeout.connect(self.load)
        for part in (self.suites, self.result):
            part.notice.connect(self.notice)
        self.result.run_requested.connect(self.run_requested)
        self.result.pair_requested.connect(self.pair_requested)
        self.suites.changed.connect(self._on_suites)
        self.form.started.connect(self._on_started)
        client.evaluation_advanced.connect(self._on_advanced)

    def start(self) -> None:
        self.suites.load()
        self.load()

    def load(self) -> None:
        self._timer.stop()
        self._tasks.start(self._client.api.evaluations(), self._loaded, self._failed, key="evaluate-list")

    # ------------------------------------------------------------ what is open
    @property
    def row(self) -> EvaluationRow | None:
        """The open evaluation."""
        return self.list.at(self.list.row_of(self.current))

    @property
    def last_words(self) -> str:
        """The episode of the open evaluation that ended last."""
        return self._last.get(self.current, "")

    @property
    def time_left(self) -> str:
        """The time that the open evaluation still needs, "" while that is not known."""
        row = self.row
        if row is None or row.state != RUNNING:
            return ""
        hours = self._rate.hours_left(row.folder, row.episodes)
        return self.tr("about {0} left").format(hours_words(hours)) if hours is not None else ""

    def open_evaluation(self, folder: str) -> None:
        """Show an evaluation's result; a form that is open stays filled."""
        if self.page is EvaluatePage.RESULT and folder == self.current == self.result.folder:
            return
        self.current = folder
        self._show(EvaluatePage.RESULT)
        self.result.open(self.row)
        self.current_changed.emit()

    def open_suite(self, name: str) -> None:
        if self.page is EvaluatePage.SUITE and name == self.suites.current:
            return
        self.suites.open(name)
        self._show(EvaluatePage.SUITE)
        self.current_changed.emit()

    def new_evaluation(self) -> None:
        """Open the form, for the suite that is open."""
        self.form.open(self.suites.current if self.page is EvaluatePage.SUITE else "")
        self._show(EvaluatePage.FORM)

    def open_rescoring(self) -> None:
        self._show(EvaluatePage.RESCORE)

    def close_page(self) -> bool:
        """Return from a form or a suite to the open evaluation.  False when it is shown already."""
        if self.page is EvaluatePage.RESULT:
            return False
        self._show(EvaluatePage.RESULT)
        self.current_changed.emit()
        return True

    def _show(self, page: EvaluatePage) -> None:
        if page is not self.page:
            if self.page is EvaluatePage.FORM:
                self.form.close()
            self.page = page
            self.page_changed.emit()

    # ------------------------------------------------------------ operations
    @property
    def can_stop(self) -> bool:
        return self.row is not None and self.row.state == RUNNING

    @property
    def can_resume(self) -> bool:
        return self.row is not None and self.row.state == "stopped"

    @property
    def has_result(self) -> bool:
        return self.row is not None and self.row.done > 0 and not self.is_writing_report

    def stop(self) -> None:
        """Stop the open evaluation after the episodes in flight."""
        row = self.row
        if row is not None and self.can_stop:
            self.notice.emit(self.tr("Stopping '{0}' after the episodes in flight").format(row.name))
            self._tasks.start(self._client.api.stop_evaluation(row.folder))

    def resume(self) -> None:
        row = self.row
        if row is not None and self.can_resume:
            self.notice.emit(self.tr("Resuming '{0}'").format(row.name))
            self._tasks.start(self._client.api.resume_evaluation(row.folder), lambda _row: self.load())

    def write_report(self) -> None:
        """Write the report and open its page."""
        row = self.row
        if row is None or not self.has_result:
            return
        self.is_writing_report = True
        self.notice.emit(self.tr("Writing the report of '{0}'").format(row.name))
        self.changed.emit()

        def written(files: ReportFiles) -> None:
            self.is_writing_report = False
            self.notice.emit(
                self.tr("Report written to {0}; CSV, LaTeX and JSON beside it").format(files.html)
            )
            self.report_written.emit(files.html)
            self.changed.emit()

        def failed(error: Exception) -> None:
            self.is_writing_report = False
            self._tasks.error.emit(str(error) or type(error).__name__)
            self.changed.emit()

        self._tasks.start(self._client.api.write_report([row.folder]), written, failed)

    @property
    def removable(self) -> str:
        """The action of ``remove`` now, "" for nothing."""
        if self.page is EvaluatePage.SUITE and self.suites.row is not None:
            return self.tr("Remove the suite '{0}'").format(self.suites.current[:60])
        if self.page is EvaluatePage.RESULT and self.row is not None and self.row.state != RUNNING:
            return self.tr("Take '{0}' off the list").format(self.row.name[:60])
        return ""

    def remove(self) -> None:
        """Remove the open suite (undo brings it back), or take the open evaluation off the list."""
        if not self.removable:
            return
        if self.page is EvaluatePage.SUITE:
            self.suites.remove(self.suites.current)
            return
        row = self.row
        assert row is not None

        def gone(_nothing: None) -> None:
            self.notice.emit(
                self.tr("'{0}' is off the list; its folder stays: {1}").format(row.name, row.folder)
            )
            self.load()

        self._tasks.start(self._client.api.forget_evaluation(row.folder), gone)

    # ------------------------------------------------------------ session
    def session(self) -> dict[str, Any]:
        return {"evaluation": self.current, "frozen": self.form.last_freeze}

    def restore(self, session: dict[str, Any]) -> None:
        """Restore the session; call it before ``start``."""
        wanted = session.get("evaluation")
        if isinstance(wanted, str):
            self._wanted = wanted
        frozen = session.get("frozen")
        if isinstance(frozen, str) and frozen:
            self.form.offer(frozen)

    # ------------------------------------------------------------ answers
    def _loaded(self, rows: list[EvaluationRow]) -> None:
        first = not self.is_loaded
        self.is_loaded, self.error = True, ""
        self.list.merge(rows, keep_places=True)
        for row in rows:
            self._rate.note(row.folder, row.done, running=row.state == RUNNING)
        if self.list.row_of(self._begun) >= 0:
            begun, self._begun = self._begun, ""
            self.open_evaluation(begun)
        elif self.row is None:
            folders = [row.folder for row in rows]
            wanted = self._wanted if first and self._wanted in folders else ""
            self.current = wanted or next(iter(folders), "")
            self.result.open(self.row)
            self.current_changed.emit()
        self.changed.emit()

    def _failed(self, error: Exception) -> None:
        self.is_loaded, self.error = True, str(error) or type(error).__name__
        self.changed.emit()

    def _on_suites(self) -> None:
        if self.page is EvaluatePage.SUITE and self.suites.row is None:
            self.close_page()
        self.changed.emit()

    def _on_advanced(self, event: EvaluationAdvanced) -> None:
        if event.words:
            self._last[event.folder] = event.words
        row = self.list.at(self.list.row_of(event.folder))
        self._rate.note(event.folder, event.done, running=event.state == RUNNING)
        if event.state == RUNNING and (row is None or row.state != RUNNING):
            self.form.begun(event.folder)  # its own answer comes only when the evaluation is over
        if row is None:
            self.load()
            return
        ended = row.state != event.state
        now = replace(row, state=event.state, done=event.done, episodes=event.episodes)
        self.list.put(now)
        if ended:
            self.load()
        elif not self._timer.isActive():  # not put off by every episode
            self._timer.start()
        if event.folder == self.current:
            self.result.refresh(now, soon=ended)
        self.changed.emit()

    def _on_started(self, folder: str) -> None:
        """Open the evaluation as soon as the list has it."""
        self._begun = folder
        self._show(EvaluatePage.RESULT)
        self.load()
