"""Scheduled work: explorations and tests that are done again at a time, or every few days.  Pure data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ScheduledTask(StrEnum):
    """Kinds of scheduled work."""

    EXPLORE = "explore"  # update the map: mark vanished states, explore new ones
    VERIFY = "verify"  # verify the map without exploring
    TEST_TIPS = "test-tips"  # test the site's tips in a browser that only reads


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """An entry of the schedule.

    Attributes:
        every_days: days between two times; 0 for once.
        at: next time, Unix seconds; 0 where it is over or was switched off.
        clock: local time of day it is planned for, ``HH:MM``.
        is_on: whether it is done at all.
    """

    id: str
    task: ScheduledTask
    site: str
    every_days: int = 0
    at: float = 0.0
    clock: str = ""
    is_on: bool = True
    author: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleResult:
    """The outcome of one piece of scheduled work.

    Attributes:
        changes: what changed since the time before, one sentence each; none where all is as it was.
        suspects: tips that became suspect.
        error: why it could not be done, "" where it was.
    """

    schedule: str
    task: ScheduledTask
    site: str
    started_at: float
    ended_at: float = 0.0
    changes: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()
    error: str = ""
