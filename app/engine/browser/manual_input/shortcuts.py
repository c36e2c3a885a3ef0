"""Keyboard shortcuts of a browser (back, forward, reload, tabs), and a list of its tabs."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from playwright.async_api import Error

from app.engine.browser.capture.page_idle import wait_until_idle
from app.engine.browser.manual_input.address_bar import Navigation, go_through_history, reload
from app.engine.browser.manual_input.key_events import ALT, CTRL, SHIFT
from app.engine.browser.session import BrowserSession
from app.engine.core.page_input import InputKind, PageInput
from app.engine.core.redaction import redact_url

ANSWER_TIMEOUT = 0.5
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
            await asyncio.wait_for(session.page.bring_to_front(), ANSWER_TIMEOUT)
        return ""

    return Navigation(kind="tab_focus", done=switch, args={"index": number})


async def _close(session: BrowserSession) -> str:
    if len(session.pages) > 1:
        with suppress(Error, TimeoutError):
            await asyncio.wait_for(session.page.close(), NAVIGATION_TIMEOUT)
        session.active = max(0, min(session.active, len(session.pages) - 1))
    return ""
