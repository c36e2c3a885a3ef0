"""Looks that go on in the background while the agent thinks, and how long an action waits for one.

One at a time.  A page that comes while another is looked at is looked at next, if it still is the page then; a look at
an address that was left is given up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from app.engine.agent.model_api import ModelError
from app.engine.agent.vision.answers import UnreadableAnswer
from app.engine.agent.vision.epoch import Epoch
from app.engine.page_state import PageCapture

Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]
"""Starts work in the background and holds it (``JobRegistry.hold``)."""
Look = Callable[[PageCapture], Coroutine[Any, Any, Epoch]]


class Prefetch:
    """The look under way, if there is one.

    Attributes:
        trouble: why the last look brought nothing, "" if it did.
    """

    def __init__(self, look: Look, done: Callable[[Epoch], None], spawn: Spawn) -> None:
        self._look = look
        self._done = done
        self._spawn = spawn
        self._task: asyncio.Task[None] | None = None
        self._page: PageCapture | None = None
        self._next: PageCapture | None = None
        self.trouble = ""
        self.error: ModelError | None = None

    @property
    def pending(self) -> bool:
        """Whether a look is under way."""
        return self._task is not None and not self._task.done()

    def start(self, page: PageCapture) -> None:
        """Look at a page in the background."""
        if self.pending and self._page is not None:
            if self._page.url == page.url:
                self._next = page
                return
            self.cancel()
        self._page, self._next = page, None
        self._task = self._spawn(self._run())

    async def wait(self, seconds: float) -> bool:
        """Let the look under way come to its end; whether it did, and brought something, within these seconds."""
        task = self._task
        if task is None:
            return False
        if not task.done():
            await asyncio.wait({task}, timeout=seconds)
        return task.done() and not self.trouble

    def cancel(self) -> None:
        """Give the look under way up."""
        if self._task is not None:
            self._task.cancel()
        self._task = self._page = self._next = None

    async def aclose(self) -> None:
        """Give the look under way up, and wait until it has ended."""
        task = self._task
        self.cancel()
        if task is not None:
            with suppress(asyncio.CancelledError):
                await task

    async def _run(self) -> None:
        while (page := self._page) is not None:
            self.trouble, self.error = "", None
            try:
                self._done(await self._look(page))
            except ModelError as error:
                self.trouble, self.error = str(error), error
            except UnreadableAnswer as error:
                self.trouble = str(error)
            if self._next is None:
                return
            self._page, self._next = self._next, None
