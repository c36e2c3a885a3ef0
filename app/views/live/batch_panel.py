"""The batches: a list, and below it the chosen one with its progress, options, actions and tasks."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QButtonGroup,
    QFileDialog,
    QPushButton,
    QStackedWidget,
    QTableView,
    QWidget,
)

from app.models.live.batch_list import (
    BatchPart,
    BatchState,
    TaskState,
    options_words,
    part_words,
    time_left_words,
)
from app.models.live.batch_words import progress_words, reason_words, spent_words
from app.views.live.batch_limits import BatchLimitsForm
from app.views.live.batch_marks import (
    BATCH,
    BATCH_ROLES,
    TASK_MARKS,
    BatchBar,
    BatchDelegate,
    batch_row,
    task_cell,
)
from app.views.widgets import ElidedLabel, EmptyState
from app.views.widgets.build import Panel, ground, hbox, restyle, scroll_area, styled, text_label, vbox
from app.views.widgets.command_button import CommandButton, show_command
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.key_kinds import is_plain
from app.views.widgets.rows import FittedList
from app.views.widgets.tables import ColumnTable

if TYPE_CHECKING:
    from app.engine.core.batch import BatchRow
    from app.models.common.commands import CommandCenter
    from app.models.live.batch_list import BatchesModel
    from app.views.frame.theme import Theme

MOST_BATCHES = 3
"""Batches listed without scrolling."""


class BatchPanel(Panel):
    """``closed``: it should be hidden."""

    closed = Signal()
    wide = 640
    """Pixels at 100 % text size."""

    def __init__(self, model: BatchesModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        self._marking = False
        self._dialog: QFileDialog | None = None
        ground(self)
        self.setAccessibleName(self.tr("Batches"))
        self.close_button = styled(QPushButton(self.tr("Close  Esc")), "link")
        self.close_button.setAccessibleName(self.tr("Close the batches"))
        self.new = CommandButton("live.tasks", center, theme, self.tr("New batch…"))
        self.list = FittedList(
            theme, batch_row, self.tr("Batches, the newest first"), BATCH, most=MOST_BATCHES
        )
        self.list.setItemDelegate(BatchDelegate(theme, self.list))
        self.list.setModel(model.list)
        self.list.setUniformItemSizes(True)
        self.empty = EmptyState(
            self.tr("No batches"),
            self.tr("The tasks of a file become a batch: its runs share a budget, and you pause, stop or retry"
                    " them together."),
            "live.tasks", center,
        )  # fmt: skip
        self.error = EmptyState(self.tr("The batches can't be shown"), "")
        self.loading = EmptyState(self.tr("Loading batches…"), "")
        self.shown = ShownBatch(model, center, theme)
        self._lay_out()
        self._bind()
        self._connect()
        self._show()

    def begin(self) -> None:
        """Focus the list of batches, or what stands in its place."""
        self._model.load()
        first = self.list if self._model.list.rows else self.empty.button
        first.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> bool:
        """Close the form of the limits; False where it is not open."""
        if not self._model.limits.batch:
            return False
        self._model.limits.close()
        return True

    def _focus_list(self) -> None:
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def event(self, event: QEvent) -> bool:
        """Keep plain keys from the runs beside the panel."""
        if is_plain(event):
            event.accept()
            return True
        return super().event(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._model.set_shown(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._model.set_shown(False)

    # ------------------------------------------------------------ layout
    def _lay_out(self) -> None:
        heading = text_label(self.tr("Batches"), "heading")
        head = hbox((heading, 1), self.new, self.close_button, margins=(14, 8, 12, 6), spacing=8)
        there = styled(QWidget(), "raised")
        vbox(self.list, (self.shown, 1), parent=there, spacing=0)
        self.faces = QStackedWidget()
        for face in (scroll_area(there), self.empty, self.error, self.loading):
            self.faces.addWidget(face)
        vbox(head, (self.faces, 1), parent=self, spacing=0)

    def _bind(self) -> None:
        model, bind = self._model, self._center.bind
        bind("live.batch.pause", model.toggle_pause, lambda: model.can_pause or model.can_resume)
        bind("live.batch.stop", model.stop, lambda: model.can_stop)
        bind("live.batch.retry", model.retry, lambda: model.can_retry)
        bind("live.batch.limits", self.change_limits, lambda: model.row is not None)
        bind("live.batch.export", self.choose_folder, lambda: model.can_export)
        bind("live.batch.wall", model.show_on_wall, lambda: model.row is not None)
        bind("live.batch.dismiss", model.dismiss, lambda: model.can_dismiss)

    def _connect(self) -> None:
        model = self._model
        self.shown.limits.let_go.connect(self._focus_list)
        self.close_button.clicked.connect(self.closed)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self.list.activated.connect(lambda: self.shown.tasks.setFocus(Qt.FocusReason.OtherFocusReason))
        for signal in (model.list.rowsInserted, model.list.rowsRemoved, model.list.modelReset):
            signal.connect(self.list.fit)
        model.changed.connect(self._show)
        self._center.keys_changed.connect(self._show)

    # ------------------------------------------------------------ actions
    def change_limits(self) -> None:
        """Open the form of the limits and focus its first field."""
        self._model.change_limits()
        self.shown.limits.begin()

    def choose_folder(self) -> None:
        """Let the person choose a folder, then export the batch into it."""
        dialog = QFileDialog(self.window(), self.tr("Export the batch into a folder"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setDirectory(str(Path.home()))
        dialog.fileSelected.connect(self._model.export)
        dialog.finished.connect(dialog.deleteLater)
        self._dialog = dialog
        dialog.open()

    # ------------------------------------------------------------ what is shown
    def _show(self) -> None:
        model = self._model
        held = self.isAncestorOf(QApplication.focusWidget() or self.window())
        self.error.set(self.tr("The batches can't be shown"), model.error)
        face = 0 if model.list.rows else 2 if model.error else 1 if model.is_loaded else 3
        if self.faces.currentIndex() != face:
            self.faces.setCurrentIndex(face)
            if held:
                self.begin() if face == 0 else self.setFocus()
        row = model.list.row_of(model.current)
        selection = self.list.selectionModel()
        self._marking = True
        if row >= 0 and selection.currentIndex().row() != row:
            index = model.list.index(row)
            selection.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            self.list.scrollTo(index)
        self._marking = False
        self.shown.refresh()
        self._center.refresh()

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        row = self._model.list.at(current.row()) if current.isValid() else None
        if row is not None and not self._marking:
            self._model.select(row.id)


class ShownBatch(QWidget):
    """The chosen batch."""

    def __init__(self, model: BatchesModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center = model, center
        self.name, self.state = text_label(kind="title", wrap=True), text_label()
        self.words = text_label(wrap=True)
        self.left = text_label(kind="secondary")
        self.options = styled(ElidedLabel(), "secondary")
        self.why, self.export = text_label(kind="warn", wrap=True), text_label(kind="secondary", wrap=True)
        self.raise_budget = styled(QPushButton(), "primary")
        self.raise_budget.clicked.connect(lambda: center.trigger("live.batch.limits"))
        self.bar = BatchBar(theme)
        self.limits = BatchLimitsForm(model.limits)
        self.buttons = {
            command: CommandButton(command, center, theme, word, others=others)
            for command, word, others in (
                ("live.batch.pause", self.tr("Pause"), (("live.batch.pause", self.tr("Resume")),)),
                ("live.batch.stop", self.tr("Stop"), ()),
                ("live.batch.retry", self.tr("Retry failed"), ()),
                ("live.batch.limits", self.tr("Budget…"), ()),
                ("live.batch.export", self.tr("Export…"), ()),
                ("live.batch.wall", self.tr("On the wall"), ()),
                ("live.batch.dismiss", self.tr("Dismiss"), ()),
            )
        }
        self.filters = {state: self._filter_button(state, theme) for state in (None, *TaskState)}
        self.tasks = TaskTable(model, theme)
        self.tasks.setMinimumHeight(theme.px(130))
        self._lay_out()
        model.tasks_changed.connect(self._show_filters)

    def _filter_button(self, state: TaskState | None, theme: Theme) -> QPushButton:
        button = QPushButton()
        button.setCheckable(True)
        button.setProperty("kind", "filter")
        if state is not None:
            button.setIcon(theme.icon(*TASK_MARKS[state]))
        button.clicked.connect(partial(self._choose, state))
        return button

    def _lay_out(self) -> None:
        self.action_row, filters = QWidget(), QWidget()
        FlowLayout(*self.buttons.values(), parent=self.action_row, gap=6)
        FlowLayout(*self.filters.values(), parent=filters, gap=4)
        filters.setAccessibleName(self.tr("Tasks by state"))
        group = QButtonGroup(self)
        for button in self.filters.values():
            group.addButton(button)
        top = vbox(
            hbox((self.name, 1), self.state, spacing=8),
            self.bar,
            hbox((self.words, 1), self.left, spacing=8),
            self.why,
            hbox(self.raise_budget, 1),
            self.options,
            self.action_row,
            self.limits,
            self.export,
            filters,
            margins=(14, 10, 12, 6),
            spacing=6,
        )
        vbox(top, (self.tasks, 1), parent=self, spacing=0)

    def refresh(self) -> None:
        """Show the chosen batch as it stands."""
        model, row = self._model, self._model.row
        self.setVisible(row is not None)
        if row is None:
            return
        self.name.setText(row.name)
        stopping = self.tr("stopping in a moment")
        self.state.setText(stopping if model.is_stopping(row) else self.tr(row.state.value))
        restyle(self.state, kind=BATCH_ROLES[row.state])
        self.bar.show_row(row)
        self.words.setText(progress_words(row))
        self.left.setText(time_left_words(row))
        self._show_why(row)
        self.options.setText(options_words(row))
        self.export.setText(model.export_words)
        self.export.setVisible(bool(model.export_words))
        resumes = model.can_resume and not model.can_pause
        self.buttons["live.batch.pause"].show_as(
            "live.batch.pause",
            self.tr("Resume") if resumes else self.tr("Pause"),
            "play" if resumes else "pause",
        )
        self.buttons["live.batch.dismiss"].setVisible(model.can_dismiss)
        self.action_row.setVisible(not model.limits.batch)
        self.limits.refresh()
        self._show_filters()

    def _show_why(self, row: BatchRow) -> None:
        is_out = row.state is BatchState.OUT_OF_BUDGET
        why = reason_words(row)
        if is_out and not why:
            why = self.tr(
                "The budget is spent ({0}); {1} of {2} tasks have ended. No further run is started."
            )
            why = why.format(spent_words(row), row.ended, row.total)
        self.why.setText(why)
        self.why.setVisible(bool(why))
        self.raise_budget.setVisible(is_out and not self._model.limits.batch)
        show_command(self.raise_budget, self._center, "live.batch.limits", self.tr("Raise the budget…"))

    def _show_filters(self) -> None:
        row, table = self._model.row, self._model.table
        if row is None:
            return
        counts = {
            TaskState.WAITING: row.waiting, TaskState.ACTIVE: row.active, TaskState.NEEDS_PERSON: row.needy,
            TaskState.ANSWERED: row.answered, TaskState.FAILED: row.failed, TaskState.STOPPED: row.stopped,
        }  # fmt: skip
        for state, button in self.filters.items():
            count = row.total if state is None else counts[state]
            words = self.tr("All {0}").format(count) if state is None else part_words(BatchPart(state, count))
            button.setText(words)
            button.setAccessibleName(self.tr("Show the tasks: {0}").format(words))
            button.setChecked(table.state is state)
            button.setVisible(state is None or count > 0 or table.state is state)

    def _choose(self, state: TaskState | None, _checked: bool = False) -> None:
        self._model.table.show_state(state)
        self._show_filters()


class TaskTable(ColumnTable):
    """The tasks of the chosen batch; Enter or a double click opens a task's run."""

    def __init__(self, model: BatchesModel, theme: Theme) -> None:
        super().__init__(
            model.table,
            theme,
            task_cell,
            widths={"number": 46, "state": 108, "outcome": 190},
            least=150,
            shrinking=("outcome",),
        )
        self._batches = model
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.show_sort()
        self.setSortingEnabled(True)
        self.setAccessibleName(self.tr("Tasks of the batch"))
        self.doubleClicked.connect(self._open)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open()
        else:
            super().keyPressEvent(event)

    def _open(self, *_where: object) -> None:
        task = self._batches.table.at(self.currentIndex().row())
        if task is not None:
            self._batches.open_task(task.number)
