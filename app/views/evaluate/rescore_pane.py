"""Stored runs scored again: suite, dialect and runs above, the runs with their agreement below."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QWidget,
)

from app.models.evaluate.evaluation_form import DIALECTS
from app.models.evaluate.rescoring_model import AGREEMENTS, RescoringModel
from app.views.evaluate.rows import CHECK, check_row, rescored_cell
from app.views.evaluate.single_row_table import FilterChips, SingleRowTable
from app.views.widgets import EmptyState
from app.views.widgets.build import ground, hbox, styled, text_label, vbox
from app.views.widgets.command_button import show_command
from app.views.widgets.rows import RowList

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.views.frame.theme import Theme

WIDTHS = {
    "agreement": 116,
    "task": 56,
    "site": 108,
    "recorded": 72,
    "score": 52,
    "evaluators": 124,
    "run": 150,
}
SHRINKING = ("run", "evaluators", "site")


class RescorePane(QWidget):
    """``run_wanted(run)`` asks to show a run in Review."""

    run_wanted = Signal(str)

    def __init__(self, model: RescoringModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center = model, center
        self._dialog: QFileDialog | None = None
        ground(self)
        self.suite, self.dialect, self.folder = QComboBox(), QComboBox(), QLineEdit()
        self.judge = QCheckBox(self.tr("ask the judge model"))
        self.choose, self.start = QPushButton(self.tr("Choose…")), styled(QPushButton(), "primary")
        self.close_button = styled(QPushButton(self.tr("Close  Esc")), "link")
        self.summary, self.error = text_label(wrap=True), text_label(kind="fail", wrap=True)
        titles = {"": self.tr("All")} | {name: self.tr(name.capitalize()) for name in AGREEMENTS}
        self.chips = FilterChips(titles, model.show_only, center)
        self.table = SingleRowTable(
            model.table, theme, rescored_cell, self.tr("Rescored runs"),
            widths=WIDTHS, least=180, shrinking=SHRINKING,
        )  # fmt: skip
        self._empty = EmptyState("", "")
        self._lay_out()
        self._connect()
        self._dress()
        self._show()

    def begin(self) -> None:
        self.suite.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def take_focus(self) -> None:
        shown = self._stack.currentWidget() is self.table
        (self.table if shown else self.suite).setFocus(Qt.FocusReason.OtherFocusReason)

    def _lay_out(self) -> None:
        title = text_label(self.tr("Rescore stored runs"), "heading")
        head = hbox((title, 1), self.close_button, margins=(16, 8, 12, 0))
        top = hbox(
            QLabel(self.tr("Suite")),
            (self.suite, 3),
            QLabel(self.tr("Dialect")),
            (self.dialect, 2),
            spacing=8,
        )
        runs = hbox(QLabel(self.tr("Runs")), (self.folder, 1), self.choose, self.judge, self.start, spacing=8)
        fields = vbox(top, runs, self.error, self.summary, margins=(16, 6, 12, 4), spacing=8)
        chips = hbox((self.chips, 1), margins=(14, 0, 12, 6))
        self._stack = QStackedWidget()
        for face in (self.table, self._empty):
            self._stack.addWidget(face)
        vbox(head, fields, chips, (self._stack, 1), parent=self, spacing=0)

    def _connect(self) -> None:
        model = self._model
        self.suite.activated.connect(partial(self._on_choice, "suite", self.suite))
        self.dialect.activated.connect(partial(self._on_choice, "dialect", self.dialect))
        self.folder.textEdited.connect(partial(model.choose, "folder"))
        self.judge.toggled.connect(partial(model.choose, "judge"))
        self.choose.clicked.connect(self._choose_folder)
        self.start.clicked.connect(lambda: self._center.trigger("evaluate.start"))
        self.close_button.clicked.connect(lambda: self._center.trigger("evaluate.back"))
        self.table.picked.connect(model.select)
        self.table.opened.connect(self.run_wanted)
        model.changed.connect(self._show)
        self._center.keys_changed.connect(self._dress)
        for widget, name in (
            (self.suite, self.tr("Suite whose tasks the runs are scored by")),
            (self.dialect, self.tr("Dialect of the evaluators")),
            (self.folder, self.tr("Folder of runs; empty: the stored runs of the suite")),
            (self.judge, self.tr("Ask the judge model about fuzzy answers; without it they are undecided")),
            (self.choose, self.tr("Choose a folder of runs")),
            (self.close_button, self.tr("Close; the result is kept")),
        ):
            widget.setAccessibleName(name)
            widget.setToolTip(name)
        for box in (self.suite, self.dialect):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(8)
        self.folder.setPlaceholderText(self.tr("all stored ones"))

    def _show(self) -> None:
        model = self._model
        _follow(self.suite, [(name, name) for name in model.suites], model.suite)
        _follow(
            self.dialect, [(name, name or self.tr("the suite's own")) for name in DIALECTS], model.dialect
        )
        if self.folder.text() != model.folder:
            with QSignalBlocker(self.folder):
                self.folder.setText(model.folder)
        self.start.setEnabled(not model.is_busy)
        self.error.setText(model.error)
        self.error.setVisible(bool(model.error))
        self.summary.setText(self.tr("Scoring the runs…") if model.is_busy else model.summary)
        self.summary.setVisible(bool(self.summary.text()))
        self.chips.show_counts(model.table.counts, model.table.agreement)
        self.chips.setVisible(model.table.total > 0)
        self._stack.setCurrentIndex(0 if model.table.rowCount() else 1)
        if model.table.total:
            self._empty.set(self.tr("No such runs"), self.tr("Choose another kind above."))
        elif model.is_busy:
            self._empty.set(self.tr("Scoring the runs…"), "")
        else:
            self._empty.set(
                self.tr("Would these runs score the same today?"),
                self.tr(
                    "Choose a suite and a dialect; {0} scores its stored runs again, without their sites."
                ).format(self._center.keys("evaluate.start") or self.tr("Rescore")),
            )
        self.table.show_key(model.run or None)

    def _choose_folder(self) -> None:
        dialog = QFileDialog(self.window(), self.tr("Folder of runs"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setDirectory(self._model.folder or str(Path.home()))
        dialog.fileSelected.connect(partial(self._model.choose, "folder"))
        dialog.finished.connect(dialog.deleteLater)
        self._dialog = dialog
        dialog.open()

    def _on_choice(self, name: str, box: QComboBox, place: int) -> None:
        self._model.choose(name, str(box.itemData(place) or ""))

    def _dress(self) -> None:
        show_command(self.start, self._center, "evaluate.start", self.tr("Rescore"))
        self.start.setAccessibleName(self.tr("Rescore the runs"))


class CheckPane(QWidget):
    """The right column: the comparisons of the current run, with what was expected and found."""

    def __init__(self, model: RescoringModel, theme: Theme) -> None:
        super().__init__()
        self._model = model
        ground(self)
        self.title, self.why = text_label(kind="heading", wrap=True), text_label(wrap=True)
        self.list = RowList(theme, check_row, self.tr("Comparisons of the run"), CHECK)
        self.list.setModel(model.checks)
        vbox(self.title, self.why, (self.list, 1), parent=self, margins=(14, 10, 12, 12), spacing=6)
        model.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        row = self._model.table.values.get(self._model.run)
        self.title.setText(
            self.tr("Task {0}: {1}").format(row.task, self.tr(row.verdict))
            if row is not None
            else self.tr("Why a score is what it is")
        )
        self.why.setText(
            (row.why[:2000] or self.tr("All checks hold."))
            if row is not None
            else self.tr("The comparisons of the chosen run stand here.")
        )
        self.list.setVisible(row is not None)


def _follow(box: QComboBox, items: list[tuple[str, str]], chosen: str) -> None:
    with QSignalBlocker(box):
        if [(box.itemData(place), box.itemText(place)) for place in range(box.count())] != items:
            box.clear()
            for value, title in items:
                box.addItem(title, value)
        box.setCurrentIndex(max(0, box.findData(chosen)))
