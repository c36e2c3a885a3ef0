"""The one rule by which an element of one capture is found in another: for the executor, batches and approvals.  Pure.

1. It has the same role, name, landmarks, frame, destination and form, and the same CSS path.
2. The same words identify its row: rows of a list may change places while their elements keep names and paths.
3. As many elements share all this in both captures; its position among them decides.

Otherwise it is gone or ambiguous, and nothing may be done to it without another look.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from app.engine.core.actions.types import Action, Drag, elements_of
from app.engine.core.identity import element_key
from app.engine.core.page_index import PageIndex
from app.engine.core.page_state import Element, PageCapture

Identity = tuple[str, str, str, str]


def identity_of(element: Element, index: PageIndex) -> Identity:
    """Return what identifies an element across captures, apart from its position."""
    return element_key(element), element.name, element.css, index.near(element)


def same_element(element: Element, before: PageCapture, now: PageCapture) -> int | None:
    """Return an element's number in another capture, ``None`` if it is gone or ambiguous."""
    wanted = identity_of(element, PageIndex(before))
    was, is_now = _sharing(wanted, element, before), _sharing(wanted, element, now)
    return is_now[was.index(element.index)] if len(was) == len(is_now) else None


def matching_elements(before: PageCapture, now: PageCapture) -> dict[int, Element]:
    """Return by their numbers the elements of a capture as another one has them, without those gone or ambiguous."""
    was, is_now = _by_identity(before), _by_identity(now)
    return {
        old.index: new
        for identity, alike in was.items()
        if len(alike) == len(is_now[identity])
        for old, new in zip(alike, is_now[identity], strict=True)
    }


def _by_identity(page: PageCapture) -> defaultdict[tuple[str, Identity], list[Element]]:
    index = PageIndex(page)
    found: defaultdict[tuple[str, Identity], list[Element]] = defaultdict(list)
    for element in page.elements:
        found[element.role, identity_of(element, index)].append(element)
    return found


def renumber_action(action: Action, before: PageCapture, now: PageCapture) -> Action | int:
    """Return the action with the numbers of ``now``, or the number of an element that can't be found again.

    A number that ``before`` does not have is left as it is; the executor refuses it.
    """
    numbers = set(elements_of(action))
    moved: dict[int, int] = {}
    for element in before.elements:
        if element.index in numbers:
            found = same_element(element, before, now)
            if found is None:
                return element.index
            moved[element.index] = found
    if isinstance(action, Drag):
        source, target = (
            moved.get(end, end) if isinstance(end, int) else end for end in (action.source, action.target)
        )
        return replace(action, source=source, target=target)
    return replace(action, element=next(iter(moved.values()))) if moved else action  # type: ignore[call-arg]


def _sharing(wanted: Identity, element: Element, page: PageCapture) -> list[int]:
    alike = [one for one in page.elements if (one.role, one.name, one.css) == (element.role, *wanted[1:3])]
    index = PageIndex(page)
    return [one.index for one in alike if identity_of(one, index) == wanted]
