"""A fault of a run is reported within ten seconds, and remedied where nothing else does it."""

from __future__ import annotations

import asyncio
import errno
import os
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.agent import health_probes
from app.engine.agent.health import (
    DEFAULT_HEALTH_LIMITS,
    HealthFault,
    HealthFinding,
    HealthLimits,
    HealthSignals,
    Remedy,
    diagnose,
)
from app.engine.agent.health_probes import DISK_CHECK_SECONDS, DiskProbe, disk_problem
from app.engine.agent.model.limits import Heartbeat
from app.engine.agent.run_control import RunControl, WatchdogTimeout
from app.engine.agent.watchdog import Watchdog
from app.engine.core.supervision import RunState, Stage

WELL = HealthSignals(state=RunState.RUNNING, stage=Stage.THINKING)
PROMISED = 10.0
"""Seconds within which what hangs is noticed."""


def found(signs: HealthSignals) -> tuple[HealthFault, Remedy] | None:
    finding = diagnose(signs)
    return (finding.fault, finding.remedy) if finding is not None else None


# ------------------------------------------------------------------------------------------------ diagnosis


@pytest.mark.parametrize(
    ("signs", "expected"),
    [
        (WELL, None),
        (replace(WELL, slept=30_000.0), (HealthFault.SLEPT, Remedy.LOOK_AGAIN)),
        (replace(WELL, disk="it is full"), (HealthFault.DISK, Remedy.BLOCK_ACTIONS)),
        (replace(WELL, broken="it crashed"), (HealthFault.BROWSER, Remedy.RECOVER)),
        (replace(WELL, broken="it crashed", stage=Stage.ACTING), (HealthFault.BROWSER, Remedy.NOTIFY)),
        (
            replace(WELL, broken="it crashed", stage=Stage.ACTING, broken_seconds=5),
            (HealthFault.BROWSER, Remedy.RECOVER),
        ),
        (replace(WELL, broken="it crashed", state=RunState.PAUSED), (HealthFault.BROWSER, Remedy.RECOVER)),
        (
            replace(WELL, broken="it crashed", state=RunState.TAKEN_OVER),
            (HealthFault.BROWSER, Remedy.RECOVER),
        ),
        (replace(WELL, page_silence=6.0), (HealthFault.PAGE, Remedy.NOTIFY)),
        (replace(WELL, page_silence=60.0), (HealthFault.PAGE, Remedy.NOTIFY)),
        (replace(WELL, page_silence=60.0, state=RunState.TAKEN_OVER), (HealthFault.PAGE, Remedy.NOTIFY)),
        (replace(WELL, page_silence=15.0, stage=Stage.LOOKING), (HealthFault.PAGE, Remedy.NOTIFY)),
        (replace(WELL, page_silence=25.0, stage=Stage.LOOKING), (HealthFault.PAGE, Remedy.RESTART_BROWSER)),
        (replace(WELL, model_silence=3.0), None),
        (replace(WELL, model_silence=8.0), (HealthFault.MODEL, Remedy.NOTIFY)),
        (replace(WELL, model_silence=59.0), (HealthFault.MODEL, Remedy.NOTIFY)),
        (replace(WELL, model_silence=61.0), (HealthFault.MODEL, Remedy.INTERRUPT)),
        (replace(WELL, model_silence=16.0, model_answers=True), (HealthFault.MODEL, Remedy.INTERRUPT)),
        (replace(WELL, model_silence=1.0, model_answers=True, stage_seconds=3600.0), None),
        (replace(WELL, stage_seconds=130.0), (HealthFault.STUCK, Remedy.INTERRUPT)),
        (replace(WELL, stage=Stage.LOOKING, stage_seconds=61.0), (HealthFault.STUCK, Remedy.RESTART_BROWSER)),
        (replace(WELL, stage=Stage.WRITING, stage_seconds=7.0), (HealthFault.STUCK, Remedy.NOTIFY)),
        (replace(WELL, stage=Stage.HELD, state=RunState.PAUSED, stage_seconds=90_000.0), None),
        (replace(WELL, stage=Stage.HELD, state=RunState.WAITING, model_silence=90.0), None),
        (replace(WELL, state=RunState.RECOVERING, broken="it crashed", page_silence=60.0), None),
    ],
)
def test_what_is_wrong_and_what_is_done_about_it(
    signs: HealthSignals, expected: tuple[HealthFault, Remedy] | None
):
    assert found(signs) == expected


signs_of_any_kind = st.builds(
    HealthSignals,
    state=st.sampled_from(RunState),
    stage=st.sampled_from(Stage),
    stage_seconds=st.floats(0, 1e5),
    broken=st.sampled_from(["", "it crashed"]),
    broken_seconds=st.floats(0, 1e5),
    page_silence=st.floats(0, 1e5),
    model_silence=st.none() | st.floats(0, 1e5),
    model_answers=st.booleans(),
    disk=st.sampled_from(["", "it is full"]),
    slept=st.floats(0, 1e5),
)


