"""Fill in fields: texts, keys, check boxes and files, read back afterwards and refused with the reason."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from playwright.async_api import Error

from app.engine.browser.actions.click_cascade import CDP, PLAYWRIGHT
from app.engine.browser.actions.execution_context import (
    ActionOutcome,
    ActionRefused,
    ExecutionContext,
    refuse,
)
from app.engine.browser.actions.failure_reasons import describe_element
from app.engine.browser.actions.field_formats import (
    EXAMPLES,
    SET_WHOLE,
    FieldConstraints,
    format_candidates,
    same_content,
)
from app.engine.browser.actions.option_actions import select
from app.engine.browser.capture.page_monitor import ask_page, js_literal
from app.engine.browser.capture.snapshot import element_location
from app.engine.core.action_result import ActionResult, Cause, refused
from app.engine.core.actions.types import Press, Select, SetChecked, TypeKeys, TypeText, Upload
from app.engine.core.page_state import Element

FILE_CHOOSER_TIMEOUT = 2.0
"""Seconds within which a button opens a file chooser."""
_TICKS = 0.3
"""Seconds a check box gets to show its new state."""
_KEYS = {
    "ctrl": "Control", "control": "Control",
    "cmd": "Meta", "command": "Meta", "meta": "Meta", "alt": "Alt", "option": "Alt",
    "shift": "Shift", "return": "Enter", "enter": "Enter", "esc": "Escape", "escape": "Escape", "del": "Delete",
    "delete": "Delete", "backspace": "Backspace", "tab": "Tab", "space": "Space", "spacebar": "Space", "up": "ArrowUp",
    "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight", "arrowup": "ArrowUp", "arrowdown": "ArrowDown",
    "arrowleft": "ArrowLeft", "arrowright": "ArrowRight", "pageup": "PageUp", "pagedown": "PageDown", "home": "Home",
    "end": "End", "insert": "Insert",
}  # fmt: skip


async def type_text(context: ExecutionContext, action: TypeText) -> ActionOutcome:
    """Replace a field's content by a text, in the format the field accepts."""
    element = context.element(action.element)
    field = await _field(context, element)
    if field.kind == "select":
        return await select(context, Select(action.element, (action.text,)))
    text, notes = await _fitted(context, element, field, action.text)
    if field.kind in SET_WHOLE:
        tried = await _set_whole(context, element, text)
    else:
        tried = await _type_into(context, element, field, text)
    if action.enter:
        await context.pointer.press("Enter")
    return ActionOutcome(tried=tried, calm=not action.enter, notes=notes)


async def type_keys(context: ExecutionContext, action: TypeKeys) -> ActionOutcome:
    """Type at the cursor."""
    await context.pointer.type(action.text)
    return ActionOutcome(tried=(CDP,))


async def press(context: ExecutionContext, action: Press) -> ActionOutcome:
    """Press keys, in an element or at the cursor."""
    keys = _keys(action.keys)
    if action.element is not None:
        element = context.element(action.element)
        probe = await context.monitor.probe(element.index)
        if probe.gone or probe.hidden or probe.disabled:
            context.refuse_obstructed(element, probe)
        await (await context.handle(element, "field")).focus()
    try:
        await context.pointer.press(keys)
    except Error as error:
        if "Unknown key" not in error.message:
            raise
        raise refuse(
            Cause.VALUE, "there is no such key", 'keys are named like "Enter", "ArrowDown", "Control+A"'
        ) from None
    return ActionOutcome(tried=(CDP,), calm=True)


