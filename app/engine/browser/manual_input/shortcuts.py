"""Keyboard shortcuts of a browser (back, forward, reload, tabs), and a list of its tabs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from playwright.async_api import Error

from app.engine.browser.capture.page_idle import wait_until_idle
from app.engine.browser.manual_input.key_events import ALT, CTRL, SHIFT
from app.engine.browser.session import BrowserSession
from app.engine.core.actions.recorded import ArgValue
from app.engine.core.page_input import InputKind, PageInput
from app.engine.core.redaction import redact_text, redact_url
from app.engine.core.trajectory import Tab

ANSWER_TIMEOUT = 0.5
"""Seconds a tab may take to return its title."""
NAVIGATION_TIMEOUT = 3.0
"""Seconds to wait for another page; loading continues after that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortcut:
    """A browser shortcut: the action a step records, and the function that does it."""

    kind: str
    done: Callable[[], Awaitable[None]]
    args: dict[str, ArgValue] = field(default_factory=dict[str, ArgValue])


def shortcut_of(session: BrowserSession, one: PageInput) -> Shortcut | None:
    """Return the shortcut for a key press; ``None`` if the key belongs to the page."""
    if one.kind is not InputKind.KEY_DOWN:
        return None
    match one.key, one.modifiers & 15:
        case "ArrowLeft", modifiers if modifiers == ALT:
            return Shortcut(kind="go_back", done=lambda: _travel(session, back=True))
        case "ArrowRight", modifiers if modifiers == ALT:
            return Shortcut(kind="go_forward", done=lambda: _travel(session, back=False))
        case ("F5", _) | ("r" | "R", 2):
            url = redact_url(session.page.url) if session.pages else ""
            return Shortcut(kind="goto", done=lambda: _reload(session), args={"url": url})
        case "Tab", modifiers if modifiers & CTRL and not modifiers & ALT:
            return _other_tab(session, -1 if modifiers & SHIFT else 1)
        case "w" | "W", modifiers if modifiers == CTRL:
            return Shortcut(kind="tab_close", done=lambda: _close(session))
        case _:
            return None


async def tabs_of(session: BrowserSession) -> tuple[tuple[Tab, ...], int]:
    """Return the open tabs in order, without secrets, and the number of the one in front."""
    told: list[Tab] = []
    pages = session.pages
    for page in pages:
        title = ""
        with suppress(Error, TimeoutError):
            title = await asyncio.wait_for(page.title(), ANSWER_TIMEOUT)
        told.append(Tab(url=redact_url(page.url), title=redact_text(title)))
    return tuple(told), max(0, min(session.active, len(told) - 1))


async def wait_for_tab_idle(session: BrowserSession, quiet: float, most: float) -> None:
    """Wait until the tab in front is idle, ``most`` seconds at most; there may be none any more."""
    with suppress(Error):
        await wait_until_idle(session, quiet=quiet, most=most, acted=True)


async def _travel(session: BrowserSession, *, back: bool) -> None:
    with suppress(Error, TimeoutError):
        page = session.page
        go = page.go_back if back else page.go_forward
        await asyncio.wait_for(go(wait_until="commit", timeout=NAVIGATION_TIMEOUT * 1000), NAVIGATION_TIMEOUT)


async def _reload(session: BrowserSession) -> None:
    with suppress(Error, TimeoutError):
        await asyncio.wait_for(
            session.page.reload(wait_until="commit", timeout=NAVIGATION_TIMEOUT * 1000), NAVIGATION_TIMEOUT
        )


def _other_tab(session: BrowserSession, by: int) -> Shortcut:
    count = max(1, len(session.pages))
    number = (min(session.active, count - 1) + by) % count

    async def switch() -> None:
        session.active = number
        with suppress(Error, TimeoutError):
            await asyncio.wait_for(session.page.bring_to_front(), ANSWER_TIMEOUT)

    return Shortcut(kind="tab_focus", done=switch, args={"index": number})


async def _close(session: BrowserSession) -> None:
    """Close the tab in front, unless it is the last one."""
    if len(session.pages) > 1:
        with suppress(Error, TimeoutError):
            await asyncio.wait_for(session.page.close(), NAVIGATION_TIMEOUT)
        session.active = max(0, min(session.active, len(session.pages) - 1))
