"""Choose options of native lists and of lists that pages build from other elements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from playwright.async_api import Error

from app.engine.browser.blame import closest, hindered, named
from app.engine.browser.cascade import CDP, PLAYWRIGHT
from app.engine.browser.frames import NoSuchElement, take
from app.engine.browser.grip import Done, Grip, Refused
from app.engine.browser.page_hand import ask
from app.engine.browser.settle import settle
from app.engine.browser.snapshot import place_of
from app.engine.command import Select
from app.engine.effect import Cause, Result, refused
from app.engine.page_state import Element, PageCapture

_OPTION_ROLES = frozenset(
    {"option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem", "radio", "link", "button", "generic",
     "listitem", "gridcell", "cell", "tab"}
)  # fmt: skip
_STRONG = frozenset({"option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem"})


async def select(grip: Grip, command: Select) -> Done:
    """Choose options of a list by their labels."""
    element = grip.element(command.element)
    if not command.options:
        raise Refused(refused(Cause.VALUE, "no option is named"))
    probe = await grip.hand.probe(element.index)
    if probe.gone or probe.disabled:
        raise Refused(
            hindered(element, probe, grip.page) or refused(Cause.STALE, f"{named(element)} has gone")
        )
    world, number = place_of(grip.visit, element.index)
    offered: list[dict[str, Any]] | None = await ask(world, f"siteloreHand.choices({number})")
    if offered is None:
        return await _from_made_up(grip, element, command.options)
    places = [_matching(wanted, offered, element) for wanted in command.options]
    if len(places) > 1 and not probe.multiple:
        raise Refused(refused(Cause.VALUE, f"{named(element)} takes one option at a time"))
    chosen = {at for at, option in enumerate(offered) if option["chosen"]}
    if chosen == set(places):
        return Done(already=True, calm=True)
    handle = await take(grip.visit, world, f"siteloreHand.field({number})")
    if handle is None:
        raise NoSuchElement(f"{named(element)} has left the page")
    try:
        await handle.select_option(index=places, force=True, timeout=1000)
    except Error as error:
        raise Refused(
            refused(Cause.VALUE, f"{named(element)} could not be set", tried=(PLAYWRIGHT,))
        ) from error
    return Done(tried=(PLAYWRIGHT,), calm=True)


def match(wanted: str, offered: Sequence[str]) -> int:
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
    at = match(wanted, labels)
    if at < 0:
        values = [str(option["value"]) for option in offered]
        at = values.index(wanted) if values.count(wanted) == 1 else -1
    if at < 0:
        raise Refused(_no_option(element, wanted, labels))
    if offered[at]["off"]:
        raise Refused(refused(Cause.DISABLED, f"the option of {named(element)} is disabled"))
    return at


def _no_option(element: Element, wanted: str, labels: Sequence[str], tried: tuple[str, ...] = ()) -> Result:
    near = ", ".join(f"'{label[:60]}'" for label in closest(wanted, [label for label in labels if label]))
    more = f"; {len(labels)} in all" if len(labels) > 8 else ""
    return refused(
        Cause.NO_OPTION,
        f"{named(element)} has no such option",
        f"its options: {near or 'none'}{more}",
        tried=tried,
    )


async def _from_made_up(grip: Grip, element: Element, options: tuple[str, ...]) -> Done:
    """Open a custom list and click the option with the label."""
    tried: tuple[str, ...] = (CDP,)
    for number, wanted in enumerate(options):
        element = grip.again(element) if number else element
        found = _shown_options(grip.page, element, opened=element.role in ("listbox", "radiogroup"))
        at = match(wanted, [one.name or one.text for one in found]) if element.role == "listbox" else -1
        if at < 0:
            found = await _opened(grip, element, wanted)
            at = match(wanted, [one.name or one.text for one in found])
        if at < 0:
            await grip.pointer.press("Escape")
            raise Refused(_no_option(element, wanted, [one.name or one.text for one in found], tried))
        way = await grip.cascade.click(found[at], grip.page)
        if way.hindered is not None:
            raise Refused(way.hindered)
        tried = tuple(dict.fromkeys((*tried, *way.tried)))
        await settle(grip.visit, quiet=grip.quiet, most=grip.most, acted=True)
    return Done(tried=tried, calm=True)


async def _opened(grip: Grip, element: Element, wanted: str) -> list[Element]:
    """Return the options of a list once it is open; if it has a search field, those it offers for the label."""
    before = grip.page
    found = _shown_options(before, element, opened="expanded" in element.states)
    if not found:
        way = await grip.cascade.click(element, before)
        if way.hindered is not None:
            raise Refused(way.hindered)
        await settle(grip.visit, quiet=grip.quiet, most=grip.most, acted=True)
        found = _new_options(before, await grip.look_again(), element)
    if match(wanted, [one.name or one.text for one in found]) < 0 and (await grip.hand.changes()).typing:
        await grip.pointer.type(wanted)
        await settle(grip.visit, quiet=2 * grip.quiet, most=grip.most, acted=True)
        found = _new_options(before, await grip.look_again(), element) or found
    return found


def _shown_options(page: PageCapture, element: Element, *, opened: bool) -> list[Element]:
    """Return options already on the page, after the list they belong to."""
    if not opened:
        return []
    return [one for one in page.elements[element.index + 1 :] if one.visible and one.role in _STRONG]


def _new_options(before: PageCapture, after: PageCapture, element: Element) -> list[Element]:
    """Return elements that were not visible before: those with an option's role, else whatever appeared."""
    seen = {(one.css, one.frame, one.name) for one in before.elements if one.visible}
    come = [one for one in after.elements if one.visible and (one.css, one.frame, one.name) not in seen]
    strong = [one for one in come if one.role in _STRONG]
    if strong:
        return strong
    return [one for one in come if one.role in _OPTION_ROLES and one.css != element.css]


def _plain(label: str) -> str:
    return " ".join(label.split()).casefold()
