"""Hit testing: find the elements under points of the page, through frames and open shadow roots."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import orjson
from playwright.async_api import Error

from app.assets import resource
from app.engine.browser.capture.frames import IsolatedWorld
from app.engine.browser.capture.snapshot import FrameMap, frame_map
from app.engine.browser.session import BrowserSession
from app.engine.core.actions.types import Point
from app.engine.core.page_state import PageCapture

OPAQUE = -1
"""Marks a frame that could not be read in a stack."""
FRAME = 1


async def elements_at(
    session: BrowserSession, page: PageCapture, points: Sequence[Point]
) -> dict[Point, tuple[int, ...]]:
    """Return for each point, in CSS pixels of the viewport, the numbers of the elements under it, the front
    one first.

    ``page`` is the last capture of this session. Elements are the operable ones in it; anything else
    counts as the nearest of them around it. A frame that can't be read appears as ``OPAQUE``. Points of
    which nothing is known, because the page is gone, are omitted.
    """
    places = frame_map(session, page)
    if places.top is None or len(places.numbers) < len(page.elements):
        return {}
    try:
        return await _under(places.top, places, {point: point for point in points})
    except (Error, RuntimeError):  # it has navigated away since
        return {}


async def _under(
    world: IsolatedWorld, places: FrameMap, points: dict[Point, Point]
) -> dict[Point, tuple[int, ...]]:
    """Return the stacks in one frame and those below; ``points`` maps the page's points to the frame's own."""
    asked = orjson.dumps([*points.values()]).decode()
    answer: dict[str, Any] = orjson.loads(await world.call(f"({_script()})({asked})"))
    corners: list[tuple[float, float]] = answer["corners"]
    stacks: list[list[tuple[int, int]]] = answer["stacks"]
    told = dict(zip(points, stacks, strict=True))
    inner: dict[int, dict[Point, tuple[int, ...]]] = {}
    for (frame, context, number), child in places.below.items():
        if (frame, context) != (world.frame_id, world.context):
            continue
        here = [point for point, stack in told.items() if (FRAME, number) in map(tuple, stack)]
        if not here or number >= len(corners):
            continue
        x, y = corners[number]
        moved = {point: (points[point][0] - x, points[point][1] - y) for point in here}
        try:
            inner[number] = await _under(child, places, moved)
        except (Error, RuntimeError):  # only this frame is gone
            continue
    found: dict[Point, tuple[int, ...]] = {}
    for point, stack in told.items():
        numbers: list[int] = []
        for kind, number in stack:
            if kind != FRAME:
                known = places.numbers.get((world.frame_id, world.context, number))
                numbers += [known] if known is not None else []
            elif number in inner:
                numbers += inner[number].get(point, ())
            else:
                numbers.append(OPAQUE)
        found[point] = tuple(numbers)
    return found


@cache
def _script() -> str:
    return resource("js", "points.js").read_text(encoding="utf-8").strip()