async def check(context: ExecutionContext, action: SetChecked) -> ActionOutcome:
    """Set or clear a check box, or choose a radio button."""
    element = context.element(action.element)
    ticked = await context.ask(element, "ticked")
    if ticked is None:
        raise refuse(
            Cause.WRONG_KIND, f"{describe_element(element)} is not a check box", f'click("{element.index}")'
        )
    if ticked is action.on:
        return ActionOutcome(calm=True)
    if element.role == "radio" and not action.on:
        raise refuse(
            Cause.WRONG_KIND, f"{describe_element(element)} is cleared by choosing another one of its group"
        )
    way = await context.cascade.click(element, context.page)
    if way.hindered is not None:
        raise ActionRefused(way.hindered)
    waited = 0.0
    while await _ticked(context, element) is not action.on:
        if waited >= _TICKS:
            state = "set" if action.on else "cleared"
            raise refuse(
                Cause.NO_EFFECT,
                f"{describe_element(element)} was clicked and is not {state}",
                tried=way.tried,
            )
        await asyncio.sleep(0.03)
        waited += 0.03
    return ActionOutcome(tried=way.tried, calm=True)


async def upload(context: ExecutionContext, action: Upload) -> ActionOutcome:
    """Give a file of the run's own folder to a file field, or to an element that opens a file chooser."""
    element = context.element(action.element)
    path = _file(context.files, action.file)
    handle = await context.handle(element, "fileField")
    kind = await handle.evaluate("e => e.localName === 'input' ? e.type : ''")
    if kind == "file":
        await handle.set_input_files(path)
        return ActionOutcome(tried=(PLAYWRIGHT,), calm=True)
    try:
        async with context.session.page.expect_file_chooser(timeout=FILE_CHOOSER_TIMEOUT * 1000) as asked:
            way = await context.cascade.click(element, context.page)
            if way.hindered is not None:
                raise ActionRefused(way.hindered)
        await (await asked.value).set_files(path)
    except Error as error:
        raise refuse(
            Cause.WRONG_KIND, f"{describe_element(element)} opens no file chooser", tried=(CDP,)
        ) from error
    return ActionOutcome(tried=(CDP,), calm=True)


async def _field(context: ExecutionContext, element: Element) -> FieldConstraints:
    """Return the field's constraints.

    Raises:
        ActionRefused: it can't be typed into: gone, hidden, covered, disabled, read-only, or not a field.
    """
    probe = await context.monitor.probe(element.index)
    if probe.gone or probe.disabled:
        context.refuse_obstructed(element, probe)
    facts: dict[str, Any] | None = await context.ask(element, "facts")
    if facts is None or not facts["takes"]:
        raise ActionRefused(_takes_nothing(element))
    field = FieldConstraints.read(facts, f"{element.name} {element.label}")
    if field.kind != "select":
        context.refuse_obstructed(element, probe)
    if field.disabled:
        raise refuse(Cause.DISABLED, f"{describe_element(element)} is disabled")
    if field.readonly:
        raise refuse(Cause.WRONG_KIND, f"{describe_element(element)} is read-only; its value is chosen elsewhere",
                    f'click("{element.index}") may open the chooser')  # fmt: skip
    if field.kind == "input file":
        raise refuse(
            Cause.WRONG_KIND,
            f"{describe_element(element)} takes a file",
            f'upload_file("{element.index}", ...)',
        )
    return field


async def _fitted(
    context: ExecutionContext, element: Element, field: FieldConstraints, text: str
) -> tuple[str, tuple[str, ...]]:
    """Return the text in the format the field accepts, and a note if it was changed."""
    offered = format_candidates(text, field)
    if field.kind == "input color" and not text.startswith("#"):
        world, _ = element_location(context.session, element.index)
        offered = [str(await ask_page(world, f"siteloreMonitor.colour({js_literal(text)})")) or text]
    best = int(await context.ask(element, "pick", literal_list(offered)))
    if best < 0 and field.kind in EXAMPLES:
        example = EXAMPLES[field.kind]
        raise refuse(
            Cause.VALUE,
            f"{describe_element(element)} does not take this; it takes {_asked_for(field)}",
            f"a value such as {example}",
        )
    chosen = offered[max(best, 0)]
    if 0 <= field.maxlength < len(chosen):
        raise refuse(Cause.VALUE, f"{describe_element(element)} takes at most {field.maxlength} characters")
    notes: tuple[str, ...] = ()
    if best < 0:
        notes = (f"the field asks for another form{f': {field.title[:120]}' if field.title else ''}",)
    elif chosen != text and not field.secret:
        notes = (f"written as {chosen[:80]}, the form this field takes",)
    return chosen, notes


