"""Screenshots of the viewport."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from playwright.async_api import Error

from app.engine.browser.session import BrowserSession
from app.engine.core.text import first_line

SCREENSHOT_QUALITY = 60
SCREENSHOT_TIMEOUT = 3.0
"""Seconds a page may take to paint before it gets no screenshot."""
NO_SURFACE = "Unable to capture screenshot"
"""Chromium's message while a new page has not replaced the old one on the screen yet."""


async def take_screenshot(session: BrowserSession, **more: Any) -> tuple[bytes, str]:
    """Return the viewport as a JPEG, or none and why; ``more`` goes to ``Page.captureScreenshot``."""
    if session.dead.is_set():
        return b"", "no picture: the page is gone"
    try:
        async with asyncio.timeout(SCREENSHOT_TIMEOUT):
            return await _shot(session, more), ""
    except TimeoutError:
        return b"", f"no picture: the page did not paint within {SCREENSHOT_TIMEOUT:.0f} s"
    except Error as error:
        return b"", f"no picture: {first_line(str(error), 'no reason given')}"


async def _shot(session: BrowserSession, more: dict[str, Any]) -> bytes:
    while True:
        try:
            shot = await session.send(
                "Page.captureScreenshot",
                format="jpeg",
                quality=SCREENSHOT_QUALITY,
                optimizeForSpeed=True,
                **more,
            )
        except Error as error:
            if NO_SURFACE not in str(error):
                raise
            await asyncio.sleep(0.05)
        else:
            return base64.b64decode(shot["data"])
