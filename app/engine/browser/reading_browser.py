"""A browser for trying things out: every visit has a fresh context, and only reading leaves it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Self

from playwright.async_api import Browser, Error

from app.engine.browser.executor import Executor
from app.engine.browser.live_browser import checked_login, has_display
from app.engine.browser.network.write_guard import WriteGuard
from app.engine.browser.session import BROWSER_GONE, BrowserSession, open_browser, open_tab_in_fresh_context
from app.errors import SiteloreError

VIEWPORT = (1280, 800)


class ReadingBrowser:
    """One browser, started at the first visit and again if it died; use it with ``async with``.

    ``storage_state`` is the path of a recorded log-in that every visit begins with.
    """

    def __init__(self, setting: str = "", *, headed: bool = False, storage_state: str = "") -> None:
        self._setting, self._headed, self._login = setting, headed, storage_state
        self._stack = AsyncExitStack()
        self._browser: Browser | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @asynccontextmanager
    async def visit(self) -> AsyncGenerator[Executor]:
        """Open an empty tab in a fresh context, whose guard holds no permit, for the time of the block.

        Raises:
            NoBrowser: none can be started.  SiteloreError: it should be visible, and there is no display.
            InputError: the recorded log-in can't be read.
        """
        async with AsyncExitStack() as stack:
            try:
                browser = await self._started()
                page = await stack.enter_async_context(
                    open_tab_in_fresh_context(browser, VIEWPORT, checked_login(self._login))
                )
                session, guard = BrowserSession(page, keep_tabs=True), WriteGuard()
                await guard.watch(session)  # before the first page: sockets of pages that stand are not seen
            except Error as error:
                raise SiteloreError(BROWSER_GONE) from error
            yield Executor(session, guard=guard)

    async def _started(self) -> Browser:
        if self._headed and not has_display():
            raise SiteloreError("there is no display here to show a browser on; leave out --headed")
        if self._browser is None or not self._browser.is_connected():
            await self._stack.aclose()
            self._stack = AsyncExitStack()
            self._browser = await self._stack.enter_async_context(
                open_browser(self._setting, headless=not self._headed)
            )
        return self._browser