@given(signs_of_any_kind)
def test_a_run_that_is_not_going_is_left_alone_and_a_persons_page_is_never_closed(signs: HealthSignals):
    finding = diagnose(signs)
    if not signs.state.alive or signs.state in (RunState.QUEUED, RunState.STARTING):
        assert finding is None
    if finding is not None and signs.state.held:
        assert finding.remedy not in (Remedy.INTERRUPT, Remedy.RESTART_BROWSER)
    if finding is not None:
        assert finding.why


@given(signs_of_any_kind, st.floats(0, 1e4))
def test_more_of_the_same_is_never_better(signs: HealthSignals, more: float):
    worse = replace(
        signs,
        stage_seconds=signs.stage_seconds + more,
        page_silence=signs.page_silence + more,
        broken_seconds=signs.broken_seconds + more,
    )
    assert diagnose(signs) is None or diagnose(worse) is not None


# ------------------------------------------------------------------------------------------------ the dog


@dataclass
class Clock:
    now: float = 1000.0
    asleep: float = 0.0

    def __call__(self) -> float:
        return self.now

    def always(self) -> float:
        return self.now + self.asleep


@dataclass
class Patient:
    """A probe, and who mends; ``ask`` is how long a page that is silent is asked."""

    clock: Clock
    fault: str = ""
    silent: bool = False
    full: str = ""
    heartbeat: tuple[float | None, bool] = (None, False)
    ask: float = 2.0
    mended: int = 0
    held: list[str] = field(default_factory=list[str])
    suspected: list[str] = field(default_factory=list[str])

    def broken(self) -> str:
        return self.fault

    async def page(self) -> bool:
        if self.silent:
            self.clock.now += self.ask
        return not self.silent

    async def disk(self) -> str:
        return self.full

    def model(self) -> tuple[float | None, bool]:
        return self.heartbeat

    def mark_hung(self, why: str) -> None:
        self.suspected.append(why)

    async def recover(self) -> bool:
        self.mended += 1
        self.fault = ""
        return True

    def block_actions(self, why: str) -> None:
        self.held.append(why)


@dataclass
class Ward:
    clock: Clock
    control: RunControl
    patient: Patient
    dog: Watchdog
    told: list[tuple[float, str]]

    async def after(self, seconds: float) -> HealthFinding | None:
        """Looks as they come in so many seconds; the last finding."""
        end, last = self.clock.now + seconds, None
        while self.clock.now < end:
            self.clock.now += DEFAULT_HEALTH_LIMITS.every
            last = await self.dog.look()
        return last


@pytest.fixture
async def ward() -> Ward:
    clock = Clock()
    control = RunControl("run", clock=clock, now=clock)
    await control.begin(0)
    patient = Patient(clock)
    told: list[tuple[float, str]] = []
    dog = Watchdog(
        control,
        patient,
        patient,
        clock=clock,
        always=clock.always,
        noticed=lambda why: told.append((clock.now, why)),
    )
    return Ward(clock, control, patient, dog, told)


async def test_a_silent_page_is_noticed_in_time_and_told_to_be_well_again(ward: Ward):
    await ward.after(20)
    began = ward.clock.now
    ward.patient.silent = True
    await ward.after(12)
    assert ward.told
    assert ward.told[0][0] - began <= PROMISED
    assert "has not answered" in ward.dog.why
    ward.patient.silent = False
    await ward.after(2)
    assert (ward.dog.why, ward.told[-1][1]) == ("", "")


async def test_a_page_that_stays_silent_is_cut_short_once_and_its_browser_suspected(ward: Ward):
    ward.patient.silent = True

    async def looking() -> None:
        async with ward.control.in_stage(Stage.LOOKING):
            await ward.after(40)
            await asyncio.sleep(5)

    with pytest.raises(WatchdogTimeout, match="has not answered"):
        await looking()
    assert len(ward.patient.suspected) == 1


async def test_a_browser_that_dies_while_the_agent_thinks_is_mended_at_the_next_look(ward: Ward):
    async with ward.control.in_stage(Stage.THINKING):
        ward.patient.fault = "the browser was closed or crashed"
        await ward.after(2)
        assert ward.patient.mended == 1
        assert ward.told[0][1] == "the browser was closed or crashed"
        assert await ward.after(2) is None


async def test_hands_at_work_get_time_to_see_for_themselves_that_their_browser_is_gone(ward: Ward):
    async with ward.control.in_stage(Stage.ACTING):
        ward.patient.fault = "the page crashed"
        await ward.after(2)
        assert ward.patient.mended == 0
        await ward.after(DEFAULT_HEALTH_LIMITS.grace)
        assert ward.patient.mended == 1


