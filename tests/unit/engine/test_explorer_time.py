"""An exploration keeps its time limit whatever a page or a browser does, and can be gone on with."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from app.engine.browser.driver import BrowserGone, DriverResult
from app.engine.core.page_state import PageCapture
from app.engine.core.transition import FrontierStatus, Locator, Operation
from app.engine.graph.explore.pacing import SystemClock
from tests.support.explore_paper_site import addresses, explorer_of
from tests.support.paper_site import PaperDriver, PaperRecorder, PaperSite, Thing, lost

PAGES = {"/": [Thing(f"P{n}", f"/{n}") for n in range(6)], **{f"/{n}": [] for n in range(6)}}
LIMIT, GRACE = 0.4, 1.5
"""Seconds an exploration may take, and seconds over it that are still good on a busy machine."""


class Hangs(PaperDriver):
    """Never comes back from one of its deeds once it was done often enough."""

    def __init__(self, site: PaperSite, deed: str, after: int) -> None:
        super().__init__(site)
        self.deed, self.after = deed, after

    async def _may_hang(self, deed: str) -> None:
        if deed == self.deed:
            self.after -= 1
            if self.after < 0:
                await asyncio.Event().wait()

    async def open(self, url: str) -> DriverResult:
        await self._may_hang("open")
        return await super().open(url)

    async def act(self, operation: Operation, locator: Locator, value: str = "") -> DriverResult:
        await self._may_hang("act")
        return await super().act(operation, locator, value)

    async def look(self, *, picture: bool = True) -> PageCapture:
        await self._may_hang("look")
        return await super().look(picture=picture)

    async def reopen(self) -> None:
        await self._may_hang("reopen")
        await super().reopen()


async def in_time(work: Callable[[], object], seconds: float = LIMIT + GRACE) -> object:
    began = time.monotonic()
    async with asyncio.timeout(seconds + 20):
        result = await work()  # pyright: ignore[reportGeneralTypeIssues]
    assert time.monotonic() - began < seconds
    return result


@pytest.mark.parametrize(
    ("deed", "after"), [("open", 0), ("open", 3), ("look", 0), ("look", 3), ("act", 0), ("reopen", 0)]
)
async def test_a_hanging_driver_ends_at_the_time_limit_and_results_are_kept(deed: str, after: int) -> None:
    def crash(path: str) -> None:
        if deed == "reopen" and path == "/2":
            raise lost()

    pages = {**PAGES, "/0": [Thing("More", opens="more"), Thing("In", leads="/in", within="more")], "/in": []}
    site, store = PaperSite(pages, look_trouble=crash), PaperRecorder()
    drivers = [Hangs(site, deed, after)]
    explorer, _ = explorer_of(site, store=store, drivers=drivers, clock=SystemClock(), max_seconds=LIMIT)

    report = await in_time(explorer.run)

    assert report.ended == "seconds"  # pyright: ignore[reportAttributeAccessIssue]
    assert any("the time limit of" in note for note in report.notes)  # pyright: ignore[reportAttributeAccessIssue]
    tried = [item for item in store.items.values() if item.status is not FrontierStatus.WAITING]
    assert all("did not respond" not in item.detail for item in tried), "what had no time was not tried"

    site = PaperSite(pages)
    again, _ = explorer_of(site, store=store, clock=SystemClock())
    assert (await again.run()).ended == "done"
    assert addresses(store) == {*PAGES, "/in"}


async def test_every_start_has_the_whole_time() -> None:
    store = PaperRecorder()
    first, _ = explorer_of(PaperSite(PAGES), store=store, max_seconds=0.03)
    assert (await first.run()).ended == "seconds"
    found = len(store.states)

    second, _ = explorer_of(PaperSite(PAGES), store=store, max_seconds=0.03)
    await second.run()

    assert len(store.states) > found


async def test_the_start_of_the_browser_counts() -> None:
    explorer, store = explorer_of(PaperSite(PAGES), spent=100.0, max_seconds=100)

    report = await explorer.run()

    assert (report.ended, len(store.states)) == ("seconds", 0)


async def test_browsers_that_are_slow_do_not_end_it_while_time_is_left() -> None:
    class Slow(PaperDriver):
        left = 4

        async def reopen(self) -> None:
            if self.left:
                self.left -= 1
                gone = BrowserGone("the browser opened no page for 10 s")
                gone.slow = True
                raise gone
            await super().reopen()

    crashed: list[str] = []

    def once(path: str) -> None:
        if path == "/3" and not crashed:
            crashed.append(path)
            raise lost()

    site = PaperSite(PAGES, look_trouble=once)
    explorer, store = explorer_of(site, drivers=[Slow(site)])

    report = await explorer.run()

    assert report.ended == "done"
    assert addresses(store) == set(PAGES)


async def test_a_browser_that_is_slow_at_first_is_waited_for() -> None:
    class Slow(PaperDriver):
        left = 3

        async def open(self, url: str) -> DriverResult:
            if self.left:
                self.left -= 1
                gone = BrowserGone("the browser opened no page for 10 s")
                gone.slow = True
                raise gone
            return await super().open(url)

    site = PaperSite(PAGES)
    explorer, store = explorer_of(site, drivers=[Slow(site)])

    assert (await explorer.run()).ended == "done"
    assert addresses(store) == set(PAGES)


async def test_a_pause_in_the_last_moment_costs_nothing() -> None:
    site, store = PaperSite(PAGES), PaperRecorder()
    driver = Hangs(site, "open", 2)
    explorer, _ = explorer_of(site, store=store, drivers=[driver], clock=SystemClock(), max_seconds=4)

    async with asyncio.TaskGroup() as group:
        running = group.create_task(explorer.run())
        while driver.after >= 0 and not running.done():
            await asyncio.sleep(0.01)
        explorer.pause()  # the time stands still, and what is under way may end
        await asyncio.sleep(4.5)
        assert not running.done()
        driver.deed = ""
        explorer.resume()
    report = running.result()

    assert report.ended == "done"
    assert addresses(store) == set(PAGES)
    assert [item.detail for item in store.items.values() if item.status is FrontierStatus.FAILED] == []
