"""Vision passes in the background while the agent thinks, and how long an action waits for one.

One at a time. A page that comes during a pass is next, if it still is the page then; a pass over an address that was
left is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from app.engine.agent.vision.answers import UnreadableAnswer
from app.engine.agent.vision.vision_frame import VisionFrame
from app.engine.core.model_api import ModelError
from app.engine.core.page_state import PageCapture

Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[Any]]
"""Starts work in the background and keeps it (``JobRegistry.hold``)."""
LookFn = Callable[[PageCapture], Coroutine[Any, Any, VisionFrame]]


class Prefetch:
    """The pass in progress, if there is one.

    Attributes:
        trouble: why the last pass brought nothing, "" if it did.
        error: the same where the model gave no answer.
    """

    def __init__(self, look: LookFn, done: Callable[[VisionFrame], None], spawn: Spawn) -> None:
        self._look = look
        self._done = done
        self._spawn = spawn
        self._task: asyncio.Task[Any] | None = None
        self._page: PageCapture | None = None
        self._next: PageCapture | None = None
        self.trouble = ""
        self.error: ModelError | None = None

    @property
    def pending(self) -> bool:
        """Whether a pass is in progress."""
        return self._task is not None and not self._task.done()

    @property
    def page(self) -> PageCapture | None:
        """The page that is looked at, or will be as soon as the current pass is over."""
        return (self._next or self._page) if self.pending else None

    def start(self, page: PageCapture) -> None:
        """Look at a page in the background."""
        if self.pending and self._page is not None and self._page.url == page.url:
            self._next = page
            return
        self.cancel()
        self._page, self._next = page, None
        self._task = self._spawn(self._run(page))

    async def wait(self, seconds: float) -> bool:
        """Wait for the pass in progress; return whether it succeeded within these seconds."""
        task = self._task
        if task is None:
            return False
        await asyncio.wait([task], timeout=seconds)
        return task.done() and not self.trouble

    def cancel(self) -> None:
        """Cancel the pass in progress."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()

    async def aclose(self) -> None:
        """Cancel the pass in progress, and wait until it has ended."""
        task = self._task
        self.cancel()
        if task is not None:
            await asyncio.wait([task])

    async def _run(self, page: PageCapture | None) -> None:
        while page is not None:
            self._page, self._next = page, None
            await self._once(page)
            page = self._next

    async def _once(self, page: PageCapture) -> None:
        self.trouble, self.error = "the vision pass has not finished", None
        try:
            self._done(await self._look(page))
            self.trouble = ""
        except ModelError as error:
            self.trouble, self.error = str(error), error
        except UnreadableAnswer as error:
            self.trouble = str(error)
