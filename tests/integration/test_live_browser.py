"""A dead browser is reopened: the same session, with the cookies and storage it had."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from app.engine.browser.executor import Executor
from app.engine.browser.live_browser import LiveBrowser
from app.engine.browser.session_state import is_responsive
from app.engine.core.actions.types import Goto
from app.errors import SiteloreError
from tests.support.hostile_site import HostileSite

KEEP = """() => {
    document.cookie = 'who=ada; path=/';
    localStorage.theme = 'dark';
    sessionStorage.token = 'of this tab';
}"""
KEPT = "() => [document.cookie, localStorage.theme, sessionStorage.token]"


@pytest_asyncio.fixture(loop_scope="session")
async def site() -> AsyncIterator[HostileSite]:
    async with await HostileSite.start() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def live() -> AsyncIterator[LiveBrowser]:
    async with await LiveBrowser.open(keep_tabs=True) as opened:
        yield opened


def exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def gone(live: LiveBrowser) -> None:
    async with asyncio.timeout(20):
        while live.session.is_connected:
            await asyncio.sleep(0.02)


@pytest.mark.smoke
async def test_whoever_holds_the_visit_goes_on_with_cookies_and_storage(live: LiveBrowser, site: HostileSite):
    session, hands = live.session, Executor(live.session)
    await hands.do(Goto(site.page("good/one")))
    await session.page.evaluate(KEEP)
    await live.remember()
    os.kill(live.process, signal.SIGKILL)
    await gone(live)
    assert not live.is_open
    await live.reopen()
    assert live.session is session
    assert session.browser_switches == 1
    assert live.is_open
    assert [page.url for page in session.pages] == ["about:blank"]
    done = await hands.do(Goto(site.page("good/two")))
    assert done.success
    page = await hands.look()
    assert page.url == site.page("good/two")
    assert page.picture
    assert await session.page.evaluate(KEPT) == ["who=ada", "dark", "of this tab"]


async def test_remembering_opens_no_tab_and_is_done_now_and_then_only(live: LiveBrowser, site: HostileSite):
    await live.session.page.goto(site.page("good/one"))
    await live.remember()
    await live.session.page.evaluate(KEEP)
    await live.remember()
    assert len(live.session.pages) == 1
    assert live.session.happened().popups == ()
    await live.reopen()
    await live.session.page.goto(site.page("good/one"))
    assert await live.session.page.evaluate(KEPT) == ["", None, None]


@pytest.mark.skipif(sys.platform == "win32", reason="processes are stopped in the way of POSIX")
async def test_a_browser_that_stands_still_is_ended_and_another_opened(live: LiveBrowser, site: HostileSite):
    await live.session.page.goto(site.page("good/one"))
    old = live.process
    os.kill(old, signal.SIGSTOP)
    assert not await is_responsive(live.session, 0.5)
    await live.reopen()
    assert live.process not in (0, old)
    assert await is_responsive(live.session)
    async with asyncio.timeout(20):
        while exists(old):
            await asyncio.sleep(0.02)


@pytest.mark.skipif(sys.platform == "win32", reason="processes are stopped in the way of POSIX")
async def test_a_browser_that_dies_before_it_is_known_to_is_the_reason_for_another(live: LiveBrowser):
    os.kill(live.process, signal.SIGKILL)
    assert live.broken == ""
    assert await live.relaunch()
    assert live.replaced_for == "the browser was closed or crashed"
    assert live.broken == ""


async def test_one_that_is_closed_while_it_is_opened_again_stays_closed(live: LiveBrowser):
    opening = asyncio.ensure_future(live.reopen())
    await asyncio.sleep(0)
    await live.aclose()
    with pytest.raises(SiteloreError, match="closed"):
        await opening
    assert not live.is_open


async def test_pages_see_the_time_zone_and_the_locale_of_the_run():
    async with await LiveBrowser.open(timezone="Asia/Tokyo", locale="nb-NO") as live:
        told = await live.session.page.evaluate(
            "[Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.language,"
            " new Date(0).getHours(), (1234.5).toLocaleString()]"
        )
        await live.reopen()
        again = await live.session.page.evaluate(
            "[Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.language]"
        )
    assert told == ["Asia/Tokyo", "nb-NO", 9, "1\u00a0234,5"]
    assert again == told[:2]
