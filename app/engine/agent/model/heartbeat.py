"""Signs of life of a model that is being asked: tells slow from hung."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager


class Heartbeat:
    """When the endpoint last showed a sign of life, over all requests in progress.

    Every piece of an answer is a sign of life, and so is sending a request; a pause that the endpoint asked for is no
    silence.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asking = 0
        self._last = self._until = 0.0
        self._answering = False

    @contextmanager
    def asking(self) -> Generator[None]:
        """Mark a request with all its attempts."""
        self.sent()
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1

    def sent(self) -> None:
        """Note that an attempt begins."""
        self._last, self._until, self._answering = self._clock(), 0.0, False

    def heard(self) -> None:
        """Note that a piece of an answer came."""
        self._last, self._answering = self._clock(), True

    def waits(self, seconds: float) -> None:
        """Note that nothing is sent for so many seconds, on purpose."""
        self._until = self._clock() + seconds

    @property
    def answering(self) -> bool:
        """Whether the answer has begun to arrive."""
        return self._answering

    @property
    def silence(self) -> float | None:
        """Seconds since the last sign of life; ``None`` while no request is in progress."""
        if not self._asking:
            return None
        return max(0.0, self._clock() - max(self._last, self._until))
