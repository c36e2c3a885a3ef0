"""Fields for the addresses of sites that a task file names and the table of sites lacks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QPushButton, QWidget

from app.views.widgets.build import text_label, vbox

if TYPE_CHECKING:
    from app.models.live.site_addresses import SiteAddresses

PLACEHOLDER = "http://localhost:7770/"


class SiteAddressFields(QWidget):
    """A field a name; hidden where no name is unknown.

    Args:
        before: the widget that comes before the fields for the tabulator.
    """

    def __init__(self, model: SiteAddresses, before: QWidget) -> None:
        super().__init__()
        self._model, self._before = model, before
        self.fields: dict[str, QLineEdit] = {}
        self._says: dict[str, QLabel] = {}
        self.heading = text_label(kind="warn", wrap=True)
        self.note = text_label(
            self.tr("Filled in once: they are kept in the table of sites, for every batch."),
            "secondary",
            wrap=True,
        )
        self.error = text_label(kind="fail", wrap=True)
        self.save = QPushButton()
        self.save.clicked.connect(model.save)
        self._rows = QWidget()
        self._grid = QGridLayout(self._rows)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        vbox(
            self.heading,
            self.note,
            self._rows,
            self.error,
            self.save,
            parent=self,
            margins=(0, 6, 0, 8),
            spacing=4,
        )
        self.hide()

    def refresh(self) -> None:
        """Show the names, what was typed, and what is wrong with it."""
        model = self._model
        self.setVisible(bool(model.names))
        if tuple(self.fields) != model.names:
            self._build()
        count, ready = len(model.names), len(model.ready)
        self.heading.setText(
            self.tr("1 site of this file has no address yet.") if count == 1
            else self.tr("{0} sites of this file have no address yet.").format(count)
        )  # fmt: skip
        for name, field in self.fields.items():
            if field.text() != model.typed[name]:
                field.setText(model.typed[name])
            problem = model.problem(name)
            self._says[name].setText(f"! {problem}" if problem and not field.hasFocus() else "")
            self._says[name].setVisible(bool(self._says[name].text()))
        self.error.setText(model.error)
        self.error.setVisible(bool(model.error))
        self.save.setText(
            self.tr("Saving…") if model.is_saving
            else self.tr("Save {0} addresses").format(ready) if ready > 1
            else self.tr("Save the address")
        )  # fmt: skip
        self.save.setAccessibleName(self.save.text())
        self.save.setEnabled(ready > 0 and not model.is_saving)

    def _build(self) -> None:
        held = any(field.hasFocus() for field in self.fields.values()) or self.save.hasFocus()
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.fields, self._says = {}, {}
        before = self._before
        for row, name in enumerate(self._model.names):
            field, label = QLineEdit(), QLabel(name)
            says = self._says[name] = text_label(kind="fail", wrap=True)
            label.setBuddy(field)
            field.setPlaceholderText(PLACEHOLDER)
            field.setAccessibleName(self.tr("Address of {0}").format(name))
            field.textEdited.connect(partial(self._model.set, name))
            field.editingFinished.connect(self.refresh)
            field.returnPressed.connect(self._model.save)
            self._grid.addWidget(label, 2 * row, 0)
            self._grid.addWidget(field, 2 * row, 1)
            self._grid.addWidget(says, 2 * row + 1, 1)
            self.fields[name] = field
            QWidget.setTabOrder(before, field)
            before = field
        QWidget.setTabOrder(before, self.save)
        first = next(iter(self.fields.values()), self._before)
        if held:
            first.setFocus()
