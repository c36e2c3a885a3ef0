"""A person's hands on Live: whether they are busy, and which keys belong to a field that is gone."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum, auto

from PySide6.QtCore import QObject, QTimer, Signal

REST_SECONDS = 3.0
"""Without a key or a mouse move for so long, rows may change places."""
TYPING_SECONDS = 1.0
"""A plain key that follows a typed letter sooner than this was meant for the field, wherever the keys are now."""


class Key(Enum):
    """What a key press is, as far as typing goes."""

    TEXT = auto()  # a letter, a space, Backspace: what somebody types in the middle of a sentence
    LEAVES = auto()  # Enter, Esc, Tab: the end of typing
    OTHER = auto()  # with Ctrl, Alt or Meta, or a function key: never typed by accident


class LiveHands(QObject):
    """One clock and one timer for all that depends on when a person last did something.

    Signals:
        rested: no key was pressed and the mouse did not move for ``REST_SECONDS``.
        swallowed: a key was taken from the commands; once for each burst of typing.
    """

    rested = Signal()
    swallowed = Signal()

    def __init__(self, clock: Callable[[], float] = time.monotonic, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.now = clock
        self._touched_at = float("-inf")
        self._typed_at = float("-inf")
        self._told = False
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.look)

    # ------------------------------------------------------------ resting
    @property
    def is_busy(self) -> bool:
        """A key was pressed or the mouse moved a moment ago."""
        return self.now() - self._touched_at < REST_SECONDS

    def touch(self) -> None:
        """A key was pressed, or the mouse moved over the runs."""
        self._touched_at = self.now()
        if not self._timer.isActive():
            self._timer.start(round(REST_SECONDS * 1000))

    def look(self) -> None:
        """Tell that the hands rest, or wait for the remaining time."""
        left = self._touched_at + REST_SECONDS - self.now()
        if left > 0:
            self._timer.start(max(round(left * 1000), 1))
        else:
            self.rested.emit()

    # ------------------------------------------------------------ typing
    def expect_typing(self) -> None:
        """A field was asked for and can't be had: what is typed now was meant for it."""
        self._typed_at, self._told = self.now(), False

    def stop_typing(self) -> None:
        """Something deliberate came between, such as a click."""
        self._typed_at = float("-inf")

    def press(self, key: Key, *, in_field: bool) -> bool:
        """Take note of a key press; True when it must not become a command.

        A letter typed into a field makes the letters after it the field's too, until a second goes by without one, or
        Enter, Esc, a click or a key with Ctrl shows that the typing is over.  So a field may vanish at any moment, and
        the rest of the sentence does nothing.  Such an Enter or Esc does nothing either.
        """
        self.touch()
        typing = self.now() - self._typed_at < TYPING_SECONDS
        if key is not Key.TEXT:
            self.stop_typing()
            return key is Key.LEAVES and typing and not in_field
        if in_field:
            self.expect_typing()
        elif typing:
            self._typed_at = self.now()
            if not self._told:
                self._told = True
                self.swallowed.emit()
        return typing and not in_field
