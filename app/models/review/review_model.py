"""The Review perspective: the open run and step, their facts, and the actions of judging."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine.api.engine_api import RunDetail, StepView
from app.engine.api.run_rows import RunRow
from app.engine.core.trajectory import Outcome, Step
from app.models.common.page import PageModel, ScreenshotStore
from app.models.common.step_list import StepListModel, run_step_marks
from app.models.common.step_views import StepViews
from app.models.common.tasks import ignore
from app.models.live.run_form import ReviewRunFormModel
from app.models.prompts.ask_again_model import AskAgainModel
from app.models.prompts.prompts_model import PromptsModel
from app.models.review.cluster_list import FailureClusters
from app.models.review.composer import ComposerModel
from app.models.review.flags import FlagListModel
from app.models.review.interventions import InterventionListModel
from app.models.review.judged_runs import JudgedRuns
from app.models.review.judging import JudgingModel
from app.models.review.panels import ReviewPanelsModel
from app.models.review.relevant_tips import RelevantTipsModel
from app.models.review.review_facts import RunFacts, StepFacts, facts_of_step, row_facts, run_facts
from app.models.review.run_memory import RunMemoryModel
from app.models.review.run_queue import RunQueue
from app.models.review.run_usage import RunUsage
from app.models.review.why import RunExplanation

if TYPE_CHECKING:
    from app.engine.core.events import RunsChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

KEEP_RUNS = 6
"""Opened runs kept, so that going between neighbours is immediate."""


class ReviewModel(QObject):
    """State and actions of the Review perspective; views bind to its signals and item models.

    Signals:
        run_changed: another run is open, or its facts changed.
        opened: another run is on show, or nothing of it yet (``detail`` is ``None``).
        step_changed: another step is current; its pages may still be loading.
        page_changed: the pages changed (they arrived, are loading, or failed).
        notice: a sentence for a passing message.
        composing_changed: the composer opened or closed.
    """

    run_changed = Signal()
    opened = Signal()
    step_changed = Signal()
    page_changed = Signal()
    verdicts_changed = Signal()
    composing_changed = Signal(bool)
    notice = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.queue = RunQueue(client, tasks, self)
        self.steps = StepListModel(self)
        self.many = JudgedRuns(client, self)
        self.clusters = FailureClusters(client, tasks, self.queue, self.many, self)
        self.flags, self.interventions = FlagListModel(self), InterventionListModel(self)
        self.judging = JudgingModel(client, tasks, self.many, self)
        self.verdicts = self.judging.labels
        self.before, self.after = PageModel(self), PageModel(self)
        self.pictures = ScreenshotStore(client, tasks, self)
        self.views = StepViews(client, tasks, self)
        self.tips = RelevantTipsModel(client, tasks, self)
        self.composer = ComposerModel(client, tasks, self)
        self.memory = RunMemoryModel(client, tasks, self)
        self.why = RunExplanation(client, tasks, self, self)
        self.expected = self.why.expected
        self.prompts = PromptsModel(client, tasks, self)
        self.ask_again = AskAgainModel(client, tasks, self.prompts, self)
        self.run_form = ReviewRunFormModel(client, tasks, self)
        self.panels = ReviewPanelsModel(
            client, tasks, self.views, self.pictures, self.queue, review=self, parent=self
        )
        self.panels.notice.connect(self.notice)
        self.run_changed.connect(self.panels.follow_run)
        self.usage = RunUsage(client, tasks, self)
        self.opened.connect(lambda: self.usage.show(self.detail))
        self.run = ""
        self.detail: RunDetail | None = None
        self.index = 0
        self.view: StepView | None = None
        self.error = self.page_error = ""
        self._runs: dict[str, RunDetail] = {}
        self._row: RunRow | None = None
        self._wanted_step: int | None = None
        self._restoring = ""
        self._ahead = QTimer(self, singleShot=True, interval=0)
        self._ahead.timeout.connect(self._fetch_ahead)
        self.views.arrived.connect(self._on_view)
        self.views.failed.connect(self._on_view_failed)
        self.queue.loaded.connect(self._on_queue_loaded)
        self.composer.saved.connect(self._on_saved)
        self.why.cause.notice.connect(self.notice)
        self.composer.notice.connect(self.notice)
        self.judging.notice.connect(self.notice)
        self.clusters.run_wanted.connect(self.open_run)
        self.tips.notice.connect(self.notice)
        self.run_form.ended.connect(self._on_run_ended)
        self.run_form.failed.connect(self.notice)
        client.runs_changed.connect(self._on_runs_changed)
        client.knowledge_changed.connect(self._on_knowledge_changed)

    # ------------------------------------------------------------ runs
    def start(self) -> None:
        """Load the queue; the first run opens when it is there, unless one is open already."""
        self.queue.load()

    def peek(self, run: str, step: int) -> None:
        """Show a step of another run while the composer stays open."""
        self.open_run(run, step, keep_composer=True)

    def open_run(self, run: str, step: int | None = None, *, keep_composer: bool = False) -> None:
        """Open a run at a step, or at the suspect step."""
        if not run:
            return
        if run == self.run and self.detail is not None:
            if step is not None:
                self.show_step(step)
            return
        if not keep_composer:
            self.close_composer()
        self.run, self._wanted_step, self.error = run, step, ""
        self.detail, self.view = None, None
        self._row = self.queue.model.at(self.queue.model.row_of(run))
        self.queue.set_current(run)
        known = self._runs.get(run)
        if known is not None:
            self._show_run(known)
            return
        self._show_nothing_yet()

        def failed(error: BaseException) -> None:
            if self._restoring:  # the run of the last session is gone: open the first of the queue
                self.run = self._restoring = ""
                self.run_changed.emit()
                self._open_first()
                return
            self.error = str(error)
            self.run_changed.emit()

        self._tasks.start(self._client.api.open_run(run), self._run_came, failed, key="review-open")

    def next_run(self, offset: int = 1) -> None:
        """Open the next run of the queue as it is filtered and ordered, or the previous one (-1)."""
        if self.clusters.is_shown:
            self.clusters.step(offset)
            return
        self.open_run(self.queue.neighbour(offset))

    def next_other(self, after: str = "") -> None:
        """Open the filter's next unjudged run that failed in another way than ``after`` (the open run)."""

        def found(row: RunRow | None) -> None:
            if row is None:
                self.notice.emit(self.tr("Nothing left to judge in this filter."))
            else:
                self.open_run(row.id)

        self._tasks.start(
            self._client.api.next_to_review(after or self.run, other_kind=True, which=self.queue.filter),
            found,
            key="review-next-other",
        )

    @property
    def facts(self) -> RunFacts:
        """The header's facts: from the queue's row at once, from the run when it has loaded."""
        if self.detail is not None:
            return run_facts(self.detail)
        return row_facts(self._row) if self._row is not None else RunFacts(title=self.run)

    @property
    def was_interrupted(self) -> bool:
        return self.detail is not None and self.detail.run.outcome in (Outcome.INTERRUPTED, Outcome.CRASHED)

    # ------------------------------------------------------------ steps
    @property
    def step(self) -> Step | None:
        if self.detail is None or not 0 <= self.index < len(self.detail.steps):
            return None
        return self.detail.steps[self.index]

    @property
    def step_facts(self) -> StepFacts:
        """The lines under the pages."""
        step = self.step
        if step is None or self.detail is None:
            return StepFacts()
        return facts_of_step(step, self.detail.steps[-1].index, self.view, self.detail.interventions)

    def show_step(self, index: int) -> None:
        """Make a step current; its pages show at once where they were fetched ahead."""
        if self.detail is None or not self.detail.steps:
            return
        index = max(0, min(index, len(self.detail.steps) - 1))
        self.judging.step = index
        if index == self.index and self.view is not None:
            return
        self.index, self.page_error = index, ""
        self.view = self.views.get(self.run, index)
        self._show_pages()
        self.step_changed.emit()
        if self.view is None:
            self.views.fetch(self.run, index)
        step = self.step
        if step is not None:
            self.tips.show_step(self.detail, step)
            self.memory.show(self.run, step.index)
            self.prompts.show(self.run, step.index)
        self._ahead.start()

    def go(self, offset: int) -> None:
        """Go so many steps forward or back."""
        self.show_step(self.index + offset)

    def go_marked(self, direction: int) -> None:
        """Go to the next (1) or previous (-1) step with a flag or an error."""
        index = self.steps.next_marked(self.index, direction)
        if index is None:
            self.notice.emit(
                self.tr("No flag after this step.") if direction > 0 else self.tr("No flag before this step.")
            )
        else:
            self.show_step(index)

    def go_suspect(self) -> None:
        if self.detail is not None:
            self.show_step(suspect_step(self.detail))

    # ------------------------------------------------------------ tips
    def compose(self) -> None:
        """Open the composer for this step; a run without steps has no source for a tip."""
        if self.steps.rows:
            self.composer.open(self.run, self.index)
            self.composing_changed.emit(True)

    def compose_at(self, run: str, step: int) -> None:
        """Open the composer on a step of any run, which is opened too."""
        self.open_run(run, step)
        self.composer.open(run, step)
        self.composing_changed.emit(True)

    def close_composer(self) -> None:
        if self.composer.is_open:
            self.composer.close()
            self.composing_changed.emit(False)

    # ------------------------------------------------------------ session
    def session(self) -> dict[str, Any]:
        """Filter, form of the queue, run and step, for the next start."""
        form = {"filter": self.queue.text, "clusters": self.clusters.is_shown}
        return {"run": self.run, "step": self.index, **form}

    def restore(self, session: dict[str, Any]) -> None:
        """Restore the session; call it before ``start``."""
        text, run, step = session.get("filter"), session.get("run"), session.get("step")
        if isinstance(text, str):
            self.queue.set_filter(text)
        self.clusters.show(session.get("clusters") is True)
        if isinstance(run, str) and run:
            self.open_run(run, step if isinstance(step, int) else None)
            self._restoring = run

    # ------------------------------------------------------------ answers
    def _on_queue_loaded(self) -> None:
        self.judging.author = self.queue.author
        self._open_first()
        self.queue.current_changed.emit(self.run)

    def _open_first(self) -> None:
        first = self.queue.model.at(0)
        if not self.run and first is not None:
            self.open_run(first.id)

    def _show_nothing_yet(self) -> None:
        self.index = 0
        for rows in (self.steps, self.flags, self.interventions):
            rows.replace([])
        self.judging.open(None)
        self.tips.clear()
        self._show_pages()
        self.run_changed.emit()
        self.opened.emit()

    def _run_came(self, detail: RunDetail) -> None:
        self._remember(detail)
        self._restoring = ""
        if detail.run.id == self.run:
            self._show_run(detail)

    def _show_run(self, detail: RunDetail) -> None:
        self.detail = detail
        self.judging.author = self.queue.author
        self.judging.open(detail)
        wanted = self._wanted_step
        index = suspect_step(detail) if wanted is None else wanted
        self.steps.replace(run_step_marks(detail))
        self.flags.fold_all()
        self._show_judgement(detail)
        self.index, self.view = -1, None
        self.run_changed.emit()
        self.opened.emit()
        if detail.steps:
            self.show_step(index)
        else:
            self.index, self.page_error = 0, self.tr("This run has no recorded steps.")
            self._show_pages()
            self.step_changed.emit()
            self.prompts.show(self.run, -1)

    def _show_judgement(self, detail: RunDetail) -> None:
        self.flags.show(detail.flags, detail.interventions)
        self.interventions.show(detail.interventions, detail.steps)
        self.judging.show(detail)
        self.tips.show_written(detail.run.id, detail.tips)
        self.verdicts_changed.emit()

    def _show_pages(self) -> None:
        view = self.view
        self.before.show(view.before if view is not None else None)
        self.after.show(view.after if view is not None else None, another=view is not None and view.another)
        self.page_changed.emit()

    def _on_view(self, run: str, index: int) -> None:
        view = self.views.get(run, index)
        if view is not None:
            self.pictures.want(view.before.screenshot)
            self.pictures.want(view.after.screenshot)
        if (run, index) == (self.run, self.index) and self.view is None:
            self.view = view
            self._show_pages()

    def _on_view_failed(self, run: str, index: int, error: str) -> None:
        if (run, index) == (self.run, self.index) and self.view is None:
            self.page_error = error
            self._show_pages()

    def _fetch_ahead(self) -> None:
        if self.detail is None:
            return
        last, here, run = len(self.detail.steps) - 1, self.index, self.run
        near = [here + 1, here - 1, here + 2, here - 2]
        marked = [self.steps.next_marked(here, 1), self.steps.next_marked(here, -1)]
        wanted = [
            (run, index) for index in (*near, *marked, here + 3) if index is not None and 0 <= index <= last
        ]
        after = self.queue.neighbour(1)
        known = self._runs.get(after)
        if known is not None and known.steps:
            wanted.append((after, min(suspect_step(known), len(known.steps) - 1)))
        self.views.fetch_ahead(dict.fromkeys(wanted))
        if after and known is None:
            self._tasks.start(self._client.api.open_run(after), self._ahead_came, ignore, key="review-ahead")

    def _ahead_came(self, detail: RunDetail) -> None:
        self._remember(detail)
        if detail.run.id == self.run and self.detail is None:
            self._show_run(detail)
        else:
            self._ahead.start()

    def _remember(self, detail: RunDetail) -> None:
        self._runs.pop(detail.run.id, None)
        self._runs[detail.run.id] = detail
        while len(self._runs) > KEEP_RUNS:
            del self._runs[next(iter(self._runs))]

    def _on_runs_changed(self, event: RunsChanged) -> None:
        for run in event.runs or tuple(self._runs):
            self._runs.pop(run, None)
        if self.run and (not event.runs or self.run in event.runs):
            self._refresh_run()
            self.prompts.refresh()

    def _on_knowledge_changed(self, _event: object) -> None:
        self.tips.forget()
        if self.run:
            self._refresh_run()

    def _refresh_run(self) -> None:
        def came(detail: RunDetail) -> None:
            self._remember(detail)
            if detail.run.id != self.run:
                return
            if self.detail is None or len(detail.steps) != len(self.detail.steps):
                self.error, self._wanted_step = "", self._wanted_step if self.detail is None else self.index
                self._show_run(detail)
                return
            before, self.detail = self.detail, detail
            self.steps.merge(run_step_marks(detail))
            self._show_judgement(detail)
            begins = suspect_step(detail)
            if self._wanted_step is None and self.index == suspect_step(before) != begins:
                self.show_step(begins)  # it was opened before the detectors had looked at it
            step = self.step
            if step is not None:
                self.tips.show_step(detail, step)
            self.run_changed.emit()

        def failed(error: BaseException) -> None:
            self.error, self.detail = str(error), None
            self._show_nothing_yet()

        self._tasks.start(self._client.api.open_run(self.run), came, failed, key="review-refresh")

    def _on_run_ended(self, run: str, said: str) -> None:
        """Open a run that was started from here when it ends, unless a tip is being written."""
        self.notice.emit(said)
        if not self.composer.is_open:
            self.open_run(run)

    def _on_saved(self, run: str, go_on: bool) -> None:
        self.composing_changed.emit(False)
        if go_on:
            self.next_other(run)


def suspect_step(detail: RunDetail) -> int:
    """Return the step a run opens at."""
    return detail.suspect.step if detail.suspect.because else detail.risk.suspect_step
