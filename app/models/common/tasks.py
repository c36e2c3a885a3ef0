"""Coroutines started from the window: held until they end, answered on the window's loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

log = logging.getLogger(__name__)

T = TypeVar("T")


class Tasks(QObject):
    """Starts coroutines for view-models, which stay plain functions.

    A ``key`` makes a task the only one of its kind: a newer one cancels it, so an outdated answer never arrives.
    Errors go to ``failed`` or else, as a sentence, to the signal ``error``.
    """

    error = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._keyed: dict[str, asyncio.Task[Any]] = {}
        self._closing = False

    def start(
        self,
        work: Coroutine[Any, Any, T],
        then: Callable[[T], None] | None = None,
        failed: Callable[[Exception], None] | None = None,
        key: str = "",
        delay: float = 0.0,
    ) -> None:
        """Run ``work`` (after ``delay`` seconds), then ``then(result)``."""
        if self._closing:
            work.close()
            return
        if key:
            self.cancel(key)
        loop = asyncio.get_running_loop()
        task = loop.create_task(self._run(work, then, failed, delay))
        self._tasks.add(task)
        if key:
            self._keyed[key] = task
        task.add_done_callback(lambda ended: self._ended(ended, work, key))

    def cancel(self, key: str) -> None:
        task = self._keyed.pop(key, None)
        if task is not None:
            task.cancel()

    async def aclose(self) -> None:
        """Cancel the running tasks and wait for them; nothing starts afterwards."""
        self._closing = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(
        self,
        work: Coroutine[Any, Any, T],
        then: Callable[[T], None] | None,
        failed: Callable[[Exception], None] | None,
        delay: float,
    ) -> None:
        if delay:
            await asyncio.sleep(delay)
        try:
            result = await work
        except Exception as error:  # noqa: BLE001 the boundary between engine and window
            self._tell(error, failed)
            return
        if then is not None:
            then(result)

    def _tell(self, error: Exception, failed: Callable[[Exception], None] | None) -> None:
        if failed is not None:
            failed(error)
            return
        if not hasattr(error, "exit_code"):
            log.error("a task of the window failed", exc_info=error)
        self.error.emit(str(error) or type(error).__name__)

    def _ended(self, task: asyncio.Task[Any], work: Coroutine[Any, Any, Any], key: str) -> None:
        work.close()  # a task cancelled before its first turn never awaited it
        self._tasks.discard(task)
        if key and self._keyed.get(key) is task:
            del self._keyed[key]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("an answer could not be shown", exc_info=error)
            self.error.emit(f"{type(error).__name__}: {error}")


def ignore(_error: Exception) -> None:
    """Ignore a failure that changes nothing on screen: what is shown stays, or another answer reports it."""
