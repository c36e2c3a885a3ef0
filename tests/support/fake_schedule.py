"""The schedule of an engine without disk."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from app.engine.api.schedule_api import ScheduleRow
from app.engine.core.events import EventBus, ScheduleChanged
from app.engine.core.schedule import Schedule, ScheduledTask, ScheduleResult
from app.engine.core.schedule_times import planned
from app.errors import Conflict

DAY = 86400.0


def make_schedules() -> list[ScheduleRow]:
    """Four entries: one with changes and suspects, one that fails, one that waits, one that is off."""
    now = time.time()

    def entry(name: str, task: ScheduledTask, site: str, every: int, at: float, **more: Any) -> Schedule:
        return Schedule(
            id=name, task=task, site=site, every_days=every, at=at, clock="03:00", author="ada", **more
        )

    def result(one: Schedule, days: float, **more: Any) -> ScheduleResult:
        return ScheduleResult(
            schedule=one.id, task=one.task, site=one.site, started_at=now - days * DAY,
            ended_at=now - days * DAY + 90, **more,
        )  # fmt: skip

    explore = entry("s1", ScheduledTask.EXPLORE, "shopping", 7, now + 3.2 * DAY)
    verify = entry("s2", ScheduledTask.VERIFY, "gitlab", 1, now + 0.6 * DAY)
    tips = entry("s3", ScheduledTask.TEST_TIPS, "shopping", 2, now - 600)
    off = entry("s4", ScheduledTask.EXPLORE, "wiki", 0, 0.0, is_on=False)
    return [
        ScheduleRow(schedule=tips, waits="3 runs are active on shopping", results=(result(tips, 2),)),
        ScheduleRow(
            schedule=verify,
            results=(
                result(
                    verify, 1, error="the site can't be verified: connection refused; nothing was changed"
                ),
                result(verify, 2),
            ),
        ),
        ScheduleRow(
            schedule=explore,
            results=(
                result(
                    explore,
                    4,
                    changes=(
                        "2 states vanished: “Stock”, “Offers of the week”",
                        "5 new states: “Summer”, “Garden chairs”, “Parasols” and 2 more",
                        "1 tip is suspect: “Prices are in the table at the foot of the page”",
                    ),
                    suspects=("tip-1",),
                ),
                result(explore, 11),
                result(explore, 18, changes=("1 new state: “Imprint”",)),
            ),
        ),
        ScheduleRow(schedule=off),
    ]


class FakeSchedule:
    """Keeps the rows in ``schedule_rows``; ``schedule_error`` is raised by the next change."""

    bus: EventBus
    schedule_rows: dict[str, ScheduleRow]
    schedule_error: Exception | None = None

    def start_schedule(self, *, empty: bool) -> None:
        self.schedule_rows = {} if empty else {row.schedule.id: row for row in make_schedules()}

    async def schedules(self) -> list[ScheduleRow]:
        return list(self.schedule_rows.values())

    async def save_schedule(self, schedule: Schedule) -> ScheduleRow:
        self._call("save_schedule", schedule)
        self._refuse()
        name = schedule.id or f"s{len(self.schedule_rows) + 1}"
        entry = planned(replace(schedule, id=name), time.time())
        row = replace(self.schedule_rows.get(name) or ScheduleRow(schedule=entry), schedule=entry)
        self.schedule_rows[name] = row
        self.bus.publish(ScheduleChanged(schedule=name))
        return row

    async def remove_schedule(self, schedule: str) -> None:
        self._call("remove_schedule", schedule)
        self._refuse()
        del self.schedule_rows[schedule]
        self.bus.publish(ScheduleChanged(schedule=schedule))

    async def run_schedule(self, schedule: str) -> ScheduleResult:
        self._call("run_schedule", schedule)
        self._refuse()
        if self.schedule_rows[schedule].waits:
            raise Conflict(f"{self.schedule_rows[schedule].waits}; try again when that has ended")
        return self.end_schedule(schedule)

    async def run_due_schedules(self) -> list[ScheduleResult]:
        return []

    def end_schedule(self, schedule: str, **found: Any) -> ScheduleResult:
        """Scheduled work ends with what it found."""
        row, now = self.schedule_rows[schedule], time.time()
        result = ScheduleResult(
            schedule=schedule, task=row.schedule.task, site=row.schedule.site, started_at=now, ended_at=now,
            **found,
        )  # fmt: skip
        self.schedule_rows[schedule] = replace(row, results=(result, *row.results))
        self.bus.publish(ScheduleChanged(schedule=schedule, result=result))
        return result

    def _refuse(self) -> None:
        error, self.schedule_error = self.schedule_error, None
        if error is not None:
            raise error

    def _call(self, name: str, *args: Any) -> None:
        raise NotImplementedError
