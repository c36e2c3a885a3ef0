"""Forward a person's mouse and keyboard input from a window to the tab in front, in order.

Input that arrives faster than the page answers is queued, and consecutive mouse moves are merged. A
page that does not answer (it shows a dialog, or its script is busy) is not waited for.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from playwright.async_api import CDPSession, Error, Page

from app.engine.browser.manual_input.key_events import key_event
from app.engine.browser.session import BrowserSession
from app.engine.core.page_input import InputKind, MouseButton, PageInput

ANSWER_TIMEOUT = 0.5
"""Seconds a page may take to answer one event before the next is sent."""
MAX_QUEUED = 2_000
"""Events kept for a slow page; older ones are dropped."""
MAX_UNANSWERED = 32
"""Mouse events sent without waiting for the page's answer to the first."""
MAX_TEXT_LENGTH = 1_000_000
MAX_WHEEL_DISTANCE = 100_000.0
"""CSS pixels that one turn of the wheel may scroll."""
MAX_DONE_KEPT = 64
"""Events whose completion time is remembered."""

_BITS = {MouseButton.NONE: 0, MouseButton.LEFT: 1, MouseButton.RIGHT: 2, MouseButton.MIDDLE: 4}


class InputForwarder:
    """Forwards one person's input to one session.

    Attributes:
        pointer: position of the pointer, CSS pixels of the viewport; ``None`` before it was moved.
    """

    def __init__(self, session: BrowserSession) -> None:
        self._session = session
        self._queue: deque[PageInput] = deque()
        self._busy = asyncio.Lock()
        self._page: Page | None = None
        self._wire: CDPSession | None = None
        self._down: set[MouseButton] = set()
        self._keys: dict[str, PageInput] = {}
        self._done: deque[tuple[float, float]] = deque(maxlen=MAX_DONE_KEPT)
        self.pointer: tuple[float, float] | None = None

    async def send(self, inputs: Sequence[PageInput]) -> None:
        """Forward these after earlier ones; return when they are done or the page has had its time to answer.

        Never raises for what a page, a tab or a browser does.
        """
        for one in inputs:
            self._put(one)
        async with self._busy:
            while self._queue:
                group = self._next()
                with suppress(Error, TimeoutError, IndexError):  # the tab is gone, and its input with it
                    wire = await self._connected()
                    # The browser keeps mouse events in order; a key has to wait for the focus that a click sets.
                    await asyncio.gather(*(self._do(wire, one) for one in group))

    async def lift(self) -> None:
        """Release every button and key that is held down."""
        x, y = self.pointer or (0.0, 0.0)
        held = [
            PageInput(kind=InputKind.RELEASE, button=button, x=x, y=y)
            for button in sorted(self._down, key=lambda button: button.value)
        ]
        keys = [PageInput(kind=InputKind.KEY_UP, key=one.key, code=one.code) for one in self._keys.values()]
        await self.send([*held, *keys])

    def done_by(self, at: float) -> float:
        """Return the sender's clock (``PageInput.at``) of the newest input done by then (Unix seconds); 0 for none."""
        return max((sent for done, sent in self._done if done <= at), default=0.0)

    def _put(self, one: PageInput) -> None:
        last = self._queue[-1] if self._queue else None
        if last is not None and last.kind is one.kind is InputKind.MOVE and last.modifiers == one.modifiers:
            self._queue[-1] = one
            return
        if len(self._queue) >= MAX_QUEUED:
            self._queue.popleft()
        self._queue.append(one)

    def _next(self) -> list[PageInput]:
        """Take the events that are sent without waiting in between, in order."""
        group = [self._queue.popleft()]
        while (
            group[-1].kind in _MOUSE
            and self._queue
            and self._queue[0].kind in _MOUSE
            and len(group) < MAX_UNANSWERED
        ):
            group.append(self._queue.popleft())
        return group

    def _note(self, one: PageInput) -> None:
        if one.at:
            self._done.append((time.time(), one.at))
        if one.kind in _MOUSE:
            self.pointer = (one.x, one.y)

    async def _do(self, wire: CDPSession, one: PageInput) -> None:
        method, parameters = self._event(one)
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(ANSWER_TIMEOUT):
                await wire.send(method, parameters)
        self._note(one)

    def _event(self, one: PageInput) -> tuple[str, dict[str, Any]]:
        if one.kind in _MOUSE:
            return "Input.dispatchMouseEvent", self._mouse(one)
        if one.kind is InputKind.TEXT:
            return "Input.insertText", {"text": one.text[:MAX_TEXT_LENGTH]}
        if one.kind is InputKind.KEY_DOWN:
            self._keys[one.code or one.key] = one
        else:
            self._keys.pop(one.code or one.key, None)
        return "Input.dispatchKeyEvent", key_event(one)

    def _mouse(self, one: PageInput) -> dict[str, Any]:
        if one.kind is InputKind.PRESS:
            self._down.add(one.button)
        elif one.kind is InputKind.RELEASE:
            self._down.discard(one.button)
        event: dict[str, Any] = {
            "type": _MOUSE[one.kind],
            "x": one.x,
            "y": one.y,
            "modifiers": one.modifiers & 15,
            "button": (one.button if one.kind is not InputKind.MOVE else self._held()).value,
            "buttons": sum(_BITS[button] for button in self._down),
            "pointerType": "mouse",
        }
        if one.kind in (InputKind.PRESS, InputKind.RELEASE):
            event["clickCount"] = min(max(one.clicks, 1), 3)
        elif one.kind is InputKind.WHEEL:
            event |= {"deltaX": _bounded(one.dx), "deltaY": _bounded(one.dy), "button": "none"}
        return event

    def _held(self) -> MouseButton:
        for button in (MouseButton.LEFT, MouseButton.MIDDLE, MouseButton.RIGHT):
            if button in self._down:
                return button
        return MouseButton.NONE

    async def _connected(self) -> CDPSession:
        """Return the connection to the tab in front; buttons held down in another tab are released."""
        page = self._session.page
        if self._wire is None or page is not self._page:
            self._wire = None
            self._down.clear()
            self._keys.clear()
            async with asyncio.timeout(ANSWER_TIMEOUT * 4):
                self._wire = await page.context.new_cdp_session(page)
            self._page = page
        return self._wire


_MOUSE = {
    InputKind.MOVE: "mouseMoved",
    InputKind.PRESS: "mousePressed",
    InputKind.RELEASE: "mouseReleased",
    InputKind.WHEEL: "mouseWheel",
}


def _bounded(turn: float) -> float:
    return max(-MAX_WHEEL_DISTANCE, min(MAX_WHEEL_DISTANCE, turn)) if turn == turn else 0.0
