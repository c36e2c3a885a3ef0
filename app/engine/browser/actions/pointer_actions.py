"""Pointer actions: click, hover, drag and scroll."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from playwright.async_api import Page

from app.engine.browser.actions.click_cascade import CDP, SCRIPT
from app.engine.browser.actions.dead_clicks import element_target, point_target
from app.engine.browser.actions.execution_context import (
    ActionOutcome,
    ActionRefused,
    ExecutionContext,
    refuse,
)
from app.engine.browser.actions.failure_reasons import (
    click_call,
    describe_element,
    obstruction,
    similar_elements,
)
from app.engine.browser.capture.page_monitor import ElementProbe
from app.engine.core.action_result import Cause, refused
from app.engine.core.actions.types import Click, ClickAt, Drag, Hover, Point, Scroll, SelectText
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
SAME_TAB = frozenset({"", "_self", "_parent", "_top"})
"""Targets of links that open no window."""
HOVER_DELAY = 0.5
"""Seconds the pointer rests on an element: many menus wait a quarter of one before they open."""
TAB_TIMEOUT = 1.5
"""Seconds a window that a link opens gets to appear."""
WHEEL_TIMEOUT = 0.25
"""Seconds within which a turn of the wheel begins to show."""


async def click(context: ExecutionContext, action: Click) -> ActionOutcome:
    """Click an element unless its name is not the expected one, it leads off the run's sites, or is a native list."""
    element = context.element(action.element, action.label)
    _check_label(context, element, action.label)
    _check_destination(context, element)
    probe = await context.monitor.probe(element.index)
    if probe.native_list:
        options = ", ".join(f"'{option}'" for option in element.options[:12])
        raise refuse(
            Cause.WRONG_KIND,
            f"options of {describe_element(element)} can't be chosen by clicking",
            f'select_option("{element.index}", ...) with one of: {options}',
        )
    if probe.kind == "input file":
        raise refuse(
            Cause.WRONG_KIND,
            f"{describe_element(element)} takes a file",
            f'upload_file("{element.index}", ...)',
        )
    learned = context.ways.click(context.page.url, element.role, element.name)
    more = (action.button, str(action.double), learned or "")
    why = context.dead.refuse(element_target(element, *more), probe.active, context.page, element)
    if why is not None:
        raise ActionRefused(why)
    front = context.session.page
    way = await context.cascade.click(
        element, context.page, button=action.button, double=action.double, probe=probe, learned=learned
    )
    if way.hindered is not None:
        raise ActionRefused(replace(way.hindered, tried=way.tried))
    if element.href and element.target not in SAME_TAB:
        await _other_tab(context, front)
    return ActionOutcome(tried=way.tried, calm=_takes_text(probe))


async def _other_tab(context: ExecutionContext, front: Page) -> None:
    """Wait for the window that a link opens; the browser reports it when its page begins to load."""
    waited = 0.0
    while waited < TAB_TIMEOUT and context.session.pages and context.session.page is front:
        await asyncio.sleep(0.03)
        waited += 0.03


async def click_at(context: ExecutionContext, action: ClickAt) -> ActionOutcome:
    """Click a point of the viewport."""
    _check_in_viewport(context, action.at)
    why = context.dead.refuse(
        point_target(action.at, action.button, str(action.double)), "", context.page, None
    )
    if why is not None:
        raise ActionRefused(why)
    await context.pointer.click(action.at, button=action.button, double=action.double)
    return ActionOutcome(tried=(CDP,))


async def hover(context: ExecutionContext, action: Hover) -> ActionOutcome:
    """Let the pointer rest on an element, coming from elsewhere."""
    element = context.element(action.element)
    probe = await context.monitor.probe(element.index)
    why = obstruction(element, probe, context.page)
    if why is not None and why.cause is not Cause.DISABLED:  # a disabled element may still show a tooltip
        raise ActionRefused(replace(why, tried=(CDP,)))
    if probe.point is None:
        raise ActionRefused(
            replace(
                why or refused(Cause.HIDDEN, f"{describe_element(element)} is not shown now"), tried=(CDP,)
            )
        )
    await context.pointer.move((0.0, 0.0))
    await context.pointer.move(probe.point)
    await asyncio.sleep(HOVER_DELAY)
    return ActionOutcome(tried=(CDP,), calm=True)


