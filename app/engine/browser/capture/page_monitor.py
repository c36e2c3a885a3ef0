"""Query a page from within: what an element is like before an action, and what changed after it.

The script (``resources/js/page_monitor.js``) runs in the same world as the capture's: elements have the same numbers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import orjson
from playwright.async_api import Error

from app.assets import resource
from app.engine.browser.capture.frames import IsolatedWorld, main_world
from app.engine.browser.capture.snapshot import FrameMap, element_location, frame_map
from app.engine.browser.session import BrowserSession
from app.engine.core.page_state import PageCapture

PARTS = ("page_monitor.js", "page_fields.js")
_PROBED = ("kind", "role", "disabled", "readonly", "hidden", "pointless", "active", "size", "multiple")
"""Facts of an element that its probe takes over as they are."""
MAX_FRAME_DEPTH = 10
"""Maximum frame nesting through which a point is converted."""


@dataclass(frozen=True, slots=True)
class CoveringElement:
    """The thing on top of an element: its tag and words, the number of it or its container (-1 for none),
    and the numbers of the operable elements in the box it belongs to.
    """

    tag: str
    name: str
    number: int
    inside: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ElementProbe:
    """An element just before it is operated.

    Attributes:
        point: where the pointer reaches it, in the viewport's pixels; ``None`` if it can't.
        kind: ``input date``, ``select``, ``editable``, or its tag.
        active: its state as a toggle, compared for equality only.
        rect: left, top, width, height within the page's viewport.
    """

    gone: bool = False
    kind: str = ""
    role: str = ""
    disabled: bool = False
    readonly: bool = False
    hidden: bool = False
    pointless: bool = False
    outside: bool = False
    active: str = ""
    point: tuple[float, float] | None = None
    rect: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    cover: CoveringElement | None = None
    size: int = 0
    multiple: bool = False

    @property
    def native_list(self) -> bool:
        """Whether it is a drop-down list whose options the browser draws outside the page."""
        return self.kind == "select" and not self.multiple and self.size <= 1


@dataclass(frozen=True, slots=True)
class PageChanges:
    """Differences since ``begin``, over all frames of the page.

    Attributes:
        replaced: another document is in front.
        own, noisy: numbers of nodes that changed; noisy are those that also change by themselves.
        values: fields whose content changed. focus: the cursor is in another field than before.
        typing: it is in a field. drawn: a canvas shows something else.
        delivered: the target received the pointer's event.
    """

    replaced: bool = False
    url: str = ""
    was: str = ""
    own: int = 0
    noisy: int = 0
    values: int = 0
    scrolled: bool = False
    focus: bool = False
    typing: bool = False
    drawn: bool = False
    selection: bool = False
    delivered: bool = False

    @property
    def any(self) -> bool:
        """Whether the action changed something on the page, as far as its document tells."""
        return bool(
            self.replaced
            or self.own
            or self.values
            or self.scrolled
            or self.focus
            or self.drawn
            or self.selection
        ) or (self.url != self.was)


@cache
def _script() -> str:
    parts = [resource("js", part).read_text(encoding="utf-8") for part in PARTS]
    return "\n".join(('(() => { "use strict";', *parts, "})()"))


async def ask_page(world: IsolatedWorld, expression: str) -> Any:
    """Evaluate an expression that uses ``siteloreMonitor``, which is installed first if need be.

    Raises ``playwright.async_api.Error`` when the frame is gone, ``RuntimeError`` when the expression throws.
    """
    guarded = f"globalThis.siteloreMonitor === undefined ? '\\u0000absent' : ({expression})"
    answer = await world.call(guarded)
    if answer == "\0absent":
        await world.call(f"void {_script()}")
        answer = await world.call(guarded)
    return answer


class PageMonitor:
    """Watches the last captured page from within; call ``meet`` after each capture."""

    def __init__(self, session: BrowserSession) -> None:
        self._session = session
        self._worlds: list[IsolatedWorld] = []
        self._page = PageCapture(url="")
        self._places: FrameMap | None = None

    async def meet(self, page: PageCapture, *, amid: bool = False) -> None:
        """Start watching the frames of this capture; changes from now on are the page's own.

        With ``amid`` they are still the running action's.
        """
        self._page, self._places = page, None
        worlds: dict[tuple[str, ...], IsolatedWorld] = {}
        for element in page.elements:
            if element.frame not in worlds:
                worlds[element.frame] = element_location(self._session, element.index)[0]
        if () not in worlds:
            worlds[()] = await main_world(self._session)
        self._worlds = [worlds[chain] for chain in sorted(worlds, key=len)]
        if not amid:
            await self._everywhere("siteloreMonitor.rest()")

    async def is_unchanged(self) -> bool:
        """Whether nothing at all has changed in the document since ``meet``."""
        answers = await self._everywhere("siteloreMonitor.untouched()")
        return bool(answers) and all(answer is True for answer in answers)

    async def begin(self) -> None:
        """Attribute changes from now on to the action."""
        await self._everywhere("void siteloreMonitor.begin()")

    async def changes(self) -> PageChanges:
        """Return what is different since ``begin``."""
        answers = await self._everywhere("siteloreMonitor.changes()")
        if not answers or not isinstance(answers[0], Mapping):
            return PageChanges(replaced=True)
        told = [cast("Mapping[str, Any]", answer) for answer in answers if isinstance(answer, Mapping)]
        lost = len(answers) - len(told)  # frames that were replaced
        return PageChanges(
            url=str(told[0]["url"]),
            was=str(told[0]["was"]),
            own=sum(int(one["own"]) for one in told) + lost,
            noisy=sum(int(one["noisy"]) for one in told),
            values=sum(int(one["values"]) for one in told),
            **{
                name: any(one[name] for one in told)
                for name in ("scrolled", "focus", "typing", "drawn", "selection", "delivered")
            },
        )

    async def probe(self, number: int, *, bring: bool = True) -> ElementProbe:
        """Return the current state of an element; with ``bring`` it is scrolled to where it can be reached.

        Raises ``NoSuchElement`` for a number that the last capture does not have.
        """
        world, own = element_location(self._session, number)
        try:
            facts = await ask_page(world, f"siteloreMonitor.probe({own}, {str(bring).lower()})")
            if facts["gone"]:
                return ElementProbe(gone=True)
            cover = self._cover(facts.get("cover"), world)
            spot = facts.get("spot")
            point, outside = (spot[0], spot[1]) if spot else None, bool(facts.get("outside", False))
            rect = tuple(facts["rect"])
            if world.parent is not None and not facts["hidden"]:
                point, rect, outer, outside = await self._carried(world, own, point, rect, bring)
                cover = cover or outer
        except (Error, RuntimeError, TypeError):  # its frame was replaced or is gone
            return ElementProbe(gone=True)
        return ElementProbe(
            **{name: facts[name] for name in _PROBED},
            outside=outside and cover is None and point is None,
            point=point,
            rect=cast("tuple[float, float, float, float]", rect),
            cover=cover if point is None else None,
        )

    async def _carried(
        self,
        world: IsolatedWorld,
        number: int,
        point: tuple[float, float] | None,
        rect: Sequence[float],
        bring: bool,
    ) -> tuple[tuple[float, float] | None, Sequence[float], CoveringElement | None, bool]:
        """Convert a frame's point and box to the page's pixels; return also what covers the frame there, and
        whether it is outside.
        """
        for attempt in (1, 2):
            carried, cover, outside = await self._outward(world, point or (rect[0], rect[1]))
            corner, _, _ = await self._outward(world, (rect[0], rect[1]))
            box = (*corner, rect[2], rect[3])
            if point is None or not (outside or cover) or attempt == 2 or not bring:
                reached = point is not None and not outside and cover is None
                return (carried if reached else None), box, cover, outside
            await ask_page(world, f"siteloreMonitor.center({number})")
            facts = await ask_page(world, f"siteloreMonitor.probe({number}, false)")
            point, rect = (tuple(facts["spot"]) if facts["spot"] else None), facts["rect"]
        raise AssertionError("unreachable")

    async def _outward(
        self, world: IsolatedWorld, point: tuple[float, float]
    ) -> tuple[tuple[float, float], CoveringElement | None, bool]:
        x, y = point
        cover: CoveringElement | None = None
        outside = False
        at, depth = world, 0
        while at.parent is not None and depth < MAX_FRAME_DEPTH:
            told = await ask_page(at.parent, f"siteloreMonitor.outward({at.owner}, {x}, {y})")
            x, y, outside = told["x"], told["y"], outside or bool(told["outside"])
            cover = cover or self._cover(told["cover"], at.parent)
            at, depth = at.parent, depth + 1
        return (x, y), cover, outside

    def _cover(self, told: object, world: IsolatedWorld) -> CoveringElement | None:
        if not isinstance(told, Mapping):
            return None
        facts = cast("Mapping[str, Any]", told)
        if self._places is None:
            self._places = frame_map(self._session, self._page)
        number, *inside = (
            self._places.numbers.get((world.frame_id, world.context, own), -1)
            for own in (facts["number"], *facts["inside"])
        )
        known = tuple(index for index in inside if index >= 0)
        return CoveringElement(str(facts["tag"]), str(facts["name"]), number, known)

    async def _everywhere(self, expression: str) -> list[Any]:
        """Evaluate in each frame, the page's own first; ``None`` for a frame that is gone."""

        async def one(world: IsolatedWorld) -> Any:
            try:
                return await ask_page(world, expression)
            except (Error, RuntimeError):
                return None

        if len(self._worlds) == 1:
            return [await one(self._worlds[0])]
        return list(await asyncio.gather(*(one(world) for world in self._worlds)))


def js_literal(text: str) -> str:
    """Return a text as a JavaScript literal."""
    return orjson.dumps(text).decode().replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
