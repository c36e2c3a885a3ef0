"""When scheduled work is due: the rule at the head of ``core/schedule_times.py``, one row a clause."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from app.engine.core.schedule import Schedule, ScheduledTask
from app.engine.core.schedule_times import (
    WorkEnd,
    clock_of,
    first_time,
    is_due,
    next_time,
    planned,
    time_after,
)

BERLIN = ZoneInfo("Europe/Berlin")
"""Puts its clock forward on 2026-03-29 at 02:00 and back on 2026-10-25 at 03:00."""


def at(text: str, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN, fold=fold).timestamp()


def shown(moment: float) -> str:
    return datetime.fromtimestamp(moment, BERLIN).strftime("%Y-%m-%d %H:%M") if moment else ""


def entry(planned_at: str, every: int = 1, clock: str = "03:00", *, is_on: bool = True) -> Schedule:
    return Schedule(
        id="e", task=ScheduledTask.VERIFY, site="shop", every_days=every, clock=clock, is_on=is_on,
        at=at(planned_at) if planned_at else 0.0,
    )  # fmt: skip


DUE = [
    ("1: its time has come", entry("2026-05-05 03:00"), "2026-05-05 03:00", False, True),
    ("1: a second before", entry("2026-05-05 03:00"), "2026-05-05 02:59:59", False, False),
    ("1: long ago, the machine slept", entry("2026-05-02 03:00"), "2026-05-05 09:00", False, True),
    ("1: it is being done", entry("2026-05-05 03:00"), "2026-05-05 03:00", True, False),
    ("1: switched off", entry("2026-05-05 03:00", is_on=False), "2026-05-06 03:00", False, False),
    ("7: over", entry(""), "2026-05-06 03:00", False, False),
]


@pytest.mark.parametrize(("name", "schedule", "now", "active", "due"), DUE, ids=[row[0] for row in DUE])
def test_an_entry_is_due_by_the_rule(name: str, schedule: Schedule, now: str, active: bool, due: bool):
    assert is_due(schedule, at(now), is_active=active) is due


FIRST = [
    ("2: later today", "03:00", "2026-05-05 02:00", "2026-05-05 03:00"),
    ("2: passed today, so tomorrow", "03:00", "2026-05-05 09:00", "2026-05-06 03:00"),
    ("2: exactly now counts as passed", "03:00", "2026-05-05 03:00", "2026-05-06 03:00"),
    ("2: over the end of a year", "00:00", "2026-12-31 12:00", "2027-01-01 00:00"),
    ("4: a clock that this day leaves out", "02:30", "2026-03-29 00:30", "2026-03-29 03:30"),
]


@pytest.mark.parametrize(("name", "clock", "now", "first"), FIRST, ids=[row[0] for row in FIRST])
def test_the_first_time_is_the_next_such_clock(name: str, clock: str, now: str, first: str):
    assert shown(first_time(clock, at(now), BERLIN)) == first


def test_a_clock_that_comes_twice_means_the_first_of_the_two():
    first = first_time("02:30", at("2026-10-25 00:30"), BERLIN)
    assert first == at("2026-10-25 02:30", fold=0) == at("2026-10-25 02:30", fold=1) - 3600


NEXT = [
    ("3: seven days later", entry("2026-05-05 03:00", 7), "2026-05-05 03:10", "2026-05-12 03:00"),
    ("3: the same clock, put forward", entry("2026-03-28 03:00", 1), "2026-03-28 03:10", "2026-03-29 03:00"),
    ("3: and after it was put back", entry("2026-10-20 03:00", 7), "2026-10-20 03:10", "2026-10-27 03:00"),
    ("4: left out on that day", entry("2026-03-28 02:30", 1, "02:30"), "2026-03-28 02:40", "2026-03-29 03:30"),
    ("4: and back to its clock", entry("2026-03-29 03:30", 1, "02:30"), "2026-03-29 03:40", "2026-03-30 02:30"),
    ("5: from the plan, not from the end", entry("2026-05-05 03:00", 1), "2026-05-05 23:50", "2026-05-06 03:00"),
    ("5: three missed times are done once", entry("2026-05-05 03:00", 1), "2026-05-08 09:00", "2026-05-09 03:00"),
    ("5: a year asleep", entry("2025-05-05 03:00", 7), "2026-05-05 03:10", "2026-05-11 03:00"),
    ("6: the clock was moved back", entry("2026-05-05 03:00", 1), "2026-05-04 22:00", "2026-05-06 03:00"),
    ("7: once", entry("2026-05-05 03:00", 0), "2026-05-05 03:10", ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "schedule", "now", "then"), NEXT, ids=[row[0] for row in NEXT])
def test_the_next_time_follows_from_the_plan(name: str, schedule: Schedule, now: str, then: str):
    assert shown(next_time(schedule, at(now), BERLIN)) == then


AFTER = [
    ("5: done", entry("2026-05-05 03:00"), WorkEnd.DONE, "2026-05-05 03:10", "2026-05-06 03:00"),
    ("7: done once", entry("2026-05-05 03:00", 0), WorkEnd.DONE, "2026-05-05 03:10", ""),
    ("8: switched off meanwhile", entry("2026-05-05 03:00", is_on=False), WorkEnd.DONE, "2026-05-05 03:10", ""),
    ("9: by hand, its time stays", entry("2026-05-07 03:00", 7), WorkEnd.DONE, "2026-05-05 12:00", "2026-05-07 03:00"),
    ("9: by hand when it was due", entry("2026-05-05 03:00", 7), WorkEnd.DONE, "2026-05-05 12:00", "2026-05-12 03:00"),
    ("9: by hand after it was over", entry("", 0), WorkEnd.DONE, "2026-05-05 12:00", ""),
    ("10: its site is in use", entry("2026-05-05 03:00"), WorkEnd.IN_USE, "2026-05-05 03:10", "2026-05-05 03:00"),
    ("11: cut off, still due", entry("2026-05-05 03:00"), WorkEnd.CUT_OFF, "2026-05-05 03:10", "2026-05-05 03:00"),
    ("11: cut off again", entry("2026-05-05 03:00"), WorkEnd.CUT_OFF_AGAIN, "2026-05-05 09:00", "2026-05-06 03:00"),
    ("11: once, cut off again", entry("2026-05-05 03:00", 0), WorkEnd.CUT_OFF_AGAIN, "2026-05-05 09:00", ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "schedule", "end", "now", "then"), AFTER, ids=[row[0] for row in AFTER])
def test_the_time_after_work_depends_on_how_it_ended(
    name: str, schedule: Schedule, end: WorkEnd, now: str, then: str
):
    assert shown(time_after(schedule, end, at(now), BERLIN)) == then


PLANNED = [
    ("8: off has no time", entry("2026-05-07 03:00", is_on=False), "2026-05-05 09:00", ""),
    ("8: on again gets its first time", entry(""), "2026-05-05 09:00", "2026-05-06 03:00"),
    ("8: a time to come stays", entry("2026-05-09 03:00"), "2026-05-05 09:00", "2026-05-09 03:00"),
    ("2: a time in the past is planned anew", entry("2026-05-01 03:00"), "2026-05-05 09:00", "2026-05-06 03:00"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "schedule", "now", "then"), PLANNED, ids=[row[0] for row in PLANNED])
def test_an_entry_is_planned_when_it_is_saved(name: str, schedule: Schedule, now: str, then: str):
    assert shown(planned(schedule, at(now), BERLIN).at) == then


@pytest.mark.parametrize("every", [1, 2, 7, 30, 365])
def test_every_next_time_is_later_than_now_and_the_plan_at_the_same_clock(every: int):
    schedule = entry("2026-01-01 03:30", every, "03:30")
    for hours in range(0, 24 * 800, 37):
        now = schedule.at + hours * 3600
        then = next_time(schedule, now, BERLIN)
        assert max(now, schedule.at) < then <= now + (every + 1) * 86400
        assert shown(then).endswith(" 03:30")
        days = (datetime.fromtimestamp(then, BERLIN).date() - datetime(2026, 1, 1).date()).days
        assert days % every == 0
    assert replace(schedule, at=0.0).at == 0


@pytest.mark.parametrize(
    ("text", "clock"),
    [("3:00", "03:00"), (" 23:59 ", "23:59"), ("00:00", "00:00"), ("24:00", ""), ("3:60", ""), ("3", ""),
     ("3:5", ""), ("", ""), ("-3:00", ""), ("٣:00", ""), ("3:00pm", ""), ("003:00", "")],
)  # fmt: skip
def test_a_time_of_day_is_read_strictly(text: str, clock: str):
    assert clock_of(text) == clock
