"""Address bar and keyboard shortcuts of a browser under manual control: open, back, forward, reload, tabs.

A navigation that fails returns one sentence; nothing is raised for what a site or the browser does.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

from playwright.async_api import Error
from playwright.async_api import TimeoutError as Late

from app.engine.browser.capture.page_idle import wait_until_idle
from app.engine.browser.manual_input.key_events import ALT, CTRL, SHIFT
from app.engine.browser.page_loading import load_failure
from app.engine.browser.session import BrowserSession
from app.engine.core.actions.recorded import ArgValue
from app.engine.core.page_input import InputKind, NavigationKind, PageInput
from app.engine.core.redaction import redact_url
from app.errors import UsageError

ANSWER_TIMEOUT = 10.0
"""Seconds an address may take to answer before the caller gets control back; loading continues after that."""
MAX_URL_LENGTH = 2_000
"""Maximum characters of an address."""

_HOST = re.compile(r"(localhost|\[[0-9a-f:.]+\]|[\w-]+(\.[\w-]+)+)(:\d+)?([/?#]|$)", re.IGNORECASE)
_LOCAL = re.compile(r"(localhost|127\.|\[::1\]|10\.|192\.168\.)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Navigation:
    """A navigation: the action a step records, and a function that does it and returns why it failed, else ""."""

    kind: str
    done: Callable[[], Awaitable[str]]
    args: dict[str, ArgValue] = field(default_factory=dict[str, ArgValue])


def navigation_for(session: BrowserSession, move: NavigationKind, url: str = "") -> Navigation:
    """Return the navigation for a request.

    Raises:
        UsageError: the typed text is not the address of a page.
    """
    match move:
        case NavigationKind.BACK:
            return Navigation(kind="go_back", done=lambda: go_through_history(session, -1))
        case NavigationKind.FORWARD:
            return Navigation(kind="go_forward", done=lambda: go_through_history(session, 1))
        case NavigationKind.RELOAD:
            here = redact_url(session.page.url) if session.pages else ""
            return Navigation(kind="goto", done=lambda: reload(session), args={"url": here})
        case NavigationKind.OPEN | NavigationKind.START:
            whole = address_of(url, session.page.url if session.pages else "")
            return Navigation(
                kind="goto", done=lambda: _open(session, whole), args={"url": redact_url(whole)}
            )


def address_of(typed: str, here: str) -> str:
    """Return the full address for what was typed: ``/orders`` is on the page's host, a bare host gets https.

    Raises:
        UsageError: it is not a network address.
    """
    text = typed.strip()
    if not text or len(text) > MAX_URL_LENGTH or any(letter.isspace() for letter in text):
        raise UsageError(f"{text[:80]!r} is not an address", remedy="type one such as shop.example/orders")
    if text.startswith("/") and not text.startswith("//") and here.startswith(("http://", "https://")):
        return urljoin(here, text)
    if _HOST.match(text):
        text = f"{'http' if _LOCAL.match(text) else 'https'}://{text}"
    try:
        parts = urlsplit(text)
        known = parts.scheme in ("http", "https") and bool(parts.hostname)
        parts.port  # noqa: B018 it is checked when it is asked for
    except ValueError:
        known = False
    if not known:
        raise UsageError(
            f"{text[:80]!r} is not the address of a page", remedy="type one that begins with https://"
        )
    return text


async def _open(session: BrowserSession, url: str) -> str:
    if session.crashed or session.stopped or not session.pages:
        try:
            await session.renew()
        except (Error, TimeoutError):
            return "the browser can't open a page now; it is being restarted"
    try:
        await session.page.goto(url, wait_until="commit", timeout=ANSWER_TIMEOUT * 1000)
    except Late:
        return f"{urlsplit(url).netloc.rpartition('@')[2]} has not answered yet"
    except Error as error:
        return load_failure(url, error.message)
    return ""


async def go_through_history(session: BrowserSession, step: int, seconds: float = ANSWER_TIMEOUT) -> str:
    """Go one page back or forward, never to the empty tab that a run began with; return why not, else ""."""
    nowhere = f"there is no page {'before' if step < 0 else 'after'} this one"
    try:
        history = await _history(session)
        at, entries = int(history["currentIndex"]) + step, history["entries"]
        if not 0 <= at < len(entries) or entries[at]["url"] == "about:blank":
            return nowhere
        page = session.page
        with suppress(Late):  # loading continues
            await (page.go_back if step < 0 else page.go_forward)(wait_until="commit", timeout=seconds * 1000)
    except Error:
        return "the page can't be left now"
    return ""


async def _history(session: BrowserSession) -> dict[str, Any]:
    """Return the tab's history; asked once more when the page has arrived that replaced the process asked first."""
    try:
        return await session.send("Page.getNavigationHistory")
    except Error:
        await session.page.wait_for_load_state("domcontentloaded", timeout=NAVIGATION_TIMEOUT * 1000)
        return await session.send("Page.getNavigationHistory")


