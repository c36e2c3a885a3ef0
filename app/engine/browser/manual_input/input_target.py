"""Tell what a person's input is aimed at: the element under a point, the field with the cursor.

Numbers are those of the last capture. A page that does not answer is not waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from playwright.async_api import Error

from app.engine.browser.capture.frames import IsolatedWorld
from app.engine.browser.capture.snapshot import FrameMap, frame_map
from app.engine.browser.manual_input.press_notes import PressListener, PressNote, input_script
from app.engine.browser.session import BrowserSession
from app.engine.core.page_state import PageCapture

ANSWER_TIMEOUT = 0.25
"""Seconds a page may take to answer a query."""
MAX_FRAME_DEPTH = 8


class PageUnreadable(Exception):
    """The page can't be queried: it is not the captured one, it is ``busy``, or it is gone."""

    def __init__(self, why: str, *, busy: bool = False) -> None:
        super().__init__(why)
        self.busy = busy


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldAttributes:
    """A field's ``type``, ``autocomplete`` and similar attributes, and everything it is called."""

    type: str = ""
    autocomplete: str = ""
    mode: str = ""
    most: int = 0
    names: str = ""
    dotted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FocusedField:
    """The element that has the cursor.

    Attributes:
        generation: number of the capture. number: of the element in it, -1 if it has none.
        typable: keys write into it. many: Enter begins another line in it. held: it is the tracked field.
        presses: Enter or the space bar press it.
        known: the page has answered; nothing is known while it is busy.
    """

    generation: int = 0
    number: int = -1
    typable: bool = False
    held: bool = False
    many: bool = False
    presses: bool = False
    known: bool = False
    facts: FieldAttributes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldContent:
    """Content of the tracked field: its text, or the labels chosen in a list."""

    value: str = ""
    chosen: tuple[str, ...] | None = None


