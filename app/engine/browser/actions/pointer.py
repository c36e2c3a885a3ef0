"""Pointer and keyboard of one session."""

from __future__ import annotations

import asyncio
from typing import Literal

from app.engine.browser.session import BrowserSession

Button = Literal["left", "middle", "right"]
TYPED_LENGTH = 40
"""Texts up to this length are typed key by key; of a longer one only the last character is."""
DRAG_HOLD = 0.02
"""Seconds between pressing and moving in a drag, and between arriving and releasing."""
DRAG_STEPS = (0.02, *(step / 10 for step in range(1, 11)))
"""Shares of a drag's way at which the pointer moves: a short move first, which begins the drag."""


class Pointer:
    """Moves, clicks, drags and types."""

    def __init__(self, session: BrowserSession) -> None:
        self._session = session

    async def move(self, to: tuple[float, float]) -> None:
        """Move the pointer to a point."""
        await self._session.page.mouse.move(*to)

    async def click(self, at: tuple[float, float], *, button: Button = "left", double: bool = False) -> None:
        """Press and release, once or twice."""
        mouse = self._session.page.mouse
        await mouse.move(*at)
        for count in (1, 2) if double else (1,):
            await mouse.down(button=button, click_count=count)
            await mouse.up(button=button, click_count=count)

    async def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag from one point to another."""
        mouse = self._session.page.mouse
        await mouse.move(*start)
        await mouse.down()
        await asyncio.sleep(DRAG_HOLD)
        for share in DRAG_STEPS:
            await mouse.move(start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share)
        await asyncio.sleep(DRAG_HOLD)
        await mouse.up()

    async def wheel(self, dx: float, dy: float) -> None:
        """Turn the wheel at the pointer."""
        await self._session.page.mouse.wheel(dx, dy)

    async def type(self, text: str) -> None:
        """Type at the cursor; all but the end of a long text is inserted at once."""
        keyboard = self._session.page.keyboard
        if len(text) > TYPED_LENGTH:
            await keyboard.insert_text(text[:-1])
            text = text[-1:]
        await keyboard.type(text)

    async def press(self, keys: str) -> None:
        """Press a key or a combination; raises ``playwright.async_api.Error`` for an unknown one."""
        await self._session.page.keyboard.press(keys)
