"""A browser, and one session in it: a fresh context, its open tabs, and unsolicited events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol, cast

from playwright.async_api import (
    Browser,
    BrowserContext,
    CDPSession,
    Dialog,
    Download,
    Error,
    Page,
    StorageState,
)
from playwright.async_api import TimeoutError as Late

from app.engine.browser.launch.launcher import launch
from app.engine.browser.launch.playwright_process import PlaywrightProcess
from app.engine.browser.network.network_activity import NetworkActivity
from app.engine.core.local_time import BROWSER_LOCALE, BROWSER_TIMEZONE
from app.engine.core.redaction import redact_text, redact_url
from app.engine.core.trajectory import Tab

BROWSER_GONE = "the browser was closed or crashed"
VIEWPORT = (1024, 640)
"""Width and height of a page in CSS pixels; a screenshot has as many."""
MAX_DIALOGS = 20
"""Dialogs answered between two captures; a page that opens more than these is stopped."""
MAX_TABS = 20
"""Tabs that stay open at once; further windows are recorded and closed, so a page can't open them without end."""
OPEN_TIMEOUT = 15.0
"""Seconds a browser may take to open an empty tab."""
ANSWER_TIMEOUT = 2.0
"""Seconds a page may take to close a dialog."""
CLOSE_TIMEOUT = 20.0
"""Seconds a browser may take to close; one whose driver hangs never does."""


@asynccontextmanager
async def open_browser(setting: str = "", *, headless: bool = True) -> AsyncGenerator[Browser]:
    """Start a browser for the time of the block; ``setting`` is the user's choice of one.

    Raises ``NoBrowser`` and ``NoSandbox``.
    """
    async with PlaywrightProcess() as playwright:
        browser, _ = await launch(playwright, setting, headless=headless)
        try:
            yield browser
        finally:
            with suppress(Error, TimeoutError):  # it may have been killed meanwhile
                async with asyncio.timeout(CLOSE_TIMEOUT):
                    await browser.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsolicitedEvents:
    """Unsolicited events since they were last taken: texts of dialogs, addresses of windows, names of files."""

    alerts: tuple[str, ...] = ()
    popups: tuple[str, ...] = ()
    downloads: tuple[str, ...] = ()


class SessionGuard(Protocol):
    """Decides what may leave a session; implemented by ``network.write_guard.WriteGuard``."""

    async def watch(self, session: BrowserSession) -> None: ...
    def set_bypassed(self, on: bool) -> None: ...


