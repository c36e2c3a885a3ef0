"""A browser, and one visit in it: a fresh context with its open pages."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

from playwright.async_api import Browser, CDPSession, Page, async_playwright

from app.engine.browser.find import launch

VIEWPORT = (1024, 640)
"""Width and height of a page in CSS pixels; a picture has as many."""


@asynccontextmanager
async def open_browser(setting: str = "", *, headless: bool = True) -> AsyncGenerator[Browser]:
    """Start a browser for the time of the block; ``setting`` is the person's choice of one.

    Raises ``NoBrowser``.
    """
    async with async_playwright() as playwright:
        browser, _ = await launch(playwright, setting, headless=headless)
        try:
            yield browser
        finally:
            await browser.close()


class Visit:
    """What one agent has open: its tabs, in order of opening, and which of them is in front.

    Cookies and storage are its own, so that two visits never meet.
    """

    def __init__(self, first: Page) -> None:
        self.active = 0
        self.context = first.context
        self._wires: dict[Page, CDPSession] = {}
        self.context.on("page", self._opened)

    @property
    def pages(self) -> list[Page]:
        """Every open tab."""
        return self.context.pages

    @property
    def page(self) -> Page:
        """The tab in front; after a tab was closed the last one left."""
        return self.pages[min(self.active, len(self.pages) - 1)]

    async def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One DevTools command to the tab in front, and its answer.

        Raises ``playwright.async_api.Error`` when the browser refuses it or the tab is gone.
        """
        page = self.page
        if page not in self._wires:
            self._wires[page] = await self.context.new_cdp_session(page)
        return cast("dict[str, Any]", await self._wires[page].send(method, parameters))

    def _opened(self, page: Page) -> None:
        """A new tab comes to the front, as it does for a person."""
        self.active = self.pages.index(page)


@asynccontextmanager
async def visit(browser: Browser, size: tuple[int, int] = VIEWPORT) -> AsyncGenerator[Visit]:
    """A fresh visit, one empty tab, for the time of the block; ``size`` in CSS pixels."""
    width, height = size
    context = await browser.new_context(
        viewport={"width": width, "height": height}, locale="en-GB", timezone_id="UTC"
    )
    try:
        yield Visit(await context.new_page())
    finally:
        await context.close()
