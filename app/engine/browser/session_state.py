"""Check whether a browser is alive, save the state another one can continue with, and kill it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

from playwright.async_api import Browser, Error, Page, Route, StorageState

from app.engine.browser.capture.challenge import is_named_login_page
from app.engine.browser.session import BrowserSession

EMPTY_TAB = "an empty tab was opened in its place"
"""The end of the note on a page that was given up."""
ANSWER_TIMEOUT = 2.0
"""Seconds a page may take to respond before it counts as unresponsive."""
SETTLE_TIMEOUT = 2.0
"""Longest wait for a page that has come to send no more requests."""
CLOSE_TIMEOUT = 3.0
"""Seconds that closing the remains of a browser may take."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """State that a session loses with its browser: cookies, local storage, the front page's session storage.

    Kept in memory only. ``session`` is by origin.
    """

    state: StorageState | None = None
    session: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])


async def browser_process_id(browser: Browser) -> int:
    """Return the browser's process id, 0 if it does not tell."""
    with suppress(Error, TimeoutError, StopIteration, KeyError):
        async with asyncio.timeout(ANSWER_TIMEOUT):
            wire = await browser.new_browser_cdp_session()
            told = cast("dict[str, list[dict[str, Any]]]", await wire.send("SystemInfo.getProcessInfo"))
            await wire.detach()
        return next(int(one["id"]) for one in told["processInfo"] if one["type"] == "browser")
    return 0


async def is_responsive(session: BrowserSession, seconds: float = ANSWER_TIMEOUT) -> bool:
    """Whether the page in front responds within so many seconds; a busy script prevents it."""
    with suppress(Error, TimeoutError, IndexError):
        async with asyncio.timeout(seconds):
            told = await session.send("Runtime.evaluate", expression="1", returnByValue=True)
        return told["result"].get("value") == 1
    return False


async def read_session_state(session: BrowserSession, seconds: float = ANSWER_TIMEOUT) -> SessionState | None:
    """Read what the session would lose with its browser; ``None`` if it does not answer in time."""
    with suppress(Error, TimeoutError, IndexError):
        async with asyncio.timeout(seconds):
            state = await session.context.storage_state()
            stored = await _session_storage(session)
        return SessionState(state, stored)
    return None


async def restore_session_storage(page: Page, kept: SessionState) -> None:
    """Restore the kept session storage in an empty tab, without any request to the sites."""
    for origin, items in kept.session.items():
        address = f"{origin}/"
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await page.route(address, _blank)
                await page.goto(address)
                await page.evaluate(
                    "items => { for (const key in items) sessionStorage[key] = items[key] }", items
                )
                await page.unroute(address)
    if kept.session:
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await page.goto("about:blank")


async def add_login_state(
    session: BrowserSession, state: Mapping[str, list[Any]], *, anew: bool = False
) -> None:
    """Add the cookies and the local storage of a recorded log-in to a session, without any request to the sites.

    With ``anew`` an origin keeps nothing else in its local storage.
    Raises ``playwright.async_api.Error`` where the browser takes them not.
    """
    if state["cookies"]:
        await session.context.add_cookies(state["cookies"])
    if not state["origins"]:
        return
    async with session.page_aside() as page:
        await page.route("**/*", _blank)
        for one in state["origins"]:
            await page.goto(f"{one['origin']}/", timeout=CLOSE_TIMEOUT * 1000)
            await page.evaluate(
                """([items, anew]) => {
                  if (anew) localStorage.clear()
                  for (const one of items) localStorage.setItem(one.name, one.value)
                }""",
                [one["localStorage"], anew],
            )


async def put_back_login_state(
    session: BrowserSession, now: Mapping[str, list[Any]], before: Mapping[str, list[Any]]
) -> None:
    """Put the cookies and the local storage of some hosts back as they were, without any request to the sites.

    Raises ``playwright.async_api.Error`` where the browser does not do it.
    """
    for one in now["cookies"]:
        await session.context.clear_cookies(name=one["name"], domain=one["domain"], path=one["path"])
    kept = {one["origin"] for one in before["origins"]}
    gone: list[dict[str, Any]] = [
        {"origin": one["origin"], "localStorage": []} for one in now["origins"] if one["origin"] not in kept
    ]
    await add_login_state(session, {**before, "origins": [*before["origins"], *gone]}, anew=True)


