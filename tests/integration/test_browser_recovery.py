"""A browser, page or server that dies or hangs during a run is detected, and the run continues where it
was.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser

from app.engine.agent.health import HealthLimits
from app.engine.agent.run_control import WatchdogTimeout
from app.engine.browser import executor, session
from app.engine.browser.capture import snapshot
from app.engine.browser.capture.screencast import Screencast
from app.engine.core.action_result import Cause
from app.engine.core.actions.types import Click, Goto, TypeText, Wait
from app.engine.core.supervision import RunState, Stage
from tests.support.crashing_site import recovery_bench, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are stopped in the way of POSIX")

PROMISED = 10.0
"""Seconds within which a hang is detected."""


@pytest.fixture(autouse=True)
def _needs_a_browser(chromium: Browser) -> None:
    """Skip if there is none."""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The executor's own limits, five times shorter."""
    monkeypatch.setattr(snapshot, "CAPTURE_TIMEOUT", 3.0)
    monkeypatch.setattr(executor, "ANSWER_TIMEOUT", 1.5)
    monkeypatch.setattr(executor, "ACTION_TIMEOUT", 8.0)
    monkeypatch.setattr(session, "OPEN_TIMEOUT", 4.0)


async def test_a_browser_killed_while_the_agent_thinks_is_back_before_it_has_decided(tmp_path: Path):
    async with recovery_bench(tmp_path) as patient:
        await patient.hands.do(Goto(patient.at("form")))
        await patient.hands.look()
        mark = patient.control.page_mark
        async with patient.control.in_stage(Stage.THINKING):
            await patient.kill()
            took = await until(lambda: patient.live.session.browser_switches == 1 and not patient.live.broken)
            await until(lambda: patient.control.state is RunState.RUNNING)
        assert took < PROMISED
        assert patient.control.page_mark != mark
        page = await patient.hands.look()
        assert page.url == patient.at("form")
        assert page.notes[0].startswith("the browser was closed or crashed; another browser was opened at")
        assert (await patient.hands.do(TypeText(patient.button(page, "Name"), "Ada"))).success


async def test_a_browser_killed_in_an_action_is_back_at_the_next_look_and_the_action_not_done_again(
    tmp_path: Path,
):
    async with recovery_bench(tmp_path) as patient:
        await patient.hands.do(Goto(patient.at("form")))
        await patient.hands.look()
        asyncio.get_running_loop().call_later(0.3, os.kill, patient.live.process, signal.SIGKILL)
        async with patient.control.in_stage(Stage.ACTING):
            result = await patient.hands.do(Wait(5.0))
        assert result.cause is Cause.PAGE_LOST
        async with patient.control.in_stage(Stage.LOOKING):
            page = await patient.hands.look()
        assert page.url == patient.at("form")
        assert patient.control.state is RunState.RUNNING


@pytest.mark.smoke
async def test_a_browser_killed_under_a_paused_run_is_brought_back_and_the_run_stays_paused(tmp_path: Path):
    async with recovery_bench(tmp_path) as patient:
        await patient.hands.do(Goto(patient.at("form")))
        await patient.hands.look()
        patient.control.pause()
        await patient.kill()
        await until(lambda: patient.live.address == patient.at("form"))
        await until(lambda: patient.control.state is RunState.PAUSED)


@pytest.mark.smoke
async def test_a_page_state_behind_a_click_is_gone_back_to_through_the_map(tmp_path: Path):
    async with recovery_bench(tmp_path) as patient:
        await patient.hands.do(Goto(patient.at("tabs")))
        page = await patient.hands.look()
        await patient.hands.do(Click(patient.button(page, "More")))
        page = await patient.hands.look()
        assert any(one.name == "Deep" for one in page.elements)

        async def back_to(state: str, url: str) -> bool:
            await patient.live.session.page.click("#b")
            return True

        patient.hands.return_to = back_to
        await patient.kill()
        page = await patient.hands.look()
        assert any(one.name == "Deep" for one in page.elements)
        assert "navigated by the map" in page.notes[0]


