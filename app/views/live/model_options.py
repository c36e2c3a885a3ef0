"""The options of the llm policy in the form that starts a run; shown where that policy is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QWidget

from app.views.widgets.build import text_label

if TYPE_CHECKING:
    from app.models.live.run_form import RunFormModel


class ModelOptions(QWidget):
    """A line an option: its label, its field, its meaning below.

    ``fields`` are the fields in their order, for the tabulator.
    """

    def __init__(self, form: RunFormModel) -> None:
        super().__init__()
        self._form = form
        self.fields: list[QWidget] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 6, 0, 4)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        self._grid.addWidget(text_label(self.tr("Model options"), "section"), 0, 0, 1, 2)
        self.actions_set = QComboBox()
        self.actions_meaning = self.add(self.tr("Actions"), self.actions_set)
        self.actions_set.activated.connect(self._on_actions)

    def add(self, label: str, field: QWidget, meaning: str = "") -> QLabel:
        """Add an option; return the line below it."""
        row = self._grid.rowCount()
        name, says = QLabel(label), text_label(meaning, "secondary", wrap=True)
        name.setBuddy(field)
        field.setAccessibleName(self.tr("Model options: {0}").format(label))
        self.fields.append(field)
        self._grid.addWidget(name, row, 0)
        self._grid.addWidget(field, row, 1)
        self._grid.addWidget(says, row + 1, 1)
        says.setVisible(bool(meaning))
        return says

    def refresh(self) -> None:
        """Show the form's options."""
        form = self._form
        self.setVisible(form.policy == "llm")
        sets = [row.name for row in form.action_sets] or [form.llm.actions]
        if [self.actions_set.itemText(place) for place in range(self.actions_set.count())] != sets:
            self.actions_set.clear()
            self.actions_set.addItems(sets)
        self.actions_set.setCurrentText(form.llm.actions)
        self.actions_meaning.setText(form.actions_meaning)
        self.actions_meaning.setVisible(bool(form.actions_meaning))

    def _on_actions(self, place: int) -> None:
        self._form.choose_option(actions=self.actions_set.itemText(place))
