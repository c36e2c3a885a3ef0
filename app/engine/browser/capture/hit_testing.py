"""Hit testing: find the elements under points of the page, through frames and open shadow roots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import orjson
from playwright.async_api import Error

from app.assets import resource
from app.engine.browser.capture.frames import IsolatedWorld, NoSuchElement
from app.engine.browser.capture.snapshot import element_location
from app.engine.browser.session import BrowserSession
from app.engine.core.actions.types import Point
from app.engine.core.page_state import PageCapture

OPAQUE = -1
"""Marks a frame that could not be read in a stack."""
FRAME = 1


@dataclass(slots=True)
class _FrameNumbers:
    """One frame of the capture: its element numbers mapped to the page's, and its child frames by their numbers."""

    world: IsolatedWorld
    numbers: dict[int, int] = field(default_factory=dict[int, int])
    below: dict[int, str] = field(default_factory=dict[int, str])


async def elements_at(
    session: BrowserSession, page: PageCapture, points: Sequence[Point]
) -> dict[Point, tuple[int, ...]]:
    """Return for each point, in CSS pixels of the viewport, the numbers of the elements under it, the front
    one first.

    ``page`` is the last capture of this session. Elements are the operable ones in it; anything else
    counts as the nearest of them around it. A frame that can't be read appears as ``OPAQUE``. Points of
    which nothing is known, because the page is gone, are omitted.
    """
    places = _places(session, page)
    top = next((place for place in places.values() if place.world.parent is None), None)
    if top is None:
        return {}
    try:
        return await _under(top, places, {point: point for point in points})
    except (Error, RuntimeError):  # it has navigated away since
        return {}


async def _under(
    place: _FrameNumbers, places: dict[str, _FrameNumbers], points: dict[Point, Point]
) -> dict[Point, tuple[int, ...]]:
    """Return the stacks in one frame and those below; ``points`` maps the page's points to the frame's own."""
    asked = orjson.dumps([*points.values()]).decode()
    answer: dict[str, Any] = orjson.loads(await place.world.call(f"({_script()})({asked})"))
    corners: list[tuple[float, float]] = answer["corners"]
    stacks: list[list[tuple[int, int]]] = answer["stacks"]
    told = dict(zip(points, stacks, strict=True))
    inner: dict[int, dict[Point, tuple[int, ...]]] = {}
    for number, key in place.below.items():
        here = [point for point, stack in told.items() if (FRAME, number) in map(tuple, stack)]
        if not here or number >= len(corners):
            continue
        x, y = corners[number]
        moved = {point: (points[point][0] - x, points[point][1] - y) for point in here}
        try:
            inner[number] = await _under(places[key], places, moved)
        except (Error, RuntimeError):  # only this frame is gone
            continue
    found: dict[Point, tuple[int, ...]] = {}
    for point, stack in told.items():
        numbers: list[int] = []
        for kind, number in stack:
            if kind != FRAME:
                numbers += [place.numbers[number]] if number in place.numbers else []
            elif number in inner:
                numbers += inner[number].get(point, ())
            else:
                numbers.append(OPAQUE)
        found[point] = tuple(numbers)
    return found


def _places(session: BrowserSession, page: PageCapture) -> dict[str, _FrameNumbers]:
    """Return the frames with elements of a capture, and those around them, by frame id."""
    places: dict[str, _FrameNumbers] = {}

    def known(world: IsolatedWorld) -> _FrameNumbers:
        place = places.get(world.frame_id)
        if place is None:
            place = places[world.frame_id] = _FrameNumbers(world)
            if world.parent is not None:
                known(world.parent).below[world.owner] = world.frame_id
        return place

    for element in page.elements:
        try:
            world, number = element_location(session, element.index)
        except NoSuchElement:  # another page has been captured since
            return {}
        known(world).numbers[number] = element.index
    return places


@cache
def _script() -> str:
    return resource("js", "points.js").read_text(encoding="utf-8").strip()
