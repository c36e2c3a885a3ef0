"""Set sliders: native ones at once, custom ones with keys, and by dragging if keys have no effect.

A custom slider's value is read from ``aria-valuenow`` or from a number on the page that moves with it.
"""

from __future__ import annotations

import asyncio
import math
import re
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Error

from app.engine.browser.actions.click_cascade import CDP, PLAYWRIGHT
from app.engine.browser.actions.execution_context import (
    ActionOutcome,
    ExecutionContext,
    refuse,
)
from app.engine.browser.actions.failure_reasons import describe_element
from app.engine.core.action_result import Cause
from app.engine.core.actions.types import SetSlider
from app.engine.core.page_state import Element

MAX_KEYS = 400
KEYS_PER_READING = 25
"""Keys pressed between two readings."""
RENDER_DELAY = 0.04
"""Seconds a page gets to show the effect of a key."""
MAX_DRAGS = 8
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


@dataclass(slots=True)
class _Track:
    """A custom slider: its attributes, or which number on the page shows its value."""

    context: ExecutionContext
    element: Element
    facts: dict[str, Any]
    reading: int = -1
    place: int = 0

    async def now(self) -> float | None:
        """Return its value, ``None`` if nothing shows it."""
        self.facts = await _facts(self.context, self.element) or self.facts
        if self.facts["now"] is not None:
            return float(self.facts["now"])
        if self.reading < 0:
            return None
        texts = await _ask(self.context, self.element, "read")
        numbers = _numbers(texts[self.reading]) if self.reading < len(texts) else []
        return numbers[self.place] if self.place < len(numbers) else None


async def set_slider(context: ExecutionContext, action: SetSlider) -> ActionOutcome:
    """Set a slider to a value."""
    element = context.element(action.element)
    if not math.isfinite(action.value):
        raise refuse(Cause.VALUE, "a slider is set to a number")
    probe = await context.monitor.probe(element.index)
    if probe.gone or probe.disabled or probe.hidden:
        context.refuse_obstructed(element, probe)
    facts = await _facts(context, element)
    if facts is None:
        raise refuse(Cause.STALE, f"{describe_element(element)} has left the page")
    low, high = facts["min"], facts["max"]
    if (low is not None and action.value < low) or (high is not None and action.value > high):
        raise refuse(Cause.VALUE, f"{describe_element(element)} ranges from {low:g} to {high:g}")
    if facts["native"]:
        return await _native(context, element, action.value, facts)
    return await _custom_slider(_Track(context, element, facts), action.value)


async def _native(
    context: ExecutionContext, element: Element, value: float, facts: dict[str, Any]
) -> ActionOutcome:
    if facts["now"] == value:
        return ActionOutcome(calm=True)
    handle = await context.handle(element, "rangeField")
    try:
        await handle.fill(f"{value:g}", timeout=1000)
    except Error as error:
        raise refuse(Cause.VALUE, f"{describe_element(element)} can't be set to {value:g}") from error
    got = (await _facts(context, element) or facts)["now"]
    notes = () if got == value else (f"it is at {got:g}, the nearest value it accepts",)
    return ActionOutcome(tried=(PLAYWRIGHT,), calm=True, notes=notes)


async def _custom_slider(track: _Track, value: float) -> ActionOutcome:
    element = track.element
    tried: tuple[str, ...] = ("keys",)
    if await _with_keys(track, value):
        return ActionOutcome(tried=tried, calm=True)
    tried = (*tried, CDP)
    if await _by_dragging(track, value):
        return ActionOutcome(tried=tried, calm=True)
    now = await track.now()
    if now is None:
        raise refuse(
            Cause.NO_EFFECT,
            f"nothing on the page shows the value of {describe_element(element)}",
            f"drag_and_drop from element {element.index} to a point",
            tried=tried,
        )
    raise refuse(
        Cause.VALUE,
        f"{describe_element(element)} is at {now:g} and could not be set to {value:g}",
        tried=tried,
    )