class BrowserSession:
    """The tabs of one agent, in order of opening, and which of them is in front.

    Cookies and storage are its own, so two sessions never mix. JavaScript dialogs are dismissed (a page that asks
    whether to leave is left), downloads cancelled, and windows that open by themselves closed, unless ``keep_tabs``;
    all of it is reported by ``happened``.

    Attributes:
        crashed: the renderer of the tab in front has died; ``renew`` opens another.
        stopped: the page opened dialogs without end and was closed.
        dead: set as soon as one of the two is true.
        answer: the answer to the next dialog, once: whether it is accepted, and the text for a prompt.
        asked: answers dialogs instead of that: gets ``confirm`` or ``prompt``, the message, and the default text.
        in_hand: a person controls the page and may go anywhere; the navigation policy binds the agent only.
        unasked: dialogs and downloads since the session began.
        last: what the last capture left for finding its elements again (``app.engine.browser.capture.snapshot``).
        seats: how often it has moved to another browser (``reseat``).
        guard: decides what may leave it, if there is one; it has to ``watch`` again after ``reseat``.
        init_script: run before those of every page, also in another browser (``page_setups``); "" for none.
    """

    def __init__(self, first: Page, *, keep_tabs: bool = False) -> None:
        self.keep_tabs = keep_tabs
        self.dead = asyncio.Event()
        self.answer: tuple[bool, str] | None = None
        self.asked: Callable[[str, str, str], Awaitable[tuple[bool, str]]] | None = None
        self.in_hand = False
        self.unsolicited_count = 0
        self.browser_switches = -1
        self.guard: SessionGuard | None = None
        self.init_script = ""
        self._dialogs = 0
        self._alerts: list[str] = []
        self._popups: list[str] = []
        self._downloads: list[str] = []
        self.switch_browser(first)

    def switch_browser(self, first: Page) -> None:
        """Continue in another browser, of which ``first`` is the only tab; holders of this session keep it.

        Unsolicited events that were not taken yet are kept. The last capture's elements are gone.
        """
        self.active = 0
        self.context = first.context
        self.crashed = self.stopped = False
        self.dead.clear()
        self.last: object | None = None
        self.browser_switches += 1
        self._wires: dict[Page, CDPSession] = {}
        self._own: set[Page] = {first}
        self._activity: dict[Page, NetworkActivity] = {}
        self._opening = self._aside = 0
        self._watch(first)
        self.context.on("page", self._opened)
        self.context.on("dialog", self._dialog)

    @property
    def pages(self) -> list[Page]:
        """Every open tab."""
        return self.context.pages

    @property
    def page(self) -> Page:
        """The tab in front; after a tab was closed the last one left.

        Raises ``playwright.async_api.Error`` when there is none: the browser is gone.
        """
        pages = self.pages
        if not pages:
            raise Error("no tab is open: the browser is gone")
        return pages[min(self.active, len(pages) - 1)]

    @property
    def is_connected(self) -> bool:
        """Whether the browser is alive, as far as is known."""
        browser = self.context.browser
        return browser is not None and browser.is_connected()

    @property
    def failure(self) -> str:
        """The fault that browser or page report themselves; "" if there is none."""
        if not self.is_connected:
            return BROWSER_GONE
        if self.stopped:
            return "the page opened dialogs without end and was closed"
        if self.crashed:
            return "the page crashed"
        return "" if self.pages and not self.page.is_closed() else "the page closed itself"

    async def tabs(self, timeout: float) -> tuple[tuple[Tab, ...], int]:
        """Return the open tabs in order, without secrets, and the number of the one in front.

        A tab that does not answer within ``timeout`` seconds has no title.
        """
        found: list[Tab] = []
        for page in self.pages:
            title = ""
            with suppress(Error, TimeoutError):
                title = await asyncio.wait_for(page.title(), timeout)
            found.append(Tab(url=redact_url(page.url), title=redact_text(title)))
        return tuple(found), max(0, min(self.active, len(found) - 1))

    @property
    def network(self) -> NetworkActivity:
        """Network activity of the tab in front, recorded since it was first asked for.

        Raises ``playwright.async_api.Error`` as ``page``.
        """
        page = self.page
        self._activity = {known: activity for known, activity in self._activity.items() if not activity.gone}
        if page not in self._activity:
            self._activity[page] = NetworkActivity(page)
        return self._activity[page]

    async def wire(self) -> CDPSession:
        """Return the DevTools connection of the tab in front.

        Raises ``playwright.async_api.Error`` when the tab is gone.
        """
        page = self.page
        if page not in self._wires:
            self._wires[page] = await self.context.new_cdp_session(page)
        return self._wires[page]

    async def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one DevTools command to the tab in front and return its answer.

        Raises ``playwright.async_api.Error`` when the browser refuses it or the tab is gone.
        """
        return cast("dict[str, Any]", await (await self.wire()).send(method, parameters))

    async def open_tab(self) -> Page:
        """Open another empty tab, in front.

        Raises ``playwright.async_api.Error`` when the browser opens none, or takes longer than ``OPEN_TIMEOUT``
        seconds.
        """
        self._opening += 1
        try:
            async with asyncio.timeout(OPEN_TIMEOUT):
                page = await self.context.new_page()
        except TimeoutError:
            raise Late(f"it did not open a tab within {OPEN_TIMEOUT:.0f} s") from None
        finally:
            self._opening -= 1
        self._own.add(page)
        self.active = self.pages.index(page)
        return page

    @asynccontextmanager
    async def page_aside(self) -> AsyncGenerator[Page]:
        """Open a page that is none of the tabs, for the time of the block; windows that open meanwhile are closed.

        Raises ``playwright.async_api.Error`` when the browser opens none.
        """
        before = set(self.pages)
        self._aside += 1
        try:
            yield await self.context.new_page()
        finally:
            for page in [page for page in self.pages if page not in before]:
                with suppress(Error, TimeoutError):
                    await asyncio.wait_for(page.close(), ANSWER_TIMEOUT)
            self._aside -= 1

    async def renew(self) -> None:
        """Close every tab and open an empty one: after a crash, or when a page can't be left."""
        old = self.pages
        await self.open_tab()
        for page in old:
            with suppress(Error, TimeoutError):
                await asyncio.wait_for(page.close(), ANSWER_TIMEOUT)
        self._wires = {page: wire for page, wire in self._wires.items() if page not in old}
        self._own &= set(self.pages)
        self.active = len(self.pages) - 1
        self.crashed = self.stopped = False
        self.dead.clear()
        self.last = None

    def happened(self) -> UnsolicitedEvents:
        """Return and clear the events since the last call."""
        told = UnsolicitedEvents(
            alerts=tuple(self._alerts), popups=tuple(self._popups), downloads=tuple(self._downloads)
        )
        self._alerts, self._popups, self._downloads = [], [], []
        self._dialogs = 0
        return told

    def _watch(self, page: Page) -> None:
        page.on("crash", self._has_crashed)
        page.on("download", self._download)

    def _has_crashed(self, page: Page) -> None:
        if page is self.page:
            self.crashed = True
            self.dead.set()

    async def _opened(self, page: Page) -> None:
        """Bring a new tab to the front, as a browser does for a person; or record and close it."""
        if page.context is not self.context:
            return  # of the previous browser
        if self._aside:
            return  # closed with the page aside
        self._watch(page)
        if self._opening or (self.keep_tabs and len(self.pages) <= MAX_TABS):
            self._own.add(page)
            self.active = self.pages.index(page)
            return
        if len(self._popups) < MAX_DIALOGS:
            self._popups.append(page.url)
        with suppress(Error):
            await page.close()

    async def _dialog(self, dialog: Dialog) -> None:
        self._dialogs += 1
        self.unsolicited_count += 1
        if self._dialogs <= MAX_DIALOGS:
            self._alerts.append(
                dialog.message if dialog.type != "beforeunload" else "(asks whether to leave)"
            )
        with suppress(Error):
            answer, self.answer = self.answer, self.answer if dialog.type == "beforeunload" else None
            asks = dialog.type in ("confirm", "prompt") and self._dialogs <= MAX_DIALOGS
            if answer is None and self.asked is not None and asks:
                answer = await self.asked(dialog.type, dialog.message, dialog.default_value)
            if dialog.type == "beforeunload":
                await dialog.accept()
            elif answer is not None and answer[0]:
                await (dialog.accept(answer[1]) if dialog.type == "prompt" else dialog.accept())
            else:
                await dialog.dismiss()
        if self._dialogs > MAX_DIALOGS and not self.stopped and dialog.page is not None:
            self.stopped = True
            self.dead.set()
            with suppress(Error, TimeoutError):
                await asyncio.wait_for(dialog.page.close(), ANSWER_TIMEOUT)

    def _download(self, download: Download) -> None:
        self.unsolicited_count += 1
        if len(self._downloads) < MAX_DIALOGS:
            self._downloads.append(download.suggested_filename)


