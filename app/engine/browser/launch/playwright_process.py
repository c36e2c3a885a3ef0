"""Playwright with a temporary folder of its own, so that a browser leaves nothing behind however it ends.

The driver and the browsers it starts put profiles, downloads and sockets into the temporary folder that their
environment names. They clean up when they are closed; one that is killed does not, and neither does anything when
this program is killed.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from app.engine.store.temp_folder import TempFolder

if TYPE_CHECKING:
    from playwright.async_api import Playwright

log = logging.getLogger(__name__)

VARIABLES = ("TMPDIR", "TEMP", "TMP")
"""Environment variables that name the temporary folder on some platform."""

STOP_TIMEOUT = 5.0
"""Seconds the driver may take to end what it has started."""

_starting: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


class PlaywrightProcess:
    """Runs Playwright for the time of an ``async with`` block."""

    def __init__(self) -> None:
        self._scratch: TempFolder | None = None
        self._playwright: Playwright | None = None

    async def __aenter__(self) -> Playwright:
        from playwright.async_api import async_playwright

        loop = asyncio.get_running_loop()
        self._scratch = await asyncio.to_thread(TempFolder.make)
        try:
            # The driver inherits this process's environment and accepts no other, so one starts at a time.
            async with _starting.setdefault(loop, asyncio.Lock()):
                with _temporary_folder(str(self._scratch.path)):
                    self._playwright = await async_playwright().start()
        except BaseException:
            self._scratch.remove()
            raise
        return self._playwright

    async def __aexit__(self, *_: object) -> None:
        try:
            if self._playwright is not None:
                async with asyncio.timeout(STOP_TIMEOUT):
                    await self._playwright.stop()
        except TimeoutError:
            log.warning("the browser's driver did not stop within %.0f s; it was abandoned", STOP_TIMEOUT)
        finally:
            if self._scratch is not None:
                await asyncio.to_thread(self._scratch.remove)


@contextmanager
def _temporary_folder(path: str) -> Generator[None]:
    """Set ``path`` as the temporary folder of processes started within the block."""
    before = {name: os.environ.get(name) for name in VARIABLES}
    os.environ.update(dict.fromkeys(VARIABLES, path))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
