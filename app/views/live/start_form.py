"""The forms that start runs from Live: one task, or a file of tasks; non-modal."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QLabel,
    QLineEdit,
    QListView,
    QPushButton,
    QWidget,
)

from app.views.live.run_form import RunForm
from app.views.widgets.form_panel import FormPanel, say

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.live.start_form import LiveRunFormModel, TaskFileModel
    from app.views.frame.theme import Theme

FIELDS = ("path", "start_url", "at_once")


class LiveRunForm(RunForm):
    """The form of one run, which says when it repeats an earlier run's task."""

    def __init__(self, model: LiveRunFormModel, center: CommandCenter, theme: Theme) -> None:
        self._starting = model
        super().__init__(model, center, theme)
        model.sent.connect(self.closed)
        model.taken.connect(self._on_taken)

    def _on_taken(self) -> None:
        """Focus the start button: the task arrived after the form was opened."""
        if self.intent.hasFocus():
            self.begin()

    def _show(self) -> None:
        super()._show()
        again = self._starting.is_again
        self.going.setText(
            self.tr("An earlier run's task once more, with the tips as they are now.") if again else ""
        )
        self.going.setVisible(again)


class TaskFileForm(FormPanel):
    """File, start address, concurrency; below, the tasks of the file."""

    def __init__(self, model: TaskFileModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        self._dialog: QFileDialog | None = None
        self._asked = False
        self.setAccessibleName(self.tr("Start runs from a task file"))
        self.fields = {name: QLineEdit() for name in FIELDS}
        self.says = {name: QLabel() for name in FIELDS}
        self.choose = QPushButton()
        self.count = QLabel()
        self.tasks = QListView()
        self._words = {
            "path": (
                self.tr("File"),
                self.tr("one task a line, or objects with intent and start_url (.json, .jsonl)"),
            ),
            "start_url": (self.tr("Begin at"), self.tr("an address for tasks that don't say")),
            "at_once": (
                self.tr("At once"),
                self.tr("parallel runs, without those that wait for you (empty: unchanged)"),
            ),
        }
        self._lay_out()
        self._connect()
        self._dress()
        self._show()

    def begin(self) -> None:
        """Focus the first field with a problem."""
        self._asked = False
        self._show()
        wanting = self.fields["at_once" if self._model.list.rows else "path"]
        wanting.setFocus(Qt.FocusReason.ShortcutFocusReason)
        wanting.selectAll()

    @property
    def chosen(self) -> list[int]:
        """Numbers of the selected tasks; none means all."""
        rows = self.tasks.selectionModel().selectedRows()
        return sorted(self._model.list.rows[index.row()].number for index in rows)

    def _lay_out(self) -> None:
        row = 0
        for name in FIELDS:
            beside = self.choose if name == "path" else None
            row = self.add_field(row, self._words[name][0], self.fields[name], self.says[name], beside)
        self.tasks.setModel(self._model.list)
        self.tasks.setUniformItemSizes(True)
        self.tasks.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.tasks.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tasks.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.tasks.setAccessibleName(self.tr("Tasks of the file; pick some out to start only those"))
        self.count.setProperty("kind", "secondary")
        self.count.setWordWrap(True)
        self.count.setTextFormat(Qt.TextFormat.PlainText)
        self.grid.addWidget(self.tasks, row, 0, 1, 2)
        self.grid.setRowStretch(row, 10)
        self.frame(self.tr("Runs from a task file"), self.count)
        order = [
            self.fields["path"], self.choose, self.fields["start_url"], self.fields["at_once"], self.tasks, self.start,
            self.close_button,
        ]  # fmt: skip
        for one, other in pairwise(order):
            QWidget.setTabOrder(one, other)

    def _connect(self) -> None:
        model = self._model
        for name, field in self.fields.items():
            field.textEdited.connect(partial(model.set, name))
            field.returnPressed.connect(self._on_start)
        self.choose.clicked.connect(self._on_choose)
        self.start.clicked.connect(self._on_start)
        self.tasks.activated.connect(self._on_start)
        self.tasks.selectionModel().selectionChanged.connect(self._show)
        model.changed.connect(self._show)
        model.sent.connect(self.closed)
        self._center.keys_changed.connect(self._dress)
        self._theme.changed.connect(self._dress)

    def _show(self, *_told: object) -> None:
        model = self._model
        problems = {one.field: one.message for one in model.problems} if self._asked else {}
        for name, field in self.fields.items():
            if field.text() != model.values[name]:
                with QSignalBlocker(field):
                    field.setText(model.values[name])
            say(self.says[name], field, self._words[name][1], problems.get(name, ""))
        self.show_error(model.error)
        count, chosen = len(model.list.rows), len(self.chosen)
        self.tasks.setVisible(count > 0)
        if model.is_reading:
            self.count.setText(self.tr("Reading the file…"))
        elif count:
            self.count.setText(
                self.tr("{0} of {1} tasks picked out").format(chosen, count) if chosen
                else self.tr("1 task") if count == 1
                else self.tr("{0} tasks; pick some out to start only those").format(count)
            )  # fmt: skip
        else:
            self.count.setText("")
        wanted = chosen or count
        if not wanted:
            word = self.tr("Start   Enter")
        else:
            word = (
                self.tr("Start 1 run   Enter")
                if wanted == 1
                else self.tr("Start {0} runs   Enter").format(wanted)
            )
        self.start.setText(word)
        self.start.setAccessibleName(word.partition("   ")[0])

    def _on_start(self, *_told: object) -> None:
        self._asked = True
        if self._model.start(self.chosen):
            return
        self._show()
        problems = self._model.problems
        if problems:
            self.fields[problems[0].field].setFocus(Qt.FocusReason.OtherFocusReason)
            self.bring_into_sight(self.says[problems[0].field])

    def _on_choose(self) -> None:
        dialog = QFileDialog(self.window(), self.choose.accessibleName())
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.tr("Tasks (*.txt *.json *.jsonl)"), self.tr("All files (*)")])
        known = self._model.values["path"]
        dialog.setDirectory(str(Path(known).expanduser().parent if known else Path.home()))
        dialog.fileSelected.connect(partial(self._model.set, "path"))
        dialog.finished.connect(dialog.deleteLater)
        self._dialog = dialog
        dialog.open()

    def _dress(self) -> None:
        for name, field in self.fields.items():
            field.setAccessibleName(f"{self._words[name][0]}: {self._words[name][1]}")
        self.fields["start_url"].setPlaceholderText("http://localhost:8000/")
        self.choose.setText(self.tr("Choose…"))
        self.choose.setAccessibleName(self.tr("Choose the file of tasks"))
        self.close_button.setText(self.tr("Close  Esc"))
        self.close_button.setAccessibleName(self.tr("Close the form; what was typed stays"))
        self.tasks.setMinimumHeight(self._theme.px(120))
