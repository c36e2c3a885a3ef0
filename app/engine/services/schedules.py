"""Scheduled work: explorations and tests that are done again at a time, or every few days.

The rule of what happens when (when an entry is due stands in ``core/schedule_times.py``):

- One piece of scheduled work at a time in a workspace, by whatever process: it holds the schedule's lock, and the
  entry is claimed in the database while it is still due.  Work asked for by hand waits for its turn.
- Work begins only while its site is not in use (``ScheduledWork.use_of``).  A due entry then waits; by hand it is
  refused.  After ``LONGEST_WAIT`` the engine host gives up until the next time, with a result that says so.
- A claim whose process died becomes a result (``INTERRUPTED``), and the entry stays due once more.
- Closing the program in the middle gives the claim back without a result: the entry is done at the next start.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from app.engine.api.schedule_api import ScheduleRow
from app.engine.core.events import ScheduleChanged
from app.engine.core.schedule import Schedule, ScheduledTask, ScheduleResult
from app.engine.core.schedule_times import WorkEnd, clock_of, first_time, is_due, planned, time_after
from app.engine.services.core import Core
from app.engine.services.scheduled_work import CANCELLED, ScheduledWork, result_of
from app.engine.store.locks import FileLock
from app.engine.store.schedule_store import StoredSchedule
from app.errors import Conflict, SiteloreError, UsageError

log = logging.getLogger(__name__)

START_SECONDS = 20.0
"""Seconds after the start of the engine host before it looks for due work: the window comes first."""
CHECK_SECONDS = 20.0
"""Seconds between two looks for due work."""
LONGEST_WAIT = 6 * 3600.0
"""Seconds a due entry waits for its site."""
MOST_DAYS = 365
INTERRUPTED = "the program ended in the middle"

_VERBS = {
    ScheduledTask.EXPLORE: "explore",
    ScheduledTask.VERIFY: "verify",
    ScheduledTask.TEST_TIPS: "test the tips of",
}


class ScheduleService:
    """The schedule of an open workspace."""

    def __init__(self, core: Core, work: ScheduledWork, clock: Callable[[], float] = time.time) -> None:
        self._core, self._work, self._clock = core, work, clock
        self._store = core.workspace.schedules
        self._turn = asyncio.Lock()
        self._waits: dict[str, str] = {}
        self._waiting_since: dict[str, float] = {}

    # entries

    async def schedules(self) -> list[ScheduleRow]:
        """Return all entries, the next one first; those that have no time last."""
        await self._close_interrupted()
        rows = await self._core.on_store(self._rows)
        return sorted(rows, key=lambda row: (not row.is_active, not row.schedule.at, row.schedule.at))

    async def save_schedule(self, schedule: Schedule) -> ScheduleRow:
        """Add an entry, or change the one with its id; undo takes it back.

        Raises:
            UsageError: no such site or nothing to do there, no time of day, a time that has passed, too many days.
            NotFound: there is no entry of this id.
        """
        entry = replace(schedule, site=schedule.site.strip(), clock=self._clock_of(schedule))
        if not 0 <= entry.every_days <= MOST_DAYS:
            raise UsageError(
                f"every {entry.every_days} days can't be planned", remedy=f"0 to {MOST_DAYS}; 0 is once"
            )
        verb = "add" if not entry.id else "edit"
        entry = replace(entry, id=entry.id or uuid.uuid4().hex[:8], author=entry.author or self._core.author)

        def saving() -> ScheduleRow:
            if entry.is_on:
                self._work.check(entry)
            before = self._store.entry(entry.id).schedule if schedule.id else None
            timed = self._timed(entry, before)
            label = f"{verb} scheduled work '{_VERBS[entry.task]} {entry.site}'"
            self._store.save(timed, label, self._core.author)
            return self._row(self._store.entry(entry.id))

        row = await self._core.do_in_review(saving)
        self._core.bus.publish(ScheduleChanged(schedule=entry.id))
        return row

    async def remove_schedule(self, schedule: str) -> None:
        """Remove an entry; undo brings it back.

        Raises:
            NotFound: there is none.  Conflict: it is being done.
        """
        await self._close_interrupted()

        def removing() -> None:
            entry = self._store.entry(schedule).schedule
            label = f"remove scheduled work '{_VERBS[entry.task]} {entry.site}'"
            self._store.remove(schedule, label, self._core.author)

        await self._core.do_in_review(removing)
        self._core.bus.publish(ScheduleChanged(schedule=schedule))

    # work

    async def run_schedule(self, schedule: str) -> ScheduleResult:
        """Do one entry now, after other scheduled work of this process; a time that is still to come stays.

        Raises:
            NotFound: there is none.  UsageError: there is nothing to do.
            Conflict: its site is in use, it is being done, or another process does scheduled work.
        """
        stored = await self._core.on_store(self._store.entry, schedule)
        await self._core.on_store(self._work.check, stored.schedule)
        if self._turn.locked():
            self._tell_wait(schedule, "other scheduled work is being done")
        try:
            async with self._turn, self._alone():
                stored = await self._core.on_store(self._store.entry, schedule)
                self._tell_wait(schedule, "")
                if use := await self._work.use_of(stored.schedule.site):
                    raise Conflict(f"{use}; try again when that has ended")
                result = await self._do(stored.schedule)
        finally:
            self._tell_wait(schedule, "")
        if result is None:
            raise Conflict("this scheduled work is being done by another process")
        return result

    async def run_due_schedules(self) -> list[ScheduleResult]:
        """Do every entry whose time has come, one after the other.

        One whose site is in use stays due: its result, which is not stored, says so.

        Raises:
            Conflict: another process does scheduled work now.
        """
        results: list[ScheduleResult] = []
        async with self._turn:
            if not await self._core.on_store(self._due):
                return []
            async with self._alone():
                for entry in await self._core.on_store(self._due):
                    begun = time.time()
                    if use := await self._work.use_of(entry.site):
                        result = await self._put_off(entry, use, begun)
                    else:
                        result = await self._do(entry, only_at=entry.at)
                    results += [result] if result is not None else []
        return results

    async def watch_schedule(self) -> None:
        """Do what is due as long as the engine host runs."""
        await asyncio.sleep(START_SECONDS)
        while True:
            try:
                await self._close_interrupted()
                await self.run_due_schedules()
            except Conflict:
                pass  # another process is at it
            except SiteloreError as error:
                log.warning("scheduled work could not be looked up: %s", error)
            except Exception:  # too many open files, a full disk: it may be better at the next look
                log.exception("scheduled work could not be looked up")
            await asyncio.sleep(CHECK_SECONDS)

    # inside

    async def _do(self, entry: Schedule, *, only_at: float = 0.0) -> ScheduleResult | None:
        """Do claimed work and keep its result; ``None`` where somebody else has it or it is not due any more."""
        claim = uuid.uuid4().hex
        if not await self._core.on_store(self._store.claim, entry.id, claim, self._clock(), at=only_at):
            return None
        self._forget_wait(entry.id)
        self._core.bus.publish(ScheduleChanged(schedule=entry.id))
        begun = time.time()
        try:
            result = await self._work.do(entry)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():  # the program is being closed
                await self._core.on_store(self._store.finish, claim, None)
                raise
            result = result_of(entry, begun, error=CANCELLED)
        except Exception as error:
            log.exception("scheduled work %s failed", entry.id)
            result = result_of(entry, begun, error=f"{type(error).__name__}: {error}")
        await self._finish(claim, result, WorkEnd.DONE)
        return result

    async def _finish(self, claim: str, result: ScheduleResult, end: WorkEnd) -> None:
        now = self._clock()
        await self._core.on_store(
            self._store.finish, claim, result, lambda entry: time_after(entry, end, now)
        )
        self._core.bus.publish(ScheduleChanged(schedule=result.schedule, result=result))

    async def _put_off(self, entry: Schedule, use: str, begun: float) -> ScheduleResult | None:
        """Let a due entry wait for its site, up to the limit."""
        since = self._waiting_since.setdefault(entry.id, self._clock())
        waited = self._clock() - since
        if waited < LONGEST_WAIT:
            self._tell_wait(entry.id, use)
            return result_of(entry, begun, error=f"{use}; this stays due")
        self._forget_wait(entry.id)
        claim = uuid.uuid4().hex
        if not await self._core.on_store(self._store.claim, entry.id, claim, self._clock(), at=entry.at):
            return None
        result = result_of(entry, begun, error=f"{use}, for {waited / 3600:.0f} hours; left out this time")
        await self._finish(claim, result, WorkEnd.DONE)
        return result

    def _tell_wait(self, schedule: str, why: str) -> None:
        if self._waits.get(schedule, "") != why:
            self._waits[schedule] = why
            self._core.bus.publish(ScheduleChanged(schedule=schedule))

    def _forget_wait(self, schedule: str) -> None:
        self._waits.pop(schedule, None)
        self._waiting_since.pop(schedule, None)

    @asynccontextmanager
    async def _alone(self) -> AsyncGenerator[None]:
        """Hold the schedule's lock; what a dead process left under it is closed first."""
        lock = FileLock(self._store.lock_path)
        if not await self._core.on_worker(lock.take_soon):
            raise Conflict("another process does scheduled work now; try again when it has ended")
        try:
            for result in await self._core.on_store(self._close_claims):
                self._core.bus.publish(ScheduleChanged(schedule=result.schedule, result=result))
            yield
        finally:
            lock.release()

    async def _close_interrupted(self) -> None:
        """Close the claims of dead processes, if there are any."""
        stored = await self._core.on_store(self._store.entries)
        if self._turn.locked() or not any(one.claim for one in stored):
            return
        try:
            async with self._turn, self._alone():
                pass
        except Conflict:
            pass  # its process is alive

    def _close_claims(self) -> list[ScheduleResult]:
        """Store a result for each piece of work whose process died; store thread, under the lock."""
        now, closed = self._clock(), list[ScheduleResult]()
        for stored in self._store.entries():
            if not stored.claim:
                continue
            newest = self._store.results(stored.schedule.id)[:1]
            again = bool(newest) and newest[0].error == INTERRUPTED
            end = WorkEnd.CUT_OFF_AGAIN if again else WorkEnd.CUT_OFF
            closed.append(result_of(stored.schedule, stored.claimed_at, error=INTERRUPTED))
            self._store.finish(stored.claim, closed[-1], lambda entry, end=end: time_after(entry, end, now))
        return closed

    def _due(self) -> list[Schedule]:
        now = self._clock()
        entries = [
            one for one in self._store.entries() if is_due(one.schedule, now, is_active=bool(one.claim))
        ]
        return sorted((one.schedule for one in entries), key=lambda entry: entry.at)

    def _rows(self) -> list[ScheduleRow]:
        return [self._row(stored) for stored in self._store.entries()]

    def _row(self, stored: StoredSchedule) -> ScheduleRow:
        entry = stored.schedule
        return ScheduleRow(
            schedule=entry,
            is_active=bool(stored.claim),
            waits=self._waits.get(entry.id, ""),
            results=self._store.results(entry.id),
        )

    def _timed(self, entry: Schedule, before: Schedule | None) -> Schedule:
        """Return the entry with its next time: as it was where the plan is the same, else anew."""
        now = self._clock()
        if before is not None and not entry.at and entry.is_on and before.is_on:
            same = (before.clock, before.every_days) == (entry.clock, entry.every_days)
            entry = replace(entry, at=before.at if same else first_time(entry.clock, now))
            return entry if entry.at else planned(entry, now)
        return planned(entry, now)

    def _clock_of(self, entry: Schedule) -> str:
        clock = clock_of(entry.clock)
        if not clock:
            raise UsageError(f"{entry.clock[:20]!r} is no time of day", remedy="write it as 03:00")
        if entry.at and entry.is_on and not entry.id and entry.at <= self._clock():
            raise UsageError("that time has passed", remedy="give one that is still to come")
        return clock
