"""The forms that start runs: one task, or the tasks of a file."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QCheckBox, QComboBox, QListView

from app.models.live.run_form import RunFormModel
from app.models.live.task_file_form import TaskFileModel
from app.views.live.model_options import ModelOptions
from app.views.widgets.build import text_label
from app.views.widgets.form_panel import FormField, FormPanel, RadioOption, check

if TYPE_CHECKING:
    from app.views.frame.theme import Theme

EXAMPLE = "http://localhost:8000/"


class RunForm(FormPanel[RunFormModel]):
    """One task.  ``closed``: it was closed, or the run was started."""

    def __init__(self, model: RunFormModel, theme: Theme) -> None:
        super().__init__(model, (
            FormField(name="intent", label=self.tr("Task"), is_long=True, meaning=self.tr(
                "in words; write a password as {secret:NAME} and set SITELORE_SECRET_NAME")),
            FormField(name="start_url", label=self.tr("Start address"), meaning=self.tr("where the task starts"),
                      placeholder=EXAMPLE),
            FormField(name="kb", label=self.tr("Tips"), meaning=self.tr("live, none, or the path of a frozen file")),
            FormField(name="max_steps", label=self.tr("Steps"), meaning=self.tr("maximum number")),
            FormField(name="storage_state", label=self.tr("Log-in"),
                      meaning=self.tr("a saved log-in; empty: the one stored for the site, if any")),
        ))  # fmt: skip
        self._theme = theme
        self.graph = QComboBox()
        self.headed = QCheckBox(self.tr("show the browser"))
        self.going = text_label(kind="secondary", wrap=True)
        self.add_fields("intent", "start_url")
        self.intent = self.texts["intent"]
        self.policies = self.add_choices(self.tr("Policy"), (
            RadioOption(value="scout", label="scout",
                   meaning=self.tr("no model, no tokens: follows names, tips and the graph")),
            RadioOption(value="llm", label="llm", meaning=self.tr("the model in the settings")),
        ), partial(model.choose, "policy"))  # fmt: skip
        self.model_options = ModelOptions(model)
        self.grid.addWidget(self.model_options, self.grid.rowCount(), 0, 1, 2)
        self._order += self.model_options.fields
        self.add_row(self.graph, self.tr("Graph"))
        self.graph.setAccessibleName(self.tr("Graph used for navigation"))
        self.add_fields("kb", "max_steps", "storage_state")
        self.add_row(self.headed)
        self.frame(self.tr("Start a run"), self.going)
        self.start.setText(self.tr("Start   Enter"))
        self.start.setAccessibleName(self.tr("Start a run"))
        self.graph.activated.connect(self._on_graph)
        self.headed.toggled.connect(partial(model.choose, "headed"))
        model.sent.connect(self.closed)
        model.filled.connect(self._on_filled)
        theme.changed.connect(self._fit)
        self._fit()
        self.refresh()

    def begin(self) -> None:
        """Focus the first field with a problem."""
        self.form.load()
        self.start_over()
        wanted = self.fields["start_url"] if self.form.values["intent"].strip() else self.intent
        wanted.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def run_action(self) -> bool:
        return self.form.start()

    def refresh(self) -> None:
        super().refresh()
        for policy, button in self.policies.items():
            check(button, self.form.policy == policy)
        check(self.headed, self.form.headed)
        self.model_options.refresh()
        sites = ["", *self.form.graphs]
        if [self.graph.itemData(place) for place in range(self.graph.count())] != sites:
            self.graph.clear()
            for site in sites:
                self.graph.addItem(site or self.tr("none"), site)
        self.graph.setCurrentIndex(max(0, self.graph.findData(self.form.graph)))
        self.going.setText(self.form.note)
        self.going.setVisible(bool(self.form.note))

    def _on_filled(self) -> None:
        """Focus the next field: the task arrived after the form was opened."""
        if self.intent.hasFocus():
            self.begin()

    def _on_graph(self, place: int) -> None:
        self.form.choose("graph", str(self.graph.itemData(place) or ""))

    def _fit(self) -> None:
        self.intent.setFixedHeight(self._theme.px(84))


class TaskFileForm(FormPanel[TaskFileModel]):
    """File, start address, concurrency; below, the tasks of the file."""

    def __init__(self, model: TaskFileModel, theme: Theme) -> None:
        super().__init__(model, (
            FormField(name="path", label=self.tr("File"), files=self.tr("Tasks (*.txt *.json *.jsonl)"),
                      meaning=self.tr("one task per line, or objects with intent and start_url (.json, .jsonl)")),
            FormField(name="start_url", label=self.tr("Start address"), meaning=self.tr("for tasks without one"),
                      placeholder=EXAMPLE),
            FormField(name="at_once", label=self.tr("Parallel runs"),
                      meaning=self.tr("not counting those that wait for you (empty: unchanged)")),
        ))  # fmt: skip
        self._theme = theme
        self.count, self.tasks = text_label(kind="secondary", wrap=True), QListView()
        self.add_fields("path", "start_url", "at_once")
        self.tasks.setModel(model.list)
        self.tasks.setUniformItemSizes(True)
        self.tasks.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.tasks.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tasks.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.tasks.setAccessibleName(self.tr("Tasks of the file; select some to start only those"))
        self.add_row(self.tasks, wide=True)
        self.frame(self.tr("Runs from a task file"), self.count)
        self.tasks.activated.connect(self.submit)
        self.tasks.selectionModel().selectionChanged.connect(self.refresh)
        model.sent.connect(self.closed)
        theme.changed.connect(self._fit)
        self._fit()
        self.refresh()

    def begin(self) -> None:
        """Focus the first field to fill."""
        self.start_over()
        wanted = self.fields["at_once" if self.form.list.rows else "path"]
        wanted.setFocus(Qt.FocusReason.ShortcutFocusReason)
        wanted.selectAll()

    @property
    def chosen(self) -> list[int]:
        """Numbers of the selected tasks; none means all."""
        rows = self.tasks.selectionModel().selectedRows()
        return sorted(self.form.list.rows[index.row()].number for index in rows)

    def run_action(self) -> bool:
        return self.form.start(self.chosen)

    def refresh(self, *_event: object) -> None:
        super().refresh()
        count, chosen = len(self.form.list.rows), len(self.chosen)
        self.tasks.setVisible(count > 0)
        if self.form.is_reading:
            text = self.tr("Reading the file…")
        elif chosen:
            text = self.tr("{0} of {1} tasks selected").format(chosen, count)
        elif count > 1:
            text = self.tr("{0} tasks; select some to start only those").format(count)
        else:
            text = self.tr("1 task") if count else ""
        self.count.setText(text)
        wanted = chosen or count
        word = self.tr("Start {0} runs").format(wanted) if wanted > 1 else self.tr("Start 1 run")
        self.start.setAccessibleName(word if wanted else self.tr("Start"))
        self.start.setText(f"{self.start.accessibleName()}   Enter")

    def _fit(self) -> None:
        self.tasks.setMinimumHeight(self._theme.px(120))
