"""Diagnostics of this machine with their remedies, and the About page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QPushButton,
    QWidget,
)

from app.views.frame.theme import Theme
from app.views.widgets.badge import Badge
from app.views.widgets.build import hbox, scroll_area, styled, text_label, vbox
from app.views.widgets.overlay import Overlay

if TYPE_CHECKING:
    from app.engine.api.engine_api import Check
    from app.models.common.workspace import WorkspaceModel


class DoctorPanel(Overlay):
    """One line a check: its state, the finding, the remedy."""

    def __init__(self, model: WorkspaceModel, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, QSize(760, 520))
        self._model = model
        title = text_label(self.tr("Diagnostics"), "title")
        self._again = QPushButton(self.tr("Check again"))
        self._again.clicked.connect(self._examine)
        copy = QPushButton(self.tr("Copy"))
        copy.clicked.connect(self._copy)
        head = hbox((title, 1), copy, self._again, _closing(self))
        self._area = scroll_area(QWidget(), focus=Qt.FocusPolicy.StrongFocus, sideways=True)
        self._area.setAccessibleName(self.tr("Checks"))
        self.body.setContentsMargins(20, 14, 14, 14)
        self.body.setSpacing(10)
        self.body.addLayout(head)
        self.body.addWidget(self._area, 1)
        model.checks_changed.connect(self._fill)

    def prepare(self) -> None:
        """Show the last result; run the checks when there is none."""
        if not self._model.checks:
            self._examine()
        self._fill()

    def first(self) -> QWidget:
        return self._area

    def _fill(self) -> None:
        self._again.setEnabled(True)
        sheet = styled(QWidget(), "raised")
        grid = QGridLayout(sheet)
        grid.setContentsMargins(0, 0, 8, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(10)
        grid.setColumnStretch(2, 1)
        for row, check in enumerate(self._model.checks):
            badge = Badge(*self._state(check), self._theme)
            name, found = text_label(check.name, "heading"), text_label(check.found, wrap=True)
            grid.addWidget(badge, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(name, row, 1, Qt.AlignmentFlag.AlignTop)
            words = vbox(found, spacing=2)
            if check.remedy and not check.ok:
                remedy = text_label(check.remedy, "secondary", wrap=True)
                remedy.setFont(self._theme.mono("secondary"))
                words.addWidget(remedy)
                remedy.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addLayout(words, row, 2)
        if not self._model.checks:
            grid.addWidget(QLabel(self.tr("Checking. This takes a few seconds.")), 0, 0)
        grid.setRowStretch(grid.rowCount(), 1)
        self._area.setWidget(sheet)

    def _state(self, check: Check) -> tuple[str, str]:
        if check.ok:
            return self.tr("works"), "ok"
        if check.slow:
            return self.tr("slow"), "muted"
        return (self.tr("missing"), "fail") if check.needed else (self.tr("off"), "muted")

    def _examine(self) -> None:
        self._again.setEnabled(False)
        self._model.examine()

    def _copy(self) -> None:
        lines = [
            " | ".join(
                part for part in (self._state(check)[0], check.name, check.found, check.remedy) if part
            )
            for check in self._model.checks
        ]
        QGuiApplication.clipboard().setText("\n".join(lines))


class TextPanel(Overlay):
    """A page of plain text with a button to copy it: about, and the last crash."""

    def __init__(self, theme: Theme, parent: QWidget, size: QSize) -> None:
        super().__init__(theme, parent, size)
        self._title, self._text = text_label(kind="title"), text_label(kind="raised", wrap=True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._text.setContentsMargins(0, 0, 8, 0)
        copy = QPushButton(self.tr("Copy"))
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._text.text()))
        head = hbox((self._title, 1), copy, _closing(self))
        self._area = scroll_area(self._text, focus=Qt.FocusPolicy.StrongFocus, sideways=True)
        self.body.setContentsMargins(20, 14, 14, 14)
        self.body.setSpacing(10)
        self.body.addLayout(head)
        self.body.addWidget(self._area, 1)

    def tell(self, title: str, text: str, *, mono: bool = False) -> None:
        self._title.setText(title)
        self._text.setFont(self._theme.mono("secondary") if mono else self._theme.font())
        self._text.setText(text)
        self.present()

    def first(self) -> QWidget:
        return self._area


def _closing(panel: Overlay) -> QPushButton:
    button = QPushButton(panel.tr("Close  Esc"))
    button.setAccessibleName(panel.tr("Close"))
    button.clicked.connect(panel.dismiss)
    return button
