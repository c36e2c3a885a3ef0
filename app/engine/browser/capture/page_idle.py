"""Wait until a page is idle: nothing relevant is being loaded, and the document does not change.

A fixed wait is too long for most pages and too short for some. Endless activity is not waited for:
tickers, animations, polling, streams, and single requests that take longer than ``SLOW_REQUEST`` seconds.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import suppress
from functools import cache
from typing import Any, cast

from playwright.async_api import Error, Page, Request, Response

from app.assets import resource
from app.engine.browser.capture.frames import main_world
from app.engine.browser.session import BrowserSession

QUIET_TIME = 0.15
"""Seconds without a change that count as idle."""
MIN_WAIT = 0.05
"""Seconds a page is watched in any case."""
IDLE_TIMEOUT = 5.0
LOAD_TIMEOUT = 10.0
"""Seconds a page may take to load."""
SLOW_REQUEST = 2.0
"""Seconds after which a request other than the page itself is no longer waited for."""
MAX_POLLED = 3
"""Requests for one address beyond which it counts as polling."""

_COUNTED = frozenset({"document", "stylesheet", "script", "xhr", "fetch", "image", "font"})
STATUS_TIMEOUT = 0.3
"""Seconds a new document's status may come after the document itself."""


class NetworkActivity:
    """Network activity of a page, from the moment it is first asked for (``NetworkActivity.of``)."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._open: dict[Request, float] = {}
        self._asked: Counter[str] = Counter()
        self._moved = asyncio.Event()
        self.document: Response | None = None
        self.documents = 0
        self.gone = False
        page.on("request", self._started)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)
        page.on("response", self._answered)
        page.on("domcontentloaded", self._arrived)
        page.on("close", self._lost)
        page.on("crash", self._lost)

    @staticmethod
    def of(page: Page) -> NetworkActivity:
        """Return that of this page; it records from now on, for as long as the page exists."""
        found = _watched.get(page)
        if found is None:
            found = _watched[page] = NetworkActivity(page)
        return found

    @property
    def navigating(self) -> bool:
        """Whether the page itself is being replaced, and the new one has not answered yet."""
        return any(self._is_page(request) for request in self._open)

    @property
    def busy(self) -> bool:
        """Whether a pending request will change how the page looks."""
        now = time.monotonic()
        return any(
            self._is_page(request)
            or (now - since < SLOW_REQUEST and self._asked[_address(request)] <= MAX_POLLED)
            for request, since in self._open.items()
        )

    async def calm(self, deadline: float) -> bool:
        """Wait until no relevant request is pending; ``deadline`` is of ``time.monotonic()``."""
        while self.busy and not self.gone:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._moved.clear()
            try:
                await asyncio.wait_for(self._moved.wait(), min(left, 0.1))
            except TimeoutError:
                continue  # a request may have become too slow to count
        return True

    async def status_since(self, before: Response | None, documents: int) -> int:
        """Return the HTTP status of the document loaded since then; 0 if none was.

        The browser may report the document before it reports the response it came with.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(STATUS_TIMEOUT):
                while self.document is before and self.documents > documents:
                    self._moved.clear()
                    await self._moved.wait()
        return self.document.status if self.document is not None and self.document is not before else 0

    def _is_page(self, request: Request) -> bool:
        return request.is_navigation_request() and _frame(request) == self._page.main_frame

    def _started(self, request: Request) -> None:
        if self._is_page(request):
            # Pending requests of the previous page no longer matter.
            self._open.clear()
            self._asked.clear()
        if request.resource_type in _COUNTED:
            self._open[request] = time.monotonic()
            self._asked[_address(request)] += 1
            self._moved.set()

    def _ended(self, request: Request) -> None:
        self._open.pop(request, None)
        self._moved.set()

    def _answered(self, response: Response) -> None:
        if self._is_page(response.request):
            self.document = response
            self._open.pop(response.request, None)
            self._moved.set()

    def _arrived(self, _: Page) -> None:
        self.documents += 1

    def _lost(self, page: Page) -> None:
        _watched.pop(page, None)
        self.gone = True
        self._open.clear()
        self._moved.set()


_watched: dict[Page, NetworkActivity] = {}
"""One for each open page; a page that closes or crashes removes its own."""


async def wait_until_idle(
    session: BrowserSession, *, quiet: float = QUIET_TIME, most: float = IDLE_TIMEOUT, acted: bool = False
) -> bool:
    """Wait until the tab in front is idle; True if it is, False when ``most`` seconds were not enough.

    A page that loaded a while ago and does not change takes ``MIN_WAIT`` seconds. With ``acted`` (an action
    was just done) idleness is counted from now on, so that it takes ``quiet``. A pending navigation is
    waited for ``LOAD_TIMEOUT`` seconds first. Never raises: a page that crashed or was closed is not idle.
    """
    page = session.page
    traffic = NetworkActivity.of(page)
    deadline = time.monotonic() + most
    on_the_way = time.monotonic() + LOAD_TIMEOUT
    while not traffic.gone:
        if traffic.navigating:
            if not await traffic.calm(on_the_way):
                return False
            deadline = max(deadline, time.monotonic() + most / 2)
        left = deadline - time.monotonic()
        if left <= 0 or not await traffic.calm(deadline):
            return False
        try:
            async with asyncio.timeout(left + 0.5):
                still = await _still(session, quiet, left, acted=acted)
        except Error:  # the document was replaced meanwhile
            await asyncio.sleep(0.02)
            continue
        except TimeoutError:  # a script blocks the page
            return False
        if not still:
            return False
        if not traffic.busy:
            return not traffic.gone
        acted = False
    return False


async def _still(session: BrowserSession, quiet: float, most: float, *, acted: bool) -> bool:
    """Whether the document becomes idle within ``most`` seconds. Raises ``Error`` when it is replaced."""
    world = await main_world(session)
    told = f"{{quiet: {quiet * 1000}, most: {most * 1000}, least: {MIN_WAIT * 1000}, acted: {str(acted).lower()}}}"
    question = {
        "expression": f"({_script()})({told})",
        "contextId": world.context,
        "awaitPromise": True,
        "returnByValue": True,
    }
    answer = cast("dict[str, Any]", await world.wire.send("Runtime.evaluate", question))
    return answer["result"].get("value") is True


@cache
def _script() -> str:
    text = resource("js", "settle.js").read_text("utf-8")
    return text[text.index("({ quiet") :].rstrip().rstrip(";")


def _address(request: Request) -> str:
    return request.url.partition("?")[0]


def _frame(request: Request) -> object:
    """Return the requesting frame, ``None`` for one that does not exist yet or any more, or for a worker."""
    try:
        return request.frame
    except Error:
        return None
