"""The right column of Review: flags, expected outcome, verdicts, note and tips of the open run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QSizePolicy,
    QTableView,
    QWidget,
)

from app.views.review.expected_section import ExpectedSection
from app.views.review.rows import FLAG, flag_row, named_text_row
from app.views.review.verdict_block import VerdictBlock
from app.views.widgets.build import divider, ground, hbox, scroll_area, styled, text_label, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.rows import RowList

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.review.flags import FlagListModel
    from app.models.review.review_model import ReviewModel
    from app.views.frame.theme import Theme


class JudgementPane(QWidget):
    """Flags over verdicts over tips, each with a text for "none"."""

    def __init__(self, model: ReviewModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        ground(self)
        self.flags = FlagList(model.flags, theme)
        self.verdict = VerdictBlock(model, center, theme)
        self.verdicts, self.note = self.verdict.grid, self.verdict.note
        self.expected = ExpectedSection(model.expected, center, theme)
        self.tips = RowList(theme, named_text_row, self.tr("Tips that apply to this step"))
        self.tips.setModel(model.tips.model)
        self.interventions = RowList(theme, named_text_row, self.tr("Interventions during the run"))
        self.interventions.setModel(model.interventions)
        self.flag_head, self.tip_head, self.intervention_head = QLabel(), QLabel(), QLabel()
        self._no_flags = _quiet(self.tr("No detector fired. Nothing suspicious was found in this run."))
        self._no_tips = _quiet(self.tr("No tip applies to this step yet."))
        self.votes = {name: command_link(center, f"review.tip.{name}") for name in ("up", "down")}
        self._vote_line = QWidget()
        self.write = styled(QPushButton(), "primary")
        self.write.clicked.connect(lambda: center.trigger("tip.compose"))
        self.write.setAccessibleName(self.tr("Write a tip from this step"))
        self.record = styled(QPushButton(self.tr("Detector scores")), "link")
        self.record.setToolTip(self.tr("Detector precision ({0})").format(center.keys("review.scorecard")))
        self.record.clicked.connect(lambda: center.trigger("review.scorecard"))
        self.card = Scorecard(model, self)
        self._lay_out()
        self._connect()
        self._show()

    def take_note(self) -> str:
        """Return the note typed for the verdict being given, and clear the field."""
        return self.verdict.take_note()

    def vote(self, vote: int) -> None:
        """Vote on the chosen tip, or on the first one."""
        self._model.tips.vote(self.tips.currentIndex().row(), vote)

    def show_scorecard(self) -> None:
        self._model.judging.load_scores()
        self.card.open_at(self.record)

    def _lay_out(self) -> None:
        inner = styled(QWidget(), "raised")
        self._time_line = QWidget()
        vbox(
            self._head(self.intervention_head),
            self.interventions,
            divider(),
            parent=self._time_line,
            spacing=0,
        )
        self._time_line.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._vote_line.setLayout(FlowLayout(*self.votes.values(), gap=2))
        self._vote_line.setContentsMargins(10, 0, 8, 4)
        vbox(
            self._head(self.flag_head, self.record),
            self._no_flags,
            (self.flags, 50),
            divider(),
            self.expected,
            (self._time_line, 30),
            self._head(self.tip_head),
            self._no_tips,
            (self.tips, 40),
            self._vote_line,
            1,
            parent=inner,
            margins=(0, 6, 0, 0),
            spacing=0,
        )
        foot = hbox((self.write, 1), margins=(10, 6, 10, 8))
        area = scroll_area(inner)  # large text in a low window: scroll, never overlap
        self.pinned = scroll_area(self.verdict)
        vbox((area, 1), divider(), self.pinned, foot, parent=self, spacing=0)

    def _head(self, label: QLabel, *more: QWidget) -> QHBoxLayout:
        label.setProperty("kind", "heading")
        return hbox((label, 1), *more, margins=(12, 4, 8, 4))

    def _connect(self) -> None:
        model = self._model
        self.flags.clicked.connect(self._on_flag)
        self.flags.unfold_wanted.connect(self._unfold)
        self.flags.activated.connect(self._on_flag)
        self.interventions.clicked.connect(self._on_action)
        self.interventions.activated.connect(self._on_action)
        model.verdicts_changed.connect(self._show)
        model.run_changed.connect(self._show)
        model.opened.connect(self._on_opened)
        model.judging.changed.connect(self._fit_verdicts)
        for changed in (
            model.tips.model.rowsInserted,
            model.tips.model.rowsRemoved,
            model.tips.model.modelReset,
        ):
            changed.connect(self._show)
        self._center.keys_changed.connect(self._show)
        self._theme.changed.connect(self._fit)

    def _show(self) -> None:
        flags, tips = self._model.flags.count, self._model.tips.model.rowCount()
        opened = self._model.detail is not None
        self.flag_head.setText(self.tr("Flags ({0})").format(flags) if flags else self.tr("Flags"))
        self.tip_head.setText(self.tr("Tips ({0})").format(tips) if tips else self.tr("Tips"))
        interventions = self._model.interventions.rowCount()
        self.intervention_head.setText(self.tr("Interventions ({0})").format(interventions))
        self._time_line.setVisible(interventions > 0)
        self.flags.setVisible(flags > 0 or not opened)
        self._no_flags.setVisible(not flags and opened)
        self.tips.setVisible(tips > 0 or not opened)
        self._fit()
        self._no_tips.setVisible(not tips and opened)
        self._vote_line.setVisible(tips > 0)
        for name, word in (("up", self.tr("Useful")), ("down", self.tr("Not useful"))):
            show_command(self.votes[name], self._center, f"review.tip.{name}", word)
        self.write.setEnabled(bool(self._model.steps.rows))
        keys = self._center.keys("tip.compose")
        self.write.setText(self.tr("Write a tip   {0}").format(keys))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the lists to their rows: another width wraps them differently."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        for view in (self.flags, self.interventions, self.tips):
            view.setMaximumHeight(max(view.content_height(), self._theme.px(40)))
        self._fit_verdicts()

    def _fit_verdicts(self) -> None:
        """Show the verdicts whole where they leave the flags a third of the column, else let them scroll."""
        wanted = self.verdict.sizeHint().height()
        self.pinned.setFixedHeight(min(wanted, max(self.height() * 2 // 3 - self._theme.px(40), 80)))

    def _on_opened(self) -> None:
        """Leave nothing of the last run lit, and select the flag for which the run opened at its step."""
        self.flags.selectionModel().clear()
        self.tips.selectionModel().clear()
        self.interventions.selectionModel().clear()
        detail = self._model.detail
        if detail is None or not detail.suspect.detector:
            return
        row = self._model.flags.reveal(detail.suspect.detector, detail.suspect.flag_step)
        if row >= 0:
            self.flags.setCurrentIndex(self._model.flags.index(row))
            self._fit()

    def _unfold(self, row: int, unfolded: bool) -> None:
        group = self._model.flags.unfold(row, unfolded)
        if group >= 0:
            self.flags.setCurrentIndex(self._model.flags.index(group))
        self._fit()

    def _on_flag(self, index: QModelIndex) -> None:
        flag = self._model.flags.at(index.row())
        if flag is not None and flag.group:
            self._unfold(index.row(), not flag.is_unfolded)
        elif flag is not None:
            self._model.show_step(flag.step)

    def _on_action(self, index: QModelIndex) -> None:
        intervention = self._model.interventions.at(index.row())
        if intervention is not None:
            self._model.show_step(intervention.index)


class FlagList(RowList):
    """The flags by detector; Right and Left unfold and fold a group."""

    unfold_wanted = Signal(int, bool)

    def __init__(self, flags: FlagListModel, theme: Theme) -> None:
        super().__init__(theme, lambda line: flag_row(line, flags.remark(line)), "", FLAG)
        self.setAccessibleName(self.tr("Flags of the run, the worst first"))
        self.setModel(flags)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Unfold and fold by the arrow keys, as a tree does."""
        key, row = event.key(), self.currentIndex().row()
        if key in (Qt.Key.Key_Right, Qt.Key.Key_Left) and row >= 0:
            forward = self.layoutDirection() is Qt.LayoutDirection.LeftToRight
            self.unfold_wanted.emit(row, (key == Qt.Key.Key_Right) is forward)
            return
        super().keyPressEvent(event)


