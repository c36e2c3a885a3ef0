"""Event filter over Live that keeps rows in place while the operator is busy, and typing from becoming commands.

It listens only to the focus widget, the lists of runs and the window, so page frames cost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)
from shiboken6 import isValid

from app.views.live.canvas import PageCanvas
from app.views.widgets.key_kinds import key_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.models.live.input_guard import InputGuard

CLICKS = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick)
KEYS = (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress)


class InputFilter(QObject):
    """Reports keys and mouse to ``hands``, and withholds the keys that ``hands`` claims for typing.

    Args:
        view: only its widgets are watched, and its window while nothing else has the focus.
        lists: widgets over which mouse moves count as activity.
    """

    def __init__(self, view: QWidget, hands: InputGuard, lists: Sequence[QWidget]) -> None:
        super().__init__(view)
        self._view, self._hands, self._lists = view, hands, tuple(lists)
        self._heard: QWidget | None = None
        self._taken = False
        for one in self._lists:
            one.installEventFilter(self)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Note keys, clicks and moves; keep a key from the commands and from the focus widget."""
        kind = event.type()
        if kind in KEYS and isinstance(event, QKeyEvent) and watched is self._heard:
            return self._on_key(event)
        if kind is QEvent.Type.MouseMove and watched in self._lists:
            self._hands.touch()
        elif kind in CLICKS:
            self._hands.touch()
            self._hands.stop_typing()
        return False

    def _on_key(self, event: QKeyEvent) -> bool:
        """Decide on the first event of a key press; the second one, for a key that is no shortcut, follows it."""
        if event.type() is QEvent.Type.ShortcutOverride:
            kind = key_of(event)
            self._taken = kind is not None and self._hands.press(kind, in_field=self.is_field)
        taken = self._taken
        if event.type() is QEvent.Type.KeyPress:
            self._taken = False  # a key within a chord begins with this event
        if taken:
            event.accept()
        return taken

    @property
    def is_field(self) -> bool:
        """Whether the keyboard goes to a text field, or to a page under the operator's control."""
        held = QApplication.focusWidget()
        if isinstance(held, PageCanvas):
            return held.is_capturing
        if isinstance(held, QComboBox):
            return held.isEditable()
        return isinstance(held, (QLineEdit, QPlainTextEdit, QTextEdit, QAbstractSpinBox))

    def _on_focus(self, _before: QWidget | None, now: QWidget | None) -> None:
        """Watch the focus widget, or the window when there is none."""
        if now is None:
            now = self._view.window() if self._view.isVisible() else None
        elif not (now is self._view or self._view.isAncestorOf(now)):
            now = None
        if now is self._heard:
            return
        if self._heard is not None and isValid(self._heard):
            self._heard.removeEventFilter(self)
        self._heard = now
        if now is not None:
            now.installEventFilter(self)