class InputTarget:
    """Finds what a person's input is aimed at.

    Attributes:
        presses: tells what was pressed.

    Captures are numbered and registered before they are queried; the previous one stays known, so that
    input need not wait while a capture is being taken.
    """

    def __init__(self, session: BrowserSession) -> None:
        self._session = session
        self._maps: dict[int, FrameMap] = {}
        self._newest = FrameMap(None, {}, {})
        self._holder: IsolatedWorld | None = None
        self._pressed: tuple[IsolatedWorld | None, float, float] = (None, 0.0, 0.0)
        self.presses = PressListener(session, lambda: self._newest.worlds)

    async def meet(self, page: PageCapture, generation: int) -> None:
        """Register the newest capture of the session; its number is larger than those before."""
        newest = frame_map(self._session, page)
        self._maps = {**dict(list(self._maps.items())[-1:]), generation: newest}
        await self.presses.listen()
        for wire in {world.wire for world in newest.worlds}:
            with suppress(Error):
                await self.presses.hear(wire)
        for world in newest.worlds:
            with suppress(PageUnreadable):
                await self._ask(world, f"siteloreInput.rest({generation})")
        self._newest = newest

    async def moved(self) -> bool:
        """Whether the page's own document has changed since the capture. Raises ``PageUnreadable``."""
        return bool(await self._ask(self._top(), "siteloreInput.moved()"))

    async def at(self, x: float, y: float) -> tuple[int, int]:
        """Return what is under a point of the viewport: number of the capture and of the element in it (-1
        for none).

        Raises ``PageUnreadable``.
        """
        world = self._top()
        for _ in range(MAX_FRAME_DEPTH):
            told = await self._ask(world, f"siteloreInput.at({float(x)!r}, {float(y)!r})")
            below = self._below(world, told["frame"])
            if below is None:
                generation = int(told["generation"])
                return generation, self._number(generation, world, told["number"])
            world, x, y = below, float(told["x"]), float(told["y"])
        raise PageUnreadable("the frames of this page are nested too deep")

    def number_of(self, note: PressNote) -> int:
        """Return the number of what was pressed in the capture the note speaks of, -1 for none."""
        return self._number(note.generation, note.world, note.number)

    def content_in(self, note: PressNote) -> FieldContent | None:
        """Return the tracked field's content at a press; ``None`` where another frame has to be asked."""
        return _content(note.held) if self._holder is not None and self._holds(note.world) else None

    def opened(self, note: PressNote, x: float, y: float) -> None:
        """Track the list of choices that a press at this point of the viewport opened."""
        self._pressed = note.world, x - note.x, y - note.y
        self._holder = note.world

    async def open_list(self) -> bool:
        """Show the options of the list with the cursor, and track it; return whether there are any.

        What a browser draws itself is in no screenshot of the page. Raises ``PageUnreadable``.
        """
        world = (await self._cursor())[0]
        self._pressed = world, 0.0, 0.0
        if not await self._ask(world, "siteloreInput.open(true)"):
            return False
        self._holder = world
        return True

    async def choose(self, deed: str, x: float = 0.0, y: float = 0.0) -> tuple[bool, str | None]:
        """Operate the open list: ``press`` a point of the viewport, ``step`` by ``y`` rows, ``scroll``,
        ``take`` or ``shut``. Return whether it is still open, and the label that was chosen.

        Raises ``PageUnreadable``.
        """
        world, left, top = self._pressed
        if world is None:
            return False, None
        if deed == "press":
            x, y = x - left, y - top
        told = await self._ask(world, f"siteloreInput.choose({deed!r}, {float(x)!r}, {float(y)!r})")
        return bool(told["open"]), told["chosen"]

    async def cursor(self) -> FocusedField:
        """Return the element that has the cursor. Raises ``PageUnreadable``."""
        world, told = await self._cursor()
        facts = cast("Mapping[str, Any] | None", told.get("facts"))
        generation = int(told["generation"])
        return FocusedField(
            generation=generation,
            number=self._number(generation, world, told["number"]),
            typable=bool(told["typable"]),
            held=bool(told["held"]) and self._holds(world),
            many=bool(told.get("many")),
            presses=bool(told.get("presses")),
            known=True,
            facts=FieldAttributes(**facts) if facts else None,
        )

    async def hold(self) -> None:
        """Track the field that has the cursor. Raises ``PageUnreadable``."""
        self._holder = None
        world, _ = await self._cursor()
        await self._ask(world, "siteloreInput.hold()")
        self._holder = world

    async def held(self) -> FieldContent | None:
        """Return the content of the tracked field; ``None`` if it or its page is gone. Raises ``PageUnreadable``."""
        if self._holder is None:
            return None
        return _content(await self._ask(self._holder, "siteloreInput.held()"))

    async def _cursor(self) -> tuple[IsolatedWorld, Mapping[str, Any]]:
        world = self._top()
        for _ in range(MAX_FRAME_DEPTH):
            told = await self._ask(world, "siteloreInput.cursor()")
            below = self._below(world, told["frame"])
            if below is None:
                return world, told
            world = below
        raise PageUnreadable("the frames of this page are nested too deep")

    def _holds(self, world: IsolatedWorld) -> bool:
        holder = self._holder
        return holder is not None and (holder.frame_id, holder.context) == (world.frame_id, world.context)

    def _top(self) -> IsolatedWorld:
        if self._newest.top is None:
            raise PageUnreadable("there is no look at this page")
        return self._newest.top

    def _below(self, world: IsolatedWorld, frame: object) -> IsolatedWorld | None:
        return self._newest.below.get(
            (world.frame_id, world.context, frame if isinstance(frame, int) else -1)
        )

    def _number(self, generation: int, world: IsolatedWorld, own: object) -> int:
        known = self._maps.get(generation)
        place = (world.frame_id, world.context, own if isinstance(own, int) else -1)
        return known.numbers.get(place, -1) if known is not None else -1

    async def _ask(self, world: IsolatedWorld, expression: str) -> Any:
        guarded = (
            f"globalThis.sitelore === undefined ? '\\u0000gone' : "
            f"globalThis.siteloreInput === undefined ? '\\u0000absent' : ({expression})"
        )
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                answer = await world.call(guarded)
                if answer == "\0absent":
                    await world.call(f"void {input_script()}")
                    answer = await world.call(guarded)
        except TimeoutError as error:
            raise PageUnreadable("the page is busy", busy=True) from error
        except (Error, RuntimeError) as error:
            raise PageUnreadable(str(error)) from error
        if answer in ("\0gone", "\0absent"):
            raise PageUnreadable("the page was replaced")
        return answer


def _content(told: Mapping[str, Any] | None) -> FieldContent | None:
    if told is None:
        return None
    chosen = cast("list[str] | None", told.get("chosen"))
    return FieldContent(
        value=str(told.get("value", "")), chosen=tuple(chosen) if chosen is not None else None
    )