class Scorecard(QFrame):
    """The detector scorecard: precision and recall by people's verdicts, in a popup."""

    def __init__(self, model: ReviewModel, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("kind", "overlay")
        self.setAccessibleName(self.tr("Detector scorecard"))
        self._model = model
        self.table = QTableView()
        self.table.setModel(model.judging.scores)
        self.table.setAccessibleName(self.tr("Precision and recall of each detector and site"))
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        self.table.setSelectionMode(QTableView.SelectionMode.NoSelection)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.fitted = text_label(kind="secondary", wrap=True)
        title = text_label(self.tr("Detector precision"), "heading")
        vbox(title, self.fitted, (self.table, 1), parent=self, margins=(12, 12, 12, 12), spacing=8)
        model.judging.scores.modelReset.connect(self._show)

    def open_at(self, anchor: QWidget) -> None:
        """Open below this widget, at the right edge of the pane."""
        self.resize(500, 420)
        corner = anchor.mapToGlobal(anchor.rect().bottomRight())
        self.move(corner.x() - self.width(), corner.y() + 4)
        self.show()
        self.table.setFocus()

    def _show(self) -> None:
        report = self._model.judging.report
        if report is None:
            return
        self.fitted.setText(report.why)
        self.fitted.setAccessibleName(report.why)


def _quiet(text: str) -> QLabel:
    label = text_label(text, "muted", wrap=True)
    label.setContentsMargins(12, 2, 12, 10)
    return label
