"""The ring around the widget that Tab reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

if TYPE_CHECKING:
    from app.views.frame.theme import Theme

WIDTH = 2
"""Pixels of the line."""

_MOVES = frozenset((QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Hide))


class FocusRing(QWidget):
    """Drawn after Tab, and gone with the next focus that a command or the mouse gives.

    Styles draw the focus of buttons and fields, but not that of lists, tables and canvases; one ring for all of them
    looks the same everywhere. It lies over the window and inside the widget's edges, where no pane cuts it off.
    """

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._theme, self._window = theme, window
        self._around: QWidget | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus)
        self.hide()

    def follow(self, widget: QWidget | None) -> None:
        """Surround a widget; ``None`` hides the ring."""
        if self._around is not None and isValid(self._around):
            self._around.removeEventFilter(self)
        self._around = widget if widget is not None and widget is not self._window else None
        if self._around is None:
            self.hide()
            return
        self._around.installEventFilter(self)
        self._place()
        self.show()
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Go where the widget goes."""
        if event.type() in _MOVES:
            self._place()
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("accent"), WIDTH))
        inset = WIDTH / 2
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), 4, 4)

    def _place(self) -> None:
        around = self._around
        if around is None or not isValid(around) or not around.isVisible():
            self.hide()
            return
        seen = around.visibleRegion().boundingRect()
        self.setGeometry(seen.translated(around.mapTo(self._window, QPoint(0, 0))))

    def _on_focus(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is not self._around:
            self.follow(None)
