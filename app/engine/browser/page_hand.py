"""The part of the hand that works inside a page: what an element is like before it is touched, what changed after.

Its script (``resources/js/hand.js``) runs in the same world as the look's, so that elements are found by their numbers.
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
from app.engine.browser.frames import World, main_world
from app.engine.browser.session import Visit
from app.engine.browser.snapshot import place_of
from app.engine.page_state import PageCapture

PARTS = ("hand.js", "hand_fields.js")
DEEPEST = 10
"""Frames within frames that a point is carried through."""


@dataclass(frozen=True, slots=True)
class Cover:
    """What lies on top of an element: its tag and words, the number of it or of what it lies in (-1 for none), and the
    numbers of what can be acted on in the box it belongs to.
    """

    tag: str
    name: str
    number: int
    inside: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Probe:
    """An element just before it is touched.

    Attributes:
        point: where the pointer reaches it, in the viewport's pixels; ``None`` where it can't.
        kind: ``input date``, ``select``, ``editable``, or its tag.
        active: its state as a toggle, in a form that only equality is asked of.
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
    cover: Cover | None = None
    size: int = 0
    multiple: bool = False

    @property
    def native_list(self) -> bool:
        """A drop-down list whose options the browser draws outside of the page."""
        return self.kind == "select" and not self.multiple and self.size <= 1


