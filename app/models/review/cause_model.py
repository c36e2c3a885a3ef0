"""Why the open run is where it is: its likely cause in a sentence, and why it opened at this step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.engine.api.review_api import CauseSource, LikelyCause
from app.models.review.expected import ReviewedRun

if TYPE_CHECKING:
    from app.engine.core.events import RunsChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks


class CauseModel(QObject):
    """Follows the open run.

    Signals:
        changed: another run, or its cause came.
        notice: a sentence for a passing message.
    """

    changed = Signal()
    notice = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, review: ReviewedRun, parent: QObject) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._review = client, tasks, review
        self.cause: LikelyCause | None = None
        self.is_asking = self.is_looking = False
        self._run: str = ""
        review.run_changed.connect(self._follow)
        client.runs_changed.connect(self._on_runs_changed)

    @property
    def text(self) -> str:
        """The likely cause, or why there is none."""
        if not self._run:
            return ""
        if self.cause is None:
            return (
                _tr("Looking for the cause…") if self.is_looking else _tr("The cause could not be found out.")
            )
        if self.cause.text:
            return self.cause.text
        detail = self._review.detail
        if detail is not None and detail.run.score is not None and not detail.run.failed:
            return _tr("The run passed.")
        return _tr("Nothing recorded points at a cause.")

    @property
    def is_known(self) -> bool:
        return self.cause is not None and bool(self.cause.text)

    @property
    def source(self) -> str:
        """Who says so, "" for the rules."""
        if self.is_asking:
            return _tr("asking a model…")
        cause = self.cause
        if cause is None or cause.source is not CauseSource.MODEL:
            return ""
        return _tr("by the model {0}").format(cause.model) if cause.model else _tr("by a model")

    @property
    def details(self) -> str:
        """The whole cause with what it rests on, for a tooltip."""
        cause = self.cause
        if cause is None or not cause.text:
            return self.text
        return "\n".join((cause.text, *(f"· {line}" for line in cause.evidence), self.source)).strip()

    @property
    def because(self) -> str:
        """Why the run opened at its step; "" where nothing says so."""
        detail = self._review.detail
        if detail is None or not detail.suspect.because:
            return ""
        return _tr("Opened at step {0}: {1}").format(detail.suspect.step, detail.suspect.because)

    def ask(self) -> None:
        """Ask a model for the cause of the open run."""
        run = self._run
        if not run or self.is_asking:
            return
        self.is_asking = True
        self.changed.emit()

        def came(cause: LikelyCause) -> None:
            self.is_asking = False
            if run == self._run:
                self.cause = cause
            self.changed.emit()

        def failed(error: BaseException) -> None:
            self.is_asking = False
            self.changed.emit()
            self.notice.emit(str(error))

        self._tasks.start(self._client.api.ask_cause(run), came, failed)

    def _follow(self) -> None:
        run = self._review.run if self._review.detail is not None else ""
        if run != self._run:
            self._run, self.cause, self.is_looking = run, None, bool(run)
            self._ask()
        self.changed.emit()

    def _on_runs_changed(self, event: RunsChanged) -> None:
        if self._run and (not event.runs or self._run in event.runs):
            self._ask()

    def _ask(self) -> None:
        run = self._run
        if not run:
            self._tasks.cancel("review-cause")
            return

        def came(cause: LikelyCause) -> None:
            if run == self._run and (self.is_looking or cause != self.cause):
                self.cause, self.is_looking = cause, False
                self.changed.emit()

        def failed(_error: BaseException) -> None:
            if run == self._run:
                self.is_looking = False
                self.changed.emit()

        self._tasks.start(self._client.api.likely_cause(run), came, failed, key="review-cause")


def _tr(text: str) -> str:
    return QCoreApplication.translate("Review", text)
