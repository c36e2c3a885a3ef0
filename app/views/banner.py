"""A line across the window for what concerns all of it: the engine is lost, or cannot be started."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from app.views.theme import Theme


class Banner(QFrame):
    """Hidden while all is well."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self._text = QLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self._icon = QLabel("⚠")
        self.button = QPushButton()
        self.button.hide()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 6, 16, 6)
        layout.setSpacing(8)
        layout.addWidget(self._icon)
        layout.addWidget(self._text, 1)
        layout.addWidget(self.button)
        self.hide()

    @property
    def text(self) -> str:
        """What it says."""
        return self._text.text()

    def tell(self, message: str) -> None:
        """Say ``message`` until it is told again; "" hides it."""
        self._text.setText(message)
        self._text.setAccessibleName(message)
        self.button.hide()
        self.setVisible(bool(message))

    def offer(self, message: str, action: str, act: object) -> None:
        """The same with a button."""
        self.tell(message)
        self.button.setText(action)
        self.button.clicked.connect(act, Qt.ConnectionType.SingleShotConnection)
        self.button.show()
