"""The empty state of a view: its purpose, what to do, and the command that does it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from app.models.common.commands import CommandCenter
from app.views.widgets.build import styled, text_label, vbox


class EmptyState(QWidget):
    """A title, a hint and, where a command helps, a button with its shortcut."""

    def __init__(
        self,
        title: str,
        hint: str,
        command_id: str = "",
        center: CommandCenter | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._command, self._center = command_id, center
        self.title, self.hint = text_label(title, "title", wrap=True), text_label(hint, "muted", wrap=True)
        self.button = styled(QPushButton(), "primary")
        layout = vbox(2, parent=self, margins=(24, 24, 24, 24), spacing=8)
        for label in (self.title, self.hint):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            layout.addWidget(label)
        layout.addSpacing(8)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(3)
        self.button.setVisible(bool(command_id and center))
        if command_id and center is not None:
            self.button.clicked.connect(lambda: center.trigger(command_id))
            center.keys_changed.connect(self._dress)
            self._dress()
        self.setAccessibleName(title)

    def set(self, title: str, hint: str) -> None:
        """Change the text: "nothing matches" is not "nothing is here"."""
        self.title.setText(title)
        self.hint.setText(hint)
        self.setAccessibleName(title)

    def _dress(self) -> None:
        if self._center is None:
            return
        title, keys = self._center.title(self._command), self._center.keys(self._command)
        self.button.setText(f"{title}   {keys}" if keys else title)
        self.button.setAccessibleName(title)