@dataclass(frozen=True, slots=True)
class Changes:
    """What is different since ``begin``, over all frames of the page.

    Attributes:
        replaced: another document stands in front.
        own, noisy: places of the page that changed; noisy are those that change by themselves too.
        values: fields whose content changed.  focus: the cursor stands in another field than before.
        typing: it stands in a field.  drawn: a canvas shows something else.
        delivered: what was aimed at got the pointer's event.
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
        """Something on the page is different because of the action, as far as its document tells."""
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


async def ask(world: World, expression: str) -> Any:
    """The value of an expression that uses ``siteloreHand``, which is put there first if need be.

    Raises ``playwright.async_api.Error`` when the frame has gone, ``RuntimeError`` when the expression throws.
    """
    guarded = f"globalThis.siteloreHand === undefined ? '\\u0000absent' : ({expression})"
    answer = await world.call(guarded)
    if answer == "\0absent":
        await world.call(f"void {_script()}")
        answer = await world.call(guarded)
    return answer


class PageHand:
    """The hand's eyes within the page that was looked at last; ``meet`` it after each look."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._worlds: list[World] = []
        self._count = 0
        self._known: dict[tuple[str, int], dict[int, int]] | None = None

    async def meet(self, page: PageCapture, *, amid: bool = False) -> None:
        """Begin to watch the frames of this look; what changes from now on changes by itself.

        ``amid`` an action it goes on being the action's.
        """
        self._count, self._known = len(page.elements), None
        worlds: dict[tuple[str, ...], World] = {}
        for element in page.elements:
            if element.frame not in worlds:
                worlds[element.frame] = place_of(self._visit, element.index)[0]
        if () not in worlds:
            worlds[()] = await main_world(self._visit)
        self._worlds = [worlds[chain] for chain in sorted(worlds, key=len)]
        if not amid:
            await self._everywhere("siteloreHand.rest()")

    async def still_as_seen(self) -> bool:
        """Nothing at all has changed in the document since ``meet``."""
        answers = await self._everywhere("siteloreHand.untouched()")
        return bool(answers) and all(answer is True for answer in answers)

    async def begin(self) -> None:
        """From now on what changes is the action's."""
        await self._everywhere("void siteloreHand.begin()")

    async def changes(self) -> Changes:
        """What is different since ``begin``."""
        answers = await self._everywhere("siteloreHand.changes()")
        if not answers or not isinstance(answers[0], Mapping):
            return Changes(replaced=True)
        told = [cast("Mapping[str, Any]", answer) for answer in answers if isinstance(answer, Mapping)]
        lost = len(answers) - len(told)  # frames that show something else now
        return Changes(
            url=str(told[0]["url"]),
            was=str(told[0]["was"]),
            own=sum(int(one["own"]) for one in told) + lost,
            noisy=sum(int(one["noisy"]) for one in told),
            values=sum(int(one["values"]) for one in told),
            scrolled=any(one["scrolled"] for one in told),
            focus=any(one["focus"] for one in told),
            typing=any(one["typing"] for one in told),
            drawn=any(one["drawn"] for one in told),
            selection=any(one["selection"] for one in told),
            delivered=any(one["delivered"] for one in told),
        )

    async def probe(self, number: int, *, bring: bool = True) -> Probe:
        """What the element of this number is like now; with ``bring`` it is scrolled to where it can be reached.

        Raises ``NoSuchElement`` for a number that the last look does not have.
        """
        world, own = place_of(self._visit, number)
        try:
            facts = await ask(world, f"siteloreHand.probe({own}, {str(bring).lower()})")
            if facts["gone"]:
                return Probe(gone=True)
            cover = self._cover(facts.get("cover"), world)
            spot = facts.get("spot")
            point, outside = (spot[0], spot[1]) if spot else None, bool(facts.get("outside", False))
            rect = tuple(facts["rect"])
            if world.parent is not None and not facts["hidden"]:
                point, rect, outer, outside = await self._carried(world, own, point, rect, bring)
                cover = cover or outer
        except (Error, RuntimeError, TypeError):  # its frame shows something else, or has gone
            return Probe(gone=True)
        return Probe(
            kind=facts["kind"],
            role=facts["role"],
            disabled=facts["disabled"],
            readonly=facts["readonly"],
            hidden=facts["hidden"],
            pointless=facts["pointless"],
            outside=outside and cover is None and point is None,
            active=facts["active"],
            point=point,
            rect=cast("tuple[float, float, float, float]", rect),
            cover=cover if point is None else None,
            size=facts["size"],
            multiple=facts["multiple"],
        )

    async def _carried(
        self,
        world: World,
        number: int,
        point: tuple[float, float] | None,
        rect: Sequence[float],
        bring: bool,
    ) -> tuple[tuple[float, float] | None, Sequence[float], Cover | None, bool]:
        """A frame's point and box in the page's own pixels, what covers the frame there, and whether it is outside."""
        for attempt in (1, 2):
            carried, cover, outside = await self._outward(world, point or (rect[0], rect[1]))
            corner, _, _ = await self._outward(world, (rect[0], rect[1]))
            box = (*corner, rect[2], rect[3])
            if point is None or not (outside or cover) or attempt == 2 or not bring:
                reached = point is not None and not outside and cover is None
                return (carried if reached else None), box, cover, outside
            await ask(world, f"siteloreHand.center({number})")
            facts = await ask(world, f"siteloreHand.probe({number}, false)")
            point, rect = (tuple(facts["spot"]) if facts["spot"] else None), facts["rect"]
        raise AssertionError("unreachable")

    async def _outward(
        self, world: World, point: tuple[float, float]
    ) -> tuple[tuple[float, float], Cover | None, bool]:
        x, y = point
        cover: Cover | None = None
        outside = False
        at, depth = world, 0
        while at.parent is not None and depth < DEEPEST:
            told = await ask(at.parent, f"siteloreHand.outward({at.owner}, {x}, {y})")
            x, y, outside = told["x"], told["y"], outside or bool(told["outside"])
            cover = cover or self._cover(told["cover"], at.parent)
            at, depth = at.parent, depth + 1
        return (x, y), cover, outside

    def _numbers(self, world: World) -> dict[int, int]:
        """A frame's own numbers of elements to the page's."""
        if self._known is None:
            self._known = {}
            for index in range(self._count):
                place, own = place_of(self._visit, index)
                self._known.setdefault((place.frame_id, place.context), {})[own] = index
        return self._known.get((world.frame_id, world.context), {})

    def _cover(self, told: object, world: World) -> Cover | None:
        if not isinstance(told, Mapping):
            return None
        facts = cast("Mapping[str, Any]", told)
        numbers = self._numbers(world)
        inside = tuple(numbers[own] for own in facts["inside"] if own in numbers)
        return Cover(str(facts["tag"]), str(facts["name"]), numbers.get(facts["number"], -1), inside)

    async def _everywhere(self, expression: str) -> list[Any]:
        """Its value in each frame, the page's own first; ``None`` for a frame that has gone."""

        async def one(world: World) -> Any:
            try:
                return await ask(world, expression)
            except (Error, RuntimeError):
                return None

        if len(self._worlds) == 1:
            return [await one(self._worlds[0])]
        return list(await asyncio.gather(*(one(world) for world in self._worlds)))


def literal(text: str) -> str:
    """A text as JavaScript writes it."""
    return orjson.dumps(text).decode().replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