async def test_a_model_that_falls_silent_is_told_early_and_cut_short_late(ward: Ward):
    async def thinking() -> None:
        async with ward.control.in_stage(Stage.THINKING):
            ward.patient.heartbeat = (8.0, False)
            assert (await ward.after(2)) is not None
            assert ward.dog.why.startswith("the model has not answered")
            ward.patient.heartbeat = (61.0, False)
            await ward.after(2)
            await asyncio.sleep(5)

    with pytest.raises(WatchdogTimeout, match="the model"):
        await thinking()


async def test_a_model_that_streams_slowly_is_left_in_peace(ward: Ward):
    async with ward.control.in_stage(Stage.THINKING):
        ward.patient.heartbeat = (1.5, True)
        await ward.after(900)
    assert ward.told == []


async def test_after_a_night_the_page_is_looked_at_again_and_nothing_counts_the_night(ward: Ward):
    await ward.after(4)
    mark, seconds = ward.control.page_mark, ward.control.seconds
    ward.clock.asleep += 8 * 3600
    ward.patient.fault = ""
    finding = await ward.after(2)
    assert finding is not None
    assert finding.why == "the machine was suspended for 8.0 h"
    assert ward.control.page_mark != mark
    assert ward.control.seconds - seconds < 10
    assert await ward.after(2) is None


async def test_a_program_that_stood_still_looks_again_too(ward: Ward):
    mark = ward.control.page_mark
    finding = await ward.dog.look(late=15.0)
    assert finding is not None
    assert finding.fault is HealthFault.SLEPT
    assert ward.control.page_mark != mark


async def test_while_nothing_can_be_written_nothing_is_done_and_then_it_goes_on(ward: Ward):
    ward.patient.full = "the disk is full"
    await ward.after(2)
    ward.patient.full = ""
    await ward.after(2)
    assert ward.patient.held == ["the disk is full", ""]


async def test_a_run_that_is_mended_is_given_time_and_its_page_is_not_counted_silent(ward: Ward):
    ward.patient.silent = True
    with ward.control.recovering("the browser died"):
        await ward.after(60)
    assert ward.patient.suspected == []
    ward.patient.silent = False
    assert await ward.after(2) is None


async def test_a_look_that_fails_is_logged_and_the_next_one_comes(
    ward: Ward, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    looks = 0

    async def looking(late: float = 0.0) -> None:
        nonlocal looks
        looks += 1
        raise RuntimeError("stumbled")

    dog = Watchdog(ward.control, ward.patient, ward.patient, limits=HealthLimits(every=0.01))
    monkeypatch.setattr(dog, "look", looking)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await dog.watch()
    assert looks > 2
    assert "stumbled" in caplog.text


# ------------------------------------------------------------------------------------------------ probes


def test_signs_of_life_of_a_model():
    clock = Clock()
    heartbeat = Heartbeat(clock)
    assert heartbeat.silence is None
    with heartbeat.asking():
        clock.now += 9
        assert (heartbeat.silence, heartbeat.answering) == (9, False)
        heartbeat.received()
        clock.now += 3
        assert (heartbeat.silence, heartbeat.answering) == (3, True)
        heartbeat.pauses(20)
        clock.now += 19
        assert heartbeat.silence == 0
        clock.now += 5
        assert heartbeat.silence == 4
        heartbeat.sent()
        assert (heartbeat.silence, heartbeat.answering) == (0, False)
    assert heartbeat.silence is None


def test_a_disk_that_can_be_written_has_no_trouble_and_nothing_is_left_on_it(tmp_path: Path):
    assert disk_problem(tmp_path) == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_disk_that_takes_nothing_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
):
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    assert os.strerror(number) in disk_problem(tmp_path)
    assert "continues by itself" in disk_problem(tmp_path)


def test_a_disk_with_a_few_bytes_left_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(health_probes, "MIN_FREE_BYTES", 1 << 62)
    assert "is full" in disk_problem(tmp_path)


def test_a_folder_that_is_gone_is_trouble(tmp_path: Path):
    assert "can't be written" in disk_problem(tmp_path / "nowhere")


async def test_a_disk_is_tried_now_and_then_however_many_ask(tmp_path: Path):
    clock, tries = Clock(), 0

    async def on_worker(call: object) -> str:
        nonlocal tries
        tries += 1
        return f"try {tries}"

    disk = DiskProbe(tmp_path, on_worker, clock=clock)
    assert [await disk() for _ in range(8)] == ["try 1"] * 8
    clock.now += DISK_CHECK_SECONDS
    assert await disk() == "try 2"


async def test_a_disk_that_hangs_is_told_and_holds_up_nobody_but_who_tries(tmp_path: Path):
    clock, answered = Clock(), asyncio.Event()

    async def on_worker(call: object) -> str:
        await answered.wait()
        return "slow"

    disk = DiskProbe(tmp_path, on_worker, clock=clock)
    first = asyncio.ensure_future(disk())
    await asyncio.sleep(0)
    assert await disk() == ""
    clock.now += 5
    assert "does not answer" in await disk()
    answered.set()
    assert await first == "slow"
    assert await disk() == "slow"
