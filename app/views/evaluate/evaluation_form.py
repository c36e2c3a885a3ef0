"""The form of a new evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QHBoxLayout, QPushButton, QWidget

from app.models.evaluate.evaluation_form import AMOUNTS_OF_A_RUN, DIALECTS, WHOLE, EvaluationFormModel
from app.models.evaluate.figures import count_words
from app.views.widgets.build import styled, text_label
from app.views.widgets.command_button import show_command
from app.views.widgets.elided_label import breakable
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.form_panel import FormField, FormPanel, RadioOption, check

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.views.frame.theme import Theme

ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class GroupBoxes(QWidget):
    """Check boxes for the sites or the types of a suite, each with the number of its tasks; none means all."""

    def __init__(self, form: EvaluationFormModel, group: str, name: str) -> None:
        super().__init__()
        self._form, self._group = form, group
        self.boxes: dict[str, QCheckBox] = {}
        self._flow = FlowLayout(parent=self, gap=10)
        self._none = text_label(self.tr("none named"), "secondary")
        self._flow.addWidget(self._none)
        self.setAccessibleName(name)

    def show_groups(self, groups: Sequence[tuple[str, int]], chosen: set[str]) -> None:
        names = [name for name, _count in groups if name]
        if list(self.boxes) != names:
            for box in self.boxes.values():
                self._flow.removeWidget(box)
                box.hide()
                box.deleteLater()
            self.boxes = {}
            for name, count in groups:
                if name:
                    box = self.boxes[name] = QCheckBox(f"{name}  {count_words(count)}")
                    box.setAccessibleName(self.tr("{0}, {1} tasks").format(name, count_words(count)))
                    box.toggled.connect(partial(self._turn, name))
                    self._flow.addWidget(box)
        for name, box in self.boxes.items():
            check(box, name in chosen)
        self._none.setVisible(not self.boxes)

    def _turn(self, name: str, on: bool) -> None:
        self._form.turn(self._group, name, on=on)


class EvaluationForm(FormPanel[EvaluationFormModel]):
    """Enter goes on to the next field: an evaluation takes hours and starts by its own key only."""

    def __init__(self, model: EvaluationFormModel, center: CommandCenter, theme: Theme) -> None:
        tr = self.tr
        frozen = self.tr("Frozen knowledge (*.akb)")
        super().__init__(model, (
            FormField(name="ids", label=tr("Task numbers"), meaning=tr("single ones and ranges; empty: all"),
                      placeholder="12, 40-59"),
            FormField(name="kb", label=tr("Knowledge"), files=frozen,
                      meaning=tr("frozen file of the arm; none: without tips")),
            FormField(name="against", label=tr("Against"), files=frozen,
                      meaning=tr("none, or the frozen file to compare with")),
            FormField(name="repeats", label=tr("Repeats"), meaning=tr("runs of a task in each arm; averaged")),
            FormField(name="workers", label=tr("Workers"), meaning=tr("runs at the same time")),
            FormField(name="address", label=tr("Cluster"), meaning=tr("address of a running Ray cluster, or auto")),
            FormField(name="max_steps", label=tr("Steps"), meaning=tr("of a run at most")),
            FormField(name="max_seconds", label=tr("Seconds"), meaning=tr("of a run at most; 0: no limit")),
            FormField(name="max_tokens", label=tr("Tokens"), meaning=tr("of a run at most; 0: no limit")),
            FormField(name="max_money", label=tr("Money"), meaning=tr("US dollars of a run; 0: no limit")),
            FormField(name="name", label=tr("Name"), meaning=tr("of the evaluation; empty: after the suite")),
            FormField(name="seed", label=tr("Seed"), meaning=tr("of the order of tasks")),
        ))  # fmt: skip
        self._center, self._theme = center, theme
        self.suite, self.subset, self.dialect, self.engine = (
            QComboBox(),
            QComboBox(),
            QComboBox(),
            QComboBox(),
        )
        self.sites = GroupBoxes(model, "sites", tr("Sites"))
        self.kinds = GroupBoxes(model, "kinds", tr("Types"))
        self.last_freeze = styled(QPushButton(), "link")
        self.na, self.off_site = QCheckBox(tr("infeasible is N/A")), QCheckBox(tr("off the sites is 0"))
        self.suite_says = text_label(kind="warn", wrap=True)
        self._add_tasks()
        self._add_arms()
        self._add_budget()
        self._add_rules()
        self.frame(tr("New evaluation"))
        self._narrow(*WHOLE, *AMOUNTS_OF_A_RUN)
        for line in self.fields.values():  # a line passes Enter on, to ``keyPressEvent``
            line.returnPressed.disconnect(self.submit)
        self._connect()
        center.keys_changed.connect(self._dress)
        self._dress()
        self.refresh()

    def begin(self) -> None:
        """Focus the first choice."""
        self.start_over()
        self.suite.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def run_action(self) -> bool:
        return self.form.start()

    def shows_problem(self, name: str) -> bool:
        """At once: the plan waits for a number that is none."""
        return True

    def refresh(self) -> None:
        super().refresh()
        form, row = self.form, self.form.suite
        _fill(self.suite, [(name, name) for name in form.suites], form.choices["suite"])
        _fill(
            self.subset, [(name, self._subset_title(name)) for name in form.subsets], form.choices["subset"]
        )
        titles = [(name, name or self.tr("the suite's own")) for name in DIALECTS]
        _fill(self.dialect, titles, form.choices["dialect"])
        _fill(self.engine, [("local", self.tr("this machine")), ("ray", self.tr("a Ray cluster"))],
              form.choices["engine"])  # fmt: skip
        self.sites.show_groups(row.sites if row is not None else (), form.sites)
        self.kinds.show_groups(row.kinds if row is not None else (), form.kinds)
        for group, buttons in self.groups.items():
            for value, button in buttons.items():
                check(button, form.choices[group] == value)
        for rule, box in (("infeasible_is_na", self.na), ("off_site_is_zero", self.off_site)):
            check(box, rule in form.rules)
        self._show_address(form.choices["engine"] == "ray")
        offered = bool(form.last_freeze) and form.values["kb"] != form.last_freeze
        self.last_freeze.setVisible(offered)
        name = form.last_freeze.replace("\\", "/").rpartition("/")[2]
        self.last_freeze.setText(breakable(self.tr("Use the last frozen file: {0}").format(name[-24:])))
        self.last_freeze.setAccessibleName(self.last_freeze.text())
        self.last_freeze.setToolTip(form.last_freeze)
        self.suite_says.setText("" if form.suites else self.tr("Add a suite first"))
        self.suite_says.setVisible(not form.suites)
        self.start.setEnabled(not form.is_sending)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter on a choice goes on to the next field; on a button it presses it."""
        plain = event.key() in ENTER and event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        )
        if plain and not isinstance(QApplication.focusWidget(), QPushButton):
            self._go_on()
        else:
            super().keyPressEvent(event)

    # ------------------------------------------------------------ layout
    def _add_tasks(self) -> None:
        tr = self.tr
        self._section(tr("Tasks"))
        self.add_row(self.suite, tr("Suite"))
        self.grid.addWidget(self.suite_says, self.grid.rowCount(), 1)
        for boxes, title in ((self.sites, tr("Sites")), (self.kinds, tr("Types"))):
            row = self._label(title, side=Qt.AlignmentFlag.AlignTop)
            self.grid.addWidget(boxes, row, 1)
            says = text_label(tr("none checked: all of them"), "secondary", wrap=True)
            self.grid.addWidget(says, row + 1, 1)
        self.add_row(self.subset, tr("Subset"))
        self.add_fields("ids")

    def _add_arms(self) -> None:
        tr, form = self.tr, self.form
        self._section(tr("Arms"))
        self.add_fields("kb")
        self.grid.addWidget(self.last_freeze, self.grid.rowCount(), 1, Qt.AlignmentFlag.AlignLeft)
        self._order.append(self.last_freeze)
        self.add_fields("against")
        self.groups = {
            "maps": self.add_choices(tr("Maps"), (
                RadioOption(value="no", label=tr("no"), meaning=tr("no arm uses interaction graphs")),
                RadioOption(value="yes", label=tr("yes"), meaning=tr("every arm uses them")),
                RadioOption(value="both", label=tr("both"), meaning=tr("each arm without and with: four arms")),
            ), partial(form.choose, "maps")),
            "policy": self.add_choices(tr("Policy"), (
                RadioOption(value="scout", label="scout", meaning=tr("no model, no tokens")),
                RadioOption(value="llm", label="llm", meaning=tr("the model in the settings")),
            ), partial(form.choose, "policy")),
        }  # fmt: skip

    def _add_budget(self) -> None:
        tr = self.tr
        self._section(tr("Runs and budget"))
        self.add_fields("repeats", "workers")
        self.add_row(self.engine, tr("Where"))
        self.add_fields("address", "max_steps", "max_seconds", "max_tokens", "max_money")

    def _add_rules(self) -> None:
        tr, form = self.tr, self.form
        self._section(tr("Rules"))
        self.groups["tainted"] = self.add_choices(tr("Tainted tasks"), (
            RadioOption(value="refuse", label=tr("refuse"), meaning=tr("do not begin while there are any")),
            RadioOption(value="leave out", label=tr("leave out"), meaning=tr("run the others")),
            RadioOption(value="mark", label=tr("mark"), meaning=tr("run them, and say so beside the result")),
        ), partial(form.choose, "tainted"))  # fmt: skip
        self.add_row(self.dialect, tr("Dialect"))
        for label, box, meaning in (
            (tr("BrowserGym"), self.na, tr("a task that can't be done is answered with N/A")),
            ("", self.off_site, tr("a tab off the sites of the task scores 0")),
        ):
            self.add_row(box, label)
            box.setAccessibleDescription(meaning)
            self.grid.addWidget(text_label(meaning, "secondary", wrap=True), self.grid.rowCount(), 1)
        self.add_fields("name", "seed")

    def _section(self, title: str) -> None:
        label = text_label(title, "section")
        label.setContentsMargins(0, 10, 0, 2)
        self.grid.addWidget(label, self.grid.rowCount(), 0, 1, 2)

    def _connect(self) -> None:
        form = self.form
        for name, box, title in (
            ("suite", self.suite, self.tr("Suite")),
            ("subset", self.subset, self.tr("Subset of the suite")),
            ("dialect", self.dialect, self.tr("Dialect of the evaluators")),
            ("engine", self.engine, self.tr("Where the runs are made")),
        ):
            box.setAccessibleName(title)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(8)
            box.activated.connect(partial(self._on_choice_of, name, box))
        self.na.toggled.connect(partial(self._on_rule, "infeasible_is_na"))
        self.off_site.toggled.connect(partial(self._on_rule, "off_site_is_zero"))
        self.last_freeze.clicked.connect(form.take_freeze)
        self.start.clicked.disconnect(self.submit)
        self.start.clicked.connect(lambda: self._center.trigger("evaluate.start"))
        for one, other in pairwise([self.suite, self.sites, self.kinds, self.subset]):
            QWidget.setTabOrder(one, other)

    def _narrow(self, *names: str) -> None:
        """Give numbers the room of numbers."""
        for place in range(self.grid.count()):
            item = self.grid.itemAt(place)
            beside = item.layout() if item is not None else None
            if isinstance(beside, QHBoxLayout) and any(
                beside.indexOf(self.fields[name]) >= 0 for name in names
            ):
                beside.setStretch(0, 2)
                beside.addStretch(5)

    def _show_address(self, shown: bool) -> None:
        for row in range(self.grid.rowCount()):
            item = self.grid.itemAtPosition(row, 0)
            label = item.widget() if item is not None else None
            if label is not None and getattr(label, "buddy", lambda: None)() is self.fields["address"]:
                label.setVisible(shown)
        for widget in (self.fields["address"], self.says["address"]):
            widget.setVisible(shown)

    # ------------------------------------------------------------ inside
    def _go_on(self) -> None:
        self.focusNextChild()

    def _on_choice_of(self, name: str, box: QComboBox, place: int) -> None:
        self.form.choose(name, str(box.itemData(place) or ""))

    def _on_rule(self, rule: str, on: bool) -> None:
        self.form.turn("rules", rule, on=on)

    def _subset_title(self, name: str) -> str:
        halves = {"a": self.tr("half a, by template"), "b": self.tr("half b, by template")}
        return halves.get(name, name) or self.tr("all tasks")

    def _dress(self) -> None:
        show_command(self.start, self._center, "evaluate.start", self.tr("Start"))
        self.start.setAccessibleName(self.tr("Start the evaluation"))


def _fill(box: QComboBox, items: Sequence[tuple[str, str]], chosen: str) -> None:
    """Show these values with their titles, and the chosen one, without the box's signals."""
    with QSignalBlocker(box):
        if [(box.itemData(place), box.itemText(place)) for place in range(box.count())] != list(items):
            box.clear()
            for value, title in items:
                box.addItem(title, value)
        box.setCurrentIndex(max(0, box.findData(chosen)))
