"""Filling in: text, choices, ticks and files."""

from __future__ import annotations

from playwright.async_api import Error

from app.engine.browser.blame import closest, hindered, named
from app.engine.browser.cascade import CDP
from app.engine.browser.frames import NoSuchElement
from app.engine.browser.grip import Done, Grip, Refused
from app.engine.browser.snapshot import handle_of
from app.engine.command import Check, Press, Select, SetSlider, TypeKeys, TypeText
from app.engine.effect import Cause, refused


async def type_text(grip: Grip, command: TypeText) -> Done:
    """Put a text into a field in place of what is in it."""
    element = grip.element(command.element)
    probe = await grip.hand.probe(element.index)
    why = hindered(element, probe, grip.page)
    if why is not None and why.cause in (Cause.STALE, Cause.DISABLED):
        raise Refused(why)
    if probe.kind == "select":
        return await select(grip, Select(command.element, (command.text,)))
    handle = await handle_of(grip.visit, element.index)
    try:
        await handle.fill(command.text, timeout=1000)
    except Error as error:
        raise Refused(refused(Cause.WRONG_KIND, f"{named(element)} takes no text")) from error
    if command.enter:
        await handle.press("Enter", timeout=1000)
    return Done(tried=("playwright",), calm=True)


async def type_keys(grip: Grip, command: TypeKeys) -> Done:
    await grip.pointer.type(command.text)
    return Done(tried=(CDP,))


async def press(grip: Grip, command: Press) -> Done:
    if command.element is not None:
        handle = await handle_of(grip.visit, command.element)
        await handle.focus()
    try:
        await grip.pointer.press(command.keys)
    except Error as error:
        raise Refused(refused(Cause.VALUE, f"there is no key {command.keys!r}")) from error
    return Done(tried=(CDP,), calm=True)


async def select(grip: Grip, command: Select) -> Done:
    element = grip.element(command.element)
    handle = await handle_of(grip.visit, element.index)
    try:
        await handle.select_option(label=list(command.options), timeout=1000, force=True)
    except Error as error:
        options = closest(command.options[0] if command.options else "", element.options)
        raise Refused(
            refused(
                Cause.NO_OPTION, f"{named(element)} has no such option", f"its options: {', '.join(options)}"
            )
        ) from error
    return Done(tried=("playwright",), calm=True)


async def check(grip: Grip, command: Check) -> Done:
    element = grip.element(command.element)
    if ("checked" in element.states) is command.on:
        return Done(already=True, calm=True)
    way = await grip.cascade.click(element, grip.page)
    if way.hindered is not None:
        raise Refused(way.hindered)
    return Done(tried=way.tried)


async def set_slider(grip: Grip, command: SetSlider) -> Done:
    handle = await handle_of(grip.visit, command.element)
    await handle.fill(f"{command.value:g}", timeout=1000)
    return Done(tried=("playwright",))


__all__ = ["NoSuchElement"]
