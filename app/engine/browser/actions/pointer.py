"""Pointer and keyboard of one session."""

from __future__ import annotations

import asyncio
from typing import Literal

from app.engine.browser.actions.pointer_motion import PointerMotion, Waypoint, drag_path
from app.engine.browser.session import BrowserSession

Button = Literal["left", "middle", "right"]
TYPED_LENGTH = 40
"""Texts up to this length are typed key by key; of a longer one only the last character is."""
DRAG_HOLD = 0.02
"""Seconds between pressing and moving in a drag, and between arriving and releasing."""


class Pointer:
    """Moves, clicks, drags and types; plainly, or with ``motion`` as a person's hand moves."""

    def __init__(self, session: BrowserSession, motion: PointerMotion | None = None) -> None:
        self._session = session
        self._motion = motion
        self.at: tuple[float, float] = (0.0, 0.0)

    async def move(self, to: tuple[float, float]) -> None:
        """Move the pointer to a point."""
        if self._motion is not None:
            await self._follow(self._motion.to(self.at, to))
        mouse = self._session.page.mouse
        await mouse.move(*to)
        self.at = to

    async def click(self, at: tuple[float, float], *, button: Button = "left", double: bool = False) -> None:
        """Press and release, once or twice."""
        await self.move(at)
        mouse = self._session.page.mouse
        for count in (1, 2) if double else (1,):
            await self._pause("before")
            await mouse.down(button=button, click_count=count)
            await self._pause("held")
            await mouse.up(button=button, click_count=count)

    async def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag from one point to another."""
        await self.move(start)
        mouse = self._session.page.mouse
        await mouse.down()
        await asyncio.sleep(DRAG_HOLD)
        path = self._motion.dragging(start, end) if self._motion is not None else drag_path(start, end)
        await self._follow(path)
        await mouse.move(*end)
        await asyncio.sleep(DRAG_HOLD)
        await mouse.up()
        self.at = end

    async def wheel(self, dx: float, dy: float) -> None:
        """Turn the wheel at the pointer."""
        await self._session.page.mouse.wheel(dx, dy)

    async def type(self, text: str) -> None:
        """Type at the cursor; all but the end of a long text is inserted at once."""
        keyboard = self._session.page.keyboard
        if self._motion is not None:
            for character, pause in self._motion.typing(text):
                await keyboard.type(character)
                await asyncio.sleep(pause)
            return
        if len(text) > TYPED_LENGTH:
            await keyboard.insert_text(text[:-1])
            text = text[-1:]
        await keyboard.type(text)

    async def press(self, keys: str) -> None:
        """Press a key or a combination; raises ``playwright.async_api.Error`` for an unknown one."""
        await self._session.page.keyboard.press(keys)

    async def _follow(self, path: list[Waypoint]) -> None:
        mouse = self._session.page.mouse
        for x, y, pause in path:
            await mouse.move(x, y)
            if pause:
                await asyncio.sleep(pause)

    async def _pause(self, what: Literal["before", "held"]) -> None:
        if self._motion is not None:
            await asyncio.sleep(self._motion.pause(what))
