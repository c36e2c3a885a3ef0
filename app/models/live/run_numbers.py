"""Numbers of runs: assigned once, kept for the run's life, typed to open it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

REUSE_SECONDS = 600.0
"""The number of a dismissed run is not reused for this long: operators remember it."""
SECOND_DIGIT = 1.0
"""Seconds within which a second digit continues the number."""


class RunNumbers:
    """Each run has the smallest number free at its start; only dismissing the run frees it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._of: dict[str, int] = {}
        self._runs: dict[int, str] = {}
        self._freed: dict[int, float] = {}
        self._typed, self._typed_at = "", float("-inf")

    def of(self, run: str) -> int:
        """A run's number, 0 for one that has none."""
        return self._of.get(run, 0)

    def run_of(self, number: int) -> str:
        """Return the run with a number, "" for none."""
        return self._runs.get(number, "")

    def give(self, run: str) -> int:
        """Return the run's number, assigning one if needed."""
        if run not in self._of:
            now = self._clock()
            self._freed = {n: at for n, at in self._freed.items() if now - at < REUSE_SECONDS}
            number = 1
            while number in self._runs or number in self._freed:
                number += 1
            self._take(run, number)
        return self._of[run]

    def free(self, run: str) -> None:
        """Free the number of a run that was dismissed."""
        number = self._of.pop(run, 0)
        if number:
            del self._runs[number]
            self._freed[number] = self._clock()

    def keep_only(self, runs: set[str]) -> None:
        """Free the numbers of all other runs."""
        for run in [run for run in self._of if run not in runs]:
            self.free(run)

    def _take(self, run: str, number: int) -> None:
        self._of[run], self._runs[number] = number, run

    # ------------------------------------------------------------ session
    @property
    def saved(self) -> dict[str, int]:
        """Numbers by run, for the session."""
        return dict(self._of)

    def restore(self, saved: object) -> None:
        """Take the numbers of a session; malformed and taken ones are ignored."""
        if not isinstance(saved, Mapping):
            return
        for run, number in saved.items():  # pyright: ignore[reportUnknownVariableType]
            self._restore_one(run, number)

    def _restore_one(self, run: Any, number: Any) -> None:
        fits = isinstance(run, str) and isinstance(number, int) and not isinstance(number, bool)
        if fits and number > 0 and run not in self._of and number not in self._runs:
            self._take(run, number)

    # ------------------------------------------------------------ typing
    def typed(self, digit: int) -> tuple[int, str]:
        """Return the number typed so far, and its run: ``1`` and soon after ``2`` is 12 if a run has that number.

        Where none has, the newest digit begins another number.
        """
        now = self._clock()
        going_on = self._typed if now - self._typed_at < SECOND_DIGIT else ""
        for text in dict.fromkeys((going_on + str(digit), str(digit))):
            if self.run_of(int(text)) or self._begins(text):
                break
        else:
            text = str(digit)
        self._typed, self._typed_at = text, now
        return int(text), self.run_of(int(text))

    def _begins(self, text: str) -> bool:
        """Whether a longer number begins like this."""
        return text != "0" and any(str(number).startswith(text) for number in self._runs)
