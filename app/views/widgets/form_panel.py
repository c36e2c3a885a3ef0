"""Forms in place of a side panel: a title with a close button, scrolling fields, and the submit button."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QFileDialog,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QToolButton,
    QWidget,
)

from app.views.widgets.build import Panel, ground, hbox, restyle, scroll_area, styled, text_label, vbox
from app.views.widgets.form_section import FormSection
from app.views.widgets.key_kinds import COMMANDING, is_plain

if TYPE_CHECKING:
    from app.models.common.form import FormModel

FormT = TypeVar("FormT", bound="FormModel")


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """A typed field: ``files`` is the filter of a file dialog; ``is_long`` makes a text of several lines."""

    name: str
    label: str
    meaning: str
    files: str = ""
    placeholder: str = ""
    is_long: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RadioOption:
    """One radio button of a group."""

    value: str
    label: str
    meaning: str


class FormPanel(Panel, Generic[FormT]):
    """A non-blocking form.  ``closed`` says that it was closed, or that its action has begun.

    Plain keys stay in it, except Esc; Enter on a choice submits it.

    Attributes:
        fields, texts: lines and longer texts by name.  says: the help or problem below each.
        grid: labels in column 0, fields and their help in column 1; of the section that was begun last.
        sections: parts that can be folded.
        error: why the action could not begin.
    """

    closed = Signal()

    def __init__(self, form: FormT, fields: Sequence[FormField]) -> None:
        super().__init__()
        self.form = form
        ground(self)
        self._specs = {field.name: field for field in fields}
        self.fields: dict[str, QLineEdit] = {}
        self.texts: dict[str, QPlainTextEdit] = {}
        self.says: dict[str, QLabel] = {}
        self.grid = self._whole = QGridLayout()
        self.sections: list[FormSection] = []
        self._grids = [self.grid]
        self.start, self.close_button = styled(QPushButton(), "primary"), styled(QPushButton(), "link")
        self.error = text_label(kind="fail", wrap=True)
        self._order: list[QWidget] = []
        self._asked = False
        self._dialog: QFileDialog | None = None
        self.start.clicked.connect(self.submit)
        self.close_button.clicked.connect(self.closed)
        self.close_button.setText(self.tr("Close  Esc"))
        self.close_button.setAccessibleName(self.tr("Close the form; its contents are kept"))
        form.changed.connect(self.refresh)

    # ------------------------------------------------------------ for subclasses
    def run_action(self) -> bool:
        raise NotImplementedError

    def help_text(self, name: str) -> str:
        """Return the text below a field without a problem."""
        return self._specs[name].meaning

    def shows_problem(self, name: str) -> bool:
        """Whether the problem of a field is shown: after the first attempt."""
        return self._asked

    def refresh(self) -> None:
        problems = {one.field: one.message for one in self.form.problems}
        for name, field in self.fields.items():
            if field.text() != self.form.values[name]:
                with QSignalBlocker(field):
                    field.setText(self.form.values[name])
                    field.setCursorPosition(0)  # a long text shows its beginning
        for name, text in self.texts.items():
            if text.toPlainText() != self.form.values[name]:
                with QSignalBlocker(text):
                    text.setPlainText(self.form.values[name])
        for name in self.says:
            self._say(name, problems.get(name, "") if self.shows_problem(name) else "")
        self.show_error(self.form.error)

    # ------------------------------------------------------------ submitting
    def submit(self) -> None:
        """Start the action, or go to the first problem."""
        self._asked = True
        if self.run_action():
            return
        self.refresh()
        problems = self.form.problems
        if problems:
            for section in self.sections:
                if section.isAncestorOf(self._widget(problems[0].field)):
                    section.fold(False)
            self._widget(problems[0].field).setFocus(Qt.FocusReason.OtherFocusReason)
            self._scroll.ensureWidgetVisible(self.says[problems[0].field])

    def start_over(self) -> None:
        """Show no problems until the next attempt."""
        self._asked = False
        self.refresh()

    def event(self, event: QEvent) -> bool:
        """Keep plain keys from the place beside the form: Down chooses the next button, not the next run."""
        if is_plain(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter on a choice submits, on another button presses it; lines and lists handle their own."""
        held = QApplication.focusWidget()
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or event.modifiers() & COMMANDING:
            super().keyPressEvent(event)
        elif isinstance(held, (QRadioButton, QCheckBox, QComboBox)):
            self.start.click()
        elif isinstance(held, (QPushButton, QToolButton)):
            held.click()
        else:
            super().keyPressEvent(event)

    # ------------------------------------------------------------ layout
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.align_labels()

    def changeEvent(self, event: QEvent) -> None:
        """Make room for labels in another text size."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange and self.isVisible():
            QTimer.singleShot(0, self, self.align_labels)

    def align_labels(self) -> None:
        """Give the labels of all parts one width, so that their fields are aligned."""
        labels = [
            label
            for grid in self._grids
            for row in range(grid.rowCount())
            if (item := grid.itemAtPosition(row, 0)) is not None
            and isinstance(label := item.widget(), QLabel)
        ]
        width = max((label.sizeHint().width() for label in labels), default=0)
        for grid in self._grids:
            grid.setColumnMinimumWidth(0, width)

    def add_fields(self, *names: str) -> None:
        """Add a row for each field: label, field, file button; its help below."""
        for name in names:
            spec = self._specs[name]
            says = self.says[name] = text_label(kind="secondary", wrap=True)
            if spec.is_long:
                text = self.texts[name] = QPlainTextEdit()
                text.setTabChangesFocus(True)
                text.textChanged.connect(partial(self._on_text, name))
            else:
                line = self.fields[name] = QLineEdit()
                line.setPlaceholderText(spec.placeholder)
                line.textEdited.connect(partial(self.form.set, name))
                line.returnPressed.connect(self.submit)
            field = self._widget(name)
            field.setAccessibleName(f"{spec.label}: {spec.meaning}")
            beside = hbox((field, 1), spacing=6)
            self._order.append(field)
            if spec.files:
                button = QPushButton(self.tr("Choose…"))
                button.setAccessibleName(self.tr("Choose the file: {0}").format(spec.label))
                button.setToolTip(button.accessibleName())
                button.clicked.connect(partial(self._choose_file, name, button.accessibleName()))
                beside.addWidget(button)
                self._order.append(button)
            side = Qt.AlignmentFlag.AlignTop if spec.is_long else Qt.AlignmentFlag.AlignVCenter
            row = self._label(spec.label, field, side)
            self.grid.addLayout(beside, row, 1)
            self.grid.addWidget(says, row + 1, 1)

    def add_choices(
        self, label: str, choices: Sequence[RadioOption], choose: Callable[[str], None]
    ) -> dict[str, QRadioButton]:
        """Add a group of radio buttons, each with its meaning below; return them by value."""
        group, buttons = QButtonGroup(self), dict[str, QRadioButton]()
        row = self._label(label)
        for place, choice in enumerate(choices):
            button = buttons[choice.value] = QRadioButton(choice.label)
            button.setAccessibleDescription(choice.meaning)
            button.clicked.connect(partial(self._on_choice, choose, choice.value))
            group.addButton(button)
            self.grid.addWidget(button, row + 2 * place, 1)
            says = text_label(choice.meaning, "secondary", wrap=True)
            self.grid.addWidget(says, row + 2 * place + 1, 1)
            self._order.append(button)
        return buttons

    def add_row(self, widget: QWidget, label: str = "", *, wide: bool = False) -> None:
        """Add a row with any widget; ``wide`` over both columns."""
        row = self._label(label, widget)
        self.grid.addWidget(widget, row, 0 if wide else 1, 1, 2 if wide else 1)
        if wide:
            self.grid.setRowStretch(row, 10)
        self._order.append(widget)

    def add_help(self, text: str) -> QLabel:
        """Add a line of help below the last field."""
        says = text_label(text, "secondary", wrap=True)
        self.grid.addWidget(says, self.grid.rowCount(), 1)
        return says

    def begin_section(self, title: str) -> FormSection:
        """Begin a part that can be folded; all that is added until ``end_section`` is in it."""
        section = FormSection(title)
        self._whole.addWidget(section, self._whole.rowCount(), 0, 1, 2)
        self.sections.append(section)
        self._grids.append(section.grid)
        self._order.append(section.toggle)
        self.grid = section.grid
        return section

    def end_section(self) -> None:
        self.grid = self._whole

    def toggle_sections(self) -> None:
        """Unfold all parts, or fold them where all that can be seen are unfolded."""
        seen = [section for section in self.sections if section.isVisibleTo(self)]
        fold = not any(section.is_folded for section in seen)
        for section in self.sections:
            section.fold(fold)
        held = QApplication.focusWidget()
        if fold and held is not None and self.isAncestorOf(held) and not held.isVisible():
            seen[0].toggle.setFocus(Qt.FocusReason.OtherFocusReason)

    def _label(
        self, text: str, buddy: QWidget | None = None, side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignVCenter
    ) -> int:
        row = self.grid.rowCount()
        if text:
            label = QLabel(text)
            if buddy is not None:
                label.setBuddy(buddy)
            self.grid.addWidget(label, row, 0, side)
        return row

    def frame(self, title: str, *foot: QWidget) -> None:
        """Lay out the panel once the grid is filled; ``foot`` goes over error and button."""
        self.setAccessibleName(title)
        heading = text_label(title, "heading")
        head = hbox((heading, 1), self.close_button, margins=(14, 8, 12, 4))
        inner = styled(QWidget(), "raised")
        inner.setLayout(self.grid)
        self.grid.setContentsMargins(14, 4, 12, 12)
        self.grid.setHorizontalSpacing(8)
        self.grid.setVerticalSpacing(2)
        self.grid.setColumnStretch(1, 1)
        self.grid.setRowStretch(self.grid.rowCount(), 1)
        self._scroll = scroll_area(inner)
        below = vbox(*foot, self.error, self.start, margins=(14, 6, 12, 10), spacing=4)
        vbox(head, (self._scroll, 1), below, parent=self, spacing=0)
        for one, other in pairwise([*self._order, self.start, self.close_button]):
            QWidget.setTabOrder(one, other)

    def show_error(self, text: str) -> None:
        """Show why the action could not begin; "" hides the line."""
        self.error.setText(text)
        self.error.setVisible(bool(text))

    def _say(self, name: str, problem: str) -> None:
        says, text = self.says[name], f"! {problem}" if problem else self.help_text(name)
        says.setText(text)
        self._widget(name).setAccessibleDescription(text)
        kind = "fail" if problem else "secondary"
        restyle(says, kind=kind)

    def _widget(self, name: str) -> QLineEdit | QPlainTextEdit:
        return self.texts[name] if name in self.texts else self.fields[name]

    def _on_text(self, name: str) -> None:
        self.form.set(name, self.texts[name].toPlainText())

    def _on_choice(self, choose: Callable[[str], None], value: str, _checked: bool = False) -> None:
        choose(value)

    def _choose_file(self, name: str, title: str, _checked: bool = False) -> None:
        known = self.form.values[name]
        dialog = QFileDialog(self.window(), title)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self._specs[name].files, self.tr("All files (*)")])
        dialog.setDirectory(str(Path(known).expanduser().parent if known else Path.home()))
        dialog.fileSelected.connect(partial(self.form.set, name))
        dialog.finished.connect(dialog.deleteLater)
        self._dialog = dialog
        dialog.open()


def check(button: QAbstractButton, on: bool) -> None:
    """Show a choice or a switch without its signal."""
    with QSignalBlocker(button):
        button.setChecked(on)
