"""The models beside the run that Review shows: side by side, progress, annotators, guideline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from app.engine.api.run_filter_words import quoted
from app.models.review.annotators_model import AnnotatorsModel
from app.models.review.guideline_model import GuidelineModel
from app.models.review.progress_model import ProgressModel
from app.models.review.run_comparison import ComparisonModel
from app.models.review.run_export import RunExportModel

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.page import ScreenshotStore
    from app.models.common.step_views import StepViews
    from app.models.common.tasks import Tasks
    from app.models.review.run_queue import RunQueue


class RunOpener(Protocol):
    """The open run of Review, and how to open another."""

    run: str

    def open_run(self, run: str, step: int | None = None) -> None: ...
    def close_composer(self) -> None: ...
    def compose_at(self, run: str, step: int) -> None: ...


class ReviewPanelsModel(QObject):
    """Connects them with the queue and the open run; ``notice`` is a sentence for a passing message."""

    notice = Signal(str)

    def __init__(
        self,
        client: EngineEvents,
        tasks: Tasks,
        views: StepViews,
        pictures: ScreenshotStore,
        queue: RunQueue,
        review: RunOpener,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._review, self._queue = review, queue
        self.comparison = ComparisonModel(client, tasks, views, pictures, self)
        self.progress = ProgressModel(client, tasks, queue, self)
        self.annotators = AnnotatorsModel(client, tasks, lambda: queue.filter, self)
        self.guideline = GuidelineModel(client, tasks, self)
        self.exporting = RunExportModel(client, tasks, self)
        for part in (self.comparison, self.progress, self.annotators, self.guideline, self.exporting):
            part.notice.connect(self.notice)
        self.comparison.open_wanted.connect(self.open_step)
        self.comparison.tip_wanted.connect(self.write_tip)
        self.progress.run_wanted.connect(self.open_step)
        self.progress.tip_wanted.connect(self.write_tip)
        self.annotators.run_wanted.connect(self._open_run)
        self.annotators.queue_wanted.connect(self._show_queue)

    def compare(self) -> None:
        """Show a similar run beside the open one."""
        if self._review.run:
            self._review.close_composer()
            self.comparison.begin(self._review.run)

    def compare_runs(self, left: str, right: str) -> None:
        """Show two chosen runs; the left one is opened."""
        self._review.close_composer()
        self.comparison.close()
        self._review.open_run(left)
        self.comparison.compare(left, right)

    def open_step(self, run: str, step: int) -> None:
        """Open a step (-1: the suspect step) of a run in place of what is compared."""
        self.comparison.close()
        self._review.open_run(run, step if step >= 0 else None)

    def write_tip(self, run: str, step: int) -> None:
        """Open the composer on a step of a run."""
        self.comparison.close()
        self._review.compose_at(run, step)

    def follow_run(self) -> None:
        """End the comparison when another run is opened beside it."""
        if self.comparison.is_open and self._review.run != self.comparison.left:
            self.comparison.close()

    def _open_run(self, run: str) -> None:
        self._review.open_run(run)

    def _show_queue(self, annotator: str) -> None:
        self._queue.set_filter(f"assigned:{quoted(annotator)}")
