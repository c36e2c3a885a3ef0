"""The click cascade: a real pointer click, then Playwright's own click.

SuperBrowser, section 6.3 and algorithm 5, with two differences: a click that reached its element is not
followed by another method, however little it did, since a second click may undo or double the first; and
there is no click by script, which no person could make. Whether a click reached the element is read from
the page's own events (``PageMonitor``), not from what changed.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Literal

from playwright.async_api import Error

from app.engine.browser.actions.failure_reasons import obstruction, stale_element
from app.engine.browser.capture.frames import NoSuchElement
from app.engine.browser.capture.page_monitor import ElementProbe, PageMonitor
from app.engine.browser.capture.snapshot import element_handle
from app.engine.browser.session import BrowserSession
from app.engine.core.action_result import ActionResult
from app.engine.core.learnings import ENTER, OWN_CLICK, POINTER, LearnedWay
from app.engine.core.page_state import Element, PageCapture

Button = Literal["left", "middle", "right"]
TYPED_LENGTH = 40
"""Texts up to this length are typed key by key; of a longer one only the last character is."""
DRAG_HOLD = 0.02
"""Seconds between pressing and moving in a drag, and between arriving and releasing."""
DRAG_STEPS = (0.02, *(step / 10 for step in range(1, 11)))
"""Shares of a drag's way at which the pointer moves: a short move first, which begins the drag."""


class Pointer:
    """Moves, clicks, drags and types."""

    def __init__(self, session: BrowserSession) -> None:
        self._session = session

    async def move(self, to: tuple[float, float]) -> None:
        """Move the pointer to a point."""
        await self._session.page.mouse.move(*to)

    async def click(self, at: tuple[float, float], *, button: Button = "left", double: bool = False) -> None:
        """Press and release, once or twice."""
        mouse = self._session.page.mouse
        await mouse.move(*at)
        for count in (1, 2) if double else (1,):
            await mouse.down(button=button, click_count=count)
            await mouse.up(button=button, click_count=count)

    async def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag from one point to another."""
        mouse = self._session.page.mouse
        await mouse.move(*start)
        await mouse.down()
        await asyncio.sleep(DRAG_HOLD)
        for share in DRAG_STEPS:
            await mouse.move(start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share)
        await asyncio.sleep(DRAG_HOLD)
        await mouse.up()

    async def wheel(self, dx: float, dy: float) -> None:
        """Turn the wheel at the pointer."""
        await self._session.page.mouse.wheel(dx, dy)

    async def type(self, text: str) -> None:
        """Type at the cursor; all but the end of a long text is inserted at once."""
        keyboard = self._session.page.keyboard
        if len(text) > TYPED_LENGTH:
            await keyboard.insert_text(text[:-1])
            text = text[-1:]
        await keyboard.type(text)

    async def press(self, keys: str) -> None:
        """Press a key or a combination; raises ``playwright.async_api.Error`` for an unknown one."""
        await self._session.page.keyboard.press(keys)


CDP, PLAYWRIGHT, SCRIPT = POINTER, OWN_CLICK, "script"


@dataclass(frozen=True, slots=True)
class ClickOutcome:
    """The outcome of a click: the methods tried, and what obstructed the last one (``None`` if it was done)."""

    tried: tuple[str, ...]
    hindered: ActionResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClickCascade:
    """Clicks elements of one capture; ``timeout`` is in seconds."""

    session: BrowserSession
    monitor: PageMonitor
    pointer: Pointer
    timeout: float = 1.0

    async def click(
        self,
        element: Element,
        page: PageCapture,
        *,
        button: Button = "left",
        double: bool = False,
        probe: ElementProbe | None = None,
        learned: LearnedWay | None = None,
    ) -> ClickOutcome:
        """Click an element by the first method that reaches it; a learned one comes first, and alone."""
        probe = probe or await self.monitor.probe(element.index)
        why = obstruction(element, probe, page)
        if why is None and learned is not None and button == "left" and not double:
            return await self._by_learned(learned, element, page)
        if why is None and probe.point is not None:
            await self.pointer.click(probe.point, button=button, double=double)
            if await self._reached():
                return ClickOutcome((CDP,))
            probe = await self.monitor.probe(element.index)
            why = obstruction(element, probe, page)
        if why is not None:
            return ClickOutcome((CDP,), why)
        hindered = (
            None if await self._by_playwright(element, button, double) else stale_element(element, page)
        )
        return ClickOutcome((CDP, PLAYWRIGHT), hindered)

    async def _by_learned(self, way: LearnedWay, element: Element, page: PageCapture) -> ClickOutcome:
        """Click in the way that an earlier run found out; no other follows, as a second click may undo the first."""
        if way is LearnedWay.ENTER:
            done, method = await self._by_enter(element), ENTER
        else:
            done, method = await self._by_playwright(element, "left", double=False), PLAYWRIGHT
        return ClickOutcome((method,), None if done else stale_element(element, page))

    async def _by_enter(self, element: Element) -> bool:
        try:
            handle = await element_handle(self.session, element.index)
            await handle.focus()
            await self.pointer.press("Enter")
        except (Error, NoSuchElement):
            return False
        return True

    async def _reached(self) -> bool:
        """Whether the event arrived, or the page has changed too much to tell.

        The element was scrolled to, so that scrolling says nothing; and Chromium loses a click into a frame of
        another process that was only just scrolled.
        """
        told = replace(await self.monitor.changes(), scrolled=False)
        return told.delivered or told.any or self.session.dead.is_set()

    async def _by_playwright(self, element: Element, button: Button, double: bool) -> bool:
        try:
            handle = await element_handle(self.session, element.index)
            await handle.click(timeout=self.timeout * 1000, button=button, click_count=2 if double else 1)
        except (Error, NoSuchElement):
            return False
        return True
