"""Identify elements across captures and renumber an action from one capture to the next. Pure."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from app.engine.core.actions.types import Action, Drag, elements_of
from app.engine.core.page_state import Element, PageCapture

Key = tuple[tuple[str, ...], str, str, str, str]


def renumber_action(command: Action, shown: PageCapture, now: PageCapture) -> Action | int:
    """Return the action with the numbers of ``now``, or the number of an element that can't be found again.

    A number that ``shown`` does not have is left as it is; the executor refuses it.
    """
    moved: dict[int, int] = {}
    for number in elements_of(command):
        if not 0 <= number < len(shown.elements):
            continue
        found = same_element(shown.elements[number], shown, now)
        if found is None:
            return number
        moved[number] = found
    if isinstance(command, Drag):
        source, target = (
            moved.get(end, end) if isinstance(end, int) else end for end in (command.source, command.target)
        )
        return replace(command, source=source, target=target)
    for old, new in moved.items():
        if old != new:
            return replace(command, element=new)  # type: ignore[call-arg]
    return command


def same_element(element: Element, shown: PageCapture, now: PageCapture) -> int | None:
    """Return an element's number in a later capture, ``None`` if it is gone or ambiguous."""
    key = _key(element)
    if element.index < len(now.elements) and _key(now.elements[element.index]) == key:
        return element.index
    before: dict[Key, list[int]] = defaultdict(list)
    for one in shown.elements:
        before[_key(one)].append(one.index)
    after = [one.index for one in now.elements if _key(one) == key]
    if len(after) != len(before[key]):
        return None
    return after[before[key].index(element.index)]


def _key(element: Element) -> Key:
    return element.frame, element.css, element.xpath, element.role, element.name
