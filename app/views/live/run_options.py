"""Fields of a run's options, which both forms that start runs have."""

from __future__ import annotations

from functools import partial
from typing import TypeVar

from PySide6.QtWidgets import QCheckBox, QComboBox, QRadioButton, QWidget

from app.models.live.run_options import RISKS, RunOptionsModel
from app.views.live.model_options import ModelOptions
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.form_panel import FormField, FormPanel, RadioOption, check

EXAMPLE = "http://localhost:8000/"
OptionsT = TypeVar("OptionsT", bound=RunOptionsModel)


class RunOptionsForm(FormPanel[OptionsT]):
    """A subclass adds the groups of fields in its order."""

    policies: dict[str, QRadioButton]
    model_options: ModelOptions

    def option_fields(self) -> tuple[FormField, ...]:
        """Return the typed fields that both forms have."""
        limit = self.tr("of one run at most; empty: no limit")
        return (
            FormField(name="kb", label=self.tr("Tips"), meaning=self.tr("live, none, or the path of a frozen file")),
            FormField(name="max_steps", label=self.tr("Steps"), meaning=self.tr("maximum number, of each run")),
            FormField(name="storage_state", label=self.tr("Log-in"),
                      meaning=self.tr("a saved log-in; empty: the one stored for the site, if any")),
            FormField(name="max_money", label=self.tr("Run budget, $"), meaning=limit),
            FormField(name="max_tokens", label=self.tr("Run budget, tokens"), meaning=limit),
            FormField(name="max_seconds", label=self.tr("Model seconds"), meaning=limit),
            FormField(name="domains", label=self.tr("Hosts"), placeholder="shop.example, *.shop.example",
                      meaning=self.tr("that a run may visit besides its own; * for any")),
        )  # fmt: skip

    # ------------------------------------------------------------ groups of fields
    def add_policy(self) -> None:
        """Add the policies; below them the model and its options."""
        self.policies = self.add_choices(self.tr("Policy"), (
            RadioOption(value="scout", label="scout",
                   meaning=self.tr("no model, no tokens: follows names, tips and the graph")),
            RadioOption(value="llm", label="llm", meaning=self.tr("a model decides every action")),
        ), partial(self.form.choose, "policy"))  # fmt: skip
        self.model_options = ModelOptions(self.form)
        self.grid.addWidget(self.model_options, self.grid.rowCount(), 0, 1, 2)
        self._order += self.model_options.fields
        self.sections.append(self.model_options.section)
        self._grids += self.model_options.grids
        self.model_options.model.returnPressed.connect(self.submit)

    def add_graph(self) -> None:
        self.graph = QComboBox()
        self.graph.setAccessibleName(self.tr("Graph used for navigation"))
        self.graph.activated.connect(self._on_graph)
        self.add_row(self.graph, self.tr("Graph"))

    def add_run_budget(self) -> None:
        self.add_fields("max_money", "max_tokens", "max_seconds")

    def add_reach(self) -> None:
        """Add the hosts that a run may visit, and the actions it may do beyond its task."""
        self.add_fields("domains")
        self.risks = {risk: QCheckBox(risk) for risk in RISKS}
        boxes = QWidget()
        FlowLayout(*self.risks.values(), parent=boxes, gap=10)
        row = self._label(self.tr("Allow"))
        self.grid.addWidget(boxes, row, 1)
        self.add_help(self.tr("actions without asking, although the task does not ask for them"))
        for risk, box in self.risks.items():
            box.setAccessibleName(self.tr("Allow actions beyond the task: {0}").format(risk))
            box.toggled.connect(partial(self.form.choose_risk, risk))
            self._order.append(box)

    def add_headed(self) -> None:
        self.headed = QCheckBox(self.tr("show the browser"))
        self.headed.toggled.connect(partial(self.form.choose, "headed"))
        self.add_row(self.headed)

    def show_section_keys(self, keys: str) -> None:
        """Name the shortcut that unfolds and folds the sections."""
        self.sections[-1].show_keys(keys)

    # ------------------------------------------------------------ what is shown
    def refresh(self) -> None:
        super().refresh()
        for policy, button in self.policies.items():
            check(button, self.form.policy == policy)
        for risk, box in self.risks.items():
            check(box, risk in self.form.allow)
        check(self.headed, self.form.headed)
        self.model_options.refresh()
        sites = ["", *self.form.graphs]
        if [self.graph.itemData(place) for place in range(self.graph.count())] != sites:
            self.graph.clear()
            for site in sites:
                self.graph.addItem(site or self.tr("none"), site)
        self.graph.setCurrentIndex(max(0, self.graph.findData(self.form.graph)))

    def _on_graph(self, place: int) -> None:
        self.form.choose("graph", str(self.graph.itemData(place) or ""))
