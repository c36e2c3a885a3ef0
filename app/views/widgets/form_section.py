"""A part of a form that can be folded away."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QToolButton, QWidget

from app.views.widgets.build import styled, vbox


class FormSection(QWidget):
    """A button with the title; below it the rows, folded at first.

    Attributes:
        grid: labels in column 0, fields and their help in column 1.
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title, self._keys = title, ""
        self.toggle = styled(QToolButton(), "fold")
        self.toggle.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.toggle.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.body = QWidget()
        self.grid = QGridLayout(self.body)
        self.grid.setContentsMargins(0, 2, 0, 0)
        self.grid.setHorizontalSpacing(8)
        self.grid.setVerticalSpacing(2)
        self.grid.setColumnStretch(1, 1)
        vbox(self.toggle, self.body, parent=self, margins=(0, 8, 0, 0), spacing=2)
        self.toggle.clicked.connect(lambda: self.fold(not self.is_folded))
        self.fold(True)

    @property
    def is_folded(self) -> bool:
        return self.body.isHidden()

    def fold(self, folded: bool) -> None:
        """Hide the rows, or show them."""
        self.body.setVisible(not folded)
        self._show()

    def show_keys(self, keys: str) -> None:
        """Name the shortcut that folds and unfolds."""
        self._keys = keys
        self._show()

    def _show(self) -> None:
        self.toggle.setText(f"{self._title}   {self._keys}" if self._keys else self._title)
        self.toggle.setArrowType(
            Qt.ArrowType.DownArrow
            if not self.is_folded
            else Qt.ArrowType.LeftArrow
            if self.isRightToLeft()
            else Qt.ArrowType.RightArrow
        )
        state = self.tr("folded") if self.is_folded else self.tr("unfolded")
        self.toggle.setAccessibleName(f"{self._title}, {state}")
