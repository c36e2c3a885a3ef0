"""The real browser of an exploration: one process, a session for each worker, restarted when it dies."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, cast
from urllib.parse import urlsplit

import orjson
from playwright.async_api import Browser, Error

from app.engine.browser.capture.hidden_links import with_hidden_links
from app.engine.browser.capture.page_idle import LOAD_TIMEOUT
from app.engine.browser.capture.snapshot import PageGone
from app.engine.browser.driver import BrowserGone, DriverFailure, DriverResult, FetchedDocument, PageLost
from app.engine.browser.executor import Executor
from app.engine.browser.graph_operations import graph_executor, operate
from app.engine.browser.launch.launcher import NoBrowser, has_display
from app.engine.browser.live_browser import checked_login
from app.engine.browser.locators import resolve
from app.engine.browser.network.write_guard import WriteGuard
from app.engine.browser.page_loading import LoadResult, load_failure, open_page
from app.engine.browser.session import BrowserSession, open_browser, open_session
from app.engine.browser.session_state import browser_process_id, kill_browser
from app.engine.core.action_result import Cause
from app.engine.core.page_state import PageCapture
from app.engine.core.static_page import read_static_page, static_key
from app.engine.core.transition import Locator, Operation, Tier
from app.errors import SiteloreError

log = logging.getLogger(__name__)

CLOSE_TIMEOUT = 10.0
"""Seconds a page gets to close; one whose browser was killed never answers."""
BROWSER_CLOSE_TIMEOUT = 2.0
"""Seconds a browser gets to close before it is killed; one with a hanging page may never close."""
OPEN_TIMEOUT = 10.0
"""Seconds a browser gets for requests that don't depend on the site."""
EMPTY = "about:blank"
ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


class BrowserPool:
    """Gives each worker a session of its own in one browser. Use it with ``async with``.

    Args:
        setting: the user's choice of a browser.
        size: of its pages, in CSS pixels.
        storage_state: path of a recorded log-in; it is read and never copied.
        starts: seconds the first start may take.
    """

    def __init__(
        self,
        setting: str = "",
        *,
        headed: bool = False,
        size: tuple[int, int] = (1280, 800),
        storage_state: str = "",
        starts: float | None = None,
    ) -> None:
        self._setting, self._headed, self._size = setting, headed, size
        self._starts, self._process = starts, 0
        self._login = checked_login(storage_state)
        self._fresh = FreshContext(self._login)
        self._stack = AsyncExitStack()
        self._browser: Browser | None = None
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> Self:
        if self._headed and not has_display():
            raise SiteloreError("there is no display here to show a browser on; leave out --headed")
        try:
            async with asyncio.timeout(self._starts):
                await self._running()
        except TimeoutError:
            raise SiteloreError(
                f"the browser did not start within the time limit of {self._starts:.0f} s; try again with more"
            ) from None
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    def drivers(self, count: int) -> list[BrowserDriver]:
        """Return drivers for as many workers; each opens its page when it is first used."""
        return [BrowserDriver(self, self._fresh) for _ in range(max(1, count))]

    async def new_session(self, stack: AsyncExitStack) -> BrowserSession:
        """Return a session with an empty page that ends with ``stack``, in a new browser if the old one died.

        Raises ``BrowserGone`` when no browser starts.
        """
        for turn in (1, 2):
            try:
                browser = await self._running()
            except SiteloreError as error:
                raise _gone(str(error), slow=isinstance(error, NoBrowser) and error.slow) from error
            try:
                async with asyncio.timeout(OPEN_TIMEOUT):
                    opening = open_session(browser, self._size, storage_state=self._login or None)
                    return await stack.enter_async_context(opening)
            except (Error, TimeoutError) as error:
                if turn == 2:
                    slow = isinstance(error, TimeoutError)
                    why = f" for {OPEN_TIMEOUT:.0f} s" if slow else f": {error}"
                    raise _gone(f"the browser opened no page{why}", slow=slow) from error
                await self._close()
        raise AssertionError("unreachable")

    async def _running(self) -> Browser:
        async with self._lock:
            if self._browser is None or not self._browser.is_connected():
                if self._browser is not None:
                    log.warning("the browser has died; another is started")
                await self._close()
                opening = open_browser(self._setting, headless=not self._headed)
                self._browser = await self._stack.enter_async_context(opening)
                self._process = await browser_process_id(self._browser)
            return self._browser

    async def _close(self) -> None:
        stack, self._stack, browser, self._browser = self._stack, AsyncExitStack(), self._browser, None
        process, self._process = self._process, 0
        hangs = False
        if browser is not None:
            try:
                async with asyncio.timeout(BROWSER_CLOSE_TIMEOUT):
                    await browser.close()
            except TimeoutError:
                hangs = True
            except Error as error:
                log.warning("a browser did not close: %s", error)
        await kill_browser(stack, process if hangs else 0)


