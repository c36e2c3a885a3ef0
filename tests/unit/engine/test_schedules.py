"""Scheduled work: checked when it is saved, done once by one process, and never lost."""

from __future__ import annotations

import asyncio
import errno
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio

from app.cli.schedule import exit_code
from app.engine.core.events import Event, ScheduleChanged
from app.engine.core.schedule import Schedule, ScheduledTask, ScheduleResult
from app.engine.core.schedule_times import moment
from app.engine.engine import Engine
from app.engine.services import schedules
from app.engine.services.core import Core
from app.engine.services.scheduled_work import CANCELLED, ScheduledWork, result_of
from app.engine.services.schedules import INTERRUPTED, LONGEST_WAIT, ScheduleService
from app.engine.store.locks import FileLock
from app.errors import Conflict, NotFound, SiteloreError, UsageError

MORNING = moment(datetime(2026, 5, 5), "02:00")
"""A Tuesday, an hour before the work of these tests."""
HOUR, DAY = 3600.0, 86400.0


class Work:
    """Work that waits where a test tells it to, and finds what a test says."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.use = ""
        self.changes: tuple[str, ...] = ()
        self.error: Exception | type[BaseException] | None = None
        self.going = asyncio.Event()
        self.going.set()
        self.begun = asyncio.Event()

    def check(self, schedule: Schedule) -> None:
        if schedule.site == "nowhere":
            raise UsageError("there is no site 'nowhere' in this workspace")

    async def use_of(self, site: str) -> str:
        return self.use

    async def do(self, schedule: Schedule) -> ScheduleResult:
        self.done.append(schedule.site)
        self.begun.set()
        await self.going.wait()
        if self.error is not None:
            raise self.error
        return result_of(schedule, time.time(), changes=self.changes)


class Bench:
    """A schedule over a store, with a clock that a test sets."""

    def __init__(self, core: Core) -> None:
        self.core, self.work, self.now = core, Work(), MORNING
        self.service = ScheduleService(core, cast("ScheduledWork", self.work), lambda: self.now)
        self.events: list[Event] = []
        core.bus.subscribe(self.events.append)

    async def add(self, site: str = "shop", every: int = 1, **fields: Any) -> Schedule:
        wanted = Schedule(
            id="", task=ScheduledTask.VERIFY, site=site, every_days=every, clock="3:00", **fields
        )
        return (await self.service.save_schedule(wanted)).schedule

    async def at(self, schedule: Schedule) -> float:
        return next(
            row.schedule.at for row in await self.service.schedules() if row.schedule.id == schedule.id
        )

    @property
    def results(self) -> list[ScheduleResult]:
        return [one.result for one in self.events if isinstance(one, ScheduleChanged) and one.result]


@pytest_asyncio.fixture
async def core(tmp_path: Path) -> AsyncIterator[Core]:
    opened = await Core.open(tmp_path / "ws", "ada")
    yield opened
    await opened.aclose()


@pytest_asyncio.fixture
async def bench(core: Core) -> Bench:
    return Bench(core)


async def test_an_entry_gets_its_next_time_and_its_author(bench: Bench):
    entry = await bench.add()
    assert (entry.clock, entry.at, entry.author, entry.is_on) == ("03:00", MORNING + HOUR, "ada", True)
    assert [row.schedule for row in await bench.service.schedules()] == [entry]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"site": "nowhere"}, "no site 'nowhere'"),
        ({"clock": "25:00"}, "'25:00' is no time of day"),
        ({"clock": ""}, "'' is no time of day"),
        ({"every_days": -1}, "every -1 days can't be planned"),
        ({"every_days": 366}, "every 366 days can't be planned"),
        ({"at": MORNING - 1}, "that time has passed"),
    ],
)
async def test_an_entry_that_makes_no_sense_is_refused_in_one_sentence(
    bench: Bench, fields: dict[str, Any], says: str
):
    wanted = Schedule(id="", task=ScheduledTask.VERIFY, site="shop", every_days=7, clock="03:00")
    with pytest.raises(UsageError, match=says):
        await bench.service.save_schedule(replace(wanted, **fields))
    assert await bench.service.schedules() == []


async def test_what_is_due_is_done_once_and_planned_again(bench: Bench):
    entry = await bench.add()
    assert await bench.service.run_due_schedules() == []
    bench.now = MORNING + 3 * DAY
    bench.work.changes = ("1 state vanished: “Stock”",)
    [result] = await bench.service.run_due_schedules()
    assert result.changes == bench.work.changes
    assert await bench.service.run_due_schedules() == []
    assert bench.work.done == ["shop"]
    assert await bench.at(entry) == MORNING + 3 * DAY + HOUR
    assert [row.results for row in await bench.service.schedules()] == [(result,)]
    assert bench.results == [result]


async def test_once_is_over_after_it_was_done(bench: Bench):
    entry = await bench.add(every=0)
    bench.now += 2 * HOUR
    assert len(await bench.service.run_due_schedules()) == 1
    bench.now += 9 * DAY
    assert await bench.service.run_due_schedules() == []
    assert await bench.at(entry) == 0


async def test_doing_it_by_hand_leaves_its_time(bench: Bench):
    entry = await bench.add()
    await bench.service.run_schedule(entry.id)
    assert await bench.at(entry) == entry.at
    with pytest.raises(NotFound):
        await bench.service.run_schedule("none")


async def test_switched_off_it_is_not_done_and_on_again_it_gets_a_time_to_come(bench: Bench):
    entry = await bench.add()
    off = (await bench.service.save_schedule(replace(entry, is_on=False))).schedule
    bench.now += 5 * DAY
    assert off.at == 0
    assert await bench.service.run_due_schedules() == []
    on = (await bench.service.save_schedule(replace(off, is_on=True))).schedule
    assert on.at == MORNING + 5 * DAY + HOUR


async def test_the_newest_ten_results_are_shown_the_newest_first(bench: Bench):
    entry = await bench.add()
    for number in range(12):
        bench.work.changes = (f"change {number}",)
        await bench.service.run_schedule(entry.id)
    [row] = await bench.service.schedules()
    assert [one.changes[0] for one in row.results] == [f"change {number}" for number in range(11, 1, -1)]


async def test_removing_and_changing_can_be_undone(bench: Bench):
    entry = await bench.add()
    await bench.service.run_schedule(entry.id)
    await bench.service.save_schedule(replace(entry, every_days=30, at=0))
    await bench.service.remove_schedule(entry.id)
    assert await bench.service.schedules() == []
    await bench.core.on_store(bench.core.workspace.undo)
    [row] = await bench.service.schedules()
    assert (row.schedule.every_days, len(row.results)) == (30, 1)
    await bench.core.on_store(bench.core.workspace.undo)
    [row] = await bench.service.schedules()
    assert row.schedule.every_days == 1
    await bench.core.on_store(bench.core.workspace.undo)
    assert await bench.service.schedules() == []
    await bench.core.on_store(bench.core.workspace.redo)
    assert len(await bench.service.schedules()) == 1


async def test_two_pieces_of_work_are_never_done_at_once(bench: Bench):
    first, second = await bench.add("shop"), await bench.add("wiki")
    bench.work.going.clear()
    one = asyncio.ensure_future(bench.service.run_schedule(first.id))
    await bench.work.begun.wait()
    two = asyncio.ensure_future(bench.service.run_schedule(second.id))
    await until_true(lambda: bench.service._waits.get(second.id))  # pyright: ignore[reportPrivateUsage]
    rows = {row.schedule.site: (row.is_active, row.waits) for row in await bench.service.schedules()}
    assert rows == {"shop": (True, ""), "wiki": (False, "other scheduled work is being done")}
    assert bench.work.done == ["shop"]
    with pytest.raises(Conflict, match="is being done"):
        await bench.service.remove_schedule(first.id)
    bench.work.going.set()
    await asyncio.gather(one, two)
    assert bench.work.done == ["shop", "wiki"]


async def test_of_two_processes_one_does_an_entry(bench: Bench, core: Core):
    await bench.add()
    bench.now += 2 * HOUR
    other = Bench(core)  # its lock is another one on the same file, as another process's
    other.now = bench.now
    bench.work.going.clear()
    one = asyncio.ensure_future(bench.service.run_due_schedules())
    await bench.work.begun.wait()
    assert await other.service.run_due_schedules() == []
    bench.work.going.set()
    assert len(await one) == 1
    assert await other.service.run_due_schedules() == []
    assert (bench.work.done, other.work.done) == (["shop"], [])


async def test_what_was_claimed_at_another_time_is_not_done_again(bench: Bench, core: Core):
    entry = await bench.add()
    store = core.workspace.schedules
    assert not await core.on_store(store.claim, entry.id, "late", bench.now, at=entry.at - DAY)
    assert await core.on_store(store.claim, entry.id, "first", bench.now, at=entry.at)
    assert not await core.on_store(store.claim, entry.id, "second", bench.now, at=entry.at)


async def test_an_entry_waits_for_its_site_and_says_why(bench: Bench):
    entry = await bench.add()
    bench.work.use = "shop is being explored or verified"
    bench.now += 2 * HOUR
    [result] = await bench.service.run_due_schedules()
    assert "this stays due" in result.error
    [row] = await bench.service.schedules()
    assert (row.waits, row.results, row.schedule.at) == (bench.work.use, (), entry.at)
    with pytest.raises(Conflict, match="being explored"):
        await bench.service.run_schedule(entry.id)
    bench.work.use = ""
    [result] = await bench.service.run_due_schedules()
    assert result.error == ""
    assert [row.waits for row in await bench.service.schedules()] == [""]


async def test_after_six_hours_of_waiting_it_is_left_out_with_a_result(bench: Bench):
    entry = await bench.add()
    bench.work.use = "3 runs are active on shop"
    bench.now += 2 * HOUR
    await bench.service.run_due_schedules()
    bench.now += LONGEST_WAIT
    [result] = await bench.service.run_due_schedules()
    assert result.error == "3 runs are active on shop, for 6 hours; left out this time"
    assert bench.work.done == []
    assert await bench.at(entry) == entry.at + DAY


async def test_a_failure_is_a_result_and_the_next_time_comes(bench: Bench):
    entry = await bench.add()
    bench.now += 2 * HOUR
    bench.work.error = RuntimeError("odd")
    [result] = await bench.service.run_due_schedules()
    assert result.error == "RuntimeError: odd"
    assert await bench.at(entry) == entry.at + DAY


async def test_work_whose_job_was_cancelled_says_so(bench: Bench):
    await bench.add()
    bench.now += 2 * HOUR
    bench.work.error = asyncio.CancelledError
    [result] = await bench.service.run_due_schedules()
    assert result.error == CANCELLED


async def test_closing_the_program_leaves_the_entry_due(bench: Bench):
    entry = await bench.add()
    bench.now += 2 * HOUR
    bench.work.going.clear()
    task = asyncio.ensure_future(bench.service.run_due_schedules())
    await bench.work.begun.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    [row] = await bench.service.schedules()
    assert (row.is_active, row.results, row.schedule.at) == (False, (), entry.at)


async def test_work_that_was_killed_is_told_and_done_once_more(bench: Bench, core: Core):
    entry = await bench.add()
    bench.now += 2 * HOUR
    for times in (1, 2):
        await core.on_store(core.workspace.schedules.claim, entry.id, f"dead {times}", bench.now)
        [row] = await bench.service.schedules()
        assert row.results[0].error == INTERRUPTED
        assert (row.is_active, len(row.results)) == (False, times)
        assert row.schedule.at == (entry.at if times == 1 else entry.at + DAY)
    assert [one.error for one in bench.results] == [INTERRUPTED, INTERRUPTED]


async def test_a_process_that_is_killed_in_the_middle_loses_nothing(tmp_path: Path):
    script = textwrap.dedent("""
        import asyncio, os, sys
        from pathlib import Path
        from app.engine.core.schedule import Schedule, ScheduledTask
        from app.engine.services.core import Core
        from app.engine.services.schedules import ScheduleService

        class Work:
            def check(self, schedule): pass
            async def use_of(self, site): return ""
            async def do(self, schedule):
                print("begun", flush=True)
                await asyncio.sleep(600)

        async def main():
            core = await Core.open(Path(sys.argv[1]), "ada")
            service = ScheduleService(core, Work())
            row = await service.save_schedule(
                Schedule(id="", task=ScheduledTask.VERIFY, site="shop", every_days=1, clock="03:00"))
            await service.run_schedule(row.schedule.id)

        asyncio.run(main())
    """)
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "ws")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    engine = await Engine.open(tmp_path / "ws", "eve")
    try:
        [row] = await engine.schedules()
        assert (row.is_active, row.results) == (True, ())
        process.kill()
        process.wait()
        process.stdout.close()
        [row] = await engine.schedules()
        assert (row.is_active, [one.error for one in row.results]) == (False, [INTERRUPTED])
        assert row.schedule.author == "ada"
    finally:
        await engine.aclose()


async def test_the_host_looks_for_due_work_by_itself(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(schedules, "START_SECONDS", 0.01)
    monkeypatch.setattr(schedules, "CHECK_SECONDS", 0.01)
    await bench.add()
    watching = asyncio.ensure_future(bench.service.watch_schedule())
    bench.now += 2 * HOUR
    await until_true(lambda: bench.results)
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    assert bench.work.done == ["shop"]


async def test_the_host_goes_on_looking_where_the_machine_refused_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    real, refused = FileLock.take_soon, [OSError(errno.EMFILE, "Too many open files"), MemoryError()]

    def take(lock: FileLock) -> bool:
        if refused:
            raise refused.pop()
        return real(lock)

    monkeypatch.setattr(FileLock, "take_soon", take)
    monkeypatch.setattr(schedules, "START_SECONDS", 0.0)
    monkeypatch.setattr(schedules, "CHECK_SECONDS", 0.01)
    bench.now = await bench.at(await bench.add()) + 1
    watching = asyncio.ensure_future(bench.service.watch_schedule())
    async with asyncio.timeout(20):
        await bench.work.begun.wait()
    watching.cancel()
    assert not refused
    assert "could not be looked up" in caplog.text


async def test_a_site_without_map_or_tips_has_nothing_to_do(tmp_path: Path):
    engine = await Engine.open(tmp_path / "ws", "ada")
    try:
        for task, says in (
            (ScheduledTask.EXPLORE, "there is no site 'mystery' in this workspace"),
            (ScheduledTask.TEST_TIPS, "there is no site 'mystery' in this workspace"),
        ):
            with pytest.raises(SiteloreError, match=says):
                await engine.save_schedule(Schedule(id="", task=task, site="mystery", clock="03:00"))
        for task, says in (
            (ScheduledTask.EXPLORE, "gitlab has no map to update"),
            (ScheduledTask.VERIFY, "gitlab has no map to verify"),
            (ScheduledTask.TEST_TIPS, "gitlab has no reviewed, active or suspect tips to test"),
        ):
            with pytest.raises(SiteloreError, match=says):
                await engine.save_schedule(Schedule(id="", task=task, site="gitlab", clock="03:00"))
    finally:
        await engine.aclose()


def test_the_exit_code_tells_change_from_failure():
    same = ScheduleResult(schedule="e", task=ScheduledTask.VERIFY, site="shop", started_at=0)
    changed, suspect = replace(same, changes=("1 new state: “A”",)), replace(same, suspects=("tip",))
    failed = replace(changed, error="the site is down")
    assert [exit_code(results) for results in ([], [same], [same, changed], [suspect], [changed, failed])] == [
        0, 0, 1, 1, 3,
    ]  # fmt: skip


async def until_true(holds: Any, seconds: float = 5.0) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.005)
