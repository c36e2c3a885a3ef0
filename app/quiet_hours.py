"""Daily quiet hours, in which no notifications are shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from app.errors import InputError

_HOURS = re.compile(r"\s*(\d{1,2})(?::(\d{2}))?\s*(?:-|–|to)\s*(\d{1,2})(?::(\d{2}))?\s*")


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From one time of day to another, over midnight where the first is the later."""

    start: time
    end: time

    def holds(self, now: datetime) -> bool:
        at = now.time()
        if self.start <= self.end:
            return self.start <= at < self.end
        return at >= self.start or at < self.end

    def seconds_left(self, now: datetime) -> float:
        """Seconds until they end; 0 when they do not hold."""
        if not self.holds(now):
            return 0.0
        end = datetime.combine(now.date(), self.end, now.tzinfo)
        if end <= now:
            end += timedelta(days=1)
        return (end - now).total_seconds()


def quiet_hours(text: str) -> QuietHours | None:
    """Parse ``22:00-07:00`` or ``22-7``; "" is none.  Raises ``InputError`` with the problem."""
    if not text.strip():
        return None
    match = _HOURS.fullmatch(text)
    remedy = "write two times of day, such as 22:00-07:00"
    if match is None:
        raise InputError(f"quiet hours {text.strip()[:40]!r} can't be read", remedy=remedy)
    hours = [int(part or 0) for part in match.groups()]
    try:
        made = QuietHours(time(hours[0] % 24 if hours[0] == 24 else hours[0], hours[1]),
                          time(hours[2] % 24 if hours[2] == 24 else hours[2], hours[3]))  # fmt: skip
    except ValueError as error:
        raise InputError(f"quiet hours {text.strip()[:40]!r}: {error}", remedy=remedy) from error
    if made.start == made.end:
        raise InputError(f"quiet hours {text.strip()[:40]!r} begin and end at the same time", remedy=remedy)
    return made
