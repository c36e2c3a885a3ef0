"""Playwright with a temporary folder of its own, so that a browser leaves nothing behind however it ends.

The driver and the browsers it starts put profiles, downloads and sockets into the temporary folder that their
environment names. They clean up when they are closed; one that is killed does not, and neither does anything when
this program is killed.

A driver costs a quarter of the time that a browser needs to start, and 100 MB, so browsers that are open at once share
one, a few each: a driver that dies takes its browsers with it.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
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

ANSWER_TIMEOUT = 5.0
"""Seconds a shared driver may take to answer; after them another one is started."""
BROWSERS_PER_DRIVER = 4
"""Most browsers that share a driver."""


class _Driver:
    """One driver with its folder; ``users`` counts those that have it, and a ``retired`` one gets no more."""

    def __init__(self, scratch: TempFolder, playwright: Playwright) -> None:
        self._scratch, self.playwright = scratch, playwright
        self.users, self.retired = 0, False

    @classmethod
    async def start(cls) -> _Driver:
        from playwright.async_api import async_playwright

        scratch = await asyncio.to_thread(TempFolder.make)
        try:
            with _temporary_folder(str(scratch.path)):
                return cls(scratch, await async_playwright().start())
        except BaseException:
            scratch.remove()
            raise

    async def answers(self) -> bool:
        """Whether the driver is alive."""
        from playwright.async_api import Error

        with suppress(Error, TimeoutError):
            async with asyncio.timeout(ANSWER_TIMEOUT):
                context = await self.playwright.request.new_context()
                await context.dispose()
            return True
        return False

    async def stop(self) -> None:
        try:
            async with asyncio.timeout(STOP_TIMEOUT):
                await self.playwright.stop()
        except TimeoutError:
            log.warning("the browser's driver did not stop within %.0f s; it was abandoned", STOP_TIMEOUT)
        finally:
            await asyncio.to_thread(self._scratch.remove)


class _Drivers:
    """The drivers of one event loop."""

    def __init__(self) -> None:
        # A driver inherits this process's environment and accepts no other, so one starts at a time.
        self._starting = asyncio.Lock()
        self._open: list[_Driver] = []

    async def take(self) -> _Driver:
        async with self._starting:
            for driver in list(self._open):
                if driver.retired or driver.users >= BROWSERS_PER_DRIVER:
                    continue
                driver.users += 1  # it is not stopped meanwhile
                answers = False
                try:
                    answers = await driver.answers()
                finally:
                    if not answers:
                        await self.give_back(driver, retired=True)
                if answers:
                    return driver
            driver = await _Driver.start()
            driver.users = 1
            self._open.append(driver)
            return driver

    async def give_back(self, driver: _Driver, *, retired: bool) -> None:
        """Stop the driver if nobody else has it."""
        driver.users -= 1
        driver.retired = driver.retired or retired
        if not driver.users:
            self._open.remove(driver)
            await driver.stop()


_drivers: WeakKeyDictionary[asyncio.AbstractEventLoop, _Drivers] = WeakKeyDictionary()


class PlaywrightProcess:
    """Gives Playwright for the time of an ``async with`` block; blocks at the same time may share it.

    A block that ends by an error, such as a browser that does not close in time, leaves its driver to those that have
    it already: the driver may be the reason.
    """

    def __init__(self) -> None:
        self._drivers: _Drivers | None = None
        self._driver: _Driver | None = None

    async def __aenter__(self) -> Playwright:
        self._drivers = _drivers.setdefault(asyncio.get_running_loop(), _Drivers())
        self._driver = await self._drivers.take()
        return self._driver.playwright

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._drivers is not None and self._driver is not None:
            await self._drivers.give_back(self._driver, retired=kind is not None)


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