async def reload(session: BrowserSession, seconds: float = ANSWER_TIMEOUT) -> str:
    """Reload the page in front; return why not, else ""."""
    try:
        await session.page.reload(wait_until="commit", timeout=seconds * 1000)
    except Late:
        return "the page has not answered yet"
    except Error as error:
        return load_failure(session.page.url if session.pages else "", error.message)
    return ""


TAB_TIMEOUT = 0.5
"""Seconds a tab may take to return its title."""
NAVIGATION_TIMEOUT = 3.0
"""Seconds to wait for another page; loading continues after that."""


def shortcut_of(session: BrowserSession, one: PageInput) -> Navigation | None:
    """Return the shortcut for a key press; ``None`` if the key belongs to the page."""
    if one.kind is not InputKind.KEY_DOWN:
        return None
    match one.key, one.modifiers & 15:
        case "ArrowLeft", modifiers if modifiers == ALT:
            return Navigation(
                kind="go_back", done=lambda: go_through_history(session, -1, NAVIGATION_TIMEOUT)
            )
        case "ArrowRight", modifiers if modifiers == ALT:
            return Navigation(
                kind="go_forward", done=lambda: go_through_history(session, 1, NAVIGATION_TIMEOUT)
            )
        case ("F5", _) | ("r" | "R", 2):
            url = redact_url(session.page.url) if session.pages else ""
            return Navigation(
                kind="goto", done=lambda: reload(session, NAVIGATION_TIMEOUT), args={"url": url}
            )
        case "Tab", modifiers if modifiers & CTRL and not modifiers & ALT:
            return _other_tab(session, -1 if modifiers & SHIFT else 1)
        case "w" | "W", modifiers if modifiers == CTRL:
            return Navigation(kind="tab_close", done=lambda: _close(session))
        case _:
            return None


async def wait_for_tab_idle(session: BrowserSession, quiet: float, most: float) -> None:
    """Wait until the tab in front is idle, ``most`` seconds at most; there may be none any more."""
    with suppress(Error):
        await wait_until_idle(session, quiet=quiet, most=most, acted=True)


def _other_tab(session: BrowserSession, by: int) -> Navigation:
    count = max(1, len(session.pages))
    number = (min(session.active, count - 1) + by) % count

    async def switch() -> str:
        session.active = number
        with suppress(Error, TimeoutError):
            await asyncio.wait_for(session.page.bring_to_front(), TAB_TIMEOUT)
        return ""

    return Navigation(kind="tab_focus", done=switch, args={"index": number})


async def _close(session: BrowserSession) -> str:
    if len(session.pages) > 1:
        with suppress(Error, TimeoutError):
            await asyncio.wait_for(session.page.close(), NAVIGATION_TIMEOUT)
        session.active = max(0, min(session.active, len(session.pages) - 1))
    return ""
