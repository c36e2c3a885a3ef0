"""The run in the middle of Review: header, step strip, the page before and after, and the step's facts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from app.models.common.page import aligned_rows
from app.views.prompts.prompts_pane import PromptsPane
from app.views.review.page_view import PageSide
from app.views.review.run_header import ClampedLabel, RunHeader
from app.views.review.step_strip import StepStrip
from app.views.widgets import ElidedLabel, EmptyState, Splitter
from app.views.widgets.build import Gap, divider, ground, hbox, restyle, text_label, vbox

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.review.review_model import ReviewModel
    from app.views.frame.theme import Theme

PREVIEWS = ("both", "before", "after")


class ScrollingText(QPlainTextEdit):
    """A text that scrolls in its own area and never takes plain keys."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setProperty("kind", "plain")
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.document().setDocumentMargin(0)
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)


class StepFactsPane(QWidget):
    """Why, did, error, at: of constant height, so that the pages above never jump."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.why = ScrollingText(self.tr("Why: the agent's reason"))
        self.error = ScrollingText(self.tr("Error of the action"))
        self.error_head = QLabel()
        self.did = ClampedLabel(theme, 2)
        self.at = ElidedLabel(Qt.TextElideMode.ElideMiddle)
        self.at.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        grid = QGridLayout(self)
        grid.setContentsMargins(12, 6, 12, 8)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        self._heads: list[QLabel] = []
        grid.addWidget(self._head(self.tr("why")), 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.why, 0, 1)
        right = vbox((self.error_head, 0, Qt.AlignmentFlag.AlignTop), (self.error, 1), 0, spacing=2)
        grid.addLayout(right, 0, 2, 2, 1)
        grid.addWidget(self._head(self.tr("did")), 1, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.did, 1, 1)
        grid.addWidget(self._head(self.tr("at")), 2, 0, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(self.at, 2, 1, 1, 2)
        grid.setColumnStretch(1, 3)
        grid.setColumnStretch(2, 2)
        grid.setRowStretch(0, 1)
        theme.changed.connect(self._fit)
        self._fit()

    def show_step(self, model: ReviewModel) -> None:
        facts = model.step_facts
        self.why.setPlainText(facts.why)
        self.did.set_text(facts.did)
        self.at.setText(facts.at)
        self.error.setPlainText(facts.error)
        self.error.setVisible(bool(facts.error))
        kind = {"hard": "fail", "soft": "warn", "harness": "warn"}.get(facts.trouble, "muted")
        words = facts.trouble_words
        self.error_head.setText(words or (self.tr("no error") if facts.did else ""))
        restyle(self.error_head, kind=kind)
        self.error_head.setWordWrap(True)

    def _head(self, text: str) -> QLabel:
        label = text_label(text, "muted")
        self._heads.append(label)
        return label

    def _fit(self) -> None:
        self.setFixedHeight(self._theme.px(148))


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
        self.prompts = PromptsPane(model.prompts, center, theme, "review")
        self._wait = QTimer(self, singleShot=True, interval=120)
        self._wait.timeout.connect(self._say_waiting)
        self._settle = QTimer(self, singleShot=True, interval=0)
        self._settle.timeout.connect(self._scroll_into_sight)
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

    def toggle_lines(self) -> None:
        """Switch between trees and screenshots."""
        self._lines = not self._lines
        for side in (self.before, self.after):
            side.prefer_lines(self._lines)
        self._settle.start()

    def _lay_out(self) -> None:
        bar = hbox(
            self.number,
            self._button("review.step.previous", "chevron-left"),
            self._button("review.step.next", "chevron-right"),
            (self.strip, 1),
            margins=(12, 0, 12, 0),
            spacing=4,
        )
        run, pages = QWidget(), QWidget()
        vbox((self.pages, 1), divider(), self.facts, parent=pages, spacing=0)
        self.faces = QStackedWidget()
        self.faces.addWidget(pages)
        self.faces.addWidget(self.prompts)
        vbox(self.header, bar, Gap(4), divider(), (self.faces, 1), parent=run, spacing=0)
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
        model.pictures.ready.connect(self._on_picture)
        self.strip.step_wanted.connect(model.show_step)
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
        self.facts.show_step(model)
        self.strip.mark(model.index)

    def _show_pages(self) -> None:
        model = self._model
        self._wait.stop()
        self.after.remark.setText(model.step_facts.changed)
        if model.view is not None:
            self._maps = [None, None]
            self._scroll_into_sight()
            if model.view.before.screenshot or model.view.after.screenshot:
                self._settle.start()
            return
        if model.page_error:
            self.before.say(model.page_error)
            self.after.say("")
        elif model.run and not model.error:
            self._wait.start()

    def _scroll_into_sight(self) -> None:
        """Scroll to the target before the step, and to the first change (else the target's position) after it."""
        model = self._model
        if model.view is None:
            return
        self._syncing = True
        self.before.scroll_to(model.before.focus_row)
        row, rows = model.after.first_change, model.before.rowCount()
        if row < 0 and rows:
            row = self._map(0)[min(model.before.focus_row, rows - 1)]
        self.after.scroll_to(row)
        self._syncing = False

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
        if self._syncing:
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
