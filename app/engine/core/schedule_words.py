"""Scheduled work in words, the same in the window and the terminal."""

from __future__ import annotations

from datetime import datetime

from app.engine.core.schedule import Schedule, ScheduledTask, ScheduleResult

NOTHING_CHANGED = "nothing changed"

_TASKS = {
    ScheduledTask.EXPLORE: "explore again",
    ScheduledTask.VERIFY: "verify the map",
    ScheduledTask.TEST_TIPS: "test tips",
}


def task_words(task: ScheduledTask) -> str:
    """Return the kind of work."""
    return _TASKS[task]


def plan_words(schedule: Schedule) -> str:
    """Return ``every 7 days at 03:00``."""
    days = schedule.every_days
    how_often = "once" if not days else "every day" if days == 1 else f"every {days} days"
    return f"{how_often} at {schedule.clock}"


def time_words(schedule: Schedule, now: float) -> str:
    """Return the next time: ``in 3 days, Tue 03:00``; ``due``, ``off`` or ``over``."""
    if not schedule.is_on:
        return "off"
    if not schedule.at:
        return "over"
    if schedule.at <= now:
        return "due"
    return f"{_distance(schedule.at, now)}, {day_words(schedule.at, now)}"


def day_words(at: float, now: float) -> str:
    """Return a moment with its weekday, with the date where it is a week or more away: ``Tue 03:00``."""
    there = datetime.fromtimestamp(at)
    near = abs((there.date() - datetime.fromtimestamp(now).date()).days) < 7
    return there.strftime("%a %H:%M" if near else "%a %Y-%m-%d %H:%M")


def result_words(result: ScheduleResult) -> tuple[str, ...]:
    """Return a result as sentences, the failure first."""
    failed = (f"could not be done: {result.error}",) if result.error else ()
    return (*failed, *result.changes) or (NOTHING_CHANGED,)


def last_words(result: ScheduleResult) -> str:
    """Return a result in one line."""
    return "; ".join(result_words(result))


def _distance(at: float, now: float) -> str:
    days = (datetime.fromtimestamp(at).date() - datetime.fromtimestamp(now).date()).days
    minutes = max(1, round((at - now) / 60))
    if minutes < 60:
        return f"in {minutes} min"
    if minutes < 24 * 60:
        return f"in {round(minutes / 60)} h"
    return "tomorrow" if days == 1 else f"in {days} days"
