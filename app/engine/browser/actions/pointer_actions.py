"""Pointer actions: click, hover, drag and scroll."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from playwright.async_api import Page

from app.engine.browser.actions.click_cascade import CDP, SCRIPT
from app.engine.browser.actions.dead_clicks import element_target, point_target
from app.engine.browser.actions.execution_context import ActionOutcome, ActionRefused, ExecutionContext
from app.engine.browser.actions.failure_reasons import (
    click_call,
    describe_element,
    obstruction,
    similar_elements,
)
from app.engine.browser.capture.page_monitor import ElementProbe, ask_page
from app.engine.browser.capture.snapshot import element_location
from app.engine.browser.page_loading import HOVER_DELAY
from app.engine.core.action_result import Cause, refused
from app.engine.core.actions.types import Click, ClickAt, Drag, Hover, Point, Scroll
from app.engine.core.identity import normal_name
from app.engine.core.page_state import Element

_TYPED = frozenset(
    {
        "text",
        "search",
        "email",
        "url",
        "tel",
        "number",
        "password",
        "date",
        "time",
        "month",
        "week",
        "datetime-local",
    }
)
_SAME_TAB = frozenset({"", "_self", "_parent", "_top"})
TAB_TIMEOUT = 1.5
"""Seconds a window that a link opens gets to appear."""
WHEEL_TIMEOUT = 0.25
"""Seconds within which a turn of the wheel begins to show."""


async def click(grip: ExecutionContext, command: Click) -> ActionOutcome:
    """Click an element unless its name is not the expected one, it leads off the run's sites, or it is a
    native list.
    """
    element = grip.element(command.element, command.label)
    _check_label(grip, element, command.label)
    _check_destination(grip, element)
    probe = await grip.hand.probe(element.index)
    if probe.native_list:
        options = ", ".join(f"'{option}'" for option in element.options[:12])
        raise ActionRefused(
            refused(Cause.WRONG_KIND, f"options of {describe_element(element)} can't be chosen by clicking",
                    f'select_option("{element.index}", ...) with one of: {options}'))  # fmt: skip
    if probe.kind == "input file":
        raise ActionRefused(
            refused(
                Cause.WRONG_KIND,
                f"{describe_element(element)} takes a file",
                f'upload_file("{element.index}", ...)',
            )
        )
    more = (command.button, str(command.double))
    why = grip.dead.refuse(element_target(element, *more), probe.active, grip.page, element)
    if why is not None:
        raise ActionRefused(why)
    front = grip.visit.page
    way = await grip.cascade.click(
        element, grip.page, button=command.button, double=command.double, probe=probe
    )
    if way.hindered is not None:
        raise ActionRefused(replace(way.hindered, tried=way.tried))
    if element.href and element.target not in _SAME_TAB:
        await _other_tab(grip, front)
    return ActionOutcome(tried=way.tried, calm=_takes_text(probe))


async def _other_tab(grip: ExecutionContext, front: Page) -> None:
    """Wait for the window that a link opens; the browser reports it when its page begins to load."""
    waited = 0.0
    while waited < TAB_TIMEOUT and grip.visit.pages and grip.visit.page is front:
        await asyncio.sleep(0.03)
        waited += 0.03


async def click_at(grip: ExecutionContext, command: ClickAt) -> ActionOutcome:
    """Click a point of the viewport."""
    _check_in_viewport(grip, command.at)
    why = grip.dead.refuse(point_target(command.at, command.button, str(command.double)), "", grip.page, None)
    if why is not None:
        raise ActionRefused(why)
    await grip.pointer.click(command.at, button=command.button, double=command.double)
    return ActionOutcome(tried=(CDP,))


async def hover(grip: ExecutionContext, command: Hover) -> ActionOutcome:
    """Let the pointer rest on an element, coming from elsewhere."""
    element = grip.element(command.element)
    probe = await grip.hand.probe(element.index)
    why = obstruction(element, probe, grip.page)
    if why is not None and why.cause is not Cause.DISABLED:  # a disabled element may still show a tooltip
        raise ActionRefused(replace(why, tried=(CDP,)))
    if probe.point is None:
        raise ActionRefused(
            replace(
                why or refused(Cause.HIDDEN, f"{describe_element(element)} is not shown now"), tried=(CDP,)
            )
        )
    await grip.pointer.move((0.0, 0.0))
    await grip.pointer.move(probe.point)
    await asyncio.sleep(HOVER_DELAY)
    return ActionOutcome(tried=(CDP,), calm=True)


async def drag(grip: ExecutionContext, command: Drag) -> ActionOutcome:
    """Drag from one place to another."""
    start = await _point_of(grip, command.source)
    end = await _point_of(grip, command.target, bring=not isinstance(command.source, int))
    if isinstance(command.source, int):  # scrolling to the target may have moved it
        start = await _point_of(grip, command.source, bring=False)
    await grip.pointer.drag(start, end)
    return ActionOutcome(tried=(CDP,))


async def scroll(grip: ExecutionContext, command: Scroll) -> ActionOutcome:
    """Turn the wheel; if the page ignores it, scroll the scrollable element there by script."""
    if command.element is None:
        width, height = grip.page.viewport
        at = (width / 2, height / 2)
    else:
        at = await _point_of(grip, command.element)
    await grip.pointer.move(at)
    await grip.pointer.wheel(command.dx, command.dy)
    tried = (CDP,)
    waited = 0.0
    while waited < WHEEL_TIMEOUT:
        if (await grip.hand.changes()).scrolled:
            return ActionOutcome(tried=tried)
        await asyncio.sleep(0.05)
        waited += 0.05
    return (
        ActionOutcome(tried=(*tried, SCRIPT))
        if await _scroll_by_script(grip, command)
        else ActionOutcome(tried=tried)
    )


async def _scroll_by_script(grip: ExecutionContext, command: Scroll) -> bool:
    """Scroll the container of the element if the wheel had no effect; return whether there was one."""
    if command.element is None:
        return False
    world, number = element_location(grip.visit, command.element)
    return bool(await ask_page(world, f"siteloreHand.scrollAround({number}, {command.dx:g}, {command.dy:g})"))


async def _point_of(grip: ExecutionContext, place: int | Point, *, bring: bool = True) -> Point:
    """Return the point at which an element can be grabbed, or the given point of the viewport."""
    if not isinstance(place, int):
        _check_in_viewport(grip, place)
        return place
    element = grip.element(place)
    probe = await grip.hand.probe(place, bring=bring)
    if probe.gone or probe.hidden:
        raise ActionRefused(
            obstruction(element, probe, grip.page)
            or refused(Cause.STALE, f"{describe_element(element)} has gone")
        )
    if probe.point is not None:
        return probe.point
    left, top, width, height = probe.rect
    return left + width / 2, top + height / 2


def _check_in_viewport(grip: ExecutionContext, point: Point) -> None:
    width, height = grip.page.viewport
    if not (0 <= point[0] < width and 0 <= point[1] < height):
        raise ActionRefused(
            refused(
                Cause.VALUE,
                f"({point[0]:g}, {point[1]:g}) lies outside of the viewport of {width} x {height} pixels",
            )
        )


def _check_label(grip: ExecutionContext, element: Element, label: str) -> None:
    """Refuse an element whose name differs entirely from the expected label if another element bears that
    label.
    """
    wanted, name = normal_name(label), normal_name(element.name or element.text)
    if not wanted or not name or wanted in name or name in wanted:
        return
    exact = [one for one in similar_elements(label, grip.page) if normal_name(one.name) == wanted]
    if exact and not set(wanted.split()) & set(name.split()):
        raise ActionRefused(
            refused(
                Cause.AMBIGUOUS,
                f"element {element.index} is {describe_element(element)}, not '{label[:80]}'",
                *map(click_call, exact),
            )
        )


def _check_destination(grip: ExecutionContext, element: Element) -> None:
    """Refuse a link or form that leads off the run's sites."""
    leads = element.href
    if not leads and element.submits:
        _, _, leads = element.form.partition(":")
    if leads.startswith(("http://", "https://")):
        why = grip.fences.outside(leads)
        if why is not None:
            raise ActionRefused(why)


def _takes_text(probe: ElementProbe) -> bool:
    """Whether the click places the cursor in a text field, which is success even if it was there already."""
    kind = probe.kind
    return kind in ("textarea", "editable") or (
        kind.startswith("input ") and kind.removeprefix("input ") in _TYPED
    )
