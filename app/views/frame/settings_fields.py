"""Rows of the settings panel: label, field by the setting's type, and the help below it."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QDoubleValidator, QIntValidator
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QLineEdit, QToolButton, QWidget

from app.models.common.settings_form import AMOUNTS, CHOICES, NUMBERS
from app.views.widgets.build import styled, text_label

if TYPE_CHECKING:
    from app.models.common.settings_form import SettingsForm
    from app.views.frame.theme import Theme


class SettingsFields(QObject):
    """Fields of settings by name, with the words below each; ``entered``: Enter was pressed in one.

    ``order`` is the order of the tabulator.
    """

    entered = Signal()

    def __init__(self, form: SettingsForm, theme: Theme) -> None:
        super().__init__()
        self._form, self._theme = form, theme
        self.by_name: dict[str, QLineEdit | QComboBox] = {}
        self.words: dict[str, QLabel] = {}
        self.order: list[QWidget] = []
        self._words: list[QLabel] = []
        theme.changed.connect(self._dress)

    def add(self, grid: QGridLayout, name: str, field: QComboBox | None = None) -> None:
        """Add a setting's row; ``field`` is used in place of the one of its type."""
        line = self._form.line(name)
        made = self.by_name[name] = self._connected(field, name) if field is not None else self._field(name)
        made.setAccessibleDescription(line.help)
        made.setEnabled(not line.overridden_by)
        held = self.tr("Overridden by the environment variable {0}").format(line.overridden_by)
        self.words[name] = self.row(grid, line.label, made, held if line.overridden_by else line.help)

    def row(self, grid: QGridLayout, label: str, field: QWidget, words: str, *more: QWidget) -> QLabel:
        """Add a row of any field, with more at its right; return the line below it."""
        row = grid.rowCount()
        name, says = QLabel(label), text_label(words, "secondary", wrap=True)
        name.setBuddy(field)
        field.setAccessibleName(label)
        self.order += [field, *more]
        grid.addWidget(name, row, 0)
        grid.addWidget(field, row, 1, 1, 1 if more else 2)
        for place, widget in enumerate(more, 2):
            grid.addWidget(widget, row, place)
        grid.addWidget(says, row + 1, 1, 1, 2)
        self._words.append(says)
        self._dress()
        return says

    def show_values(self) -> None:
        for name, field in self.by_name.items():
            value = self._form.value(name)
            with QSignalBlocker(field):
                if isinstance(field, QComboBox):
                    if field.currentText().strip() != str(value):
                        field.setCurrentText(str(value))
                elif not _says(field.text().strip(), value):
                    field.setText(_text_of(value))

    def _connected(self, box: QComboBox, name: str) -> QComboBox:
        box.setEditable(True)
        box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        # Its popup would keep Tab, and what is typed next, a key, would go into this field.
        box.setCompleter(None)  # pyright: ignore[reportArgumentType]
        line = box.lineEdit()
        assert line is not None
        line.textEdited.connect(partial(self._form.set, name))
        line.returnPressed.connect(self.entered)
        return box

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
        line.returnPressed.connect(self.entered)
        return line

    def _take_number(self, name: str, text: str) -> None:
        if text:
            self._form.set(name, int(text))

    def _take_amount(self, name: str, text: str) -> None:
        with suppress(ValueError):  # an incomplete number: "" or a lone point
            self._form.set(name, float(text))

    def _dress(self) -> None:
        for words in self._words:
            words.setContentsMargins(0, 0, 0, self._theme.px(8))


class FoldedGroup(QToolButton):
    """The head of a group of rows, which are shown while it is checked."""

    def __init__(self, title: str, meaning: str, body: QWidget) -> None:
        super().__init__()
        styled(self, "fold")
        self.setText(title)
        self.setAccessibleName(f"{title}: {meaning}")
        self.setToolTip(meaning)
        self.setCheckable(True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.body = body
        self.toggled.connect(self._fold)
        self._fold(False)

    def _fold(self, is_open: bool) -> None:
        self.body.setVisible(is_open)
        self.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)


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