async def _with_keys(track: _Track, value: float) -> bool:
    """Press arrow keys until it is set; the first shows the step size, and which number on the page follows."""
    context, element = track.context, track.element
    if not await _ask(context, element, "grasp"):
        return False
    now = await track.now()
    if now == value:
        return True
    before: list[str] | None = await _ask(context, element, "readings") if now is None else None
    keys = ("ArrowRight", "ArrowLeft") if now is None or value > now else ("ArrowLeft", "ArrowRight")
    step = 0.0
    for key in keys:
        old = await track.now()
        await _keys(context, key, 1)
        if now is None and track.reading < 0:
            after = await _ask(context, element, "read")
            found = _moved(before, after)
            if found is None:
                continue
            track.reading, track.place, old = found
        came = await track.now()
        if came is not None and old is not None and came != old:
            step = (came - old) * (1 if key == "ArrowRight" else -1)
            break
    return bool(step) and await _step_to(track, value, step)


async def _step_to(track: _Track, value: float, step: float) -> bool:
    pressed = 0
    best = math.inf
    while pressed < MAX_KEYS:
        now = await track.now()
        if now is None:
            return False
        if math.isclose(now, value, abs_tol=1e-9):
            return True
        away = abs(value - now)
        count = min(KEYS_PER_READING, round(away / abs(step)))
        if count == 0 or away >= best:
            return False  # between two steps, or not getting closer
        best = away
        await _keys(track.context, "ArrowRight" if (value > now) is (step > 0) else "ArrowLeft", count)
        pressed += count
    return False


async def _by_dragging(track: _Track, value: float) -> bool:
    context = track.context
    now = await track.now()
    if now is None:
        before: list[str] | None = await _ask(context, track.element, "readings")
        await _drag_by(track, 0.1)
        after = await _ask(context, track.element, "read")
        found = _moved(before, after)
        if found is None:
            return False
        track.reading, track.place, _ = found
        now = await track.now()
    low, high = track.facts["min"], track.facts["max"]
    span = (high - low) if low is not None and high is not None else None
    for _ in range(MAX_DRAGS):
        if now is None:
            return False
        if math.isclose(now, value, abs_tol=1e-9):
            return True
        share = (value - now) / span if span else math.copysign(0.1, value - now)
        old, moved = now, await _drag_by(track, share)
        now = await track.now()
        if now is None or now == old or not moved:
            if not span:
                return False
            continue
        span = (now - old) / moved  # value of the whole track, as just measured
        if not span:
            return False
    return False


async def _drag_by(track: _Track, share: float) -> float:
    """Drag the handle by a share of its track; return the share it really moved."""
    facts = await _facts(track.context, track.element) or track.facts
    probe = await track.context.monitor.probe(track.element.index)
    left, top, width, height = facts["grip"]
    dx, dy = (
        probe.rect[0] - left,
        probe.rect[1] - top,
    )  # the frame's corner, if the handle is the element itself
    if facts["grip"][2:] != list(probe.rect[2:]):
        dx = dy = 0.0
    axis = 1 if facts["upright"] else 0
    length = max(1.0, facts["rail"][2 + axis])
    start = (left + dx + width / 2, top + dy + height / 2)
    goal = list(start)
    goal[axis] += share * length * (-1 if facts["upright"] else 1)
    await track.context.pointer.drag(start, (goal[0], goal[1]))
    await asyncio.sleep(RENDER_DELAY)
    after = await _facts(track.context, track.element) or facts
    return (after["grip"][axis] - facts["grip"][axis]) / length * (-1 if facts["upright"] else 1)


async def _keys(context: ExecutionContext, key: str, count: int) -> None:
    for _ in range(count):
        await context.pointer.press(key)
    await asyncio.sleep(RENDER_DELAY)


async def _facts(context: ExecutionContext, element: Element) -> dict[str, Any] | None:
    return await _ask(context, element, "slider")


async def _ask(context: ExecutionContext, element: Element, function: str) -> Any:
    try:
        return await context.ask(element, function)
    except (Error, RuntimeError):
        return None


def _moved(before: list[str] | None, after: list[str] | None) -> tuple[int, int, float] | None:
    """Return which text contains a number that changed, which of its numbers, and its old value; ``None`` for none."""
    for at, (old, new) in enumerate(zip(before or [], after or [], strict=False)):
        was, now = _numbers(old), _numbers(new)
        if old != new and len(was) == len(now):
            changed = [place for place in range(len(was)) if was[place] != now[place]]
            if changed:
                return at, changed[0], was[changed[0]]
    return None


def _numbers(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in _NUMBER.findall(text)]
