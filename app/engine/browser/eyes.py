"""Where a person's hands are on a page that was looked at: the element under a point, the field with the cursor.

Numbers are those of the last look (``app.engine.browser.snapshot``).  A page that does not answer is not waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from playwright.async_api import Error

from app.assets import resource
from app.engine.browser.frames import NoSuchElement, World
from app.engine.browser.session import Visit
from app.engine.browser.snapshot import place_of
from app.engine.page_state import PageCapture

ANSWER = 0.4
"""Seconds a page may take to say what lies where."""
DEEPEST = 8


class Blind(Exception):
    """The page does not say: it is another one than was looked at, it is busy, or it is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldFacts:
    """What a field tells of itself: its ``type``, ``autocomplete`` and the like, and everything it is called."""

    type: str = ""
    autocomplete: str = ""
    mode: str = ""
    most: int = 0
    names: str = ""
    dotted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """What has the cursor.

    Attributes:
        number: of the element in the last look, -1 where it has none.
        typable: keys write into it.  many: Enter begins another line in it.  held: it is the field being held.
        presses: Enter or the space bar press it.
    """

    number: int = -1
    typable: bool = False
    held: bool = False
    many: bool = False
    presses: bool = False
    facts: FieldFacts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What the held field holds: text, or the labels of what is chosen in a list."""

    value: str = ""
    chosen: tuple[str, ...] | None = None


class Eyes:
    """Looks where a person's hands are; ``meet`` each look before asking about it."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._top: World | None = None
        self._below: dict[tuple[str, int, int], World] = {}
        self._numbers: dict[tuple[str, int, int], int] = {}
        self._holder: World | None = None

    async def meet(self, page: PageCapture) -> None:
        """Numbers are of this look from now on; it has to be the last one taken of the visit."""
        self._learn(page)
        if self._top is not None:
            with suppress(Blind):
                await self._ask(self._top, "siteloreEyes.rest()")

    async def moved(self) -> bool:
        """Whether the page's own document has changed since the look.  Raises ``Blind``."""
        return bool(await self._ask(self._known_top(), "siteloreEyes.moved()"))

    def _learn(self, page: PageCapture) -> None:
        self._top = None
        self._below.clear()
        self._numbers.clear()
        for element in page.elements:
            try:
                world, own = place_of(self._visit, element.index)
            except NoSuchElement:
                return
            self._numbers[world.frame_id, world.context, own] = element.index
            self._know(world)

    async def at(self, x: float, y: float) -> tuple[int, bool]:
        """Number of the element under a point of the viewport (-1 for none), and whether it opens a list of choices.

        Raises ``Blind``.
        """
        world = self._known_top()
        for _ in range(DEEPEST):
            told = await self._ask(world, f"siteloreEyes.at({float(x)!r}, {float(y)!r})")
            below = self._below.get((world.frame_id, world.context, int(told["frame"])))
            if below is None:
                return self._number(world, told["number"]), bool(told.get("select"))
            world, x, y = below, float(told["x"]), float(told["y"])
        return -1, False

    async def cursor(self) -> Cursor:
        """What has the cursor.  Raises ``Blind``."""
        world = self._known_top()
        for _ in range(DEEPEST):
            told = await self._ask(world, "siteloreEyes.cursor()")
            below = self._below.get((world.frame_id, world.context, int(told["frame"])))
            if below is None:
                facts = cast("Mapping[str, Any] | None", told.get("facts"))
                return Cursor(
                    number=self._number(world, told["number"]),
                    typable=bool(told["typable"]),
                    held=bool(told["held"]) and self._holds(world),
                    many=bool(told.get("many")),
                    presses=bool(told.get("presses")),
                    facts=FieldFacts(**facts) if facts else None,
                )
            world = below
        return Cursor()

    async def hold(self) -> None:
        """Hold the field that has the cursor.  Raises ``Blind``."""
        self._holder = None
        world = self._known_top()
        for _ in range(DEEPEST):
            told = await self._ask(world, "siteloreEyes.cursor()")
            below = self._below.get((world.frame_id, world.context, int(told["frame"])))
            if below is None:
                await self._ask(world, "siteloreEyes.hold()")
                self._holder = world
                return
            world = below

    async def held(self) -> Held | None:
        """What the held field holds now; ``None`` when it or its page has gone.  Raises ``Blind``."""
        if self._holder is None:
            return None
        told = await self._ask(self._holder, "siteloreEyes.held()")
        if told is None:
            return None
        chosen = cast("list[str] | None", told.get("chosen"))
        return Held(value=str(told.get("value", "")), chosen=tuple(chosen) if chosen is not None else None)

    def _holds(self, world: World) -> bool:
        holder = self._holder
        return holder is not None and (holder.frame_id, holder.context) == (world.frame_id, world.context)

    def _know(self, world: World) -> None:
        at = world
        while at.parent is not None:
            self._below[at.parent.frame_id, at.parent.context, at.owner] = at
            at = at.parent
        self._top = at

    def _known_top(self) -> World:
        if self._top is None:
            raise Blind("there is no look at this page")
        return self._top

    def _number(self, world: World, own: object) -> int:
        return self._numbers.get((world.frame_id, world.context, own if isinstance(own, int) else -1), -1)

    async def _ask(self, world: World, expression: str) -> Any:
        guarded = (
            f"globalThis.sitelore === undefined ? '\\u0000gone' : "
            f"globalThis.siteloreEyes === undefined ? '\\u0000absent' : ({expression})"
        )
        try:
            async with asyncio.timeout(ANSWER):
                answer = await world.call(guarded)
                if answer == "\0absent":
                    await world.call(f"void {_script()}")
                    answer = await world.call(guarded)
        except (Error, RuntimeError, TimeoutError) as error:
            raise Blind(str(error)) from error
        if answer in ("\0gone", "\0absent"):
            raise Blind("the page was replaced")
        return answer


@cache
def _script() -> str:
    return "\n".join(('(() => { "use strict";', resource("js", "eyes.js").read_text("utf-8"), "})()"))