async def _set_whole(context: ExecutionContext, element: Element, text: str) -> tuple[str, ...]:
    handle = await context.handle(element, "field")
    try:
        await handle.fill(text, timeout=1000)
    except Error as error:
        raise refuse(
            Cause.VALUE, f"{describe_element(element)} does not take this value", tried=(PLAYWRIGHT,)
        ) from error
    return (PLAYWRIGHT,)


async def _type_into(
    context: ExecutionContext, element: Element, field: FieldConstraints, text: str
) -> tuple[str, ...]:
    """Type with the keys; if the field then holds something else, fill it in one go."""
    if field.own:
        probe = await context.monitor.probe(element.index)
        if probe.point is not None:
            await context.pointer.click(probe.point)
    if await context.ask(element, "selectAll"):
        await (context.pointer.type(text) if text else context.pointer.press("Delete"))
        if await _holds(context, element, field, text):
            return (CDP,)
    handle = await context.handle(element, "field")
    tried = (CDP, PLAYWRIGHT)
    try:
        await handle.fill(text, timeout=1000)
    except Error as error:
        raise refuse(Cause.WRONG_KIND, f"{describe_element(element)} takes no text", tried=tried) from error
    if not await _holds(context, element, field, text):
        raise refuse(
            Cause.VALUE, f"{describe_element(element)} does not keep what is typed into it", tried=tried
        )
    return tried


async def _holds(context: ExecutionContext, element: Element, field: FieldConstraints, text: str) -> bool:
    """Whether the field holds the text; a field that is gone, or navigated away, has accepted it."""
    try:
        content = str(await context.ask(element, "content"))
    except (Error, RuntimeError):
        return True
    if field.kind == "input number" and content and text:
        return content == text or float(content) == float(text)
    return same_content(text, content)


async def _ticked(context: ExecutionContext, element: Element) -> bool | None:
    try:
        return await context.ask(element, "ticked")
    except (Error, RuntimeError):
        return None


def _keys(text: str) -> str:
    """Return keys by the browser's names for them; ``ctrl+a`` is ``Control+a``."""
    if text in ("+", " "):
        return {"+": "+", " ": "Space"}[text]
    parts = [part.strip() or "+" for part in text.split("+")]
    return "+".join(_KEYS.get(part.lower(), part) for part in parts)


def _takes_nothing(element: Element) -> ActionResult:
    return refused(
        Cause.WRONG_KIND, f"{describe_element(element)} takes no text", f'click("{element.index}")'
    )


def _asked_for(field: FieldConstraints) -> str:
    return {
        "input date": "a date", "input time": "a time of day", "input month": "a month", "input week": "a week",
        "input datetime-local": "a date and a time", "input number": "a number within its limits",
        "input range": "a number",
        "input color": "a colour", "input email": "an e-mail address", "input url": "an address",
    }.get(field.kind, "another form")  # fmt: skip


def literal_list(texts: list[str]) -> str:
    """Return a list of texts as a JavaScript literal."""
    return f"[{', '.join(map(js_literal, texts))}]"


def _file(folder: Path | None, name: str) -> Path:
    """Return the file of this name, which must lie inside the folder.

    Raises:
        ActionRefused: there is no such file, or it lies outside.
    """
    if folder is None:
        raise refuse(Cause.FILE, "this run has no folder to upload files from")
    root = folder.resolve()
    try:
        path = (root / name).resolve()
        inside = path.is_relative_to(root) and path != root
        there = inside and path.is_file()
    except (OSError, ValueError):
        inside, there, path = False, False, root
    if not inside:
        raise refuse(Cause.FILE, "name a file within the run's folder")
    if not there:
        names = sorted(item.name for item in root.iterdir() if item.is_file()) if root.is_dir() else []
        raise refuse(Cause.FILE, "there is no such file", f"files: {', '.join(names[:20]) or 'none'}")
    return path
