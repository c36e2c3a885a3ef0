"""The click cascade: a real pointer click, then Playwright's own click.

SuperBrowser, section 6.3 and algorithm 5, with two differences: a click that reached its element is not
followed by another method, however little it did, since a second click may undo or double the first; and
there is no click by script, which no person could make. Whether a click reached the element is read from
the page's own events (``PageMonitor``), not from what changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from playwright.async_api import Error

from app.engine.browser.actions.failure_reasons import obstruction, stale_element
from app.engine.browser.actions.pointer import Button, Pointer
from app.engine.browser.capture.frames import NoSuchElement
from app.engine.browser.capture.page_monitor import ElementProbe, PageMonitor
from app.engine.browser.capture.snapshot import element_handle
from app.engine.browser.session import BrowserSession
from app.engine.core.action_result import ActionResult
from app.engine.core.page_state import Element, PageCapture

CDP, PLAYWRIGHT, SCRIPT = "cdp", "playwright", "script"


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
    ) -> ClickOutcome:
        """Click an element by the first method that reaches it."""
        probe = probe or await self.monitor.probe(element.index)
        why = obstruction(element, probe, page)
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
