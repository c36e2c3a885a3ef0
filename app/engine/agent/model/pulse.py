"""Signs of life of a model that is being asked: whoever waits for it can tell slow from hung."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager


class Pulse:
    """When the endpoint was last heard of, over all requests that are under way.

    Every piece of an answer is a sign of life, and so is a request that is sent; a wait that the endpoint asked for is
    no silence.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asking = 0
        self._last = self._until = 0.0
        self._answering = False

    @contextmanager
    def asking(self) -> Generator[None]:
        """A request and all its attempts."""
        self.sent()
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1

    def sent(self) -> None:
        """An attempt begins."""
        self._last, self._until, self._answering = self._clock(), 0.0, False

    def heard(self) -> None:
        """A piece of an answer has come."""
        self._last, self._answering = self._clock(), True

    def waits(self, seconds: float) -> None:
        """Nothing is asked for so many seconds, on purpose."""
        self._until = self._clock() + seconds

    @property
    def answering(self) -> bool:
        """The answer that is waited for has begun to come."""
        return self._answering

    @property
    def silence(self) -> float | None:
        """Seconds since the last sign of life; ``None`` while nothing is asked."""
        if not self._asking:
            return None
        return max(0.0, self._clock() - max(self._last, self._until))
