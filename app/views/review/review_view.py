"""The Review perspective: the queue, the open run, and its judgement."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEasingCurve, QPoint, QPropertyAnimation, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from app.models.review.flags import LABELS
from app.views.live.run_form import RunForm
from app.views.prompts.ask_again_pane import AskAgainPane
from app.views.review.composer import Composer
from app.views.review.judgement_pane import JudgementPane
from app.views.review.memory_pane import MemoryPane
from app.views.review.queue_pane import QueuePane
from app.views.review.review_panels import ReviewPanels
from app.views.review.step_pane import StepPane
from app.views.widgets import Splitter
from app.views.widgets.build import vbox

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.prompts.ask_again_model import AskedAgain
    from app.models.review.review_model import ReviewModel
    from app.views.frame.theme import Theme

SLIDE_MS = 120
COLUMNS = (246, 0, 336)
"""Initial widths of queue and verdicts; the run takes the rest."""

WIDE, WIDE_COLUMNS = 1900, (330, 440)
"""On a window wider than this the side columns begin wider too, so that goals and tips need less eliding."""


class Drawer(QWidget):
    """The verdicts, over which the composer slides in from the right; nothing else moves for it."""

    moved = Signal()

    def __init__(self, below: QWidget, above: QWidget, theme: Theme) -> None:
        super().__init__()
        self._below, self._above, self._theme = below, above, theme
        self.is_open = False
        vbox(below, parent=self)
        above.setParent(self)
        above.hide()
        self._slide = QPropertyAnimation(above, b"pos", self)
        self._slide.setDuration(SLIDE_MS)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._slide.finished.connect(self._settled)

    def set_open(self, is_open: bool) -> None:
        """Slide in or out; at once when motion is reduced."""
        if is_open == self.is_open:
            return
        self.is_open = is_open
        self._slide.stop()
        inside, outside = QPoint(0, 0), QPoint(self.width(), 0)
        if is_open:
            self._above.resize(self.size())
            self._above.move(outside)
            self._above.show()
            self._above.raise_()
        if not self._theme.motion or not self.isVisible():
            self._above.move(inside if is_open else outside)
            self._settled()
            return
        self._slide.setStartValue(self._above.pos())
        self._slide.setEndValue(inside if is_open else outside)
        self._slide.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._above.resize(self.size())
        if self.is_open and self._slide.state() is not QPropertyAnimation.State.Running:
            self._above.move(0, 0)

    def _settled(self) -> None:
        if self.is_open:
            self._above.move(0, 0)
        else:
            self._above.hide()
        self.moved.emit()


class ReviewView(QWidget):
    """Three columns; the perspective's commands are bound here."""

    place = "review"

    def __init__(self, model: ReviewModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self.model, self._center = model, center
        self._theme, self._zoom = theme, theme.zoom
        self.queue = QueuePane(model, center, theme)
        self.step = StepPane(model, center, theme)
        self.judgement = JudgementPane(model, center, theme)
        self.composer = Composer(model.composer, center, theme)
        self.memory = MemoryPane(model, center, theme)
        self.run_form = RunForm(model.run_form, theme)
        self.ask_form = AskAgainPane(model.ask_again)
        self.side = QStackedWidget()
        for pane in (self.judgement, self.memory, self.run_form, self.ask_form):
            self.side.addWidget(pane)
        self.panels = ReviewPanels(model, center, theme, self.side, self.step, self.queue.list)
        self.drawer = Drawer(self.side, self.composer, theme)
        self.columns = Splitter(Qt.Orientation.Horizontal, COLUMNS)
        for column in (self.queue, self.panels.middle, self.drawer):
            self.columns.addWidget(column)
        self.queue.setMinimumWidth(180)
        self.panels.middle.setMinimumWidth(420)
        self.drawer.setMinimumWidth(280)
        vbox(self.columns, parent=self)
        self._back_to: QWidget | None = None
        self._restored = False
        theme.changed.connect(self._on_theme)
        self._bind()
        model.composing_changed.connect(self._on_composing)
        model.run_changed.connect(center.refresh)
        model.judging.changed.connect(center.refresh)
        model.expected.changed.connect(center.refresh)
        self.composer.run_wanted.connect(model.peek)
        self.memory.closed.connect(self._show_judgement)
        self.panels.closed.connect(self._show_judgement)
        self.panels.focus_wanted.connect(self.queue.take_focus)
        self.run_form.closed.connect(self._show_judgement)
        self.ask_form.closed.connect(self._show_judgement)
        model.ask_again.answered.connect(self._on_answered)
        model.prompts.changed.connect(center.refresh)
        model.run_form.started.connect(self._show_judgement)
        model.run_form.refused.connect(self._back_to_the_form)
        model.run_form.changed.connect(center.refresh)

    # ------------------------------------------------------------ what the frame asks
    def focus_first(self) -> None:
        if self.drawer.is_open:
            self._center.set_place("composer")
            self.composer.begin()
        elif self.panels.model.comparison.is_open:
            self._center.set_place(self.panels.place)
            self.panels.comparison.take_focus()
        else:
            self.queue.take_focus()

    def save_layout(self) -> dict[str, Any]:
        """Column widths, and the model's session."""
        return {
            "columns": self.columns.save(),
            "pages": self.step.pages.save(),
            "preview": self.step.preview,
            **self.model.session(),
        }

    def restore_layout(self, layout: dict[str, Any]) -> None:
        self._restored = bool(layout)
        if isinstance(layout.get("columns"), dict):
            self.columns.restore(layout["columns"])
        if isinstance(layout.get("pages"), dict):
            self.step.pages.restore(layout["pages"])
        if layout.get("preview") in ("before", "after"):
            self.step.show_preview(layout["preview"])
        self.model.restore(layout)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Set the columns' widths from the first size."""
        super().resizeEvent(event)
        if not self._restored and self.width() > 600:
            self._restored = True
            self.columns.reset()
            self._set_sides(*(WIDE_COLUMNS if self.width() > WIDE else (COLUMNS[0], COLUMNS[2])))

    def _set_sides(self, left: float, right: float) -> None:
        """Set the side columns' widths at 100 % text; larger text gets more while the run keeps its half."""
        zoom = max(self._theme.zoom, 1.0)
        left, right = min(left * zoom, left + 40), min(right * zoom, right + 110)
        self.columns.setSizes([round(left), round(self.width() - left - right), round(right)])

    def _on_theme(self) -> None:
        """Widen the side columns for larger text; a change of colours moves nothing."""
        if self._theme.zoom != self._zoom:
            self._zoom = self._theme.zoom
            self._set_sides(*(WIDE_COLUMNS if self.width() > WIDE else (COLUMNS[0], COLUMNS[2])))

    # ------------------------------------------------------------ commands
    def _bind(self) -> None:
        model, bind = self.model, self._center.bind

        def opened() -> bool:
            return model.detail is not None

        def judged() -> bool:
            return model.judging.newest is not None

        bind("review.next", lambda: model.next_run(1))
        bind("review.previous", lambda: model.next_run(-1))
        bind("review.next_other", model.next_other)
        bind("review.step.next", lambda: model.go(1), opened)
        bind("review.step.previous", lambda: model.go(-1), opened)
        bind("review.flag.next", lambda: model.go_marked(1), opened)
        bind("review.flag.previous", lambda: model.go_marked(-1), opened)
        bind("review.suspect", model.go_suspect, opened)
        bind("review.preview", self.step.next_preview, opened)
        bind("review.lines", self.step.toggle_lines, opened)
        self._bind_pages(opened)
        bind("review.rank", model.queue.rank_again)
        bind("review.scorecard", self.judgement.show_scorecard)
        bind("review.filter", self.queue.focus_filter)
        bind("review.clusters", self.queue.toggle_clusters)
        bind("review.teach", model.queue.teach)
        bind("review.back", self._back)
        bind("review.note", self.judgement.note.setFocus, opened)
        bind("review.withdraw", model.judging.withdraw, judged)
        bind("review.tip.up", lambda: self.judgement.vote(1), opened)
        bind("review.tip.down", lambda: self.judgement.vote(-1), opened)
        bind("review.copy_address", self._copy_address, opened)
        bind("tip.compose", model.compose, lambda: bool(model.steps.rows))
        bind("review.ask_model", lambda: model.judging.ask_model(model.run), opened)
        bind("review.expected", model.expected.toggle, lambda: bool(model.expected.lines.rows))
        bind("review.memory", self._toggle_memory, opened)
        bind("review.prompts", self._toggle_prompts, opened)
        bind(
            "review.prompts.ask",
            self._ask_model_again,
            lambda: self.step.shows_prompts and model.ask_again.can_ask,
        )
        bind("run.new", self._ask_for_a_run)
        bind("run.again", self._ask_again, opened)
        bind("run.stop", lambda: model.run_form.stop(model.run), lambda: model.run in model.run_form.going)
        bind("run.resume", lambda: model.run_form.resume(model.run), lambda: model.was_interrupted)

        def can_judge() -> bool:
            return model.judging.can_judge

        for place in range(len(LABELS)):
            bind(f"review.verdict.{place + 1}", lambda place=place: self._judge(place), can_judge)

        def composing() -> bool:
            return model.composer.is_open

        bind("composer.save", model.composer.save, composing)
        bind("composer.save_stay", lambda: model.composer.save(go_on=False), composing)
        bind("composer.close", model.close_composer, composing)
        bind("composer.discard", model.composer.discard, composing)
        bind("composer.parts", self.composer.show_parts, composing)

    def _bind_pages(self, opened: Callable[[], bool]) -> None:
        model, step, bind = self.model, self.step, self._center.bind
        why = model.why

        def stepping() -> bool:
            return bool(model.steps.rows)

        bind("review.answer", why.answer.toggle, stepping)
        bind("review.raw", step.toggle_raw, stepping)
        bind("review.whole", step.toggle_whole, lambda: model.after.is_another)
        bind("review.find", step.find_words, stepping)
        bind("review.find.next", lambda: why.search.go(1), lambda: bool(why.search.count))
        bind("review.find.previous", lambda: why.search.go(-1), lambda: bool(why.search.count))
        bind("review.legend", step.show_legend, opened)
        bind("review.ask_cause", why.cause.ask, lambda: opened() and not why.cause.is_asking)
        for changed in (why.cause.changed, why.search.changed, model.page_changed):
            changed.connect(self._center.refresh)

    def _toggle_memory(self) -> None:
        if self.side.currentWidget() is self.memory:
            self._show_judgement()
            return
        self.side.setCurrentWidget(self.memory)
        self.model.memory.watch(True)

    def _toggle_prompts(self) -> None:
        shown = not self.step.shows_prompts
        self.step.show_prompts(shown)
        self._center.refresh()
        if shown:
            self.step.prompts.take_focus()
        else:
            self.queue.take_focus()

    def _ask_model_again(self) -> None:
        self.side.setCurrentWidget(self.ask_form)
        self.ask_form.begin()

    def _on_answered(self, outcome: AskedAgain) -> None:
        """Show both answers, unless the user has moved on; they are listed with the prompt in any case."""
        model = self.model.prompts
        if outcome.request.digest == model.current and outcome.request.run == model.run:
            model.load_asked()
            self.step.prompts.show_outcome(outcome)

    def _ask_for_a_run(self) -> None:
        self.side.setCurrentWidget(self.run_form)
        self.run_form.begin()

    def _back_to_the_form(self) -> None:
        """Show a refused run in the form with its values, unless the user has moved on."""
        if self.side.currentWidget() is self.judgement and not self.model.composer.is_open:
            self.side.setCurrentWidget(self.run_form)

    def _ask_again(self) -> None:
        """Open the form with the open run's task, to run it again: with newer tips or another policy."""
        if self.model.detail is not None:
            run = self.model.detail.run
            self.model.run_form.set("intent", run.intent)
            self.model.run_form.set("start_url", run.start_url)
        self._ask_for_a_run()

    def _show_judgement(self) -> None:
        """Return to the verdicts and restore the focus."""
        shown, focus = self.side.currentWidget(), QApplication.focusWidget()
        had_keys = shown is not None and focus is not None and shown.isAncestorOf(focus)
        self.model.memory.watch(False)
        self.side.setCurrentWidget(self.judgement)
        if had_keys:
            self.queue.take_focus()

    def _judge(self, place: int) -> None:
        self.model.judging.judge(place, self.judgement.take_note())

    def _copy_address(self) -> None:
        step = self.model.step
        if step is not None:
            QGuiApplication.clipboard().setText(step.url)
            self.model.notice.emit(self.tr("Address copied"))

    def _back(self) -> None:
        """Go back one level: out of the note, the filter, the large preview; then nothing."""
        if self.queue.leave_filter() or self.queue.leave_selection():
            return
        if self.side.currentWidget() is not self.judgement:
            if not self.panels.leave():
                self._show_judgement()
            return
        if self.step.search.leave():
            return
        if self.step.shows_prompts:
            if not self.step.prompts.leave():
                self._toggle_prompts()
            return
        if self.step.preview != "both":
            self.step.show_preview("both")
            return
        self.queue.take_focus()

    # ------------------------------------------------------------ composer
    def _on_composing(self, is_open: bool) -> None:
        if is_open:
            if not self.drawer.is_open:
                self._back_to = QApplication.focusWidget()
            self.drawer.set_open(True)
            self.composer.begin()
            self._center.set_place("composer")
        else:
            self.drawer.set_open(False)
            if self._center.place == "composer":
                self._center.set_place(self.panels.place)
            back = self._back_to if self._back_to is not None else self.queue.list
            back.setFocus()
        self._center.refresh()
