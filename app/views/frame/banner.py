"""A banner across the window for what concerns all of it: the engine is lost, or cannot be started."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from app.views.frame.theme import Theme
from app.views.widgets.build import hbox, text_label


class Banner(QFrame):
    """Hidden while all is well."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self._text = text_label(wrap=True)
        self._icon = QLabel("⚠")
        self.button, self.other = QPushButton(), QPushButton()
        self.button.hide()
        self.other.hide()
        self._escape: Callable[[], object] | None = None
        hbox(
            self._icon,
            (self._text, 1),
            self.button,
            self.other,
            parent=self,
            margins=(16, 6, 16, 6),
            spacing=8,
        )
        self.hide()

    @property
    def text(self) -> str:
        return self._text.text()

    def tell(self, message: str) -> None:
        """Show ``message`` until another one; "" hides the banner."""
        self._text.setText(message)
        self._text.setAccessibleName(message)
        self.button.hide()
        self.other.hide()
        self._escape = None
        self.setVisible(bool(message))

    def offer(self, message: str, action: str, act: object) -> None:
        self.tell(message)
        self.button.setText(action)
        self.button.clicked.connect(act, Qt.ConnectionType.SingleShotConnection)
        self.button.show()

    def ask(
        self, message: str, yes: str, act: Callable[[], object], no: str, leave: Callable[[], object]
    ) -> None:
        """Ask a question with two answers, without blocking.  Enter is ``yes``, Esc is ``no``."""
        self.offer(message, yes, act)
        self.other.setText(no)
        self.other.clicked.connect(leave, Qt.ConnectionType.SingleShotConnection)
        self.other.show()
        self._escape = leave
        self.button.setFocus(Qt.FocusReason.OtherFocusReason)

    def event(self, event: QEvent) -> bool:
        """Esc answers an open question, before any command."""
        if (
            event.type() is QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
            and self._escape is not None
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc is the second answer; Enter presses the focused button."""
        if event.key() == Qt.Key.Key_Escape and self._escape is not None:
            self._escape()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            (self.other if self.other.hasFocus() else self.button).click()
        else:
            super().keyPressEvent(event)
