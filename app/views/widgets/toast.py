"""A passing message with an optional Undo button."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from app.views.widgets.build import hbox, restyle, text_label

SECONDS = 6.0
MARGIN = 16


class Toast(QFrame):
    """One line above the lower edge of its parent; a newer message replaces the older one.

    It stays while the pointer is on it. Errors without a time of their own stay until they are closed or replaced.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._host = parent
        self.setObjectName("toast")
        self._act: Callable[[], object] | None = None
        self._clear = 0
        self._label, self._button, self._close = text_label(wrap=True), QPushButton(), QPushButton("✕")
        self._close.setAccessibleName(self.tr("Close this message"))
        for button in (self._button, self._close):
            button.setProperty("kind", "link")
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._button.clicked.connect(self._do)
        self._close.clicked.connect(self.hide)
        self._button.hide()
        self._row = hbox((self._label, 1), self._button, self._close, parent=self, margins=(12, 8, 8, 8))
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._fade)
        parent.installEventFilter(self)
        self.hide()

    @property
    def text(self) -> str:
        return self._label.text()

    @property
    def action_text(self) -> str:
        """The button's text, "" for none."""
        return self._button.text() if self._act is not None else ""

    def say(
        self,
        text: str,
        action: str = "",
        act: Callable[[], object] | None = None,
        *,
        kind: str = "",
        seconds: float = 0.0,
    ) -> None:
        """Show ``text``; ``kind`` is "", ``ok`` or ``fail``; ``action`` and ``act`` make the button.

        ``seconds`` is how long it stays; 0 for the usual time, and for an error until it is closed.
        """
        self._label.setText(text)
        self._label.setAccessibleName(text)
        self._act = act
        self._button.setText(action)
        self._button.setVisible(act is not None)
        restyle(self, state=kind)
        self._place()
        self.show()
        self.raise_()
        if kind == "fail" and not seconds:
            self._timer.stop()
        else:
            self._timer.start(int((seconds or SECONDS) * 1000))

    def keep_clear(self, pixels: int) -> None:
        """Leave this much of the lower edge free for a place's own controls."""
        if pixels != self._clear:
            self._clear = pixels
            self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep to the lower edge when the window changes its size."""
        if event.type() is QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        room = self._host.size()
        wide = min(room.width() - 2 * MARGIN, 560)
        self._label.setMinimumWidth(0)
        text = self._label.fontMetrics().horizontalAdvance(self._label.text()) + 24
        buttons = self._close.sizeHint().width() + (self._button.sizeHint().width() if self._act else 0) + 44
        width = min(wide, text + buttons)
        self.setFixedWidth(max(width, 200))
        self.setFixedHeight(max(self._row.heightForWidth(self.width()), self._row.sizeHint().height()))
        lower = room.height() - (self._clear or 2)  # over the status line, not the step
        self.move((room.width() - self.width()) // 2, lower - self.height())

    def _do(self) -> None:
        act = self._act
        self.hide()
        if act is not None:
            act()

    def _fade(self) -> None:
        if self.underMouse():
            self._timer.start(1000)
        else:
            self.hide()
