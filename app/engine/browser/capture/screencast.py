"""Live video of the page in front, at the size and rate its viewers need, and none without viewers.

Chromium sends a frame when the page has painted something new, at most three ahead of the
acknowledged one; anything painted beyond these is never sent. So the rate is limited at the source,
and after a burst the browser is asked once more in case its last frame is missing.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, cast

from playwright.async_api import CDPSession, Error, Page

from app.engine.browser.session import BrowserSession

log = logging.getLogger(__name__)

QUALITY = 60
"""JPEG quality, the same as that of screenshots in steps."""
MAX_UNACKNOWLEDGED = 3
"""Frames Chromium sends without an acknowledgement."""
LOW_RATE = 5.0
"""Below this rate (frames a second) the browser does not paint for us between two frames."""
TAB_POLL_INTERVAL = 0.1
"""Seconds after which a change of the front tab is noticed."""
TRAILING_DELAY = 0.06
"""Seconds after which a frame that may have been omitted is requested."""
ANSWER_TIMEOUT = 2.0
"""Seconds the browser may take to answer; after that the connection is reopened."""
RETRY_DELAY = 0.5
"""Seconds until a lost connection is tried again."""
MAX_RATE = 60.0
HURRY_SECONDS = 0.3
"""Seconds after a person's click or key in which pictures come as fast as the browser paints."""
MIN_SIZE = 16
"""CSS pixels; a smaller frame is of no use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreencastFrame:
    """One frame of the video.

    Attributes:
        number: counts up from 1.
        width, height: its pixels. page_width, page_height: the viewport it shows, CSS pixels.
        at: Unix seconds at which the browser had painted it.
    """

    number: int
    width: int
    height: int
    page_width: int
    page_height: int
    jpeg: bytes
    url: str = ""
    at: float = 0.0


class TaskSpawner(Protocol):
    """Starts a task and keeps it (``JobRegistry.hold``)."""

    def __call__(self, work: Coroutine[Any, Any, Any], /) -> asyncio.Task[Any]: ...


@dataclass(frozen=True, slots=True)
class _Requested:
    width: int
    height: int
    rate: float


class Screencast:
    """Frames of a session's front tab, whichever that is; ``sink`` gets each on the loop.

    Never raises for what the page, the tab or the browser does: a lost connection is reopened as soon as
    there is a page.
    """

    def __init__(
        self, session: BrowserSession, sink: Callable[[ScreencastFrame], None], spawn: TaskSpawner
    ) -> None:
        self._session, self._sink, self._spawn = session, sink, spawn
        self._wanted = _Requested(0, 0, 0.0)
        self._shown = _Requested(0, 0, 0.0)
        self._keeper: asyncio.Task[Any] | None = None
        self._woken = asyncio.Event()
        self._closed = False
        self._page: Page | None = None
        self._wire: CDPSession | None = None
        self._on = False
        self._number = 0
        self._unanswered: list[int] = []
        self._in_flight = 0
        """Frames whose acknowledgement the browser has not confirmed: never fewer than it counts itself."""
        self._at_limit = False
        """Whether the browser may have sent nothing of what was painted after the newest frame."""
        self._newest: dict[str, Any] | None = None
        self._due = 0.0
        self._hurry_until = 0.0
        self._left_out = 0.0
        """When a picture that may be missing is asked for, by ``time.monotonic()``; 0 for none."""

    async def watch(self, width: int, height: int, rate: float) -> None:
        """Send frames that fit into ``width`` x ``height`` CSS pixels, at most ``rate`` a second; 0 stops."""
        if self._closed:
            return
        rate = min(max(rate, 0.0), MAX_RATE)
        self._wanted = _Requested(max(int(width), MIN_SIZE), max(int(height), MIN_SIZE), rate)
        self._due = 0.0
        self._woken.set()
        if rate > 0 and (self._keeper is None or self._keeper.done()):
            self._keeper = self._spawn(self._keep())

    def hurry(self) -> None:
        """Deliver the next pictures as they come: a person clicked, and waits for the page's answer."""
        now = time.monotonic()
        if self._shown.rate < LOW_RATE:
            return
        self._hurry_until, self._due = now + HURRY_SECONDS, min(self._due, now + 1 / MAX_RATE)
        self._woken.set()

    async def aclose(self) -> None:
        """Stop for good; closing twice is harmless."""
        self._closed = True
        keeper, self._keeper = self._keeper, None
        if keeper is not None and not keeper.done():
            keeper.cancel()
            await asyncio.wait([keeper])
        await self._let_go()

    # ------------------------------------------------------------ one task does all DevTools calls

    async def _keep(self) -> None:
        while not self._closed and (self._wanted.rate > 0 or self._wire is not None):
            try:
                async with asyncio.timeout(self._patience() + ANSWER_TIMEOUT):
                    await self._turn()
            except (Error, TimeoutError) as error:
                log.debug("no frame of %s: %s", self._page, error)
                await self._let_go()
                await asyncio.sleep(RETRY_DELAY)

    async def _turn(self) -> None:
        if self._wanted.rate <= 0:
            await self._let_go()
            return
        if self._session.page is not self._page or self._wire is None:
            await self._let_go()
            await self._hold(self._session.page)
        if self._wanted != self._shown:
            await self._stop()
            self._shown, self._due = self._wanted, 0.0
            await self._start()
        await self._wait()
        await self._show()

    async def _hold(self, page: Page) -> None:
        self._page = page
        self._shown = _Requested(0, 0, 0.0)
        wire = self._wire = await page.context.new_cdp_session(page)

        def came(event: dict[str, Any]) -> None:
            self._came(wire, event)

        wire.on("Page.screencastFrame", came)

    async def _let_go(self) -> None:
        wire, self._wire, self._page, self._on = self._wire, None, None, False
        self._forget_frames()
        if wire is not None:
            with suppress(Error, TimeoutError):
                async with asyncio.timeout(ANSWER_TIMEOUT):
                    await wire.send("Page.stopScreencast")
                    await wire.detach()

    async def _start(self) -> None:
        wire, wanted = self._wire, self._shown
        if wire is None:
            return
        self._forget_frames()
        self._on = True
        size = {"maxWidth": wanted.width, "maxHeight": wanted.height}
        await wire.send("Page.startScreencast", {"format": "jpeg", "quality": QUALITY, **size})

    async def _stop(self) -> None:
        wire, on = self._wire, self._on
        self._on = False
        self._forget_frames()
        if wire is not None and on:
            await wire.send("Page.stopScreencast")

    def _forget_frames(self) -> None:
        self._newest, self._unanswered, self._in_flight = None, [], 0
        self._at_limit, self._left_out = False, 0.0

    def _patience(self) -> float:
        times = [TAB_POLL_INTERVAL]
        now = time.monotonic()
        if self._newest is not None or not self._on:
            times.append(self._due - now)
        if self._left_out:
            times.append(self._left_out - now)
        return max(0.0, min(times))

    async def _wait(self) -> None:
        self._woken.clear()
        if self._unanswered and self._newest is None:  # delivered as it came
            return
        seconds = self._patience()
        if seconds and (self._newest is None or self._due > time.monotonic()):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), seconds)

    async def _show(self) -> None:
        """Deliver a frame that has arrived and is due; request one that may be missing."""
        now = time.monotonic()
        seldom = self._shown.rate < LOW_RATE
        if self._newest is not None and now >= self._due:
            self._deliver(self._newest, now)
            await self._answer()
        elif self._unanswered and self._newest is None:
            await self._answer()
        elif self._newest is not None and seldom:
            await self._stop()  # the page has changed: a new frame is requested when it is due
        elif not self._on and now >= self._due and self._wire is not None:
            await self._start()
        elif self._left_out and now >= self._left_out:
            await self._stop()
            await self._start()

    def _came(self, wire: CDPSession, event: dict[str, Any]) -> None:
        if wire is not self._wire or not self._on:
            return
        self._newest, self._left_out = event, 0.0
        self._unanswered.append(int(event["sessionId"]))
        self._in_flight += 1
        self._at_limit = self._in_flight >= MAX_UNACKNOWLEDGED
        if (now := time.monotonic()) >= self._due:
            self._deliver(event, now)  # not behind an acknowledgement that is on its way
        self._woken.set()

    async def _answer(self) -> None:
        """Acknowledge frames; if Chromium had used up its allowance, something painted since may be missing.

        A frame still on its way counts too: Chromium confirms an acknowledgement behind all it sent before.
        """
        unanswered, self._unanswered = self._unanswered, []
        for number in unanswered:
            if self._wire is None:
                return
            await self._wire.send("Page.screencastFrameAck", {"sessionId": number})
            self._in_flight -= 1
        if self._at_limit and self._newest is None:
            self._left_out = time.monotonic() + TRAILING_DELAY

    def _deliver(self, event: dict[str, Any], now: float) -> None:
        self._newest = None
        pause = 1 / (MAX_RATE if now < self._hurry_until else self._shown.rate)
        self._due = max(now, self._due + pause) if now - self._due < pause else now + pause
        jpeg = base64.b64decode(event["data"])
        told = cast("dict[str, Any]", event.get("metadata") or {})
        size = jpeg_size(jpeg)
        if size is None:
            return
        self._number += 1
        frame = ScreencastFrame(
            number=self._number,
            width=size[0],
            height=size[1],
            page_width=int(told.get("deviceWidth") or size[0]),
            page_height=int(told.get("deviceHeight") or size[1]),
            jpeg=jpeg,
            url=self._page.url if self._page is not None else "",
            at=float(told.get("timestamp") or time.time()),
        )
        try:
            self._sink(frame)
        except Exception:
            log.exception("a frame could not be delivered")


def jpeg_size(jpeg: bytes) -> tuple[int, int] | None:
    """Return width and height of a JPEG from its frame header (ISO 10918-1, B.2.2); ``None`` without one."""
    at = 2
    while at + 9 <= len(jpeg):
        if jpeg[at] != 0xFF:
            return None
        marker = jpeg[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(jpeg[at + 7 : at + 9]), int.from_bytes(jpeg[at + 5 : at + 7])
        at += 2 + int.from_bytes(jpeg[at + 2 : at + 4])
    return None
