"""The run in the middle of Review: header, step strip, the page before and after, and the step's facts."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLabel, QStackedWidget, QToolButton, QWidget

from app.models.common.page import aligned_rows
from app.models.review.page_pair import first_sight, scroll_together
from app.views.prompts.prompts_pane import PromptsPane
from app.views.review.answer_page import AnswerPane
from app.views.review.cause_line import CauseLine
from app.views.review.page_view import PageSide
from app.views.review.run_header import RunHeader
from app.views.review.step_facts import StepFactsPane
from app.views.review.step_strip import StepStrip
from app.views.review.strip_legend import StripLegend
from app.views.review.tree_search import TreeSearch
from app.views.widgets import EmptyState, Splitter
from app.views.widgets.build import Gap, divider, ground, hbox, restyle, vbox
from app.views.widgets.command_button import command_link, show_command

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.review.review_model import ReviewModel
    from app.views.frame.theme import Theme

PREVIEWS = ("both", "before", "after")


SETTLING_SECONDS = 0.7
"""Time after the pages of a step came in which another height of theirs scrolls them again."""


class StepPane(QWidget):
    """All that is needed to judge a step, on one screen."""

    def __init__(self, model: ReviewModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        ground(self)
        self.preview = "both"
        self._lines = False
        self._syncing = False
        self._maps: list[list[int] | None] = [None, None]
        self.header = RunHeader(theme)
        self.cause = CauseLine(model.why.cause, center, theme)
        self.answer = AnswerPane(model.why.answer, center, theme)
        self.search = TreeSearch(model.why.search, center, theme)
        self.legend = StripLegend(theme, self)
        self.strip = StepStrip(model.steps, theme)
        self.number = QLabel()
        self.before = PageSide(self.tr("before"), model.before, model.pictures, theme)
        self.after = PageSide(self.tr("after"), model.after, model.pictures, theme)
        self.pages = Splitter(Qt.Orientation.Horizontal, (0, 0))
        self.pages.addWidget(self.before)
        self.pages.addWidget(self.after)
        self.pages.setStretchFactor(0, 1)
        self.pages.setStretchFactor(1, 1)
        self.facts = StepFactsPane(theme)
        self.whole = command_link(center, "review.whole")
        self.after.head.addWidget(self.whole)
        self.prompts = PromptsPane(model.prompts, center, theme, "review")
        self._wait = QTimer(self, singleShot=True, interval=120)
        self._wait.timeout.connect(self._say_waiting)
        self._settle = QTimer(self, singleShot=True, interval=0)
        self._settle.timeout.connect(self._scroll_into_sight)
        self._shown_at = 0.0
        self._lay_out()
        self._connect()
        self._show_run()

    def show_preview(self, preview: str) -> None:
        """Show both pages, or one of them large."""
        self.preview = preview
        self.before.setVisible(preview != "after")
        self.after.setVisible(preview != "before")
        for side in (self.before, self.after):
            side.set_large(preview != "both")
        self._settle.start()

    def next_preview(self) -> None:
        """Cycle through both, before, after."""
        self.show_preview(PREVIEWS[(PREVIEWS.index(self.preview) + 1) % len(PREVIEWS)])

    @property
    def shows_prompts(self) -> bool:
        """Whether the prompts stand in place of the pages."""
        return self.faces.currentWidget() is self.prompts

    def show_prompts(self, shown: bool) -> None:
        """Show the prompts of the step in place of its pages, or the pages again."""
        self._model.prompts.watch(shown)
        self.faces.setCurrentIndex(int(shown))

    @property
    def shows_answer(self) -> bool:
        """Whether the answer page stands in place of the pages."""
        return self.middle.currentWidget() is self.answer

    def toggle_raw(self) -> None:
        """Show the raw trees, or wrappers and repeats folded away; what is at the top stays there."""
        raw = not self._model.before.raw
        self._syncing = True
        for side in (self.before, self.after):
            top = side.top_line
            side.model.set_raw(raw)
            side.scroll_to_line(top)
        self._syncing = False
        self._show_remarks()

    def toggle_whole(self) -> None:
        """Show another page whole, or its headings, forms and alerts."""
        self._model.after.set_whole(not self._model.after.whole)
        self._show_remarks()

    def find_words(self, text: str = "") -> None:
        """Find words on the pages of the step."""
        if self.shows_answer and self._model.steps.rows:
            self._model.why.answer.toggle()
        self.search.begin(text)

    def show_legend(self) -> None:
        self.legend.open_at(self.legend_button)

    def toggle_lines(self) -> None:
        """Switch between trees and screenshots."""
        self._lines = not self._lines
        for side in (self.before, self.after):
            side.prefer_lines(self._lines)
        self._settle.start()

    def _lay_out(self) -> None:
        self.legend_button = self._button("review.legend", "map-legend")
        bar = hbox(
            self.number,
            self._button("review.step.previous", "chevron-left"),
            self._button("review.step.next", "chevron-right"),
            (self.strip, 1),
            self.legend_button,
            margins=(12, 0, 12, 0),
            spacing=4,
        )
        run, pages = QWidget(), QWidget()
        self.middle = QStackedWidget()
        self._two_pages = QWidget()
        self._rule = divider()
        vbox((self.pages, 1), self.search, parent=self._two_pages, spacing=0)
        for face in (self._two_pages, self.answer):
            self.middle.addWidget(face)
        vbox((self.middle, 1), self._rule, self.facts, parent=pages, spacing=0)
        self.faces = QStackedWidget()
        self.faces.addWidget(pages)
        self.faces.addWidget(self.prompts)
        vbox(self.header, self.cause, bar, Gap(4), divider(), (self.faces, 1), parent=run, spacing=0)
        self._run = run
        self._nothing = EmptyState(
            self.tr("No run is open"),
            self.tr("Choose a run at the left, or open the first of the queue."),
            "review.next",
            self._center,
        )
        self._stack = QStackedWidget()
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(run)
        vbox(self._stack, parent=self)

    def _connect(self) -> None:
        model = self._model
        model.run_changed.connect(self._show_run)
        model.queue.changed.connect(self._show_nothing)
        model.step_changed.connect(self._show_step)
        model.page_changed.connect(self._show_pages)
        self.before.resized.connect(self._on_resized)
        model.pictures.ready.connect(self._on_picture)
        self.strip.step_wanted.connect(model.show_step)
        model.why.answer.changed.connect(self._show_middle)
        model.why.answer.place_shown.connect(self._on_place)
        model.why.search.moved.connect(self._on_hit)
        self.search.closed.connect(self._on_search_closed)
        for finder in (self.answer, self.facts, self.before.lines, self.after.lines):
            finder.find_wanted.connect(self.find_words)
        model.usage.changed.connect(lambda: self.header.show_usage(model.usage.line))
        for page in (model.before, model.after):
            page.modelReset.connect(self._forget_maps)
        self._center.keys_changed.connect(self._show_remarks)
        before, after = self.before.lines.verticalScrollBar(), self.after.lines.verticalScrollBar()
        before.valueChanged.connect(partial(self._follow, 0))
        after.valueChanged.connect(partial(self._follow, 1))

    def _show_run(self) -> None:
        model = self._model
        self._stack.setCurrentWidget(self._run if model.run else self._nothing)
        self._show_nothing()
        self.header.show_facts(model.facts)
        if model.detail is None:
            self._show_step()
        if model.error:
            self.before.say(self.tr("The run can't be opened: {0}").format(model.error))

    def _show_nothing(self) -> None:
        any_run = self._model.queue.shown > 0
        self._nothing.button.setVisible(any_run)
        self._nothing.set(
            self.tr("No run is open"),
            self.tr("Choose a run at the left, or open the first of the queue.")
            if any_run
            else self.tr("A run opens here at the step that went wrong, with the page before and after it."),
        )

    def _show_step(self) -> None:
        model, facts = self._model, self._model.step_facts
        self.number.setText(facts.number)
        self.facts.show_facts(facts)
        self.strip.mark(model.index)
        self._show_middle()

    def _show_pages(self) -> None:
        model = self._model
        self._wait.stop()
        self._show_remarks()
        if model.view is not None:
            self.facts.show_facts(model.step_facts)
            self._scroll_into_sight()
            self._settle.start()
            self._shown_at = time.monotonic()
            return
        if model.page_error:
            self.before.say(model.page_error)
            self.after.say("")
        elif model.run and not model.error:
            self._wait.start()

    def _show_middle(self) -> None:
        """Show the answer page, which has the reason, too; or the two pages over the facts of the step."""
        shown = self._model.why.answer.is_shown
        if shown:
            self.answer.show_answer()
        self.middle.setCurrentWidget(self.answer if shown else self._two_pages)
        self.facts.setVisible(not shown)
        self._rule.setVisible(not shown)

    def _show_remarks(self) -> None:
        """Say on both pages what one can't see: a lost target, how much changed, what is left out."""
        facts, after = self._model.step_facts, self._model.after
        self.before.remark.setText(f"✗ {facts.lost}" if facts.lost else self._raw_words())
        restyle(self.before.remark, kind="fail" if facts.lost else "secondary")
        self.before.title.setVisible(not facts.lost)
        self.after.remark.setText(facts.changed)
        self.whole.setVisible(after.is_another and not after.raw)
        lines = len(after.page.lines) if after.page is not None else 0
        word = self.tr("in short") if after.whole else self.tr("all {0} lines").format(lines)
        show_command(self.whole, self._center, "review.whole", word)

    def _raw_words(self) -> str:
        return self.tr("raw") if self._model.before.raw else ""

    def _on_resized(self) -> None:
        """Keep what a step is opened for in sight while the reason below still takes its room."""
        if time.monotonic() - self._shown_at < SETTLING_SECONDS:
            self._settle.start()

    def _scroll_into_sight(self) -> None:
        """Scroll to a place of the answer, the current match of a search, or by the rule of ``first_sight``."""
        model = self._model
        if model.view is None:
            return
        left, right = first_sight(model.view, model.before, model.after, self.before.height_in_rows)
        for side, page in enumerate((model.before, model.after)):
            row = page.hit_row if page.hit_row >= 0 else page.marked
            if row >= 0:
                self._scroll_to(side, row)
                return
        self._syncing = True
        self.before.scroll_to(left)
        self.after.scroll_to(right)
        self._syncing = False

    def _scroll_to(self, side: int, row: int) -> None:
        """Bring a row of one page into sight; a page that is nearly equal shows the same place."""
        view = self._model.view
        pages = (self.before, self.after)
        self._syncing = True
        pages[side].scroll_to(row)
        rows = self._map(side)
        if view is not None and scroll_together(view) and 0 <= row < len(rows):
            pages[1 - side].scroll_to(rows[row])
        self._syncing = False

    def _on_place(self, side: int) -> None:
        """Bring a place of the answer into sight and give it the keys."""
        shown = (self.before, self.after)[side]
        if self.preview != "both" and not shown.isVisibleTo(self):
            self.show_preview("both")
        if shown.model.page is not None and shown.model.page.screenshot and not self._lines:
            self.toggle_lines()
        shown.lines.setCurrentIndex(shown.model.index(shown.model.marked, 0))
        shown.lines.setFocus()
        self._settle.start()

    def _on_hit(self, side: int) -> None:
        self._scroll_to(side, (self._model.before, self._model.after)[side].hit_row)

    def _on_search_closed(self) -> None:
        self._show_remarks()
        self.before.lines.setFocus()

    def _forget_maps(self) -> None:
        self._maps = [None, None]

    def _on_picture(self, digest: str) -> None:
        """Scroll the target back into view once a screenshot has taken room from the lines."""
        view = self._model.view
        if view is not None and digest in (view.before.screenshot, view.after.screenshot):
            self._settle.start()

    def _say_waiting(self) -> None:
        if self._model.view is None and not self._model.page_error:
            self.before.say(self.tr("Loading the page…"))
            self.after.say(self.tr("Loading the page…"))

    def _map(self, side: int) -> list[int]:
        """Map rows of this side to rows of the other one, computed on first use."""
        rows = self._maps[side]
        if rows is None:
            pages = (self._model.before, self._model.after)
            rows = self._maps[side] = aligned_rows(pages[side], pages[1 - side])
        return rows

    def _follow(self, side: int, value: int) -> None:
        view = self._model.view
        if self._syncing or view is None or not scroll_together(view):
            return
        rows = self._map(side)
        if not 0 <= value < len(rows):
            return
        self._syncing = True
        other = self.after if side == 0 else self.before
        other.lines.verticalScrollBar().setValue(rows[value])
        self._syncing = False

    def _button(self, command: str, icon: str) -> QToolButton:
        button = QToolButton()
        button.setIcon(self._theme.icon(icon))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setToolTip(self._center.action(command).toolTip())
        button.clicked.connect(partial(self._center.trigger, command))
        button.setAccessibleName(self._center.title(command))
        return button
