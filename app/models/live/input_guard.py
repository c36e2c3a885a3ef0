"""The operator's keyboard and mouse activity: whether they are busy, and which keys were meant for a field that
is gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum, auto

from PySide6.QtCore import QObject, QTimer, Signal

IDLE_SECONDS = 3.0
"""Rows may be sorted again after this long without a key press or mouse move."""
TYPING_SECONDS = 1.0
"""A plain key within this time after a typed letter was meant for the field, wherever the focus is now."""


class KeyKind(Enum):
    """The part a key press plays in typing."""

    TEXT = auto()  # a letter, a space, Backspace
    LEAVES = auto()  # Enter, Esc, Tab: the end of typing
    OTHER = auto()  # with Ctrl, Alt or Meta, or a function key: never typed by accident


class InputGuard(QObject):
    """Timing of the operator's last input.

    Signals:
        rested: no key press or mouse move for ``IDLE_SECONDS``.
        swallowed: a key press was kept from the commands; once for each burst of typing.
    """

    idle = Signal()
    key_withheld = Signal()

    def __init__(self, clock: Callable[[], float] = time.monotonic, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.now = clock
        self._touched_at = float("-inf")
        self._typed_at = float("-inf")
        self._sent_requests = False
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.look)

    # ------------------------------------------------------------ resting
    @property
    def is_busy(self) -> bool:
        """Whether a key was pressed or the mouse moved a moment ago."""
        return self.now() - self._touched_at < IDLE_SECONDS

    def touch(self) -> None:
        """Note a key press, or a mouse move over the runs."""
        self._touched_at = self.now()
        if not self._timer.isActive():
            self._timer.start(round(IDLE_SECONDS * 1000))

    def look(self) -> None:
        """Emit ``idle``, or wait for the remaining time."""
        left = self._touched_at + IDLE_SECONDS - self.now()
        if left > 0:
            self._timer.start(max(round(left * 1000), 1))
        else:
            self.idle.emit()

    # ------------------------------------------------------------ typing
    def expect_typing(self) -> None:
        """Treat the next letters as typed into a field that was requested but is unavailable."""
        self._typed_at, self._sent_requests = self.now(), False

    def stop_typing(self) -> None:
        """Note a deliberate action, such as a click: typing is over."""
        self._typed_at = float("-inf")

    def press(self, key: KeyKind, *, in_field: bool) -> bool:
        """Note a key press; return True when it must not trigger a command.

        A letter typed into a field claims the letters after it for the field, until a second passes without one, or
        Enter, Esc, a click or a key with Ctrl shows that the typing is over.  So a field may vanish at any moment, and
        the rest of the sentence does nothing.  Such an Enter or Esc does nothing either.
        """
        self.touch()
        typing = self.now() - self._typed_at < TYPING_SECONDS
        if key is not KeyKind.TEXT:
            self.stop_typing()
            return key is KeyKind.LEAVES and typing and not in_field
        if in_field:
            self.expect_typing()
        elif typing:
            self._typed_at = self.now()
            if not self._sent_requests:
                self._sent_requests = True
                self.key_withheld.emit()
        return typing and not in_field
