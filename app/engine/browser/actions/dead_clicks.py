"""Refuse to repeat a click that had no effect (SuperBrowser, section 4.5: the second time).

Two exemptions: a toggle whose state differs from then may be clicked; and on a page that has changed
since, the click counts as a new one.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.engine.browser.actions.failure_reasons import click_call, describe_element, similar_elements
from app.engine.core.action_result import ActionResult, Cause, Effect, refused
from app.engine.core.fingerprint import Fingerprints, fingerprints_of
from app.engine.core.page_state import Element, PageCapture

POINT_TOLERANCE = 4
"""Points within so many pixels count as one."""

Target = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Dead:
    target: Target
    active: str
    prints: Fingerprints


class DeadClicks:
    """Remembers the last click that had no effect."""

    def __init__(self) -> None:
        self._dead: _Dead | None = None
        self._pending: tuple[Target, str] | None = None

    def refuse(
        self, target: Target, active: str, page: PageCapture, element: Element | None
    ) -> ActionResult | None:
        """Return why this click is refused, or ``None``; ``active`` is the element's toggle state."""
        self._pending = (target, active)
        dead = self._dead
        if dead is None or dead.target != target or dead.active != active:
            return None
        now = fingerprints_of(page)
        if (now.elements, now.values, now.shape) != (
            dead.prints.elements,
            dead.prints.values,
            dead.prints.shape,
        ):
            return None
        self._pending = None
        what = describe_element(element) if element is not None else "this point"
        return refused(
            Cause.DEAD_CLICK,
            f"{what} was clicked just now and nothing came of it",
            *alternatives_to_click(element, page),
        )

    def record_effect(self, effect: Effect, page: PageCapture) -> None:
        """Record the effect of the action checked last; a non-click forgets nothing unless it changed the page."""
        pending, self._pending = self._pending, None
        if effect in (Effect.NAVIGATED, Effect.CHANGED):
            self._dead = None
        elif pending is not None and effect in (Effect.NOTHING, Effect.UNRELATED):
            self._dead = _Dead(*pending, fingerprints_of(page))


def element_target(element: Element, *more: str) -> Target:
    """Return what identifies an element across captures."""
    return (*element.frame, element.css, element.xpath, element.role, element.name, *more)


def point_target(point: tuple[float, float], *more: str) -> Target:
    """Return what identifies a point."""
    return (f"{point[0] // POINT_TOLERANCE:.0f}", f"{point[1] // POINT_TOLERANCE:.0f}", *more)


def alternatives_to_click(element: Element | None, page: PageCapture) -> list[str]:
    """Suggest actions that may do what a click on this element did not."""
    if element is None:
        return ["check what is there now"]
    others = [one for one in similar_elements(element.name, page) if one.index != element.index]
    return [*map(click_call, others), f'press("{element.index}", "Enter")', f'hover("{element.index}")']
