"""How an element is found again months later: described by several tiers, taken only where a tier names it alone.

An element is never guessed at.  Where several fit, what else was recorded decides (name, landmarks, where a link leads,
what stands in the same row); where that leaves more than one, their place among those alike decides only if nothing
around them has moved; else the answer is that there is none, and why.  The tier that found it is part of the answer.

(WebNavigator replays one XPath, without asking whether it still names the same element.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from app.engine.identity import normal_name, url_key
from app.engine.page_state import Element, PageCapture
from app.engine.transition import Locator, Tier

ALIKE = 0.5
"""Share of common words from which a changed name still counts as the same, where only its place speaks for it."""

_GENERATED = re.compile(
    r"(?=[a-fA-F-]*\d)[0-9a-fA-F-]{8,}|\d{4,}|[:«»]|(?=\w*\d\w*[a-zA-Z]\w*\d)\w{5,}"
    r"|^(?i:react|radix|headlessui|mui|ext|ember|yui|gwt|__?bvid|cdk|mat|ng|vue|svelte|ui-id|rc)[\w-]*\d"
)
_MACHINE_MADE = frozenset({"id", "name", "class"})
"""Attributes whose values are for machines; the others hold words for people."""
_PREFERRED = ("id", "name", "aria-label", "placeholder", "title", "autocomplete", "type", "class")
_WEAK = frozenset({"class", "type", "autocomplete"})
"""Attributes that say what kind of thing an element is, and not which."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The element a locator names on a page.

    ``element`` and ``tier`` are ``None`` where it names none; ``candidates`` is how many fitted the tier that decided
    (or came closest); ``why`` says in words what was compared, or why nothing was taken.
    """

    element: Element | None
    tier: Tier | None
    candidates: int
    why: str


def locator_of(element: Element, page: PageCapture) -> Locator:
    """Describe a visible element of a capture."""
    alike = _alike(element, page.elements)
    return Locator(
        role=element.role,
        name=element.name,
        nth=next((n for n, other in enumerate(alike) if other.index == element.index), 0),
        of=max(1, len(alike)),
        landmarks=element.landmarks,
        test_id=element.test_id,
        attributes=_naming(element, page.elements),
        label=element.label,
        text=element.text if element.text != element.name else "",
        href=_leads(element, page),
        css=element.css,
        xpath=element.xpath,
        frame=element.frame,
        near=_near(element, page.elements),
    )


def resolve(locator: Locator, page: PageCapture) -> Resolved:
    """Find the element again; the first tier that names one element alone decides."""
    pool = [element for element in page.elements if element.frame == locator.frame]
    moved = ""
    if not pool and locator.frame:
        pool, moved = list(page.elements), "in another frame, "
    closest = Resolved(None, None, 0, f"{locator.words} is not on this page")
    for tier, fits in _TIERS:
        found = fits(locator, pool, page)
        if not found:
            continue
        chosen, how = _one(locator, found, pool, page)
        if chosen is None:
            closest = Resolved(None, None, len(found), f"{how} by {tier.value}")
            continue
        objection = _objection(locator, chosen, tier, pool, page)
        if objection:
            closest = Resolved(None, None, len(found), objection)
            continue
        return Resolved(
            chosen, tier, len(found), f"found by {tier.value}{moved and ', ' + moved.rstrip(', ')}{how}"
        )
    return closest


# the tiers: which elements fit, by one kind of evidence


def _by_test_id(locator: Locator, pool: Sequence[Element], _: PageCapture) -> list[Element]:
    if not locator.test_id:
        return []
    return [e for e in pool if e.test_id == locator.test_id and e.role == locator.role]


def _by_attributes(locator: Locator, pool: Sequence[Element], page: PageCapture) -> list[Element]:
    found: list[Element] = []
    if locator.attributes:
        found = [e for e in pool if e.role == locator.role and _has(e, locator.attributes)]
    if not found and locator.href:
        found = [e for e in pool if e.role == locator.role and _leads(e, page) == locator.href]
    return found


def _by_role_and_name(locator: Locator, pool: Sequence[Element], _: PageCapture) -> list[Element]:
    if not locator.name:
        return []
    exact = [e for e in pool if e.role == locator.role and e.name == locator.name]
    if exact:
        return exact
    name = normal_name(locator.name)
    return [e for e in pool if e.role == locator.role and normal_name(e.name) == name]


def _by_label(locator: Locator, pool: Sequence[Element], _: PageCapture) -> list[Element]:
    if not locator.label:
        return []
    return [e for e in pool if e.role == locator.role and locator.label in (e.label, e.name)]


def _by_text(locator: Locator, pool: Sequence[Element], _: PageCapture) -> list[Element]:
    """Whatever its role has become; a single character tells nothing."""
    text = normal_name(locator.text or locator.name)
    return [e for e in pool if text in (normal_name(e.text), normal_name(e.name))] if len(text) > 1 else []


def _by_css(locator: Locator, pool: Sequence[Element], _: PageCapture) -> list[Element]:
    return [e for e in pool if e.css == locator.css and e.role == locator.role] if locator.css else []


def _by_xpath(locator: Locator, pool: Sequence[Element], _: PageCapture) -> list[Element]:
    return [e for e in pool if e.xpath == locator.xpath and e.role == locator.role] if locator.xpath else []


_TIERS: tuple[tuple[Tier, Callable[[Locator, Sequence[Element], PageCapture], list[Element]]], ...] = (
    (Tier.TEST_ID, _by_test_id),
    (Tier.ATTRIBUTES, _by_attributes),
    (Tier.ROLE_NAME, _by_role_and_name),
    (Tier.LABEL, _by_label),
    (Tier.TEXT, _by_text),
    (Tier.CSS, _by_css),
    (Tier.XPATH, _by_xpath),
)


# from several that fit to one


def _one(
    locator: Locator, found: list[Element], pool: Sequence[Element], page: PageCapture
) -> tuple[Element | None, str]:
    """The one that fits best in everything else, and how it was told from the others; ``None`` where none is."""
    if len(found) == 1:
        return found[0], ""
    for told, fits in _refinements(locator, page):
        better = [element for element in found if fits(element)]
        if len(better) == 1:
            return better[0], f", told from {len(found) - 1} alike by its {told}"
        found = better or found
    row = _alike(found[0], pool)
    if locator.of == len(row) and 0 <= locator.nth < len(row):
        chosen = row[locator.nth]
        stands = chosen.css == locator.css if locator.css else chosen.xpath == locator.xpath != ""
        if chosen in found and stands and (not locator.near or _near(chosen, page.elements) == locator.near):
            return chosen, f", number {locator.nth + 1} of {locator.of} alike, which stand where they stood"
    return None, f"{len(found)} elements fit {locator.words}"


def _refinements(locator: Locator, page: PageCapture) -> Iterable[tuple[str, Callable[[Element], bool]]]:
    yield "name", lambda e: e.name == locator.name
    yield "name", lambda e: normal_name(e.name) == normal_name(locator.name)
    yield "landmarks", lambda e: e.landmarks == locator.landmarks
    if locator.href:
        yield "address", lambda e: _leads(e, page) == locator.href
    if locator.near:
        yield "row", lambda e: _near(e, page.elements) == locator.near
    if locator.test_id:
        yield "test id", lambda e: e.test_id == locator.test_id
    if locator.attributes:
        yield "attributes", lambda e: _has(e, locator.attributes)
    if locator.label:
        yield "label", lambda e: e.label == locator.label
    yield "visibility", lambda e: e.visible


def _objection(
    locator: Locator, chosen: Element, tier: Tier, pool: Sequence[Element], page: PageCapture
) -> str:
    """Why the only element that fits is not to be trusted; "" where it is."""
    if tier is Tier.TEST_ID:
        return ""
    same_name = normal_name(chosen.name) == normal_name(locator.name)
    same_address = bool(locator.href) and _leads(chosen, page) == locator.href
    if tier is Tier.ATTRIBUTES and not same_name and locator.name:
        if _by_role_and_name(locator, pool, page):
            return f"another element is called {locator.name!r} now"
        weak = all(key in _WEAK or any(map(str.isdigit, value)) for key, value in locator.attributes)
        if weak and not same_address and not _words_alike(chosen.name, locator.name):
            return f"what looks like {locator.words} is called {chosen.name!r} now"
    by_place = tier in (Tier.CSS, Tier.XPATH)
    if by_place and not same_name and not same_address and not _words_alike(chosen.name, locator.name):
        return f"where {locator.words} stood there is {chosen.role} {chosen.name!r} now"
    if locator.of > 1 and tier is not Tier.ATTRIBUTES and len(_alike(chosen, pool)) != locator.of:
        known = same_address or (bool(locator.near) and _near(chosen, page.elements) == locator.near)
        if not known:
            return f"{locator.of} elements like {locator.words} were here, and their number has changed"
    return ""


# what an element is compared by


def _alike(element: Element, pool: Iterable[Element]) -> list[Element]:
    return [
        other
        for other in pool
        if (other.role, other.name, other.landmarks, other.frame)
        == (element.role, element.name, element.landmarks, element.frame)
    ]


def _leads(element: Element, page: PageCapture) -> str:
    return url_key(element.href, page.url) if element.href else ""


def _has(element: Element, attributes: Iterable[tuple[str, str]]) -> bool:
    """Whether the element still has them; of a class list it may have got more."""
    held = dict(element.attributes)
    return all(
        set(value.split()) <= set(held.get(key, "").split()) if key == "class" else held.get(key) == value
        for key, value in attributes
    )


def _naming(element: Element, pool: Sequence[Element]) -> tuple[tuple[str, str], ...]:
    """The fewest stable attributes that name it alone among those of its role; none where all together do not."""
    rivals = [
        other
        for other in pool
        if other.index != element.index and other.role == element.role and other.frame == element.frame
    ]
    stable = sorted(
        (
            (key, value)
            for key, value in element.attributes
            if value and not (key in _MACHINE_MADE and is_generated(value))
        ),
        key=lambda pair: (_PREFERRED.index(pair[0]) if pair[0] in _PREFERRED else len(_PREFERRED), pair),
    )
    for size in (1, 2, 3):
        for chosen in combinations(stable[:6], size):
            if not any(_has(other, chosen) for other in rivals):
                return chosen
    return ()


def is_generated(value: str) -> bool:
    """Whether an attribute's value looks made up by a machine for this one load (``:r3:``, ``ext-gen1042``)."""
    return bool(_GENERATED.search(value))


def _near(element: Element, pool: Iterable[Element]) -> str:
    """A name of the element's row in a repeated list that stands in no other row."""
    if not element.repeat:
        return ""
    rows: dict[str, set[int]] = {}
    own: list[str] = []
    for other in pool:
        if (other.repeat, other.frame) != (element.repeat, element.frame) or not other.name:
            continue
        rows.setdefault(other.name, set()).add(other.repeat_index)
        if other.repeat_index == element.repeat_index and other.name != element.name:
            own.append(other.name)
    return next((name for name in own if len(rows[name]) == 1), "")


def _words_alike(now: str, before: str) -> bool:
    """Whether two names share at least half of their words; two elements without a name do."""
    a, b = set(normal_name(now).split()), set(normal_name(before).split())
    if not a and not b:
        return True
    return len(a & b) >= ALIKE * len(a | b)
