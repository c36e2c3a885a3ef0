"""Harmless-looking buttons that write: without a guard each does, with one nothing reaches the server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from playwright.async_api import Browser

from app.engine.browser.browser_pool import BrowserPool
from app.engine.browser.executor import Executor
from app.engine.browser.locators import locator_of
from app.engine.browser.network.write_guard import WriteGuard
from app.engine.browser.session import open_session
from app.engine.core.actions.types import Click
from app.engine.core.transition import Operation
from tests.support.executor_bench import SWIFT, Bench
from tests.support.trap_site import TRAPS, TrapSite, trap_site

QUIET = frozenset({"socket-of-a-worker", "socket-of-a-shared-worker", "socket-of-a-fetched-worker"})
"""Traps that the browser itself refuses, so that the guard has nothing to report."""

WINDOWS = frozenset({"popup", "popup-noopener"})
"""Traps in a window of their own, which an exploration closes at once."""


@pytest.fixture(scope="module")
def running() -> Iterator[TrapSite]:
    with trap_site() as site:
        yield site


@pytest.fixture
def site(running: TrapSite) -> TrapSite:
    running.reset()
    return running


async def tried(site: TrapSite) -> None:
    """Wait until a worker has tried its socket."""
    async with asyncio.timeout(15):
        while f"{site.home}/tried" not in site.visits:
            await asyncio.sleep(0.02)


async def held_back(guard: WriteGuard, before: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Wait for what a guard blocked: a worker or a timer may take a while."""
    told = before
    async with asyncio.timeout(15):
        while not told:
            await asyncio.sleep(0.02)
            told = guard.refused()
    return told


@pytest.mark.parametrize("name", TRAPS)
async def test_without_a_guard_each_trap_writes(chromium: Browser, site: TrapSite, name: str):
    async with open_session(chromium, keep_tabs=True) as tab:
        await tab.page.goto(f"{site.home}/trap/{name}")
        where = tab.page.frames[-1] if name == "other-frame" else tab.page
        await where.click("#more")
        await asyncio.to_thread(site.wait_for_write)
        assert site.wrote == (TRAPS[name].wrote,)


@pytest.mark.parametrize("name", TRAPS)
async def test_under_the_agent_no_trap_writes_and_each_is_told(chromium: Browser, site: TrapSite, name: str):
    async with open_session(chromium, keep_tabs=True) as tab:
        guard = WriteGuard()
        await guard.watch(tab)
        bench = Bench(Executor(tab, options=SWIFT, guard=guard), site.home, site.other)
        await bench.at(f"/trap/{name}")
        result = await bench.do(Click(bench.number("Show more")))
        if name in QUIET:
            await tried(site)
        else:
            assert await held_back(guard, result.blocked_writes) == (TRAPS[name].wrote,)
        assert site.wrote == ()


@pytest.mark.parametrize("name", TRAPS)
async def test_an_exploration_springs_no_trap(site: TrapSite, name: str):
    async with BrowserPool() as browsers:
        driver = browsers.drivers(1)[0]
        assert (await driver.open(f"{site.home}/trap/{name}")).ok
        page = await driver.look(picture=False)
        element = next(element for element in page.elements if element.name == "Show more")
        deed = await driver.act(Operation.CLICK, locator_of(element, page))
        if name in QUIET:
            await tried(site)
        elif name not in WINDOWS:
            assert await held_back(driver.guard, deed.unsent) == (TRAPS[name].wrote,)
        assert site.wrote == ()