class BrowserDriver:
    """One page of the browser; implements ``app.engine.browser.driver.Driver``."""

    def __init__(self, pool: BrowserPool, fresh: FreshContext) -> None:
        self._pool, self._fresh = pool, fresh
        self.guard = WriteGuard()
        self._executor: Executor | None = None
        self._stack = AsyncExitStack()
        self._page = PageCapture(url=EMPTY)

    async def open(self, url: str) -> DriverResult:
        """Open an address as a first-time visitor."""
        try:
            session = (await self._ready()).session
            await self._fresh.forget(session)
            return self._result(session, await open_page(session, url))
        except Error as error:
            return _lost(error)

    async def act(self, operation: Operation, locator: Locator, value: str = "") -> DriverResult:
        """Perform one operation on an element of the last capture."""
        found = resolve(locator, self._page)
        if found.element is None:
            return DriverResult(trouble=DriverFailure.MISSING, why=found.why)
        try:
            executor = await self._ready()
            self.guard.begin(None)
            done = await operate(executor, found.element, operation, value)
            return self._result(executor.session, done, tier=found.tier)
        except Error as error:
            return _lost(error)

    async def look(self, *, picture: bool = True) -> PageCapture:
        """Capture the page. Raises ``PageLost``."""
        try:
            executor = await self._ready()
            page = await executor.capture(picture=picture)
            page = await with_hidden_links(executor.session, page)
            self._page = replace(page, served=await _served_key(executor.session, page))
        except (PageGone, Error) as error:
            raise PageLost(str(error)) from error
        return self._page

    async def ask(self, url: str) -> FetchedDocument:
        """Fetch what a first-time visitor would be sent for an address, without opening it."""
        try:
            session = (await self._ready()).session
            await self._fresh.forget(session)
            return await _fetch(session, url)
        except Error as error:
            return FetchedDocument(why=f"the browser lost the page: {error.message.splitlines()[0][:160]}")

    async def reopen(self) -> None:
        """Discard the page and begin with an empty one, in a new browser if this one has died."""
        stack, self._stack, self._executor = self._stack, AsyncExitStack(), None
        self.guard, self._page = WriteGuard(), PageCapture(url=EMPTY)
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await stack.aclose()
        except (Error, TimeoutError) as error:
            log.warning("a page did not close: %s", error)
        await self._ready()

    async def _ready(self) -> Executor:
        if self._executor is None:
            self._executor = graph_executor(await self._pool.new_session(self._stack))
        await self.guard.watch(self._executor.session)
        return self._executor

    def _result(self, session: BrowserSession, done: LoadResult, *, tier: Tier | None = None) -> DriverResult:
        return DriverResult(
            trouble=_failure_of(session, done),
            why=done.error,
            status=done.status,
            tier=tier,
            seconds=done.seconds,
            notes=done.notes,
            unsent=self.guard.refused(),
        )


async def _served_key(session: BrowserSession, page: PageCapture) -> str:
    """Return the key of the document behind a captured page; "" if unknown or if it says nothing about the page."""
    document = session.network.document
    if document is None:
        return ""
    try:
        text = await document.text()
    except (Error, UnicodeDecodeError):  # the browser no longer has it
        return ""
    return static_key(text, document.url, document.url, page.elements)


