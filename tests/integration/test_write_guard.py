"""The write guard in a real Chromium: writes of one action, loading, late requests, other browsers and
tabs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from app.engine.browser.executor import Executor
from app.engine.browser.live_browser import LiveBrowser
from app.engine.browser.network.write_guard import WriteGuard, read_only
from app.engine.browser.session import BrowserSession, open_session
from app.engine.core.action_result import Cause, Effect
from app.engine.core.actions.types import Click, Goto, TypeText
from app.engine.core.events import EventBus
from app.engine.core.supervision import RunState, TakeoverSummary
from app.engine.core.trajectory import Step
from app.engine.core.write_permit import WritePermit
from app.engine.jobs import JobRegistry
from app.engine.services.supervision.supervised_page import SupervisedPage
from tests.support.executor_bench import SWIFT, Bench
from tests.support.trap_site import TrapSite, trap_site

ASKED_FOR = WritePermit(why="the task asks for it")


@pytest.fixture(scope="module")
def running() -> Iterator[TrapSite]:
    with trap_site() as site:
        yield site


@pytest.fixture
def site(running: TrapSite) -> TrapSite:
    running.reset()
    return running


@pytest_asyncio.fixture(loop_scope="session")
async def bench(chromium: Browser, site: TrapSite) -> AsyncIterator[Bench]:
    async with open_session(chromium) as tab:
        guard = WriteGuard()
        await guard.watch(tab)
        yield Bench(Executor(tab, options=SWIFT, guard=guard), site.home, site.other)


def row(bench: Bench, button: str, number: int) -> int:
    """Return the number of a button in the row of a thing."""
    return [element for element in bench.executor.page.elements if element.name == button][number - 1].index


# without a permit


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("button", "sends"), [("Archive", "POST /things/2/archive"), ("Delete", "DELETE /things/2")]
)
async def test_without_a_permit_a_write_is_held_back_and_the_result_says_so(
    bench: Bench, site: TrapSite, button: str, sends: str
):
    await bench.at("/things")
    result = await bench.do(Click(row(bench, button, 2)))
    assert (result.success, result.effect, result.cause) == (False, Effect.REFUSED, Cause.POLICY)
    assert (
        result.why == f"the page tried to send {sends}, which changes something; only reading is allowed here"
    )
    assert result.blocked_writes == (sends,)
    assert site.wrote == ()
    assert bench.executor.page.url == f"{site.home}/things"


async def test_reading_goes_on_as_ever(bench: Bench, site: TrapSite):
    await bench.at("/things")
    await bench.do(TypeText(bench.number("Search"), "oak", enter=True))
    assert bench.executor.page.url == f"{site.home}/things?q=oak"
    result = await bench.do(Click(bench.number("Oak Table")))
    assert (result.effect, result.blocked_writes, result.sent) == (Effect.NAVIGATED, (), ())


async def test_what_is_held_back_beside_a_visible_effect_is_a_note(bench: Bench, site: TrapSite):
    await bench.at("/trap/leaving")
    result = await bench.do(Click(bench.number("Show more")))
    assert result.effect is Effect.NAVIGATED
    assert result.blocked_writes == ("POST /deed/leaving",)
    assert any("POST /deed/leaving was blocked" in note for note in result.notes)
    assert site.wrote == ()


async def test_a_late_write_is_held_back_and_told_with_the_next_action(bench: Bench, site: TrapSite):
    await bench.at("/trap/delayed")
    first = await bench.do(Click(bench.number("Show more")), ASKED_FOR)
    assert first.sent == ()
    guard = bench.executor.guard
    assert guard is not None
    async with asyncio.timeout(15):
        while not guard._refused:  # pyright: ignore[reportPrivateUsage]
            await asyncio.sleep(0.02)
    second = await bench.do(Goto(f"{site.home}/guestbook"))
    assert (second.success, second.blocked_writes) == (True, ("POST /deed/delayed",))
    assert site.wrote == ()


async def test_what_a_page_asks_by_post_while_it_loads_passes(bench: Bench, site: TrapSite):
    result = await bench.do(Goto(f"{site.home}/trap/rpc"))
    assert (result.blocked_writes, site.read) == ((), ("POST /rpc",))


# with a permit


async def test_a_permitted_form_is_sent_once_and_its_status_is_told(bench: Bench, site: TrapSite):
    await bench.at("/things")
    permit = WritePermit(why="the task asks for it", form="post:/things/5/archive")
    result = await bench.do(Click(row(bench, "Archive", 5)), permit)
    assert (result.success, result.blocked_writes, result.sent) == (True, (), ("POST /things/5/archive 303",))
    assert site.wrote == ("POST /things/5/archive",)


async def test_a_form_of_another_row_is_not_sent_under_that_permit(bench: Bench, site: TrapSite):
    await bench.at("/things")
    permit = WritePermit(why="the task asks for it", form="post:/things/5/archive")
    result = await bench.do(Click(row(bench, "Archive", 4)), permit)
    assert (result.cause, result.blocked_writes) == (Cause.POLICY, ("POST /things/4/archive",))
    assert site.wrote == ()


async def test_a_permitted_script_writes_once(bench: Bench, site: TrapSite):
    await bench.at("/things")
    result = await bench.do(Click(row(bench, "Mark", 3)), ASKED_FOR)
    assert (result.success, result.sent) == (True, ("POST /things/3/mark 200",))
    assert site.things[3].marked


async def test_a_permit_holds_for_one_action(bench: Bench, site: TrapSite):
    await bench.at("/things")
    await bench.do(Click(row(bench, "Mark", 3)), ASKED_FOR)
    await bench.do(Click(row(bench, "Mark", 2)))
    assert site.wrote == ("POST /things/3/mark",)


async def test_a_permit_opens_a_socket_too(bench: Bench, site: TrapSite):
    await bench.at("/trap/socket")
    await bench.do(Click(bench.number("Show more")), ASKED_FOR)
    await asyncio.to_thread(site.wait_for_write)
    assert site.wrote == ("SEND /socket",)


async def test_a_permit_for_this_host_does_not_open_a_frame_of_another(bench: Bench, site: TrapSite):
    await bench.at("/trap/other-frame")
    result = await bench.do(Click(bench.number("Show more")), ASKED_FOR)
    assert result.blocked_writes == ("POST /deed/frame",)
    assert site.wrote == ()


# the visit


async def test_a_window_for_a_form_that_is_not_sent_is_closed_again(bench: Bench, site: TrapSite):
    await bench.at("/trap/new-window-form")
    result = await bench.do(Click(bench.number("Show more")))
    assert result.blocked_writes == ("POST /deed/window",)
    async with asyncio.timeout(10):
        while len(bench.tab.pages) > 1:
            await asyncio.sleep(0.02)
    assert bench.tab.page.url == f"{site.home}/trap/new-window-form"


async def test_watching_comes_after_the_page_and_still_holds_it_up(chromium: Browser, site: TrapSite):
    async with open_session(chromium) as tab:
        await tab.page.goto(f"{site.home}/trap/xhr")
        guard = WriteGuard()
        await guard.watch(tab)
        guard.begin(None)
        await tab.page.click("#more")
        async with asyncio.timeout(10):
            while not (told := guard.refused()):
                await asyncio.sleep(0.02)
        assert told == ("POST /deed/xhr",)
        assert site.wrote == ()


async def test_the_guard_follows_the_visit_into_another_browser(site: TrapSite):
    async with await LiveBrowser.open() as live:
        guard = WriteGuard()
        await guard.watch(live.session)
        await live.reopen()
        await live.go(f"{site.home}/trap/xhr")
        guard.begin(None)
        await live.session.page.click("#more")
        async with asyncio.timeout(10):
            while not guard.refused():
                await asyncio.sleep(0.02)
        assert site.wrote == ()


async def test_another_visit_of_the_same_browser_is_left_alone(
    chromium: Browser, bench: Bench, site: TrapSite
):
    async with open_session(chromium) as free:
        await free.page.goto(f"{site.home}/trap/xhr")
        await free.page.click("#more")
        await asyncio.to_thread(site.wait_for_write)
    assert site.wrote == ("POST /deed/xhr",)


async def test_a_person_at_the_page_may_write(bench: Bench, site: TrapSite):
    await bench.at("/things")
    guard = bench.executor.guard
    assert guard is not None
    guard.set_bypassed(True)
    await bench.tab.page.click("text=Archive >> nth=0")
    await asyncio.to_thread(site.wait_for_write)
    guard.set_bypassed(False)
    assert site.wrote == ("POST /things/1/archive",)
    assert [f"{write.method} {write.path}" for write in guard.sent()] == ["POST /things/1/archive"]


class Held:
    """A supervised run under takeover, with what a takeover needs of it."""

    def __init__(self) -> None:
        self.control, self.state = self, RunState.TAKEN_OVER
        self.needs: tuple[object, ...] = ()

    async def take_over(self) -> None:
        return None

    async def release(self, account: TakeoverSummary | None) -> None:
        return None

    def set_health(self, why: str) -> None:
        return None

    async def add_operator_step(self, step: Step, blobs: Mapping[str, bytes]) -> int:
        return 0


async def test_a_takeover_lets_the_persons_writes_out_and_ends_with_the_guard_in_place(
    bench: Bench, site: TrapSite
):
    await bench.at("/things")
    registry, run = JobRegistry(EventBus()), cast("Any", Held())
    page = SupervisedPage(
        cast("Any", SimpleNamespace(registry=registry)), "r1", cast("Any", None), lambda _: None
    )
    page.loop, page.home = run, site.home
    page._browser = cast("Any", SimpleNamespace(session=bench.tab))  # pyright: ignore[reportPrivateUsage]
    await page.take_over(run)
    await bench.tab.page.click("text=Mark >> nth=0")
    await asyncio.to_thread(site.wait_for_write)
    await page.release(run, run.release)
    await bench.look()
    result = await bench.do(Click(row(bench, "Mark", 2)))
    assert (site.wrote, result.blocked_writes) == (("POST /things/1/mark",), ("POST /things/2/mark",))
    await registry.aclose()


async def test_travelling_only_reads_and_leaves_the_page_to_a_person_afterwards(
    blank: BrowserSession, site: TrapSite
):
    async with read_only(blank) as guard:
        await blank.page.goto(f"{site.home}/things")
        await blank.page.click("button:has-text('Mark') >> nth=0")
        async with asyncio.timeout(10):
            while not guard.refused():
                await asyncio.sleep(0.02)
    assert site.wrote == ()
    await blank.page.click("button:has-text('Mark') >> nth=0")
    await asyncio.to_thread(site.wait_for_write)
    assert site.wrote == ("POST /things/1/mark",)


async def test_the_cache_of_the_browser_works_under_a_guard(bench: Bench, site: TrapSite):
    await bench.at("/guestbook")

    async def sizes() -> Any:
        await bench.tab.page.goto(f"{site.home}/kept")
        return await bench.tab.page.evaluate(
            "performance.getEntriesByType('resource').filter(r => r.name.endsWith('kept.js')).map(r => r.transferSize)"
        )

    first, second = await sizes(), await sizes()
    assert first[0] > 0
    assert second == [0]
