"""Unsolicited events during a session, and pages that are gone when they are captured."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.async_api import Browser, Error

from app.engine.browser.capture.snapshot import PageGone, capture
from app.engine.browser.session import MAX_DIALOGS, BrowserSession, open_session
from app.engine.core.page_state import Challenge, PageCapture
from tests.support.pages_server import serving


@pytest.fixture(scope="module")
def pages() -> Iterator[str]:
    with serving() as address:
        yield address


async def look(tab: BrowserSession, address: str) -> PageCapture:
    await tab.page.goto(address)
    return await capture(tab, picture=False)


def names(page: PageCapture) -> set[str]:
    return {element.name for element in page.elements if element.visible}


async def look_on(tab: BrowserSession) -> None:
    while True:
        await capture(tab, picture=False)
        await asyncio.sleep(0.05)


# -- dialogs -----------------------------------------------------------------------------------------------------


async def test_an_open_modal_dialog_is_all_that_can_be_reached(blank: BrowserSession, pages: str):
    await blank.page.goto(f"{pages}/dialogs.html")
    await blank.page.click("#modal")
    page = await capture(blank, picture=False)
    assert names(page) == {"Close"}
    assert {e.landmarks for e in page.elements if e.visible} == {("dialog:Cart",)}
    assert page.notes == ("6 elements can't be reached while a dialog is open",)
    await blank.page.click("dialog button")
    assert "Behind" in names(await capture(blank, picture=False))


async def test_a_dialog_by_role_is_named_by_its_heading_and_the_page_stays(blank: BrowserSession, pages: str):
    await blank.page.goto(f"{pages}/dialogs.html")
    await blank.page.click("#role")
    page = await capture(blank, picture=False)
    assert {"Small", "Behind"} <= names(page)
    assert next(e.landmarks for e in page.elements if e.name == "Small") == ("dialog:Pick a size",)


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("button", "said", "title"),
    [
        ("alert", "Take care", "after alert"),
        ("confirm", "Delete all?", "no"),
        ("prompt", "Your name?", "null"),
    ],
)
async def test_javascript_dialogs_are_dismissed_and_told(
    blank: BrowserSession, pages: str, button: str, said: str, title: str
):
    await blank.page.goto(f"{pages}/dialogs.html")
    await blank.page.click(f"#{button}")
    page = await capture(blank, picture=False)
    assert (page.alerts, page.title) == ((said,), title)
    assert (await capture(blank, picture=False)).alerts == (), "each is told once"


async def test_a_page_that_asks_whether_to_leave_is_left(blank: BrowserSession, pages: str):
    await blank.page.goto(f"{pages}/leave.html")
    await blank.page.click("button")  # without a touch the browser doesn't ask
    page = await look(blank, f"{pages}/lists.html")
    assert page.title == "Lists"
    assert page.alerts == ("(asks whether to leave)",)


async def test_alerts_from_timers_do_not_keep_a_page_from_being_looked_at(blank: BrowserSession, pages: str):
    await blank.page.goto(f"{pages}/alert_timer.html")
    await asyncio.sleep(0.2)
    page = await capture(blank, picture=False)
    assert page.alerts == ("one", "two")
    assert names(page) == {"Still here"}


async def test_a_page_that_opens_alerts_for_ever_is_taken_away_and_the_visit_goes_on(
    chromium: Browser, pages: str
):
    async with open_session(chromium) as tab:
        await tab.page.goto(f"{pages}/alert_loop.html")
        began = time.monotonic()
        with pytest.raises(PageGone, match="without end"):
            await asyncio.wait_for(look_on(tab), 30)
        assert time.monotonic() - began < 20
        assert len(tab.happened().alerts) <= MAX_DIALOGS
        await tab.renew()
        assert (await look(tab, f"{pages}/lists.html")).title == "Lists"


# -- windows and files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("link", "opened"), [("blank", "inner.html"), ("open", "abroad.html")])
async def test_windows_that_open_are_noted_and_closed(chromium: Browser, pages: str, link: str, opened: str):
    async with open_session(chromium) as tab:
        await tab.page.goto(f"{pages}/windows.html")
        async with tab.context.expect_page() as popup:
            await tab.page.click(f"#{link}")
        window = await popup.value
        for _ in range(100):
            if window.is_closed():
                break
            await asyncio.sleep(0.02)
        page = await capture(tab, picture=False)
        assert page.popups == (f"{pages}/{opened}",)
        assert (page.title, len(tab.pages)) == ("Windows", 1)
        await tab.open_tab()
        assert len(tab.pages) == 2, "a tab that is asked for stays"


async def test_windows_stay_where_tabs_are_kept(blank: BrowserSession, pages: str):
    await blank.page.goto(f"{pages}/windows.html")
    async with blank.context.expect_page() as popup:
        await blank.page.click("#blank")
    await (await popup.value).wait_for_load_state()
    assert (await capture(blank, picture=False)).title == "Inner"
    assert (await capture(blank, picture=False)).popups == ()


@pytest.mark.parametrize(("link", "name"), [("file", "prices.csv"), ("saved", "inner.html")])
async def test_files_are_noted_and_not_fetched(blank: BrowserSession, pages: str, link: str, name: str):
    await blank.page.goto(f"{pages}/windows.html")
    async with blank.page.expect_download() as offered:
        await blank.page.click(f"#{link}")
    download = await offered.value
    assert "accept_downloads" in str(await download.failure()), "the browser took the file"
    page = await capture(blank, picture=False)
    assert (page.downloads, page.title) == ((name,), "Windows")


# -- pages that are gone -----------------------------------------------------------------------------------------


async def test_a_page_that_is_replaced_during_the_look_is_looked_at_again(blank: BrowserSession, pages: str):
    await blank.page.goto(f"{pages}/moving.html?left=0")
    for left in (1, 1, 1, 2):
        await blank.page.evaluate(f"location.href = 'moving.html?left={left}'")
        with suppress(PageGone):  # a page that moves on three times in a row may be gone twice
            page = await capture(blank, picture=False)
            assert names(page) == {"Going"}
    await blank.page.wait_for_url("**left=0")
    assert names(await capture(blank, picture=False)) == {"Going"}


async def test_a_page_that_keeps_navigating_away_is_given_up(chromium: Browser, pages: str):
    async with open_session(chromium) as tab:
        await tab.page.goto(f"{pages}/moving.html?left=100000", wait_until="commit")
        with pytest.raises(PageGone, match="keeps navigating away"):
            await asyncio.wait_for(look_on(tab), 30)


async def test_a_crashed_page_says_so_and_the_visit_can_be_renewed(chromium: Browser, pages: str):
    async with open_session(chromium) as tab:
        await look(tab, f"{pages}/lists.html")
        with suppress(Error):
            await tab.page.goto("chrome://crash", timeout=3000)
        with pytest.raises(PageGone, match="crashed"):
            await capture(tab)
        await tab.renew()
        assert names(await look(tab, f"{pages}/lists.html")) >= {"Save"}


async def test_a_closed_page_says_so(chromium: Browser, pages: str):
    async with open_session(chromium) as tab:
        await look(tab, f"{pages}/lists.html")
        await tab.page.close()
        with pytest.raises(PageGone, match="closed"):
            await capture(tab)
        await tab.renew()
        assert (await look(tab, f"{pages}/lists.html")).title == "Lists"


async def test_a_busy_page_is_given_up_after_a_while(
    chromium: Browser, pages: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("app.engine.browser.capture.snapshot.CAPTURE_TIMEOUT", 0.5)
    async with open_session(chromium) as tab:
        await tab.page.goto(f"{pages}/lists.html")
        await tab.page.evaluate(
            "setTimeout(() => { const end = Date.now() + 4000; while (Date.now() < end); }, 0)"
        )
        await asyncio.sleep(0.05)
        with pytest.raises(PageGone, match="did not answer"):
            await capture(tab, picture=False)
        await tab.renew()


# -- who is asked for --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "challenge"),
    [
        ("login.html", Challenge.LOGIN),
        ("who.html", Challenge.LOGIN),
        ("register.html", Challenge.NONE),
        ("login_box.html", Challenge.NONE),
        ("captcha.html", Challenge.CAPTCHA),
        ("captcha_form.html", Challenge.NONE),
        ("lists.html", Challenge.NONE),
    ],
)
async def test_a_log_in_and_a_captcha_are_recognised(
    blank: BrowserSession, pages: str, name: str, challenge: Challenge
):
    assert (await look(blank, f"{pages}/{name}")).challenge is challenge


async def test_a_recorded_log_in_is_brought_along(chromium: Browser, pages: str, tmp_path: Path):
    state = tmp_path / "state.json"
    async with open_session(chromium) as tab:
        await tab.page.goto(f"{pages}/lists.html")
        await tab.page.evaluate("document.cookie = 'session=abc; path=/'")
        await tab.context.storage_state(path=state)
    async with open_session(chromium, storage_state=str(state)) as tab:
        await tab.page.goto(f"{pages}/ids.html")
        assert await tab.page.evaluate("document.cookie") == "session=abc"
