"""Sentences on why an element can't take an action and what to do instead, for a model and a person. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rapidfuzz import fuzz

from app.engine.browser.capture.page_monitor import CoveringElement, ElementProbe
from app.engine.core.action_result import ActionResult, Cause, refused
from app.engine.core.identity import normal_name
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.redaction import redact_text

MAX_ALTERNATIVES = 5
"""Alternatives that a refusal lists."""
MIN_SIMILARITY = 70
"""Similarity of two names, of 100, from which one is offered for the other."""
_NAME = 80

_CLOSE_WORDS = re.compile(
    r"^(close|dismiss|no,? thanks|not now|got it|ok(ay)?|accept( all)?|agree|i agree|cancel|skip|continue|later|hide"
    r"|schließen|ablehnen|akzeptieren|fermer|refuser|accepter|cerrar|aceptar|rechazar|chiudi|sluiten|[x×✕✖✗╳])\b|^[x×✕✖✗╳]$",
    re.IGNORECASE,
)


def describe_element(element: Element) -> str:
    """Return role and name of an element, as both a model and a person know it."""
    name = element.name or element.text or element.label or element.tag
    return f"{element.role or 'element'} '{redact_text(name)[:_NAME]}'"


def click_call(element: Element) -> str:
    """Return a click on the element in the action language, with its name."""
    return f'click("{element.index}") {describe_element(element)}'


def no_such_element(index: int, page: PageCapture, label: str = "") -> ActionResult:
    """Refuse an element number that the page does not have."""
    found = similar_elements(label, page) if label else []
    last = len(page.elements) - 1
    span = f"they are numbered 0 to {last}" if last >= 0 else "it has none"
    return refused(
        Cause.MISSING, f"there is no element {index} on this page; {span}", *map(click_call, found)
    )


def stale_element(element: Element, page: PageCapture) -> ActionResult:
    """Refuse an element that was on the last capture and has left the page."""
    others = [other for other in similar_elements(element.name, page) if other.index != element.index]
    return refused(
        Cause.STALE,
        f"{describe_element(element)} has left the page since it was looked at",
        *map(click_call, others[:MAX_ALTERNATIVES]),
    )


def obstruction(element: Element, probe: ElementProbe, page: PageCapture) -> ActionResult | None:
    """Return why the pointer can't reach the element, or ``None`` if it can."""
    if probe.gone:
        return stale_element(element, page)
    if probe.hidden:
        return refused(
            Cause.HIDDEN, f"{describe_element(element)} is not shown now", *_openers(element, page)
        )
    if probe.disabled or probe.pointless:
        return refused(
            Cause.DISABLED,
            f"{describe_element(element)} is disabled",
            *map(click_call, _enabled_like(element, page)),
        )
    if probe.point is None and probe.cover is not None:
        return covered_element(element, probe.cover, page)
    if probe.point is None:
        return refused(Cause.HIDDEN, f"{describe_element(element)} is out of scrolling reach")
    return None


def covered_element(element: Element, cover: CoveringElement, page: PageCapture) -> ActionResult:
    """Refuse an element under another one: say what covers it and how that may be closed."""
    what = f"<{cover.tag}>" + (f" '{redact_text(cover.name)}'" if cover.name else "")
    inside = [page.elements[at] for at in cover.inside if at < len(page.elements) and at != element.index]
    closing = [one for one in inside if one.visible and _CLOSE_WORDS.search(one.name or one.text)]
    told: list[str] = [click_call(one) for one in closing]
    if 0 <= cover.number < len(page.elements) and cover.number not in {one.index for one in closing}:
        told.append(f"{click_call(page.elements[cover.number])}, which lies on top")
    told.extend(click_call(one) for one in inside if one.visible and one not in closing)
    if not closing:
        told.append('keyboard_press("Escape") may close it')
    return refused(
        Cause.COVERED,
        f"{describe_element(element)} is covered by {what}",
        *dict.fromkeys(told[: MAX_ALTERNATIVES + 1]),
    )


def similar_elements(name: str, page: PageCapture, *, most: int = MAX_ALTERNATIVES) -> list[Element]:
    """Return the visible elements whose names come closest, best first."""
    wanted = normal_name(name)
    if not wanted:
        return []
    scored = [
        (fuzz.token_set_ratio(wanted, normal_name(one.name)), -one.index, one)
        for one in page.elements
        if one.visible and one.name
    ]
    return [
        one
        for score, _, one in sorted(scored, key=lambda item: item[:2], reverse=True)
        if score >= MIN_SIMILARITY
    ][:most]


def closest_texts(wanted: str, offered: Sequence[str], *, most: int = 8) -> list[str]:
    """Return the texts closest to the wanted one, best first; the first ones if none is similar."""
    ranked = sorted(offered, key=lambda text: -fuzz.WRatio(wanted.lower(), text.lower()))
    return ranked[:most]


def _openers(element: Element, page: PageCapture) -> Iterable[str]:
    """Suggest what may reveal a hidden element: collapsed elements before it, the nearest first."""
    closed = [
        one
        for one in page.elements
        if one.visible
        and one.index < element.index
        and ("collapsed" in one.states or "haspopup" in one.states)
    ]
    return [f"{click_call(one)} may show it" for one in reversed(closed[-MAX_ALTERNATIVES:])]


def _enabled_like(element: Element, page: PageCapture) -> list[Element]:
    name = normal_name(element.name)
    return [
        one
        for one in page.elements
        if one.visible and one.index != element.index and name and normal_name(one.name) == name
        and "disabled" not in one.states
    ][:MAX_ALTERNATIVES]  # fmt: skip
