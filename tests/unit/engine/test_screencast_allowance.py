"""The last picture after a burst is asked for wherever Chromium may have left it out, and only there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from app.engine.browser.capture.screencast import TRAILING_DELAY, Screencast, ScreencastFrame
from app.engine.core.events import EventBus
from app.engine.jobs import JobRegistry

JPEG = "/9j/wAARCAABAAEDASIAAhEBAxEB"
"""Base64 of a frame header: one pixel."""


class SlowWire:
    """A DevTools connection whose acknowledgements are confirmed as soon as the test says so."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.confirming = asyncio.Event()
        self.confirming.set()
        self._came: Callable[[dict[str, Any]], None] | None = None

    def on(self, _event: str, came: Callable[[dict[str, Any]], None]) -> None:
        self._came = came

    async def send(self, method: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        self.sent.append(method)
        if method == "Page.screencastFrameAck":
            await self.confirming.wait()
        return {}

    async def detach(self) -> None: ...

    def paint(self, frames: int) -> None:
        """So many frames come at once."""
        assert self._came is not None
        for _ in range(frames):
            self._came({"sessionId": 1, "data": JPEG, "metadata": {}})

    @property
    def starts(self) -> int:
        return self.sent.count("Page.startScreencast")


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    ("at_once", "on_the_way", "starts"),
    [
        pytest.param(1, 0, 1, id="one frame is the last"),
        pytest.param(2, 0, 1, id="two leave one to send"),
        pytest.param(3, 0, 2, id="three at once are all it sends"),
        pytest.param(2, 1, 2, id="the third was on its way"),
        pytest.param(1, 2, 2, id="two were on their way"),
        pytest.param(1, 1, 1, id="one on its way leaves one to send"),
    ],
)
async def test_one_more_picture_is_asked_for_where_one_may_be_missing(
    at_once: int, on_the_way: int, starts: int
) -> None:
    wire, frames, registry = SlowWire(), list[ScreencastFrame](), JobRegistry(EventBus())

    async def connect(_page: object) -> SlowWire:
        return wire

    page = SimpleNamespace(url="http://a/", context=SimpleNamespace(new_cdp_session=connect))
    session: Any = SimpleNamespace(page=page)
    cast = Screencast(session, frames.append, registry.hold)
    await cast.watch(320, 200, 60)
    await _until(lambda: wire.starts == 1)
    wire.confirming.clear()
    wire.paint(at_once)
    await _until(lambda: "Page.screencastFrameAck" in wire.sent)
    wire.paint(on_the_way)
    wire.confirming.set()
    await _until(lambda: wire.sent.count("Page.screencastFrameAck") == at_once + on_the_way)
    if starts == 2:
        await _until(lambda: wire.starts == 2)
        shown = len(frames)
        wire.paint(1)
        await _until(lambda: len(frames) == shown + 1)
    await asyncio.sleep(4 * TRAILING_DELAY)
    assert wire.starts == starts
    await cast.aclose()
    await registry.aclose()