async def _fetch(session: BrowserSession, url: str) -> FetchedDocument:
    """Request an address with the session's cookies, following redirects and rendering nothing."""
    try:
        agent = str(await session.page.evaluate("() => navigator.userAgent"))
        answer = await session.context.request.get(
            url, headers={"User-Agent": agent, "Accept": ACCEPT}, timeout=LOAD_TIMEOUT * 1000
        )
    except Error as error:
        return FetchedDocument(why=load_failure(url, error.message))
    try:
        html = "html" in answer.headers.get("content-type", "")
        text = await answer.text() if html else ""
    except (Error, UnicodeDecodeError):
        text = ""
    finally:
        await answer.dispose()
    read = read_static_page(text, answer.url, answer.url)
    return FetchedDocument(url=answer.url, status=answer.status, served=read.key, scripts=read.scripts)


_FAILURES = {
    Cause.NETWORK: DriverFailure.UNREACHABLE,
    Cause.STALE: DriverFailure.MISSING,
    Cause.MISSING: DriverFailure.MISSING,
    Cause.PAGE_LOST: DriverFailure.LOST,
    Cause.TIMEOUT: DriverFailure.LOST,
}
"""Failures by cause; an element with another cause was not operable."""


def _failure_of(session: BrowserSession, done: LoadResult) -> DriverFailure:
    if session.failure:
        return DriverFailure.LOST
    if not done.error:
        return DriverFailure.NONE
    if done.status >= 500:
        return DriverFailure.SERVER
    if "offers a file" in done.error:
        return DriverFailure.FILE
    if "redirects in a loop" in done.error:
        return DriverFailure.NO_PAGE
    return _FAILURES.get(done.cause, DriverFailure.REFUSED)


def _gone(why: str, *, slow: bool) -> BrowserGone:
    gone = BrowserGone(why)
    gone.slow = slow
    return gone


def _lost(error: Error) -> DriverResult:
    return DriverResult(
        trouble=DriverFailure.LOST, why=f"the browser lost the page: {error.message.splitlines()[0][:160]}"
    )


_STORES = "local_storage,indexeddb,service_workers,cache_storage"


class FreshContext:
    """Resets a session to that of a first-time visitor: nothing stored, or the recorded log-in.

    With "recently viewed" lists, dismissed banners or a chosen view, a page depends on the path to it, and two
    explorations would find different states.

    Args:
        storage_state: path of the recorded log-in; "" for none. It is read, never written.
    """

    def __init__(self, storage_state: str = "") -> None:
        state = cast(
            "dict[str, Any]", orjson.loads(Path(storage_state).read_bytes()) if storage_state else {}
        )
        self._cookies = {str(cookie.get("name")) for cookie in state.get("cookies", ())}
        self._origins = {
            str(origin.get("origin")) for origin in state.get("origins", ()) if origin.get("localStorage")
        }

    async def forget(self, session: BrowserSession) -> None:
        """Drop cookies and storage that are not part of the log-in; values the site renewed stay renewed."""
        try:
            await self._drop_cookies(session)
            parts = urlsplit(session.page.url)
            if parts.scheme not in ("http", "https"):
                return
            origin = f"{parts.scheme}://{parts.netloc}"
            if origin not in self._origins:
                await session.send("Storage.clearDataForOrigin", origin=origin, storageTypes=_STORES)
            await session.send("Runtime.evaluate", expression="try { sessionStorage.clear() } catch {}")
        except Error:
            return  # a page that is gone stores nothing

    async def _drop_cookies(self, session: BrowserSession) -> None:
        if not self._cookies:
            await session.context.clear_cookies()
            return
        for cookie in await session.context.cookies():
            name = cookie.get("name", "")
            if name and name not in self._cookies:
                await session.context.clear_cookies(name=name, domain=cookie.get("domain"))