@asynccontextmanager
async def open_tab_in_fresh_context(
    browser: Browser,
    size: tuple[int, int] = VIEWPORT,
    storage_state: str | StorageState | None = None,
    *,
    timezone: str = BROWSER_TIMEZONE,
    locale: str = BROWSER_LOCALE,
) -> AsyncGenerator[Page]:
    """Open an empty tab in a fresh context, for the time of the block; see ``open_session``."""
    context = await _fresh(browser, size, storage_state, timezone, locale)
    try:
        yield await context.new_page()
    finally:
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await context.close()


async def _fresh(
    browser: Browser,
    size: tuple[int, int],
    storage_state: str | StorageState | None,
    timezone: str = BROWSER_TIMEZONE,
    locale: str = BROWSER_LOCALE,
) -> BrowserContext:
    width, height = size
    return await browser.new_context(
        viewport={"width": width, "height": height},
        accept_downloads=False,
        locale=locale,
        timezone_id=timezone,
        storage_state=storage_state or None,
    )


@asynccontextmanager
async def open_session(
    browser: Browser,
    size: tuple[int, int] = VIEWPORT,
    storage_state: str | StorageState | None = None,
    *,
    keep_tabs: bool = False,
) -> AsyncGenerator[BrowserSession]:
    """Open a fresh session with one empty tab, for the time of the block; ``size`` in CSS pixels.

    No download is saved: the browser refuses it and its name is recorded. ``storage_state`` is the path
    of a recorded log-in, or one in memory; ``keep_tabs`` keeps windows that pages open.
    """
    # Not through ``open_tab_in_fresh_context``: a loop that ends closes all generators at once, and nested ones twice.
    context = await _fresh(browser, size, storage_state)
    try:
        yield BrowserSession(await context.new_page(), keep_tabs=keep_tabs)
    finally:
        with suppress(Error):
            await context.close()