@pytest.mark.usefixtures("impatient")
async def test_a_script_that_never_ends_is_noticed_and_the_page_opened_anew(tmp_path: Path):
    async with recovery_bench(tmp_path) as patient:
        await patient.hands.do(Goto(patient.at("hangs")))
        page = await patient.hands.look()
        result = await patient.hands.do(Click(patient.button(page, "Hang")))
        assert not result.success
        await until(lambda: "has not answered" in patient.dog.why)
        page = await patient.hands.look()
        assert page.url == patient.at("hangs")
        assert any(one.name == "Hang" for one in page.elements)
        await until(lambda: patient.dog.why == "")


@pytest.mark.usefixtures("impatient")
async def test_a_renderer_that_is_stopped_is_noticed_and_the_page_opened_anew(tmp_path: Path):
    async with recovery_bench(tmp_path) as patient:
        await patient.hands.do(Goto(patient.at("form")))
        await patient.hands.look()
        stopped = await patient.renderers()
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        assert await until(lambda: "has not answered" in patient.dog.why) < PROMISED
        page = await patient.hands.look()
        assert page.url == patient.at("form")
        assert page.elements


async def test_a_browser_that_stands_still_is_cut_short_ended_and_another_opened(tmp_path: Path):
    async with recovery_bench(tmp_path) as patient:
        await patient.hands.do(Goto(patient.at("form")))
        await patient.hands.look()
        old = patient.live.process
        await patient.kill(signal.SIGSTOP)
        with pytest.raises(WatchdogTimeout, match="has not answered"):
            async with patient.control.in_stage(Stage.LOOKING):
                await patient.hands.look()
        page = await patient.hands.look()
        assert page.url == patient.at("form")
        assert patient.live.process != old


async def test_the_usual_limits_notice_a_page_that_hangs_within_ten_seconds(tmp_path: Path):
    async with recovery_bench(tmp_path, limits=HealthLimits()) as patient:
        await patient.live.session.page.goto(patient.at("hangs-soon"))
        assert await until(lambda: bool(patient.dog.why)) < PROMISED + 3


async def test_a_page_that_allocates_until_it_crashes_is_opened_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    start = session.launch

    async def small(playwright: Any, setting: str = "", **options: Any) -> Any:
        return await start(playwright, setting, args=["--js-flags=--max-old-space-size=64"], **options)

    monkeypatch.setattr(session, "launch", small)
    async with recovery_bench(tmp_path) as patient:
        await patient.hands.do(Goto(patient.at("grows")))
        page = await patient.hands.look()
        async with patient.control.in_stage(Stage.ACTING):
            result = await patient.hands.do(Click(patient.button(page, "Grow")))
        assert result.cause is Cause.PAGE_LOST
        page = await patient.hands.look()
        assert page.url == patient.at("grows")
        assert page.notes[0].startswith("the page crashed; another tab was opened at")


async def test_a_browser_killed_again_and_again_is_always_back_where_the_run_was(tmp_path: Path):
    async with recovery_bench(tmp_path) as patient:
        for number in range(3):
            name = ("form", "tabs", "start")[number % 3]
            await patient.hands.do(Goto(patient.at(name)))
            await patient.hands.look()
            asyncio.get_running_loop().call_later(
                0.07 * number, os.kill, patient.live.process, signal.SIGKILL
            )
            await patient.hands.do(Wait(0.5))
            page = await patient.hands.look()
            assert page.url == patient.at(name), page.notes
        assert patient.live.session.browser_switches == 3
        assert [event.kind for event in patient.book.events].count("note") == 3


async def test_moving_pictures_go_on_in_the_new_browser(tmp_path: Path):
    async with recovery_bench(tmp_path) as patient, asyncio.TaskGroup() as group:
        seen: list[str] = []
        screen = Screencast(patient.live.session, lambda frame: seen.append(frame.url), group.create_task)
        await patient.hands.do(Goto(patient.at("form")))
        await patient.hands.look()
        await screen.watch(640, 400, 10.0)
        await until(lambda: patient.at("form") in seen)
        await patient.kill()
        seen.clear()
        await until(lambda: patient.live.session.browser_switches == 1 and patient.at("form") in seen)
        await screen.aclose()
