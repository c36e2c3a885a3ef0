"""Captures of the page in front for the executor: taken early if an action needs it, with lost tabs replaced."""

from __future__ import annotations

from dataclasses import replace

from playwright.async_api import Error, Page

from app.engine.browser.capture.page_monitor import PageMonitor
from app.engine.browser.capture.screenshot import take_screenshot
from app.engine.browser.capture.snapshot import PageGone, capture
from app.engine.browser.network.request_filter import RequestFilter
from app.engine.browser.page_loading import open_page
from app.engine.browser.session import BROWSER_GONE, BrowserSession
from app.engine.browser.session_state import EMPTY_TAB
from app.engine.core.page_state import PageCapture
from app.engine.core.redaction import redact_text
from app.engine.core.text import first_line


class CaptureCache:
    """The captures of one session.

    Attributes:
        now: the newest capture, whose elements can be acted on.
        shown: the last capture that was requested; actions name elements by its numbers.
    """

    def __init__(
        self,
        session: BrowserSession,
        monitor: PageMonitor,
        request_filter: RequestFilter,
        *,
        thorough: bool = True,
    ) -> None:
        self._session = session
        self._monitor = monitor
        self._filter = request_filter
        self._thorough = thorough
        self._located: object = None
        """Locations of the elements of ``now``; another capture of the session, by anybody, replaces them."""
        self.now = self.shown = PageCapture(url="about:blank")
        self._pictured = True
        self._ahead: Page | None = None
        """The tab whose capture the last action ended with; it is valid while nothing changes there."""
        self._untold = self.now
        """A capture that was not requested; its unsolicited events are part of the next one."""

    async def look(self, picture: bool, most: float) -> PageCapture:
        """Return the next requested capture; a lost tab is replaced first, and a note says so.

        Raises:
            PageGone: there is no page to capture, and no other could be opened.
        """
        try:
            note = await self._revive(most)
            try:
                page = await self.next(picture)
            except PageGone as busy:
                note = await self._revive(most, str(busy))
                page = await self.next(picture)
        except Error as error:
            silent = f"the browser does not answer: {_reason(error)}"
            raise PageGone(silent if self._session.is_connected else BROWSER_GONE) from error
        self.now = self.shown = replace(page, notes=(*page.notes, note)) if note else page
        return self.shown

    async def next(self, picture: bool) -> PageCapture:
        """Return the capture the last action ended with, if nothing has changed since, else a new one.

        Raises ``PageGone`` and ``playwright.async_api.Error``.
        """
        self._pictured = picture
        page = await self._as_it_was_left(picture)
        if page is None:
            page = self._with_untold(await self._take(picture))
        self._untold = PageCapture(url="")
        self.now = self.shown = page
        return page

    async def ahead(self, *, picture: bool = True) -> PageCapture:
        """Take the capture that is requested next, now; ``shown`` and what its numbers mean stay."""
        self.now = self._untold = self._with_untold(await self._take(picture and self._pictured))
        self._ahead = self._session.page
        return self.now

    async def capture_during_action(self) -> PageCapture:
        """Take a capture in the middle of an action, which continues."""
        page = await capture(self._session, picture=False, thorough=self._thorough)
        self._located = self._session.last
        self.now = self._untold = self._with_untold(page)
        await self._monitor.meet(self.now, amid=True)
        return self.now

    def drop_pending(self) -> None:
        """Invalidate the capture that the last action ended with: another action begins."""
        self._ahead = None

    def why_lost(self, error: Exception | None = None) -> str:
        """Return what happened to the page, in one sentence."""
        told = f"the page was lost: {_reason(error)}" if error is not None else "the page was lost"
        return self._session.failure or told

    async def _take(self, picture: bool) -> PageCapture:
        await self._filter.keep()
        page = await capture(self._session, picture=picture, thorough=self._thorough)
        self._located = self._session.last
        await self._monitor.meet(page)
        return page

    async def _as_it_was_left(self, picture: bool) -> PageCapture | None:
        tab, self._ahead = self._ahead, None
        if tab is None or tab is not self._session.page or self._located is not self._session.last:
            return None
        if not await self._monitor.is_unchanged():
            return None
        if not picture or self.now.picture:
            return self.now
        image, note = await take_screenshot(self._session)
        return replace(self.now, picture=image, notes=(*self.now.notes, note) if note else self.now.notes)

    def _with_untold(self, page: PageCapture) -> PageCapture:
        before = self._untold
        if not (before.alerts or before.popups or before.downloads):
            return page
        return replace(
            page,
            alerts=(*before.alerts, *page.alerts),
            popups=(*before.popups, *page.popups),
            downloads=(*before.downloads, *page.downloads),
        )

    async def _revive(self, most: float, busy: str = "") -> str:
        """Replace a lost tab by another at the address of the last capture; return a note, "" if none was needed.

        A tab that stays ``busy`` is replaced by an empty one, and so is one that opened dialogs without end.
        """
        if not busy and not self._session.failure:
            return ""
        session, last = self._session, self.shown.url
        told = busy or self.why_lost()
        self._ahead = None
        empty = session.stopped or bool(busy) or not last.startswith(("http://", "https://"))
        await session.renew()
        if empty:
            return f"{told}; {EMPTY_TAB}"
        await open_page(session, last, most=most)
        return f"{told}; it was reopened"


def _reason(error: Exception) -> str:
    """Return the first line of the browser's message, which contains no typed text."""
    return redact_text(first_line(str(error), "no reason given"))[:160]
