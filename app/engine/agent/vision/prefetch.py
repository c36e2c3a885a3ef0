"""Vision passes in the background while the agent thinks, and how long an action waits for one.

One at a time. A page that comes during a pass is next, if it still is the page then; a pass over an address that was
left is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from app.engine.agent.vision.answers import UnreadableAnswer
from app.engine.agent.vision.vision_frame import VisionFrame
from app.engine.core.model_api import ModelError
from app.engine.core.page_state import PageCapture

Spawn = Callable[[Coroutine[Any, Any, None]], object]
"""Starts work in the background and keeps it (``JobRegistry.hold``)."""
LookFn = Callable[[PageCapture], Coroutine[Any, Any, VisionFrame]]


@dataclass(slots=True)
class _PendingLook:
    """The pass in progress: its page, and the page to look at next."""

    page: PageCapture
    next: PageCapture | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[Any] | None = None
    given_up: bool = False


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
        self._going: _PendingLook | None = None
        self.trouble = ""
        self.error: ModelError | None = None

    @property
    def pending(self) -> bool:
        """Whether a pass is in progress."""
        return self._going is not None and not self._going.over.is_set()

    @property
    def page(self) -> PageCapture | None:
        """The page that is looked at, or will be as soon as the current pass is over."""
        return (self._going.next or self._going.page) if self._going is not None and self.pending else None

    def start(self, page: PageCapture) -> None:
        """Look at a page in the background."""
        if self._going is not None and self.pending:
            if self._going.page.url == page.url:
                self._going.next = page
                return
            self.cancel()
        self._going = _PendingLook(page)
        self._spawn(self._run(self._going))

    async def wait(self, seconds: float) -> bool:
        """Wait for the pass in progress; return whether it succeeded within these seconds."""
        going = self._going
        if going is None:
            return False
        try:
            async with asyncio.timeout(seconds):
                await going.over.wait()
        except TimeoutError:
            return False
        return not self.trouble

    def cancel(self) -> None:
        """Cancel the pass in progress."""
        going, self._going = self._going, None
        if going is not None:
            going.given_up = True
            if going.task is not None:
                going.task.cancel()

    async def aclose(self) -> None:
        """Cancel the pass in progress, and wait until it has ended."""
        going = self._going
        self.cancel()
        if going is not None and going.task is not None:
            await going.over.wait()

    async def _run(self, going: _PendingLook) -> None:
        going.task = asyncio.current_task()
        page: PageCapture | None = going.page
        try:
            while page is not None and not going.given_up:
                going.page, going.next = page, None
                await self._once(page)
                page = going.next
        finally:
            going.over.set()

    async def _once(self, page: PageCapture) -> None:
        self.trouble, self.error = "the vision pass has not finished", None
        try:
            self._done(await self._look(page))
            self.trouble = ""
        except ModelError as error:
            self.trouble, self.error = str(error), error
        except UnreadableAnswer as error:
            self.trouble = str(error)
