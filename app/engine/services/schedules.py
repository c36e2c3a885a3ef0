"""Scheduled work: explorations and tests that are done again at a time, or every few days."""

from __future__ import annotations

from app.engine.api.schedule_api import ScheduleRow
from app.engine.core.schedule import Schedule, ScheduleResult
from app.engine.services.core import Core


class ScheduleService:
    """The schedule of an open workspace."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def schedules(self) -> list[ScheduleRow]:
        """Return all entries, the next one first."""
        return []

    async def save_schedule(self, schedule: Schedule) -> ScheduleRow:
        """Add an entry, or change the one with its id."""
        raise NotImplementedError

    async def remove_schedule(self, schedule: str) -> None:
        """Remove an entry."""
        raise NotImplementedError

    async def run_schedule(self, schedule: str) -> ScheduleResult:
        """Do one entry now."""
        raise NotImplementedError

    async def run_due_schedules(self) -> list[ScheduleResult]:
        """Do every entry whose time has come."""
        raise NotImplementedError
