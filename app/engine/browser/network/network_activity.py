"""Network activity of a page: pending requests, and the document in front."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

from playwright.async_api import Error, Page, Request, Response

SLOW_REQUEST = 2.0
"""Seconds after which a request other than the page itself is no longer waited for."""
MAX_POLLED = 3
"""Requests for one address beyond which it counts as polling."""
_COUNTED = frozenset({"document", "stylesheet", "script", "xhr", "fetch", "image", "font"})


class NetworkActivity:
    """Network activity of a page, recorded from now on for as long as the page exists."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._open: dict[Request, float] = {}
        self._asked: Counter[str] = Counter()
        self._moved = asyncio.Event()
        self.document: Response | None = None
        self.gone = False
        page.on("request", self._started)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)
        page.on("response", self._answered)
        page.on("close", self._lost)
        page.on("crash", self._lost)

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

    def _lost(self, _: Page) -> None:
        self.gone = True
        self._open.clear()
        self._moved.set()


def _address(request: Request) -> str:
    return request.url.partition("?")[0]


def _frame(request: Request) -> object:
    """Return the requesting frame, ``None`` for one that does not exist yet or any more, or for a worker."""
    try:
        return request.frame
    except Error:
        return None
