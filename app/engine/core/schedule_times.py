"""When scheduled work is due.  Pure functions of the entry and the clock.

The rule, one row of ``tests/unit/engine/test_schedule_times.py`` a clause:

1. An entry is due from its time on, while it is on and is not being done.
2. Its first time is the next moment at which the local clock shows ``clock``; one that is exactly now counts as passed.
3. Every n days means n calendar days later at the same local clock: over a change to or from daylight saving, too.
4. A clock that does not exist on a day (it is put forward) means the moment as many minutes after the change; one that
   comes twice means the first of the two.
5. The next time follows from the planned one, not from when the work ended.  Times that have passed meanwhile (the
   machine slept, the work took days) are left out: three missed times are done once.
6. A clock that was moved back does not bring the same day again: the next time is always after the planned one.
7. Once means once: after it there is no next time.
8. An entry that is switched off has no time; switched on again it gets its first time anew.
9. Doing an entry by hand leaves a time that is still to come as it is; a time that has come counts as done.
10. Where the work could not begin, because its site is in use, the entry stays due.
11. Where it was cut off with its process, it stays due once more; cut off twice in a row counts as done.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, time, timedelta, tzinfo
from enum import StrEnum

from app.engine.core.schedule import Schedule

DAY = 86400.0


class WorkEnd(StrEnum):
    """How a piece of scheduled work ended, for its next time."""

    DONE = "done"  # with a result, good or bad
    IN_USE = "in use"  # it could not begin
    CUT_OFF = "cut off"  # its process died
    CUT_OFF_AGAIN = "cut off again"  # as the time before


def is_due(schedule: Schedule, now: float, *, is_active: bool = False) -> bool:
    """Return whether the work is to be done now; ``now`` in Unix seconds."""
    return schedule.is_on and not is_active and 0 < schedule.at <= now


def first_time(clock: str, now: float, zone: tzinfo | None = None) -> float:
    """Return the next moment at which the clock shows ``HH:MM``, in Unix seconds; local time without a zone."""
    today = datetime.fromtimestamp(now, zone)
    at = moment(today, clock)
    return at if at > now else moment(today + timedelta(days=1), clock)


def next_time(schedule: Schedule, now: float, zone: tzinfo | None = None) -> float:
    """Return the first planned moment after both the planned one and ``now``; 0 for none."""
    if not schedule.every_days:
        return 0.0
    planned = datetime.fromtimestamp(schedule.at, zone)
    missed = max(0, int((now - schedule.at) // (schedule.every_days * DAY)) - 1)
    for times in range(missed + 1, missed + 5):
        at = moment(planned + timedelta(days=times * schedule.every_days), schedule.clock)
        if at > now:
            return at
    raise AssertionError("four periods are longer than two and a change of the clock")


def time_after(schedule: Schedule, end: WorkEnd, now: float, zone: tzinfo | None = None) -> float:
    """Return the entry's time after its work ended in this way; 0 for none."""
    came = 0 < schedule.at <= now
    if not schedule.is_on or not schedule.at:
        return 0.0
    if not came or end in (WorkEnd.IN_USE, WorkEnd.CUT_OFF):
        return schedule.at
    return next_time(schedule, now, zone)


def planned(schedule: Schedule, now: float, zone: tzinfo | None = None) -> Schedule:
    """Return the entry with a time that is still to come, or none where it is off."""
    if not schedule.is_on:
        return replace(schedule, at=0.0)
    return schedule if schedule.at > now else replace(schedule, at=first_time(schedule.clock, now, zone))


def moment(day: datetime, clock: str) -> float:
    """Return the moment at which the clock shows ``HH:MM`` on a day, in Unix seconds."""
    hour, minute = map(int, clock.split(":"))
    return datetime.combine(day.date(), time(hour, minute), day.tzinfo).timestamp()


def clock_of(text: str) -> str:
    """Return a time of day as ``HH:MM``, from ``3:00`` or ``03:00``; "" where it is none."""
    hour, colon, minute = text.strip().partition(":")
    if not (colon and hour.isascii() and hour.isdigit() and minute.isascii() and minute.isdigit()):
        return ""
    if len(hour) > 2 or len(minute) != 2 or int(hour) > 23 or int(minute) > 59:
        return ""
    return f"{int(hour):02d}:{minute}"
