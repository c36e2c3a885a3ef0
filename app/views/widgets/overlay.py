"""A panel over the window that takes the focus while it is open and restores it afterwards."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QFrame, QWidget

from app.views.frame.theme import Theme
from app.views.widgets.build import styled, vbox


class Overlay(QWidget):
    """A scrim over its parent with a panel in the middle, without blocking.

    Esc or a click beside the panel closes it.  While it is open the focus stays in it; of the window's commands only
    those that belong to no place work.
    ``wanted`` is the panel's size at 100 % text size; ``top`` places it near the upper edge.
    """

    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget, wanted: QSize, *, top: bool = False) -> None:
        super().__init__(parent)
        self._theme, self._wanted, self._top, self._host = theme, wanted, top, parent
        self._before: QWidget | None = None
        self.panel = styled(QFrame(self), "overlay")
        self.body = vbox(parent=self.panel, spacing=0)
        parent.installEventFilter(self)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._keep_keys)
        theme.changed.connect(self._place)
        self.hide()

    def toggle(self) -> None:
        if self.isVisible():
            self.dismiss()
        else:
            self.present()

    def present(self) -> None:
        """Open it over everything else and focus it."""
        for other in self._host.findChildren(Overlay, options=Qt.FindChildOption.FindDirectChildrenOnly):
            if other is not self and other.isVisible():
                other.dismiss()
        focused = QApplication.focusWidget()
        self._before = focused if focused is not None and not self.isAncestorOf(focused) else None
        self._place()
        self.prepare()
        self.show()
        self.raise_()
        self.first().setFocus(Qt.FocusReason.PopupFocusReason)

    def dismiss(self) -> None:
        """Close it and restore the focus."""
        if not self.isVisible():
            return
        self.hide()
        before, self._before = self._before, None
        if before is not None and before.isVisible():
            before.setFocus(Qt.FocusReason.PopupFocusReason)
        else:
            self._host.setFocus()
        self.closed.emit()

    def prepare(self) -> None:
        """Fill the panel; called each time before it opens."""

    def first(self) -> QWidget:
        return self.panel

    def event(self, event: QEvent) -> bool:
        """Keep plain keys from the window's commands; keys with Ctrl, Alt or Meta still reach them."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            modifiers = event.modifiers() & ~(
                Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
            )
            if modifiers == Qt.KeyboardModifier.NoModifier:
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click beside the panel closes."""
        if not self.panel.geometry().contains(event.position().toPoint()):
            self.dismiss()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Dim what lies behind."""
        shade = QColor(0, 0, 0, 110 if self._theme.is_dark else 60)
        painter = QPainter(self)
        painter.fillRect(self.rect(), shade)
        painter.end()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def _keep_keys(self, _before: QWidget | None, now: QWidget | None) -> None:
        """Keep the focus in the panel when a pressed button is disabled and loses it."""
        if (
            now is not None
            and self.isVisible()
            and self._host.isAncestorOf(now)
            and not self.isAncestorOf(now)
        ):
            self.first().setFocus(Qt.FocusReason.PopupFocusReason)

    def _place(self) -> None:
        room = self._host.size()
        self.setGeometry(0, 0, room.width(), room.height())
        px = self._theme.px
        width = min(px(self._wanted.width()), room.width() - 32)
        height = min(px(self._wanted.height()), room.height() - 64)
        top = px(64) if self._top else (room.height() - height) // 2
        top = min(top, room.height() - height - 16)
        self.panel.setGeometry((room.width() - width) // 2, top, width, height)
