"""The settings' section of the language model: address, key, model, test, roles."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime, QLocale, QObject, QSignalBlocker, Qt
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QLineEdit, QPushButton, QWidget

from app.models.common.settings_form import ADVANCED, CHOICES, ROLES
from app.views.frame.settings_fields import FoldedGroup
from app.views.widgets.badge import Badge
from app.views.widgets.build import hbox, restyle, styled, text_label, vbox

if TYPE_CHECKING:
    from app.engine.api.model_test_api import ModelCheck, ModelReport
    from app.models.common.model_setup import ModelSetup
    from app.models.common.settings_form import SettingsForm
    from app.views.frame.settings_fields import SettingsFields
    from app.views.frame.theme import Theme

EXAMPLES = (
    "https://api.openai.com/v1",
    "https://openrouter.ai/api/v1",
    "https://RESOURCE.openai.azure.com/openai/v1",
    "http://localhost:8000/v1",
)
"""Addresses to begin with: OpenAI, OpenRouter, Azure, a server on this machine."""


class ModelSection(QObject):
    """Adds its rows to the panel's grid.

    Attributes:
        url, model: combo boxes that can be edited.  key: never filled with a stored key.
        checks: the report's rows.
    """

    def __init__(
        self, form: SettingsForm, setup: ModelSetup, fields: SettingsFields, grid: QGridLayout, theme: Theme
    ) -> None:
        super().__init__()
        self._form, self._setup, self._fields, self._theme = form, setup, fields, theme
        self.url, self.model, self.key = QComboBox(), QComboBox(), QLineEdit()
        self.clear, self.test, self.cancel = QPushButton(), QPushButton(), QPushButton()
        self.progress, self.tested = text_label(kind="secondary", wrap=True), text_label(kind="secondary")
        self.checks = QWidget()
        self._report: ModelReport | None = None
        self.roles = RolesTable(form)
        self._lay_out(grid)
        setup.changed.connect(self.show_values)
        self.show_values()

    def _lay_out(self, grid: QGridLayout) -> None:
        self.url.addItems(EXAMPLES)
        self.url.textActivated.connect(partial(self._form.set, "model_url"))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.textEdited.connect(self._setup.set_key)
        self.key.returnPressed.connect(self._fields.entered)
        for button, text, name, slot in (
            (self.clear, self.tr("Clear"), self.tr("Remove the key from the keyring"), self._setup.clear_key),
            (self.test, self.tr("Test"), self.tr("Test the model, saved or not"), self._setup.test),
            (self.cancel, self.tr("Cancel"), self.tr("Stop the test of the model"), self._setup.cancel),
        ):
            button.setText(text)
            button.setAccessibleName(name)
            button.setToolTip(name)
            button.clicked.connect(slot)
        self.model.textActivated.connect(partial(self._form.set, "model_name"))
        fields = self._fields
        fields.add(grid, "model_url", self.url)
        self.key_words = fields.row(grid, self.tr("Key"), self.key, "", self.clear)
        fields.add(grid, "model_name", self.model)
        fields.add(grid, "model_effort")
        fields.add(grid, "model_price")
        row = grid.rowCount()
        grid.addLayout(hbox(self.test, self.cancel, (self.progress, 1), spacing=8), row, 1, 1, 2)
        grid.addLayout(vbox(self.tested, self.checks, spacing=4), row + 1, 1, 1, 2)
        fields.order += [self.test, self.cancel]
        meaning = self.tr("models of their own for the roles of an agent")
        self.folds = [self._fold(grid, self.tr("Roles"), meaning, self.roles, self.roles.order)]
        advanced, before = QWidget(), len(fields.order)
        rows = QGridLayout(advanced)
        rows.setContentsMargins(16, 0, 0, 10)
        rows.setHorizontalSpacing(16)
        rows.setVerticalSpacing(2)
        rows.setColumnStretch(1, 1)
        for name in ADVANCED:
            fields.add(rows, name)
        added, fields.order[before:] = fields.order[before:], []
        meaning = self.tr("how requests are sent to the endpoint")
        self.folds.append(self._fold(grid, self.tr("Advanced"), meaning, advanced, added))

    def _fold(
        self, grid: QGridLayout, title: str, meaning: str, body: QWidget, order: list[QWidget]
    ) -> FoldedGroup:
        head, row = FoldedGroup(title, meaning, body), grid.rowCount()
        grid.addWidget(head, row, 0)
        grid.addWidget(body, row + 1, 0, 1, 3)
        self._fields.order += [head, *order]
        return head

    def show_values(self) -> None:
        """Show what the form and the setup hold."""
        setup = self._setup
        with QSignalBlocker(self.key):
            if self.key.text().strip() != setup.key:
                self.key.setText(setup.key)
        self.key.setPlaceholderText(self._key_hint())
        self.key.setEnabled(setup.key_place not in ("environment", "no keyring"))
        self._say_key()
        self.clear.setEnabled(setup.can_clear)
        self.test.setEnabled(not setup.is_testing)
        self.cancel.setVisible(setup.is_testing)
        self._show_progress()
        self._show_models()
        self._show_report()
        self.roles.show_values()

    def _key_hint(self) -> str:
        return {
            "environment": self.tr("from {0}").format("OPENAI_API_KEY"),
            "keyring": self.tr("stored in the keyring"),
            "none": self.tr("none"),
        }.get(self._setup.key_place, "")

    def _say_key(self) -> None:
        setup, kind = self._setup, "secondary"
        match setup.key_place:
            case "environment":
                words = self.tr("The environment variable OPENAI_API_KEY is set; its key is sent to {0}.")
            case "no keyring":
                words = self.tr(
                    "No keyring works here. Set OPENAI_API_KEY before you start Sitelore; its key is sent to {0}."
                )
                kind = "warn"
            case "none" if self._form.is_other_server and not setup.key:
                words = self.tr(
                    "Another server: enter its key. A key of the former one is never sent to {0}."
                )
                kind = "warn"
            case "keyring":
                words = self.tr("Sent to {0} only. Type another to replace it.")
            case _:
                words = self.tr("Kept in the system's keyring when you save, and sent to {0} only.")
        self.key_words.setText(words.format(setup.server))
        restyle(self.key_words, kind=kind)

    def _show_progress(self) -> None:
        setup = self._setup
        if setup.error:
            self.progress.setText(setup.error)
        elif setup.is_testing:
            self.progress.setText(setup.progress[-1] if setup.progress else self.tr("Asking the endpoint…"))
        else:
            self.progress.setText(
                "" if self._setup.report else self.tr("Some small questions, at most a few thousand tokens")
            )
        restyle(self.progress, kind="fail" if setup.error else "secondary")

    def _show_models(self) -> None:
        names = list(self._setup.models)
        if [self.model.itemText(place) for place in range(self.model.count())] != names:
            text = self.model.currentText()
            with QSignalBlocker(self.model):
                self.model.clear()
                self.model.addItems(names)
                self.model.setCurrentText(text)

    def _show_report(self) -> None:
        report = None if self._setup.is_testing else self._setup.report
        if report is self._report:
            return
        self._report = report
        sheet = QWidget()
        grid = QGridLayout(sheet)
        grid.setContentsMargins(0, 2, 0, 8)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(5)
        grid.setColumnStretch(2, 1)
        for row, check in enumerate(report.checks if report is not None else ()):
            found = f"{check.found}: {check.remedy}" if check.remedy and not check.ok else check.found
            grid.addWidget(Badge(*self._mark(check), self._theme), row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(QLabel(check.name), row, 1, Qt.AlignmentFlag.AlignTop)
            words = text_label(found, wrap=True)
            words.setAccessibleName(f"{check.name}, {self._mark(check)[0]}: {found}")
            grid.addWidget(words, row, 2)
        holder = self.checks.parentWidget()
        layout = holder.layout() if holder is not None else None
        if layout is not None:
            layout.replaceWidget(self.checks, sheet)
        self.checks.hide()
        self.checks.deleteLater()
        self.checks = sheet
        self.tested.setVisible(report is not None)
        if report is not None:
            self.tested.setText(self._said_of(report))

    def _said_of(self, report: ModelReport) -> str:
        at = QLocale().toString(QDateTime.fromSecsSinceEpoch(int(report.at)), QLocale.FormatType.ShortFormat)
        words = self.tr("usable") if report.is_usable else self.tr("not usable")
        return self.tr("{0}: {1} · tested {2} · {3} tokens").format(
            report.model or report.url, words, at, QLocale().toString(sum(report.tokens))
        )

    def _mark(self, check: ModelCheck) -> tuple[str, str]:
        if check.ok is None:
            return self.tr("unknown"), "muted"
        return (self.tr("works"), "ok") if check.ok else (self.tr("no"), "fail")


class RolesTable(QWidget):
    """A row a role: its model, effort and price; an empty one shows what holds in its place."""

    def __init__(self, form: SettingsForm) -> None:
        super().__init__()
        self._form = form
        self.models: dict[str, QLineEdit] = {}
        self.prices: dict[str, QLineEdit] = {}
        self.efforts: dict[str, QComboBox] = {}
        self.order: list[QWidget] = []
        grid = QGridLayout(self)
        grid.setContentsMargins(16, 0, 0, 10)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 3)
        grid.setColumnStretch(3, 2)
        heads = (self.tr("Role"), self.tr("Model"), self.tr("Effort"), self.tr("Price in/out"))
        for column, head in enumerate(heads):
            grid.addWidget(text_label(head, "secondary"), 0, column)
        for row, role in enumerate(ROLES, 1):
            self._add(grid, row, role, heads)

    def _add(self, grid: QGridLayout, row: int, role: str, heads: tuple[str, ...]) -> None:
        model, effort, price = QLineEdit(), QComboBox(), QLineEdit()
        self.models[role], self.efforts[role], self.prices[role] = model, effort, price
        for choice in CHOICES["model_effort"]:
            effort.addItem(choice or self.tr("as above"), choice)
        effort.activated.connect(partial(self._on_effort, role))
        model.textEdited.connect(partial(self._form.set_role, role, "model"))
        price.textEdited.connect(partial(self._form.set_role, role, "price"))
        grid.addWidget(styled(QLabel(role), "plain"), row, 0)
        for column, field in enumerate((model, effort, price), 1):
            field.setAccessibleName(f"{role}: {heads[column]}")
            field.setEnabled(not self._form.line("roles").overridden_by)
            grid.addWidget(field, row, column)
            self.order.append(field)

    def show_values(self) -> None:
        form = self._form
        for role in ROLES:
            model, price = form.fallback(role)
            for line, name, holds in (
                (self.models[role], "model", model),
                (self.prices[role], "price", price),
            ):
                line.setPlaceholderText(holds or (self.tr("unknown") if name == "price" else ""))
                if line.text().strip() != form.role_value(role, name):
                    line.setText(form.role_value(role, name))
            effort = self.efforts[role]
            effort.setCurrentIndex(effort.findData(form.role_value(role, "effort")))

    def _on_effort(self, role: str, place: int) -> None:
        self._form.set_role(role, "effort", self.efforts[role].itemData(place))