async def shows_no_login(session: BrowserSession, url: str, seconds: float) -> str:
    """Open a page aside and return its address, "" where it asks for a log-in, fails, or does not come in time."""
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(seconds), session.page_aside() as page:
            answer = await page.goto(url, wait_until="load", timeout=seconds * 1000)
            if answer is None or answer.status >= 400:
                return ""
            await _settle(page)
            asks, title, headings = cast("tuple[bool, str, list[str]]", await page.evaluate(_LOGIN_SIGNS))
            return "" if asks or is_named_login_page(page.url, title, headings) else page.url
    return ""


async def is_behind_login(session: BrowserSession, url: str, wall: str, seconds: float) -> bool:
    """Whether somebody without cookies who opens a page comes to the log-in page ``wall``, or to another one.

    Nothing but reading requests leaves the browser for it.  False where the page does not come in time.
    """
    browser = session.context.browser
    if browser is None:
        return False
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(seconds):
            context = await browser.new_context(service_workers="block")
            try:
                await context.route("**/*", _reading_only)
                page = await context.new_page()
                await page.goto(url, wait_until="load", timeout=seconds * 1000)
                await _settle(page)
                asks, title, headings = cast("tuple[bool, str, list[str]]", await page.evaluate(_LOGIN_SIGNS))
                is_wall = urlsplit(page.url)[:3] == urlsplit(wall)[:3]
                return is_wall or (asks and is_named_login_page(page.url, title, headings))
            finally:
                await context.close()
    return False


async def asks_for_login(session: BrowserSession, seconds: float = ANSWER_TIMEOUT) -> bool:
    """Whether the page in front asks for a password and calls itself a log-in, or does not answer in time."""
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(seconds):
            page = session.page
            asks, title, headings = cast("tuple[bool, str, list[str]]", await page.evaluate(_LOGIN_SIGNS))
            return asks and is_named_login_page(page.url, title, headings)
    return True


_LOGIN_SIGNS = """() => [
  [...document.querySelectorAll('input[type=password]')].some(field => field.checkVisibility()),
  document.title,
  [...document.querySelectorAll('h1, h2, h3')].slice(0, 5).map(heading => heading.textContent),
]"""


async def _settle(page: Page) -> None:
    """Wait a moment for a script that leads on to a log-in."""
    with suppress(Error):
        await page.wait_for_load_state("networkidle", timeout=SETTLE_TIMEOUT * 1000)


async def _reading_only(route: Route) -> None:
    if route.request.method in ("GET", "HEAD", "OPTIONS"):
        await route.continue_()
    else:
        await route.abort()


async def _blank(route: Route) -> None:
    await route.fulfill(content_type="text/html", body="")


async def kill_browser(stack: AsyncExitStack, process: int) -> None:
    """Kill a browser with all its processes, and close what surrounds it."""
    await asyncio.to_thread(_kill, process)
    with suppress(Exception):  # the remains of a dead browser may fail in any way, and it does not matter
        async with asyncio.timeout(CLOSE_TIMEOUT):
            await stack.aclose()


async def _session_storage(session: BrowserSession) -> dict[str, dict[str, str]]:
    """Read that of the page in front; pages without an origin have none."""
    told = await session.send(
        "Runtime.evaluate",
        expression="(() => { try { return [location.origin, {...sessionStorage}] } catch { return null } })()",
        returnByValue=True,
    )
    found: object = told["result"].get("value")
    if not isinstance(found, list):
        return {}
    origin, items = cast("tuple[object, object]", found)
    if not isinstance(origin, str) or not origin.startswith("http") or not isinstance(items, dict):
        return {}
    pairs = cast("dict[object, object]", items).items()
    kept = {key: value for key, value in pairs if isinstance(key, str) and isinstance(value, str)}
    return {origin: kept} if kept else {}


def _kill(process: int) -> None:
    if process <= 0:
        return
    if sys.platform == "win32":
        command = ["taskkill", "/PID", str(process), "/T", "/F"]
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, capture_output=True, timeout=CLOSE_TIMEOUT, check=False)
        return
    with suppress(OSError):
        if os.getpgid(process) == process:  # its children are in its group
            os.killpg(process, signal.SIGKILL)
        else:
            os.kill(process, signal.SIGKILL)
