"""The settings panel: one line each, its help below it, and the variable that overrides it."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QDoubleValidator, QIntValidator
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from app.models.common.settings_form import AMOUNTS, CHOICES, NUMBERS, SettingField
from app.views.widgets import ElidedLabel
from app.views.widgets.build import hbox, restyle, scroll_area, styled, text_label, vbox
from app.views.widgets.overlay import Overlay

if TYPE_CHECKING:
    from app.models.common.settings_form import SettingsForm
    from app.models.common.workspace import WorkspaceModel
    from app.views.frame.theme import Theme


class SettingsPanel(Overlay):
    """A panel over the window; Enter saves, Esc leaves the settings as they are."""

    def __init__(self, form: SettingsForm, workspace: WorkspaceModel, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, QSize(600, 560))
        self._form, self._workspace = form, workspace
        self.fields: dict[str, QLineEdit | QComboBox] = {}
        self.words: dict[str, QLabel] = {}
        self.folder = ElidedLabel(Qt.TextElideMode.ElideMiddle)
        self.folder.setAccessibleName(self.tr("Folder of the open workspace"))
        self.save, self.close_ = QPushButton(self.tr("Save  Enter")), QPushButton(self.tr("Close  Esc"))
        self.save.setProperty("kind", "primary")
        self.save.setAccessibleName(self.tr("Save the settings"))
        self.close_.setAccessibleName(self.tr("Close the settings"))
        self.said = text_label(wrap=True)
        self._lay_out()
        self.save.clicked.connect(form.save)
        self.close_.clicked.connect(self.dismiss)
        form.changed.connect(self._show)
        form.saved.connect(self._on_saved)
        theme.changed.connect(self._dress)
        self._dress()

    def prepare(self) -> None:
        """Read the file again, and name the open workspace."""
        self.said.clear()
        info = self._workspace.info
        self.folder.setText(info.path if info is not None else "")
        self._form.load()
        self._show()

    def first(self) -> QWidget:
        """The author's name, the setting changed most often."""
        return self.fields["author"]

    # ------------------------------------------------------------ layout
    def _lay_out(self) -> None:
        title = text_label(self.tr("Settings"), "title")
        sheet = styled(QWidget(), "raised")
        grid = QGridLayout(sheet)
        grid.setContentsMargins(0, 0, 10, 0)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        grid.addWidget(QLabel(self.tr("Workspace")), 0, 0)
        grid.addWidget(self.folder, 0, 1)
        grid.addWidget(_quiet(self.tr("To open another: sitelore --workspace FOLDER")), 1, 1)
        for number, line in enumerate(self._form.lines, 1):
            self._add(grid, number * 2, line)
        grid.setRowStretch(grid.rowCount(), 1)
        area = self._area = scroll_area(sheet, sideways=True)
        foot = hbox((self.said, 1), self.close_, self.save, spacing=8)
        body = vbox(title, (area, 1), foot, margins=(20, 14, 16, 14), spacing=12)
        self.body.addLayout(body)
        for one, other in pairwise([*self.fields.values(), self.close_, self.save]):
            QWidget.setTabOrder(one, other)

    def _add(self, grid: QGridLayout, row: int, line: SettingField) -> None:
        field = self._field(line.name)
        field.setAccessibleName(line.label)
        field.setAccessibleDescription(line.help)
        field.setEnabled(not line.overridden_by)
        name = QLabel(line.label)
        name.setBuddy(field)
        held = self.tr("Overridden by the environment variable {0}").format(line.overridden_by)
        words = self.words[line.name] = _quiet(held if line.overridden_by else line.help)
        self.fields[line.name] = field
        grid.addWidget(name, row, 0)
        grid.addWidget(field, row, 1)
        grid.addWidget(words, row + 1, 1)

    def _field(self, name: str) -> QLineEdit | QComboBox:
        if name in CHOICES:
            choice = QComboBox()
            choice.addItems(list(CHOICES[name]))
            choice.textActivated.connect(partial(self._form.set, name))
            return choice
        line = QLineEdit()
        if name in NUMBERS:
            line.setValidator(QIntValidator(*NUMBERS[name], line))
            line.textEdited.connect(partial(self._take_number, name))
        elif name in AMOUNTS:
            amount = QDoubleValidator(*AMOUNTS[name], line)
            amount.setNotation(QDoubleValidator.Notation.StandardNotation)
            point = QLocale.c()  # as everywhere else in the program
            point.setNumberOptions(QLocale.NumberOption.RejectGroupSeparator)
            amount.setLocale(point)
            line.setValidator(amount)
            line.textEdited.connect(partial(self._take_amount, name))
        else:
            line.textEdited.connect(partial(self._form.set, name))
        line.returnPressed.connect(self._form.save)
        return line

    def _take_number(self, name: str, text: str) -> None:
        if text:
            self._form.set(name, int(text))

    def _take_amount(self, name: str, text: str) -> None:
        with suppress(ValueError):  # an incomplete number: "" or a lone point
            self._form.set(name, float(text))

    # ------------------------------------------------------------ what is shown
    def _show(self) -> None:
        form = self._form
        for name, field in self.fields.items():
            value = form.value(name)
            with QSignalBlocker(field):
                if isinstance(field, QComboBox):
                    field.setCurrentText(str(value))
                elif not _says(field.text().strip(), value):
                    field.setText(_text_of(value))
        self.save.setEnabled(form.is_ready and form.is_changed and not form.is_saving)
        if form.error or form.is_changed:
            self._say(form.error, "fail")

    def _on_saved(self, _values: dict[str, object]) -> None:
        self._say(
            self.tr(
                "Saved. Colours, notifications and parallel runs change now, the rest at the next start."
            ),
            "muted",
        )

    def _say(self, text: str, kind: str) -> None:
        self.said.setText(text)
        restyle(self.said, kind=kind)

    def _dress(self) -> None:
        for words in self.words.values():
            words.setContentsMargins(0, 0, 0, self._theme.px(8))


def _text_of(value: object) -> str:
    """Return a value as text: an amount without needless digits, in no power of ten."""
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _says(text: str, value: object) -> bool:
    """Whether a line shows this value; an amount may be written in several ways, and is left as typed."""
    if not isinstance(value, float):
        return text == str(value)
    try:
        return float(text) == value
    except ValueError:
        return False


def _quiet(text: str) -> QLabel:
    return text_label(text, "secondary", wrap=True)
