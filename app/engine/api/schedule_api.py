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
        results: the newest first, at most ten.
    """

    schedule: Schedule
    is_active: bool = False
    results: tuple[ScheduleResult, ...] = ()


class ScheduleApi(Protocol):
    """Use cases of scheduled work.  Errors are ``SiteloreError``s; changes come as ``ScheduleChanged``."""

    async def schedules(self) -> list[ScheduleRow]: ...
    async def save_schedule(self, schedule: Schedule) -> ScheduleRow: ...
    async def remove_schedule(self, schedule: str) -> None: ...

    async def run_schedule(self, schedule: str) -> ScheduleResult:
        """Do one entry now, whatever its time; its next time stays."""
        ...

    async def run_due_schedules(self) -> list[ScheduleResult]:
        """Do every entry whose time has come, one after the other; what cron calls."""
        ...
