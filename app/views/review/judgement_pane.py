"""The right column of Review: flags, expected outcome, verdicts, note and tips of the open run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QListView,
    QPushButton,
    QSizePolicy,
    QTableView,
    QWidget,
)

from app.views.review.expected_section import ExpectedSection
from app.views.review.rows import FLAG, VERDICT, flag_row, named_text_row, verdict_row
from app.views.widgets.build import divider, ground, hbox, scroll_area, styled, text_label, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.rows import RowList

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.review.review_model import ReviewModel
    from app.views.frame.theme import Theme


class JudgementPane(QWidget):
    """Flags over verdicts over tips, each with a text for "none"."""

    def __init__(self, model: ReviewModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        ground(self)
        self.flags = RowList(
            theme,
            lambda flag: flag_row(flag, model.flags.remark(flag)),
            self.tr("Flags of the run, the worst first"),
            FLAG,
        )
        self.flags.setModel(model.flags)
        self.verdicts = _VerdictGrid(
            theme, self.tr("Verdicts; press a digit to give one, again to withdraw it")
        )
        self.verdicts.setModel(model.verdicts)
        self.note = styled(QLineEdit(), "quiet")
        self.note.setPlaceholderText(
            self.tr("Note on the verdict ({0}, optional)").format(center.keys("review.note"))
        )
        self.note.setAccessibleName(self.tr("Note on the verdict"))
        self.note.setToolTip(self.tr("Saved with the next verdict; Enter adds it to the current one"))
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
        text = self.note.text().strip()
        self.note.clear()
        return text

    def vote(self, vote: int) -> None:
        """Vote on the chosen tip, or on the first one."""
        self._model.tips.vote(self.tips.currentIndex().row(), vote)

    def show_scorecard(self) -> None:
        self._model.load_scores()
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
        verdict = QLabel(self.tr("Verdict"))
        note = hbox(self.note, margins=(10, 4, 10, 8))
        vbox(
            self._head(self.flag_head, self.record),
            self._no_flags,
            (self.flags, 50),
            divider(),
            self.expected,
            (self._time_line, 30),
            self._head(verdict),
            self.verdicts,
            note,
            divider(),
            self._head(self.tip_head),
            self._no_tips,
            (self.tips, 40),
            self._vote_line,
            1,
            parent=inner,
            margins=(0, 6, 0, 0),
            spacing=0,
        )
        foot = hbox((self.write, 1), margins=(10, 8, 10, 8))
        area = scroll_area(inner)  # large text in a low window: scroll, never overlap
        vbox((area, 1), foot, parent=self, spacing=0)

    def _head(self, label: QLabel, *more: QWidget) -> QHBoxLayout:
        label.setProperty("kind", "heading")
        return hbox((label, 1), *more, margins=(12, 4, 8, 4))

    def _connect(self) -> None:
        model = self._model
        self.flags.clicked.connect(self._on_flag)
        self.flags.activated.connect(self._on_flag)
        self.interventions.clicked.connect(self._on_action)
        self.interventions.activated.connect(self._on_action)
        self.verdicts.clicked.connect(self._on_verdict)
        self.verdicts.activated.connect(self._on_verdict)
        self.note.returnPressed.connect(self._on_note)
        model.verdicts_changed.connect(self._show)
        model.run_changed.connect(self._show)
        for changed in (
            model.tips.model.rowsInserted,
            model.tips.model.rowsRemoved,
            model.tips.model.modelReset,
        ):
            changed.connect(self._show)
        self._center.keys_changed.connect(self._show)
        self._theme.changed.connect(self._fit)

    def _show(self) -> None:
        flags, tips = self._model.flags.rowCount(), self._model.tips.model.rowCount()
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
        self.write.setEnabled(opened)
        self.verdicts.setEnabled(opened)
        self.note.setEnabled(opened)
        keys = self._center.keys("tip.compose")
        self.write.setText(self.tr("Write a tip   {0}").format(keys))
        given = next((choice for choice in self._model.verdicts.rows if choice.note), None)
        if given is not None and not self.note.hasFocus() and not self.note.text():
            self.note.setPlaceholderText(given.note)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the lists to their rows: another width wraps them differently."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        for view in (self.flags, self.interventions, self.tips):
            view.setMaximumHeight(max(view.content_height(), self._theme.px(40)))

    def _on_flag(self, index: QModelIndex) -> None:
        flag = self._model.flags.at(index.row())
        if flag is not None:
            self._model.show_step(flag.step)

    def _on_action(self, index: QModelIndex) -> None:
        intervention = self._model.interventions.at(index.row())
        if intervention is not None:
            self._model.show_step(intervention.index)

    def _on_verdict(self, index: QModelIndex) -> None:
        self._model.judge(index.row(), self.take_note())

    def _on_note(self) -> None:
        text = self.note.text().strip()
        if text:
            self._model.annotate(text)
        if self._model.detail is not None and self._model.detail.verdicts:
            self.note.clear()
            self.verdicts.setFocus()


class _VerdictGrid(RowList):
    """All labels in two columns, read downwards in the order of the keys."""

    def __init__(self, theme: Theme, name: str) -> None:
        self._theme = theme
        super().__init__(theme, verdict_row, name, VERDICT)
        self.setUniformItemSizes(True)
        self.setWrapping(True)
        self.setFlow(QListView.Flow.TopToBottom)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme.changed.connect(self._fit)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()
        super().resizeEvent(event)

    def _fit(self) -> None:
        row = self._theme.px(24)
        self.setFixedHeight(row * 8 + 2)
        self.setGridSize(QSize(max(self.width() // 2 - 1, 60), row))


class Scorecard(QFrame):
    """The detector scorecard: precision and recall by people's verdicts, in a popup."""

    def __init__(self, model: ReviewModel, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("kind", "overlay")
        self.setAccessibleName(self.tr("Detector scorecard"))
        self._model = model
        self.table = QTableView()
        self.table.setModel(model.scores)
        self.table.setAccessibleName(self.tr("Precision and recall of each detector and site"))
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        self.table.setSelectionMode(QTableView.SelectionMode.NoSelection)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.fitted = text_label(kind="secondary", wrap=True)
        title = text_label(self.tr("Detector precision"), "heading")
        vbox(title, self.fitted, (self.table, 1), parent=self, margins=(12, 12, 12, 12), spacing=8)
        model.scores.modelReset.connect(self._show)

    def open_at(self, anchor: QWidget) -> None:
        """Open below this widget, at the right edge of the pane."""
        self.resize(500, 420)
        corner = anchor.mapToGlobal(anchor.rect().bottomRight())
        self.move(corner.x() - self.width(), corner.y() + 4)
        self.show()
        self.table.setFocus()

    def _show(self) -> None:
        report = self._model.report
        if report is None:
            return
        self.fitted.setText(report.why)
        self.fitted.setAccessibleName(report.why)


def _quiet(text: str) -> QLabel:
    label = text_label(text, "muted", wrap=True)
    label.setContentsMargins(12, 2, 12, 10)
    return label
