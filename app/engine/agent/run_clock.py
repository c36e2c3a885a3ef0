"""The clock of a run, and waiting for the first of several coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class RunClock:
    """Seconds a run was active (``own``) and was held; neither counts before its start and after its end."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._own = self._held = 0.0
        self._goes, self._since = "", clock()

    @property
    def own(self) -> float:
        """Seconds it was not held."""
        return self._own + (self._clock() - self._since if self._goes == "own" else 0.0)

    @property
    def held(self) -> float:
        """Seconds it was held."""
        return self._held + (self._clock() - self._since if self._goes == "held" else 0.0)

    def run(self, *, own: bool, held: bool) -> None:
        """Select the clock that runs from now on; at most one does."""
        self._own, self._held = self.own, self.held
        self._since = self._clock()
        self._goes = "own" if own else "held" if held else ""


async def first_completed(*waits: Coroutine[Any, Any, T]) -> T:
    """Return the result of the first to end and cancel the others.  Raises the exception of one that fails first."""
    tasks: list[asyncio.Task[T]] = []
    first: list[asyncio.Task[T]] = []

    def over(task: asyncio.Task[T]) -> None:
        if not first and not task.cancelled():
            first.append(task)
            for other in tasks:
                other.cancel()

    try:
        async with asyncio.TaskGroup() as group:
            for wait in waits:
                task = group.create_task(wait)
                task.add_done_callback(over)
                tasks.append(task)
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return first[0].result()
