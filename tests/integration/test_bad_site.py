"""The site that misbehaves does misbehave: what is tested with it elsewhere is not tested with a well-behaved one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Error, Page

from tests.support.bad_site import BadSite


@pytest_asyncio.fixture(loop_scope="session")
async def bad() -> AsyncIterator[BadSite]:
    async with await BadSite.start(visits_until_logout=3) as site:
        yield site


@pytest_asyncio.fixture(loop_scope="session")
async def page(chromium: Browser) -> AsyncIterator[Page]:
    context = await chromium.new_context()
    page = await context.new_page()
    yield page
    await context.close()


@pytest.mark.smoke
@pytest.mark.parametrize("case", ["loop", "long-way"])
async def test_redirects_go_round_until_the_browser_gives_up(bad: BadSite, page: Page, case: str):
    with pytest.raises(Error, match="ERR_TOO_MANY_REDIRECTS"):
        await page.goto(bad.page(case))


async def test_one_port_is_silent_and_one_refuses(bad: BadSite, page: Page):
    with pytest.raises(Error, match="Timeout"):
        await page.goto(bad.silent_url, timeout=500)
    with pytest.raises(Error, match="ERR_CONNECTION_REFUSED"):
        await page.goto(bad.refused_url)


async def test_the_renderer_dies(bad: BadSite, page: Page):
    crashed = asyncio.Event()
    page.on("crash", lambda _: crashed.set())
    await page.goto(bad.page("crash"), wait_until="commit")
    await asyncio.wait_for(crashed.wait(), 20)


async def test_a_page_grows_while_nobody_does_anything(bad: BadSite, page: Page):
    await page.goto(bad.page("grows"))
    before = await page.locator("li").count()
    await page.wait_for_function("n => document.querySelectorAll('li').length > n + 20", arg=before)


async def test_a_page_never_rests(bad: BadSite, page: Page):
    await page.goto(bad.page("never-settles"))
    with pytest.raises(Error, match="Timeout"):
        await page.wait_for_load_state("networkidle", timeout=1200)


async def test_alerts_come_again_and_again(bad: BadSite, page: Page):
    messages: list[str] = []
    enough = asyncio.Event()

    async def dismiss(dialog) -> None:
        messages.append(dialog.message)
        if len(messages) > 5:
            enough.set()
        await dialog.dismiss()

    page.on("dialog", dismiss)
    await page.goto(bad.page("alerts"), wait_until="commit")
    await asyncio.wait_for(enough.wait(), 20)
    assert messages[:2] == ["sure?", "who?"]


async def test_a_page_moves_on_by_itself(bad: BadSite, page: Page):
    await page.goto(bad.page("moves"), wait_until="commit")
    await page.wait_for_url("**/moves?again=*", wait_until="commit")


async def test_every_other_answer_is_an_error(bad: BadSite, page: Page):
    statuses = [answer.status for _ in range(4) if (answer := await page.goto(bad.page("flaky"))) is not None]
    assert statuses == [500, 200, 500, 200]


async def test_a_log_in_is_over_after_a_few_pages(bad: BadSite, chromium: Browser):
    context = await chromium.new_context(storage_state=bad.storage_state())  # pyright: ignore[reportArgumentType]
    page = await context.new_page()
    titles: list[str] = []
    for number in range(1, 6):
        await page.goto(bad.page(f"members/{number}"))
        titles.append(await page.title())
    await context.close()

    assert [title.startswith("Members") for title in titles] == [True, True, True, False, False]
    assert titles[-1] == "Log in"


async def test_a_careless_visitor_is_found_out(bad: BadSite, page: Page):
    await page.goto(bad.page("danger"))
    assert bad.destroyed == []
    async with page.expect_request("**/api/wipe"):
        await page.get_by_role("button", name="Delete all").click()
    await page.get_by_role("link", name="Sign out").click()
    assert [(asked.method, asked.path) for asked in bad.destroyed] == [
        ("POST", "/api/wipe"),
        ("GET", "/account/logout"),
    ]


async def test_good_pages_open_something_without_a_new_address(bad: BadSite, page: Page):
    await page.goto(bad.entry("crash", "alerts"))
    assert await page.get_by_role("link").count() == 5
    await page.get_by_role("link", name="Good one").click()
    await page.get_by_role("button", name="Details one").click()
    assert await page.get_by_role("link", name="All of one").is_visible()
