"""The form that starts a batch: a file with its tasks, the sites it needs, options, budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QLabel, QListView, QPushButton

from app.models.live.batch_form import BatchFormModel
from app.views.live.run_options import EXAMPLE, RunOptionsForm
from app.views.live.site_addresses import SiteAddressFields
from app.views.widgets.build import styled, text_label
from app.views.widgets.form_panel import FormField

if TYPE_CHECKING:
    from app.views.frame.theme import Theme


class BatchForm(RunOptionsForm[BatchFormModel]):
    """The usual fields first, the others folded.  ``closed``: it was closed, or the batch was started."""

    wide = 460
    """Pixels at 100 % text size."""

    def __init__(self, model: BatchFormModel, theme: Theme) -> None:
        super().__init__(model, (
            FormField(name="path", label=self.tr("File"), files=self.tr("Tasks (*.txt *.json *.jsonl)"),
                      meaning=self.tr("one task per line, or objects with intent and start_url (.json, .jsonl)")),
            FormField(name="name", label=self.tr("Name"), meaning=self.tr("of the batch")),
            FormField(name="start_url", label=self.tr("Start address"), meaning=self.tr("for tasks without one"),
                      placeholder=EXAMPLE),
            FormField(name="at_once", label=self.tr("Parallel runs"),
                      meaning=self.tr("not counting those that wait for you; empty: as in the settings")),
            FormField(name="batch_money", label=self.tr("Budget, $"),
                      meaning=self.tr("US dollars for the whole batch; empty: no limit")),
            FormField(name="batch_tokens", label=self.tr("Budget, tokens"),
                      meaning=self.tr("for the whole batch; empty: no limit")),
            *self.option_fields(),
        ))  # fmt: skip
        self._theme = theme
        self.count, self.own = (
            text_label(kind="secondary", wrap=True),
            text_label(kind="secondary", wrap=True),
        )
        self.obstacle, self.summary = text_label(kind="warn", wrap=True), text_label(wrap=True)
        self.leave_out = styled(QPushButton(), "link")
        self.leave_out.clicked.connect(model.leave_out_unready)
        self.tasks = QListView()
        self._leave_keys = ""
        self._lay_out()
        self.tasks.activated.connect(self.submit)
        self.tasks.selectionModel().selectionChanged.connect(self._on_selected)
        model.list.modelReset.connect(self._on_selected)
        model.sent.connect(self.closed)
        theme.changed.connect(self._fit)
        self._fit()
        self.refresh()

    def _lay_out(self) -> None:
        self.add_fields("path", "name")
        self.tasks.setModel(self.form.list)
        self.tasks.setUniformItemSizes(True)
        self.tasks.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.tasks.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tasks.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.tasks.setAccessibleName(self.tr("Tasks of the file; select some to start only those"))
        self.add_row(self.tasks, wide=True)
        self._tasks_row = self.grid.rowCount() - 1
        self.addresses = SiteAddressFields(self.form.addresses, self.tasks)
        self.grid.addWidget(self.addresses, self.grid.rowCount(), 0, 1, 2)
        self.add_fields("start_url")
        self.add_policy()
        self.add_fields("at_once", "batch_money", "batch_tokens")
        self.begin_section(self.tr("More options"))
        self.add_graph()
        self.add_fields("kb", "max_steps")
        self.add_run_budget()
        self.add_fields("storage_state")
        self.add_reach()
        self.add_headed()
        self.end_section()
        self._order.append(self.leave_out)
        self.frame(
            self.tr("Start a batch"), self.count, self.own, self.obstacle, self.leave_out, self.summary
        )

    def begin(self) -> None:
        """Focus the first field to fill."""
        self.form.load()
        self.start_over()
        wanted = self.fields["path"]
        wanted.setFocus(Qt.FocusReason.ShortcutFocusReason)
        wanted.selectAll()

    @property
    def chosen(self) -> list[int]:
        """Numbers of the selected tasks; none means all."""
        rows = self.tasks.selectionModel().selectedRows()
        return sorted(self.form.list.rows[index.row()].number for index in rows)

    def run_action(self) -> bool:
        return self.form.start()

    def show_leave_out_keys(self, keys: str) -> None:
        """Name the shortcut that leaves out what can't be run."""
        self._leave_keys = keys
        self.refresh()

    def refresh(self) -> None:
        super().refresh()
        form = self.form
        count, chosen = len(form.list.rows), len(form.chosen)
        self.tasks.setVisible(count > 0)
        self.grid.setRowStretch(self._tasks_row, 10 if count else 0)
        self.addresses.refresh()
        self._say_below(self.count, self._count_words(count, chosen))
        self._say_below(self.own, form.own_words if count else "")
        self._say_below(self.obstacle, form.obstacle)
        self._say_below(self.summary, form.summary)
        unready = len(form.unready)
        self.leave_out.setVisible(unready > 0)
        words = (
            self.tr("Take them in again") if form.list.leave_out
            else self.tr("Leave it out") if unready == 1
            else self.tr("Leave these {0} out").format(unready)
        )  # fmt: skip
        self.leave_out.setText(f"{words}   {self._leave_keys}" if self._leave_keys else words)
        self.leave_out.setAccessibleName(words)
        wanted = 0 if form.obstacle else len(form.wanted)
        self.start.setEnabled(not form.obstacle and not form.is_sending)
        word = self.tr("Start {0} runs").format(wanted) if wanted > 1 else self.tr("Start 1 run")
        self.start.setAccessibleName(word if wanted else self.tr("Start"))
        self.start.setText(f"{self.start.accessibleName()}   Enter")

    def _count_words(self, count: int, chosen: int) -> str:
        form = self.form
        left = self.tr(" {0} left out.").format(len(form.unready)) if form.list.leave_out else ""
        if form.is_reading:
            return self.tr("Reading the file…")
        if form.is_sending:
            return self.tr("Starting…")
        if chosen:
            return self.tr("{0} of {1} tasks selected.").format(chosen, count) + left
        if count > 1:
            return self.tr("{0} tasks; select some to start only those.").format(count) + left
        return (self.tr("1 task.") if count else "") + left

    def _say_below(self, label: QLabel, text: str) -> None:
        label.setText(text)
        label.setVisible(bool(text))

    def _on_selected(self, *_event: object) -> None:
        self.form.choose_tasks(self.chosen)

    def _fit(self) -> None:
        self.tasks.setMinimumHeight(self._theme.px(120))
