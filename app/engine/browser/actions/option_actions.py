"""Choose options of native lists and of lists that pages build from other elements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from playwright.async_api import Error

from app.engine.browser.actions.click_cascade import CDP, PLAYWRIGHT
from app.engine.browser.actions.execution_context import (
    ActionOutcome,
    ActionRefused,
    ExecutionContext,
    refuse,
)
from app.engine.browser.actions.failure_reasons import closest_texts, describe_element
from app.engine.browser.capture.page_idle import wait_until_idle
from app.engine.core.action_result import ActionResult, Cause, refused
from app.engine.core.actions.types import Select
from app.engine.core.page_state import Element, PageCapture

_OPTION_ROLES = frozenset(
    {"option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem", "radio", "link", "button", "generic",
     "listitem", "gridcell", "cell", "tab"}
)  # fmt: skip
_CERTAIN_OPTION_ROLES = frozenset({"option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem"})


async def select(context: ExecutionContext, action: Select) -> ActionOutcome:
    """Choose options of a list by their labels."""
    element = context.element(action.element)
    if not action.options:
        raise refuse(Cause.VALUE, "no option is named")
    probe = await context.monitor.probe(element.index)
    if probe.gone or probe.disabled:
        context.refuse_obstructed(element, probe)
    offered: list[dict[str, Any]] | None = await context.ask(element, "choices")
    if offered is None:
        return await _from_custom_list(context, element, action.options)
    places = [_matching(wanted, offered, element) for wanted in action.options]
    if len(places) > 1 and not probe.multiple:
        raise refuse(Cause.VALUE, f"{describe_element(element)} takes one option at a time")
    chosen = {at for at, option in enumerate(offered) if option["chosen"]}
    if chosen == set(places):
        return ActionOutcome(calm=True)
    handle = await context.handle(element, "field")
    try:
        await handle.select_option(index=places, force=True, timeout=1000)
    except Error as error:
        raise refuse(
            Cause.VALUE, f"{describe_element(element)} could not be set", tried=(PLAYWRIGHT,)
        ) from error
    return ActionOutcome(tried=(PLAYWRIGHT,), calm=True)


def match_option(wanted: str, offered: Sequence[str]) -> int:
    """Return the number of the option meant by a label: equal, equal but for case and spaces, else the one
    that begins with or contains it; -1 for none or several.
    """
    plain = [_plain(label) for label in offered]
    goal = _plain(wanted)
    bare = re.sub(r"\W", "", goal)
    for fitting in (
        [at for at, label in enumerate(offered) if label.strip() == wanted.strip()],
        [at for at, label in enumerate(plain) if label == goal],
        [at for at, label in enumerate(plain) if bare and re.sub(r"\W", "", label) == bare],
        [at for at, label in enumerate(plain) if goal and label.startswith(goal)],
        [at for at, label in enumerate(plain) if goal and goal in label],
    ):
        if fitting and len({plain[at] for at in fitting}) == 1:
            return fitting[0]
    return -1


def _matching(wanted: str, offered: Sequence[dict[str, Any]], element: Element) -> int:
    labels = [str(option["label"]) for option in offered]
    at = match_option(wanted, labels)
    if at < 0:
        values = [str(option["value"]) for option in offered]
        at = values.index(wanted) if values.count(wanted) == 1 else -1
    if at < 0:
        raise ActionRefused(_no_option(element, wanted, labels))
    if offered[at]["off"]:
        raise refuse(Cause.DISABLED, f"the option of {describe_element(element)} is disabled")
    return at


def _no_option(
    element: Element, wanted: str, labels: Sequence[str], tried: tuple[str, ...] = ()
) -> ActionResult:
    near = ", ".join(
        f"'{label[:60]}'" for label in closest_texts(wanted, [label for label in labels if label])
    )
    more = f"; {len(labels)} in all" if len(labels) > 8 else ""
    return refused(
        Cause.NO_OPTION,
        f"{describe_element(element)} has no such option",
        f"its options: {near or 'none'}{more}",
        tried=tried,
    )


async def _from_custom_list(
    context: ExecutionContext, element: Element, options: tuple[str, ...]
) -> ActionOutcome:
    tried: tuple[str, ...] = (CDP,)
    for number, wanted in enumerate(options):
        element = context.again(element) if number else element
        found = _shown_options(context.page, element, opened=element.role in ("listbox", "radiogroup"))
        at = (
            match_option(wanted, [one.name or one.text for one in found]) if element.role == "listbox" else -1
        )
        if at < 0:
            found = await _opened(context, element, wanted)
            at = match_option(wanted, [one.name or one.text for one in found])
        if at < 0:
            await context.pointer.press("Escape")
            raise ActionRefused(_no_option(element, wanted, [one.name or one.text for one in found], tried))
        way = await context.cascade.click(found[at], context.page)
        if way.hindered is not None:
            raise ActionRefused(way.hindered)
        tried = tuple(dict.fromkeys((*tried, *way.tried)))
        await wait_until_idle(context.session, quiet=context.quiet, most=context.most, acted=True)
    return ActionOutcome(tried=tried, calm=True)


async def _opened(context: ExecutionContext, element: Element, wanted: str) -> list[Element]:
    """Return the options of a list once it is open; if it has a search field, those it offers for the label."""
    before = context.page
    found = _shown_options(before, element, opened="expanded" in element.states)
    if not found:
        way = await context.cascade.click(element, before)
        if way.hindered is not None:
            raise ActionRefused(way.hindered)
        await wait_until_idle(context.session, quiet=context.quiet, most=context.most, acted=True)
        found = _new_options(before, await context.captures.capture_during_action(), element)
    if (
        match_option(wanted, [one.name or one.text for one in found]) < 0
        and (await context.monitor.changes()).typing
    ):
        await context.pointer.type(wanted)
        await wait_until_idle(context.session, quiet=2 * context.quiet, most=context.most, acted=True)
        found = _new_options(before, await context.captures.capture_during_action(), element) or found
    return found


def _shown_options(page: PageCapture, element: Element, *, opened: bool) -> list[Element]:
    if not opened:
        return []
    return [
        one for one in page.elements[element.index + 1 :] if one.visible and one.role in _CERTAIN_OPTION_ROLES
    ]


def _new_options(before: PageCapture, after: PageCapture, element: Element) -> list[Element]:
    """Return elements that were not visible before: those with an option's role, else whatever appeared."""
    seen = {(one.css, one.frame, one.name) for one in before.elements if one.visible}
    come = [one for one in after.elements if one.visible and (one.css, one.frame, one.name) not in seen]
    strong = [one for one in come if one.role in _CERTAIN_OPTION_ROLES]
    if strong:
        return strong
    return [one for one in come if one.role in _OPTION_ROLES and one.css != element.css]


def _plain(label: str) -> str:
    return " ".join(label.split()).casefold()
