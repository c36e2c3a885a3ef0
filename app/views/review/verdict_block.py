"""Verdicts, in one place whatever else the run has: those given, all labels with their keys, and the note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSize, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QListView,
    QSizePolicy,
    QWidget,
)

from app.models.review.flags import LABELS, label_keys
from app.views.review.rows import GIVEN, VERDICT, given_row, key_width, verdict_row
from app.views.widgets.build import ground, hbox, restyle, styled, text_label, vbox
from app.views.widgets.rows import FittedList, RowContent, RowList

if TYPE_CHECKING:
    from app.engine.core.verdicts import Verdict
    from app.models.common.commands import CommandCenter
    from app.models.review.flags import VerdictChoice
    from app.models.review.judging import JudgingModel
    from app.models.review.review_model import ReviewModel
    from app.views.frame.theme import Theme

MOST_GIVEN = 3
"""Verdicts shown at once; more scroll."""
BESIDE = 5 + VERDICT.margins[0] + VERDICT.margins[2]
"""Width of what stands beside a label and its key, in pixels at 100 % text size."""


class VerdictBlock(QWidget):
    """Grows upwards, so that a label is always at the same place above the lower edge."""

    def __init__(self, model: ReviewModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        ground(self)
        self._model, self._theme = model, theme
        self._judging: JudgingModel = model.judging
        self.head = text_label(kind="heading")
        self.hint = text_label(kind="muted", wrap=True)
        self.given = GivenList(self._judging, theme)
        self.grid = VerdictGrid(theme, self.tr("Verdicts; press a digit to give one, again to withdraw it"))
        self.grid.setModel(self._judging.labels)
        self.note = styled(QLineEdit(), "quiet")
        self.note.setPlaceholderText(
            self.tr("Note on the verdict ({0}, optional)").format(center.keys("review.note"))
        )
        self.note.setAccessibleName(self.tr("Note on the verdict"))
        self.note.setToolTip(self.tr("Saved with the next verdict; Enter adds it to the current one"))
        self._notes: dict[str, str] = {}
        self._run = ""
        self._lay_out()
        self.grid.clicked.connect(self._on_verdict)
        self.grid.activated.connect(self._on_verdict)
        self.given.clicked.connect(self._on_given)
        self.given.activated.connect(self._on_given)
        self.note.returnPressed.connect(self._on_note)
        self._judging.changed.connect(self._show)
        model.opened.connect(self._on_opened)
        self._show()

    def take_note(self) -> str:
        """Return the note typed for the verdict being given, and clear the field."""
        text = self.note.text().strip()
        self.note.clear()
        return text

    def _lay_out(self) -> None:
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        head = hbox((self.head, 1), margins=(12, 6, 8, 2))
        self.hint.setContentsMargins(12, 0, 8, 2)
        note = hbox(self.note, margins=(10, 4, 10, 2))
        vbox(head, self.hint, self.given, self.grid, note, parent=self, spacing=0)

    def _show(self) -> None:
        judging = self._judging
        many = judging.many.is_chosen
        self.head.setText(judging.heading)
        restyle(self.head, state="accent" if many else "")
        self.hint.setText(judging.hint)
        self.hint.setVisible(bool(judging.hint))
        self.given.fit()
        if many:
            self.given.hide()
        self.grid.setEnabled(judging.can_judge)
        self.note.setEnabled(judging.can_judge)

    def _on_opened(self) -> None:
        """Leave nothing of the last run lit; a note that was typed and not used waits for its run."""
        run = self._model.run
        self.grid.setCurrentIndex(QModelIndex())
        self.given.selectionModel().clear()
        if run != self._run:
            self._notes[self._run] = self.note.text()
            self._run = run
            self.note.setText(self._notes.pop(run, ""))

    def _on_verdict(self, index: QModelIndex) -> None:
        self._judging.judge(index.row(), self.take_note())

    def _on_given(self, index: QModelIndex) -> None:
        verdict = self._judging.given.at(index.row())
        if verdict is not None and verdict.step is not None:
            self._model.show_step(verdict.step)

    def _on_note(self) -> None:
        text = self.note.text().strip()
        if text:
            self._judging.annotate(text)
        if self._judging.newest is not None:
            self.note.clear()
            self.grid.setFocus()


class GivenList(FittedList):
    """The verdicts in force; Delete withdraws the chosen one."""

    def __init__(self, judging: JudgingModel, theme: Theme) -> None:
        self._judging = judging
        super().__init__(theme, self._describe, "", GIVEN, most=MOST_GIVEN)
        self.setAccessibleName(self.tr("Verdicts on this run; Enter goes to the step, Delete withdraws"))
        self.setModel(judging.given)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        verdict = self._judging.given.at(self.currentIndex().row())
        if event.key() == Qt.Key.Key_Delete and verdict is not None:
            self._judging.withdraw(verdict.id)
            return
        super().keyPressEvent(event)

    def _describe(self, verdict: Verdict) -> RowContent:
        return given_row(verdict, self._judging.given.details(verdict))


class VerdictGrid(RowList):
    """All labels, whole, read downwards in the order of the keys: in two columns, smaller or in one if need be.

    It has the focus by Tab only: a click gives the verdict, and the keys stay where they were.
    """

    def __init__(self, theme: Theme, name: str) -> None:
        self._theme = theme
        self._is_small = False
        super().__init__(theme, self._describe, name, VERDICT)
        self.setUniformItemSizes(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setWrapping(True)
        self.setFlow(QListView.Flow.TopToBottom)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme.changed.connect(self._fit)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()
        super().resizeEvent(event)

    def _describe(self, choice: VerdictChoice) -> RowContent:
        return verdict_row(choice, is_small=self._is_small)

    def _needed(self, *, is_small: bool) -> int:
        metrics = QFontMetrics(self._theme.font("secondary" if is_small else "base"))
        px = self._theme.px
        widths = (
            metrics.horizontalAdvance(label.value) + px(key_width(label_keys(place)))
            for place, label in enumerate(LABELS)
        )
        return max(widths) + px(BESIDE)

    def _fit(self) -> None:
        half = self.width() // 2 - 1
        self._is_small = self._needed(is_small=False) > half
        columns = 2 if self._needed(is_small=self._is_small) <= half else 1
        if columns == 1:
            self._is_small = self._needed(is_small=False) > self.width()
        row = self._theme.px(VERDICT.height)
        self.setFixedHeight(row * -(-len(LABELS) // columns) + 2)
        self.setGridSize(QSize(max(self.width() // columns - 1, 60), row))
