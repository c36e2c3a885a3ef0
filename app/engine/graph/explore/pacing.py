"""Limits how fast pages of a site are requested."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from typing import Protocol
from urllib.parse import urlsplit

POLITE = 2.0
"""Maximum page loads a second on a host other than this machine."""
SLOWEST = 30.0
"""Maximum seconds between two page loads, whatever a site asks for."""


class Clock(Protocol):
    """Time source, replaceable so that tests need not wait."""

    def now(self) -> float: ...
    def tick(self) -> float: ...
    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The machine's time."""

    def now(self) -> float:
        """Unix seconds."""
        return time.time()

    def tick(self) -> float:
        """Monotonic seconds."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


def is_own_machine(url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Pacer:
    """Keeps page loads of all workers together under a rate; slows down for a while after the site asks for it.

    Args:
        url: the site's home page.
        rate: loads a second; 0 means ``POLITE``, and no limit on this machine.
        delay: minimum seconds between two loads that ``robots.txt`` asks for.
    """

    def __init__(self, url: str, rate: float, clock: Clock, *, delay: float = 0.0) -> None:
        self._clock = clock
        chosen = rate if rate > 0 else (0.0 if is_own_machine(url) else POLITE)
        self._least = max(1.0 / chosen if chosen else 0.0, delay if not is_own_machine(url) else 0.0)
        self._least = min(self._least, SLOWEST)
        self.gap = self._least
        self._next = 0.0

    async def wait(self) -> None:
        """Wait until the next load is allowed."""
        now = self._clock.tick()
        turn = max(now, self._next)
        self._next = turn + self.gap
        if turn > now:
            await self._clock.sleep(turn - now)

    def slow_down(self) -> None:
        """Double the gap, to at least a second, because the site can't keep up (429, 503)."""
        self.gap = min(SLOWEST, max(1.0, self.gap * 2))

    def speed_up(self) -> None:
        """Move back towards the agreed rate after a good response."""
        if self.gap > self._least:
            self.gap = max(self._least, self.gap * 0.8 if self.gap > 0.05 else 0.0)
