"""Use cases of scheduled work.  Part of ``EngineApi``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from app.engine.core.schedule import Schedule, ScheduleResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRow:
    """An entry of the schedule with its newest result.

    Attributes:
        is_active: whether it is being done.
        waits: why it is not begun though it is to be: its site is in use, or other scheduled work is being done.
        results: the newest first, at most ten.
    """

    schedule: Schedule
    is_active: bool = False
    waits: str = ""
    results: tuple[ScheduleResult, ...] = ()


class ScheduleApi(Protocol):
    """Use cases of scheduled work.  Errors are ``SiteloreError``s; changes come as ``ScheduleChanged``."""

    async def schedules(self) -> list[ScheduleRow]: ...

    async def save_schedule(self, schedule: Schedule) -> ScheduleRow:
        """Add an entry (without an id), or change the one with its id; an entry without a time gets its next one."""
        ...

    async def remove_schedule(self, schedule: str) -> None: ...

    async def run_schedule(self, schedule: str) -> ScheduleResult:
        """Do one entry now, whatever its time; a time that is still to come stays."""
        ...

    async def run_due_schedules(self) -> list[ScheduleResult]:
        """Do every entry whose time has come, one after the other; what cron calls."""
        ...
