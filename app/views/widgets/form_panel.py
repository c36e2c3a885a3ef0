"""A form in place of a side panel: a title with a close button, scrolling fields, and the submit button."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.views.widgets.key_kinds import COMMANDING
from app.views.widgets.panel import Panel


class FormPanel(Panel):
    """A non-blocking form.  ``closed`` says that it was closed, or that its action has begun.

    Plain keys stay in it, except Esc; Enter on a choice submits it.

    Attributes:
        grid: labels in column 0, fields and their help in column 1.
        error: why the action could not begin.
    """

    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "raised")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.grid = QGridLayout()
        self.start, self.close_button = QPushButton(), QPushButton()
        self.error = QLabel()
        self.close_button.clicked.connect(self.closed)

    def event(self, event: QEvent) -> bool:
        """Keep plain keys from the place beside the form: Down chooses the next button, not the next run."""
        if (
            event.type() is QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and not event.modifiers() & COMMANDING
            and event.key() != Qt.Key.Key_Escape
        ):
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
        elif isinstance(held, QPushButton):
            held.click()
        else:
            super().keyPressEvent(event)

    def frame(self, title: str, *foot: QWidget) -> None:
        """Lay out the panel once the grid is filled; ``foot`` goes over error and button."""
        head = QHBoxLayout()
        head.setContentsMargins(14, 8, 12, 4)
        heading = QLabel(title)
        heading.setProperty("kind", "heading")
        head.addWidget(heading, 1)
        head.addWidget(self.close_button)
        self.close_button.setProperty("kind", "link")
        inner = QWidget()
        inner.setProperty("kind", "raised")
        inner.setLayout(self.grid)
        self.grid.setContentsMargins(14, 4, 12, 12)
        self.grid.setHorizontalSpacing(8)
        self.grid.setVerticalSpacing(2)
        self.grid.setColumnStretch(1, 1)
        self.grid.setRowStretch(self.grid.rowCount(), 1)
        self._scroll = QScrollArea()
        self._scroll.setWidget(inner)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.start.setProperty("kind", "primary")
        self.error.setProperty("kind", "fail")
        self.error.setWordWrap(True)
        self.error.setTextFormat(Qt.TextFormat.PlainText)
        below = QVBoxLayout()
        below.setContentsMargins(14, 6, 12, 10)
        below.setSpacing(4)
        for widget in (*foot, self.error, self.start):
            below.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self._scroll, 1)
        layout.addLayout(below)

    def add_field(
        self,
        row: int,
        word: str,
        field: QWidget,
        says: QLabel,
        beside: QWidget | None = None,
        *,
        high: bool = False,
    ) -> int:
        """Add a row: a field with its label before it and its help below."""
        label = QLabel(word)
        label.setBuddy(field)
        says.setWordWrap(True)
        says.setTextFormat(Qt.TextFormat.PlainText)
        self.grid.addWidget(
            label, row, 0, Qt.AlignmentFlag.AlignTop if high else Qt.AlignmentFlag.AlignVCenter
        )
        if beside is None:
            self.grid.addWidget(field, row, 1)
        else:
            line = QHBoxLayout()
            line.setSpacing(6)
            line.addWidget(field, 1)
            line.addWidget(beside)
            self.grid.addLayout(line, row, 1)
        self.grid.addWidget(says, row + 1, 1)
        return row + 2

    def show_error(self, text: str) -> None:
        """Show why the action could not begin; "" hides the line."""
        self.error.setText(text)
        self.error.setVisible(bool(text))

    def bring_into_sight(self, widget: QWidget) -> None:
        """Scroll to a widget of the grid."""
        self._scroll.ensureWidgetVisible(widget)


def say(says: QLabel, field: QWidget, meaning: str, problem: str) -> None:
    """Set the text below a field: its help, or its problem."""
    text = f"! {problem}" if problem else meaning
    says.setText(text)
    field.setAccessibleDescription(text)
    kind = "fail" if problem else "secondary"
    if says.property("kind") != kind:
        says.setProperty("kind", kind)
        says.style().unpolish(says)
        says.style().polish(says)
