"""Quiet mode: daily quiet hours, and an hour of quiet from now on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from PySide6.QtCore import QObject, QTimer, Signal

from app.errors import SiteloreError
from app.quiet_hours import QuietHours, quiet_hours

HOUR = 3600.0
POLL_SECONDS = 900.0
"""The clock is checked at least this often, as a machine that slept wakes at another time."""


class QuietMode(QObject):
    """``changed``: quiet began or ended; carries a sentence with its end, "" when it ended."""

    changed = Signal(str)

    def __init__(self, now: Callable[[], datetime] = datetime.now, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._now = now
        self._hours: QuietHours | None = None
        self._until: datetime | None = None
        self._awake_until: datetime | None = None
        self._was = False
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.look)

    @property
    def is_on(self) -> bool:
        """Whether notifications are held back now."""
        return self._seconds() > 0

    @property
    def words(self) -> str:
        """The end of the quiet time as a sentence, "" when it is not quiet."""
        left = self._seconds()
        if not left:
            return ""
        return self.tr("Quiet until {0}").format((self._now() + timedelta(seconds=left)).strftime("%H:%M"))

    def set_hours(self, text: str) -> str:
        """Set ``22:00-07:00``, or "" for none; returns the problem with it, and then keeps the earlier value."""
        try:
            self._hours = quiet_hours(text)
        except SiteloreError as error:
            return str(error)
        self.look()
        return ""

    def begin(self, seconds: float = HOUR) -> None:
        self._until, self._awake_until = self._now() + timedelta(seconds=seconds), None
        self.look()

    def end(self) -> None:
        """Allow notifications again; daily hours that hold now are skipped this once."""
        self.look()  # report hours that began since the last check
        self._until = None
        left = self._hours.seconds_left(self._now()) if self._hours is not None else 0.0
        self._awake_until = self._now() + timedelta(seconds=left) if left else None
        self.look()

    def toggle(self) -> None:
        if self.is_on:
            self.end()
        else:
            self.begin()

    def look(self) -> None:
        """Check the clock, and schedule the next check before anything can change."""
        left = self._seconds()
        wait = min(left or (POLL_SECONDS if self._hours else 0.0), POLL_SECONDS)
        if wait:
            self._timer.start(round(wait * 1000) + 1)
        else:
            self._timer.stop()
        if (left > 0) != self._was:
            self._was = left > 0
            self.changed.emit(self.words)

    def _seconds(self) -> float:
        now = self._now()
        hours = self._hours.seconds_left(now) if self._hours is not None else 0.0
        if self._awake_until is not None and now < self._awake_until:
            hours = 0.0
        hour = (self._until - now).total_seconds() if self._until is not None else 0.0
        return max(hours, hour, 0.0)
