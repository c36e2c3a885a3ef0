"""The form that starts a run, in the place of the judgement; non-modal."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QWidget,
)

from app.models.live.run_form import FIELDS, POLICIES, RunFormModel
from app.views.widgets.form_panel import FormPanel, say

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.views.frame.theme import Theme

LINES = tuple(name for name in FIELDS if name != "intent")


class RunForm(FormPanel):
    """``closed``: it was closed, or the run was started."""

    def __init__(self, model: RunFormModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        self._asked = False
        self.setAccessibleName(self.tr("Send the agent off"))
        self.intent = QPlainTextEdit()
        self.intent.setTabChangesFocus(True)
        self.fields = {name: QLineEdit() for name in LINES}
        self.says = {name: QLabel() for name in FIELDS}
        self.policies = {policy: QRadioButton() for policy in POLICIES}
        self.graph = QComboBox()
        self.headed = QCheckBox()
        self.going = QLabel()
        self._meanings = self._words()
        self._lay_out()
        self._connect()
        self._dress()
        self._show()

    def begin(self) -> None:
        """Focus the first field with a problem."""
        self._asked = False
        self._model.load()
        self._show()
        if self._model.values["intent"].strip():
            self.fields["start_url"].setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            self.intent.setFocus(Qt.FocusReason.ShortcutFocusReason)

    # ------------------------------------------------------------ layout
    def _words(self) -> dict[str, tuple[str, str]]:
        return {
            "intent": (
                self.tr("Task"),
                self.tr(
                    "in words; write a password as {secret:NAME}, its value stands in SITELORE_SECRET_NAME"
                ),
            ),
            "start_url": (self.tr("Begin at"), self.tr("an address")),
            "max_steps": (self.tr("Steps"), self.tr("at most")),
            "kb": (self.tr("Tips"), self.tr("live, none, or the path of a frozen file")),
            "storage_state": (
                self.tr("Log-in"),
                self.tr("a recorded one; empty takes the one kept for the site, if there is one"),
            ),
        }

    def _lay_out(self) -> None:
        row = self._add(0, "intent", self.intent)
        row = self._add(row, "start_url", self.fields["start_url"])
        row = self._add_policies(self.grid, row)
        graph = QLabel(self.tr("Graph"))
        graph.setBuddy(self.graph)
        self.grid.addWidget(graph, row, 0)
        self.grid.addWidget(self.graph, row, 1)
        row += 1
        for name in ("kb", "max_steps", "storage_state"):
            row = self._add(row, name, self.fields[name])
        self.grid.addWidget(self.headed, row, 1)
        self.going.setProperty("kind", "secondary")
        self.going.setWordWrap(True)
        self.going.setTextFormat(Qt.TextFormat.PlainText)
        self.frame(self.tr("Send the agent off"), self.going)
        order = [
            self.intent,
            self.fields["start_url"],
            *self.policies.values(),
            self.graph,
            *(self.fields[name] for name in ("kb", "max_steps", "storage_state")),
            self.headed,
            self.start,
            self.close_button,
        ]
        for one, other in pairwise(order):
            QWidget.setTabOrder(one, other)

    def _add(self, row: int, name: str, field: QWidget) -> int:
        return self.add_field(row, self._meanings[name][0], field, self.says[name], high=name == "intent")

    def _add_policies(self, grid: QGridLayout, row: int) -> int:
        group = QButtonGroup(self)
        meanings = {
            "scout": self.tr("no model, no tokens: follows names, tips and the graph"),
            "llm": self.tr("the model of the settings"),
        }
        grid.addWidget(QLabel(self.tr("Policy")), row, 0)
        for policy, button in self.policies.items():
            group.addButton(button)
            button.setText(policy)
            button.setAccessibleDescription(meanings[policy])
            says = QLabel(meanings[policy])
            says.setProperty("kind", "secondary")
            says.setWordWrap(True)
            grid.addWidget(button, row, 1)
            grid.addWidget(says, row + 1, 1)
            row += 2
        return row

    def _connect(self) -> None:
        model = self._model
        self.intent.textChanged.connect(self._on_intent)
        for name, field in self.fields.items():
            field.textEdited.connect(partial(model.set, name))
            field.returnPressed.connect(self._on_start)
        for policy, button in self.policies.items():
            button.clicked.connect(partial(self._on_policy, policy))
        self.graph.activated.connect(self._on_graph)
        self.headed.toggled.connect(model.set_headed)
        self.start.clicked.connect(self._on_start)
        model.changed.connect(self._show)
        self._center.keys_changed.connect(self._dress)
        self._theme.changed.connect(self._fit)
        self._fit()

    # ------------------------------------------------------------ what is shown
    def _show(self) -> None:
        model = self._model
        problems = {one.field: one.message for one in model.problems} if self._asked else {}
        if self.intent.toPlainText() != model.values["intent"]:
            with QSignalBlocker(self.intent):
                self.intent.setPlainText(model.values["intent"])
        for name, field in self.fields.items():
            if field.text() != model.values[name]:
                with QSignalBlocker(field):
                    field.setText(model.values[name])
        for name in FIELDS:
            field = self.intent if name == "intent" else self.fields[name]
            say(self.says[name], field, self._meanings[name][1], problems.get(name, ""))
        for policy, button in self.policies.items():
            with QSignalBlocker(button):
                button.setChecked(model.policy == policy)
        self._show_graphs()
        with QSignalBlocker(self.headed):
            self.headed.setChecked(model.headed)
        self.show_error(model.error)
        lines = [
            self.tr("step {0}: {1}").format(event.step, event.words) if event.words else self.tr("starting")
            for event in model.going.values()
        ]
        self.going.setText("\n".join(lines))
        self.going.setVisible(bool(lines))

    def _show_graphs(self) -> None:
        sites = ["", *self._model.graphs]
        if [self.graph.itemData(place) for place in range(self.graph.count())] != sites:
            self.graph.clear()
            for site in sites:
                self.graph.addItem(site or self.tr("none"), site)
        self.graph.setCurrentIndex(max(0, self.graph.findData(self._model.graph)))

    # ------------------------------------------------------------ what is done
    def _on_intent(self) -> None:
        self._model.set("intent", self.intent.toPlainText())

    def _on_policy(self, policy: str, _checked: bool = False) -> None:
        self._model.set_policy(policy)

    def _on_graph(self, place: int) -> None:
        self._model.set_graph(str(self.graph.itemData(place) or ""))

    def _on_start(self) -> None:
        self._asked = True
        if self._model.start():
            return
        problem = self._model.problems[0].field
        field = self.intent if problem == "intent" else self.fields[problem]
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.bring_into_sight(self.says[problem])

    def _fit(self) -> None:
        self.intent.setFixedHeight(self._theme.px(84))

    def _dress(self) -> None:
        for name in FIELDS:
            field = self.intent if name == "intent" else self.fields[name]
            field.setAccessibleName(f"{self._meanings[name][0]}: {self._meanings[name][1]}")
        self.graph.setAccessibleName(self.tr("Graph the agent may be taken through"))
        self.fields["start_url"].setPlaceholderText("http://localhost:8000/")
        self.headed.setText(self.tr("show the browser"))
        self.start.setText(self.tr("Send off   Enter"))
        self.start.setAccessibleName(self.tr("Send the agent off"))
        self.close_button.setText(self.tr("Close  Esc"))
        self.close_button.setAccessibleName(self.tr("Close the form; what was typed stays"))
