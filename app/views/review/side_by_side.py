"""Two runs side by side, in place of the run: how they part, their rows, and the pages of the current row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QSizePolicy, QStackedWidget, QWidget

from app.models.review.comparison_rows import LEFT, RIGHT, candidate_words, run_words
from app.models.review.run_comparison import ComparisonState
from app.views.review.comparison_rows import ComparedRowView
from app.views.review.page_view import PageSide
from app.views.widgets import ElidedLabel, EmptyState, Splitter
from app.views.widgets.build import divider, ground, hbox, styled, text_label, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.flow_layout import FlowLayout

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.review.run_comparison import ComparisonModel
    from app.views.frame.theme import Theme

ROWS_SHARE = 0.42
"""Share of the height for the rows, at first."""


class RunHead(QWidget):
    """One of the two runs: which it is, its facts, the tips only it was shown."""

    def __init__(self, caption: str, *below: QWidget) -> None:
        super().__init__()
        self.caption = text_label(caption, "section")
        self.chosen = text_label(kind="secondary")
        self.facts = ElidedLabel(Qt.TextElideMode.ElideRight)
        self.tips = styled(ElidedLabel(Qt.TextElideMode.ElideRight), "secondary")
        top = hbox(self.caption, 1, self.chosen, spacing=8)
        vbox(top, *below, self.facts, self.tips, parent=self, margins=(12, 2, 12, 4), spacing=2)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_run(self, facts: str, tips: str) -> None:
        self.facts.setText(facts)
        self.tips.setText(tips)
        self.tips.setVisible(bool(tips))

    def show_chosen(self, words: str) -> None:
        """Say what Enter does here; "" at the other side."""
        self.chosen.setText(words)


class SideBySide(QWidget):
    """Sentence, heads, rows and pages; its faces say what is missing."""

    def __init__(self, model: ComparisonModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        self._lines = self._shared = False
        ground(self)
        self.setAccessibleName(self.tr("Two runs side by side"))
        self.sentence = text_label(kind="heading", wrap=True)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.chooser = QComboBox()
        self.chooser.setAccessibleName(self.tr("Run to compare with"))
        self.chooser.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.chooser.setMinimumContentsLength(8)
        self.chooser.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.intent = ElidedLabel(Qt.TextElideMode.ElideRight)
        self.heads = (RunHead(self.tr("this run"), self.intent), RunHead(self.tr("other run"), self.chooser))
        self.rows = ComparedRowView(theme, model)
        words = (self.tr("this run"), self.tr("other run"))
        self.sides = tuple(
            PageSide(word, page, model.pictures, theme) for word, page in zip(words, model.pages, strict=True)
        )
        for side, word in zip(self.sides, words, strict=True):
            side.lines.setAccessibleName(self.tr("Page of the {0}, as lines").format(word))
            side.picture.setAccessibleName(self.tr("Screenshot of the page of the {0}").format(word))
        self.map_button = command_link(center, "compare.map")
        self.failed_button = command_link(center, "compare.failed")
        self.close_button = command_link(center, "compare.close")
        self.waiting = EmptyState(self.tr("Comparing the runs…"), "")
        self.nothing = EmptyState(
            self.tr("No passed run to compare with"),
            self.tr("No run that passed has this task, its template, a goal like it, or visits this page."),
            "compare.failed",
            center,
        )
        self.error = EmptyState(self.tr("The runs can't be compared"), "", "compare.close", center)
        self._settle = QTimer(self, singleShot=True, interval=0)
        self._settle.timeout.connect(self._scroll_into_sight)
        self._lay_out()
        self._connect()
        self._show()

    def take_focus(self) -> None:
        shown, target = self._faces.currentWidget(), self.rows
        if shown is self.nothing or shown is self.error:
            target = self.nothing.button if shown is self.nothing else self.error.button
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def toggle_lines(self) -> None:
        """Switch between trees and screenshots."""
        self._lines = not self._lines
        for side in self.sides:
            side.prefer_lines(self._lines)
        self._settle.start()

    # ------------------------------------------------------------ layout
    def _lay_out(self) -> None:
        top = QWidget()  # wraps in a narrow window with large text
        top.setLayout(FlowLayout(self.close_button, self.map_button, self.failed_button, gap=2))
        top.setContentsMargins(8, 6, 8, 2)
        says = hbox((self.sentence, 1), margins=(12, 0, 12, 4))
        heads = hbox((self.heads[LEFT], 1), (self.heads[RIGHT], 1), spacing=0)
        pages = Splitter(Qt.Orientation.Horizontal, (0, 0))
        for number, side in enumerate(self.sides):
            pages.addWidget(side)
            pages.setStretchFactor(number, 1)
        self.parts = Splitter(Qt.Orientation.Vertical, (0, 0))
        self.parts.addWidget(self.rows)
        self.parts.addWidget(pages)
        self.rows.setMinimumHeight(80)
        body = QWidget()
        vbox(says, heads, divider(), (self.parts, 1), parent=body, spacing=0)
        self._body = body
        self._faces = QStackedWidget()
        for face in (body, self.waiting, self.nothing, self.error):
            self._faces.addWidget(face)
        vbox(top, (self._faces, 1), parent=self, spacing=0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the height once it is known."""
        super().resizeEvent(event)
        if not self._shared and self.parts.height() > 200:
            self._shared = True
            rows = round(self.parts.height() * ROWS_SHARE)
            self.parts.setSizes([rows, self.parts.height() - rows])

    def _connect(self) -> None:
        model = self._model
        self.chooser.activated.connect(self._on_chosen)
        self.rows.activated.connect(self._on_activated)
        model.changed.connect(self._show)
        model.row_changed.connect(self._show_row)
        model.pages_changed.connect(self._show_pages)
        model.pictures.ready.connect(self._on_picture)
        self._center.keys_changed.connect(self._show)

    # ------------------------------------------------------------ what is shown
    def _show(self) -> None:
        model = self._model
        held = self.isAncestorOf(self.focusWidget() or self)
        self._faces.setCurrentWidget(self._face())
        self.sentence.setText(model.sentence)
        self.failed_button.setVisible(bool(model.candidates) or model.state is ComparisonState.NOTHING_ALIKE)
        only = self.tr("Passed runs only") if model.with_failed else self.tr("Failed runs too")
        show_command(self.failed_button, self._center, "compare.failed", only)
        show_command(self.close_button, self._center, "compare.close", self.tr("Close"))
        show_command(self.map_button, self._center, "compare.map", self.tr("On the map"))
        self._show_candidates()
        if model.details is not None:
            for side, head in enumerate(self.heads):
                head.show_run(run_words(model.details[side]), model.tips_words(side))
            self.intent.setText(" ".join(model.details[LEFT].run.intent.split()))
        if model.with_failed:
            self.nothing.set(
                self.tr("No run to compare with"),
                self.tr("No other run has this task, its template, a goal like it, or visits this page."),
            )
        else:
            self.nothing.set(
                self.tr("No passed run to compare with"),
                self.tr(
                    "No run that passed has this task, its template, a goal like it, or visits this page."
                ),
            )
        self._show_row()
        if held and model.is_open:
            self.take_focus()

    def _face(self) -> QWidget:
        match self._model.state:
            case ComparisonState.READY:
                return self._body
            case ComparisonState.NOTHING_ALIKE:
                return self.nothing
            case ComparisonState.ERROR:
                self.error.set(self.tr("The runs can't be compared"), self._model.error)
                return self.error
            case ComparisonState.LOADING if self._model.details is not None and self._model.rows.rows:
                return self._body  # another run is on its way; nothing jumps meanwhile
            case _:
                return self.waiting

    def _show_candidates(self) -> None:
        model = self._model
        words = [candidate_words(one) for one in model.candidates]
        if [self.chooser.itemText(place) for place in range(self.chooser.count())] != words:
            with QSignalBlocker(self.chooser):
                self.chooser.clear()
                self.chooser.addItems(words)
        for place, text in enumerate(words):
            self.chooser.setItemData(place, text, Qt.ItemDataRole.ToolTipRole)
        ids = [one.id for one in model.candidates]
        if model.right in ids:
            with QSignalBlocker(self.chooser):
                self.chooser.setCurrentIndex(ids.index(model.right))
            keys = self._center.keys("compare.other")
            self.chooser.setToolTip(self.tr("{0}  ({1}: next)").format(words[ids.index(model.right)], keys))
        self.chooser.setVisible(bool(words))

    def _show_row(self) -> None:
        keys = self._center.keys("compare.open")
        for side, head in enumerate(self.heads):
            chosen = self._model.row >= 0 and side == self._model.side
            head.show_chosen(self.tr("{0}: open").format(keys) if chosen and keys else "")
        self.map_button.setEnabled(self._model.current is not None)
        self.rows.viewport().update()

    def _show_pages(self) -> None:
        model, row = self._model, self._model.current
        for number, side in enumerate(self.sides):
            step, shown = row.step(number) if row is not None else -1, model.shown[number]
            words = self.tr("step {0}") if step >= 0 else self.tr("next: step {0}")
            side.remark.setText(words.format(shown) if shown >= 0 else "")
            if model.pages[number].page is None:
                side.say(model.remarks[number] or self.tr("Loading the page…"))
        self._settle.start()

    def _scroll_into_sight(self) -> None:
        for side, page in zip(self.sides, self._model.pages, strict=True):
            if page.page is not None:
                side.scroll_to(page.focus_row)

    # ------------------------------------------------------------ answers
    def _on_chosen(self, place: int) -> None:
        if 0 <= place < len(self._model.candidates):
            self._model.choose(self._model.candidates[place].id)
        self.rows.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_picture(self, _digest: str) -> None:
        """Scroll again once a screenshot has taken room from the lines."""
        if self._model.is_open:
            self._settle.start()

    def _on_activated(self, index: QModelIndex) -> None:
        self._model.show_row(index.row())
        self._model.open_step()
