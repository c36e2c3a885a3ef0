"""Timeouts of a request, and the pauses before retries."""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Seconds, and a number of attempts.

    Attributes:
        first: until the first byte of an answer: long prompts take their time.
        idle: between two bytes of it.
        whole: for one attempt in all.
        attempts: how often one request is sent at most.
        pause: before the second attempt; doubled for each more up to ``longest``, and shortened at random.
        wait: longest "retry after" of the endpoint that is obeyed.
    """

    first: float = 90.0
    idle: float = 30.0
    whole: float = 300.0
    attempts: int = 5
    pause: float = 0.5
    longest: float = 20.0
    wait: float = 90.0

    def before(self, attempt: int, asked: float | None, rng: random.Random) -> float:
        """Return the seconds to wait before this attempt (1 is the second), never less than the endpoint asked for.

        Half of the pause is random, so that workers that failed together don't retry together.
        """
        pause = min(self.longest, self.pause * 2 ** (attempt - 1)) * rng.uniform(0.5, 1.0)
        return pause if asked is None else asked + pause * 0.1


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the seconds of ``Retry-After``, a number or a date; ``None`` without one that can be read."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) * unit
        except ValueError:
            continue
        return seconds if 0 <= seconds < 1e6 else None
    stated = headers.get("retry-after", "")
    try:
        moment = email.utils.parsedate_to_datetime(stated).timestamp()
    except (ValueError, TypeError, IndexError):
        return None
    return max(0.0, moment - (time.time() if now is None else now))