async def drag(context: ExecutionContext, action: Drag) -> ActionOutcome:
    """Drag from one place to another."""
    start = await _point_of(context, action.source)
    end = await _point_of(context, action.target, bring=not isinstance(action.source, int))
    if isinstance(action.source, int):  # scrolling to the target may have moved it
        start = await _point_of(context, action.source, bring=False)
    await context.pointer.drag(start, end)
    return ActionOutcome(tried=(CDP,))


async def scroll(context: ExecutionContext, action: Scroll) -> ActionOutcome:
    """Turn the wheel; if the page ignores it, scroll the scrollable element there by script."""
    if action.element is None:
        width, height = context.page.viewport
        at = (width / 2, height / 2)
    else:
        at = await _point_of(context, action.element)
    await context.pointer.move(at)
    await context.pointer.wheel(action.dx, action.dy)
    tried = (CDP,)
    waited = 0.0
    while waited < WHEEL_TIMEOUT:
        if (await context.monitor.changes()).scrolled:
            return ActionOutcome(tried=tried)
        await asyncio.sleep(0.05)
        waited += 0.05
    return (
        ActionOutcome(tried=(*tried, SCRIPT))
        if await _scroll_by_script(context, action)
        else ActionOutcome(tried=tried)
    )


async def _scroll_by_script(context: ExecutionContext, action: Scroll) -> bool:
    """Scroll the container of the element if the wheel had no effect; return whether there was one."""
    if action.element is None:
        return False
    element = context.element(action.element)
    return bool(await context.ask(element, "scrollAround", f"{action.dx:g}", f"{action.dy:g}"))


async def select_text(context: ExecutionContext, action: SelectText) -> ActionOutcome:
    """Select text within an element, from one character to another."""
    element = context.element(action.element)
    start, end = int(action.start), int(action.end)
    if start < 0 or (0 <= end <= start):
        raise refuse(Cause.VALUE, f"from {start} to {end} is not a range of text")
    if not await context.ask(element, "mark", start, end):
        raise refuse(Cause.VALUE, f"{describe_element(element)} has no such range of text")
    return ActionOutcome(tried=(SCRIPT,), calm=True)


async def _point_of(context: ExecutionContext, place: int | Point, *, bring: bool = True) -> Point:
    """Return the point at which an element can be grabbed, or the given point of the viewport."""
    if not isinstance(place, int):
        _check_in_viewport(context, place)
        return place
    element = context.element(place)
    probe = await context.monitor.probe(place, bring=bring)
    if probe.gone or probe.hidden:
        context.refuse_obstructed(element, probe)
    if probe.point is not None:
        return probe.point
    left, top, width, height = probe.rect
    return left + width / 2, top + height / 2


def _check_in_viewport(context: ExecutionContext, point: Point) -> None:
    width, height = context.page.viewport
    if not (0 <= point[0] < width and 0 <= point[1] < height):
        raise refuse(
            Cause.VALUE,
            f"({point[0]:g}, {point[1]:g}) lies outside of the viewport of {width} x {height} pixels",
        )


def _check_label(context: ExecutionContext, element: Element, label: str) -> None:
    """Refuse an element whose name differs entirely from the expected label if another element bears that label."""
    wanted, name = normal_name(label), normal_name(element.name or element.text)
    if not wanted or not name or wanted in name or name in wanted:
        return
    exact = [one for one in similar_elements(label, context.page) if normal_name(one.name) == wanted]
    if exact and not set(wanted.split()) & set(name.split()):
        raise refuse(
            Cause.AMBIGUOUS,
            f"element {element.index} is {describe_element(element)}, not '{label[:80]}'",
            *map(click_call, exact),
        )


def _check_destination(context: ExecutionContext, element: Element) -> None:
    leads = element.href
    if not leads and element.submits:
        _, _, leads = element.form.partition(":")
    if leads.startswith(("http://", "https://")):
        why = context.policy.outside(leads)
        if why is not None:
            raise ActionRefused(why)


def _takes_text(probe: ElementProbe) -> bool:
    """Whether the click places the cursor in a text field, which is success even if it was there already."""
    kind = probe.kind
    return kind in ("textarea", "editable") or (
        kind.startswith("input ") and kind.removeprefix("input ") in _TYPED
    )
