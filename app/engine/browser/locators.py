"""Find an element again months later: described by several tiers, taken only if a tier names it alone.

An element is never guessed. If several fit, the other recorded evidence decides (name, landmarks, a
link's destination, the content of the same row); if that leaves more than one, their position among
similar elements decides only if nothing around them has moved; else there is no match, and the reason
is given. The tier that found the element is part of the result.

(WebNavigator replays one XPath, without asking whether it still names the same element.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from app.engine.core.identity import normal_name
from app.engine.core.page_index import PageIndex, has_attributes
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.transition import Locator, Tier

MIN_SHARED_WORDS = 0.5
"""Share of common words from which a changed name counts as the same if only its position supports it."""

_GENERATED = re.compile(
    r"(?=[a-fA-F-]*\d)[0-9a-fA-F-]{8,}|\d{4,}|[:«»]|(?=\w*\d\w*[a-zA-Z]\w*\d)\w{5,}"
    r"|^(?i:react|radix|headlessui|mui|ext|ember|yui|gwt|__?bvid|cdk|mat|ng|vue|svelte|ui-id|rc)[\w-]*\d"
)
_MACHINE_MADE = frozenset({"id", "name", "class"})
"""Attributes whose values are for machines; the others hold words for people."""
_PREFERRED = ("id", "name", "aria-label", "placeholder", "title", "autocomplete", "type", "class")
_WEAK = frozenset({"class", "type", "autocomplete"})
"""Attributes that say what kind of element it is, and not which."""


@dataclass(frozen=True, slots=True)
class LocatorMatch:
    """The element a locator names on a page.

    ``element`` and ``tier`` are ``None`` if it names none; ``candidates`` is how many fitted the tier
    that decided (or came closest); ``why`` says in words what was compared, or why nothing was taken.
    """

    element: Element | None
    tier: Tier | None
    candidates: int
    why: str


def locator_of(element: Element, page: PageCapture | PageIndex) -> Locator:
    """Describe a visible element of a capture; to describe many of one page, pass its index."""
    index = page if isinstance(page, PageIndex) else PageIndex(page)
    return Locator(
        role=element.role,
        name=element.name,
        nth=index.place(element),
        of=max(1, len(index.alike(element))),
        landmarks=element.landmarks,
        test_id=element.test_id,
        attributes=_identifying_attributes(element, index),
        label=element.label,
        text=element.text if element.text != element.name else "",
        href=index.leads(element),
        css=element.css,
        xpath=element.xpath,
        frame=element.frame,
        near=index.near(element),
    )


def resolve(locator: Locator, page: PageCapture) -> LocatorMatch:
    """Find the element again; the first tier that names one element alone decides."""
    index = PageIndex(page)
    pool = [element for element in page.elements if element.frame == locator.frame]
    moved = ""
    if not pool and locator.frame:
        pool, moved = list(page.elements), " in another frame"
    closest: LocatorMatch | None = None
    alike: list[Element] = []
    for tier, fits in _TIERS:
        found = fits(locator, pool, index)
        if not found:
            continue
        best, how = _best_fit(locator, found, index)
        objection = _objection(locator, best, alike, tier, pool, index)
        if not objection:
            return LocatorMatch(best[0], tier, len(found), f"found by {tier.value}{moved}{how}")
        closest = closest or LocatorMatch(None, None, len(found), objection)
        alike = alike or (best if len(best) > 1 else [])
    return closest or LocatorMatch(None, None, 0, f"{locator.words} is not on this page")


# the tiers: which elements fit, by one kind of evidence


def _by_test_id(locator: Locator, pool: Sequence[Element], _: PageIndex) -> list[Element]:
    if not locator.test_id:
        return []
    return [e for e in pool if e.test_id == locator.test_id and e.role == locator.role]


def _by_attributes(locator: Locator, pool: Sequence[Element], index: PageIndex) -> list[Element]:
    found: list[Element] = []
    if locator.attributes:
        found = [e for e in pool if e.role == locator.role and has_attributes(e, locator.attributes)]
    if not found and locator.href:
        found = [e for e in pool if e.role == locator.role and index.leads(e) == locator.href]
    return found


def _by_role_and_name(locator: Locator, pool: Sequence[Element], _: PageIndex) -> list[Element]:
    if not locator.name:
        return []
    exact = [e for e in pool if e.role == locator.role and e.name == locator.name]
    if exact:
        return exact
    name = normal_name(locator.name)
    return [e for e in pool if e.role == locator.role and normal_name(e.name) == name]


def _by_label(locator: Locator, pool: Sequence[Element], _: PageIndex) -> list[Element]:
    if not locator.label:
        return []
    return [e for e in pool if e.role == locator.role and locator.label in (e.label, e.name)]


def _by_text(locator: Locator, pool: Sequence[Element], _: PageIndex) -> list[Element]:
    """Match by text, whatever the role has become; a single character proves nothing."""
    text = normal_name(locator.text or locator.name)
    return [e for e in pool if text in (normal_name(e.text), normal_name(e.name))] if len(text) > 1 else []


def _by_css(locator: Locator, pool: Sequence[Element], _: PageIndex) -> list[Element]:
    return [e for e in pool if e.css == locator.css and e.role == locator.role] if locator.css else []


def _by_xpath(locator: Locator, pool: Sequence[Element], _: PageIndex) -> list[Element]:
    return [e for e in pool if e.xpath == locator.xpath and e.role == locator.role] if locator.xpath else []


_TIERS: tuple[tuple[Tier, Callable[[Locator, Sequence[Element], PageIndex], list[Element]]], ...] = (
    (Tier.TEST_ID, _by_test_id),
    (Tier.ATTRIBUTES, _by_attributes),
    (Tier.ROLE_NAME, _by_role_and_name),
    (Tier.LABEL, _by_label),
    (Tier.TEXT, _by_text),
    (Tier.CSS, _by_css),
    (Tier.XPATH, _by_xpath),
)


# from several that fit to one


def _best_fit(locator: Locator, found: list[Element], index: PageIndex) -> tuple[list[Element], str]:
    """Return the best fitting elements in everything else, and how they differ from the others."""
    if len(found) == 1:
        return found, ""
    for told, fits in _refinements(locator, index):
        better = [element for element in found if fits(element)]
        if len(better) == 1:
            return better, f", distinguished from {len(found) - 1} similar ones by its {told}"
        found = better or found
    row = index.alike(found[0])
    if locator.of == len(row) and 0 <= locator.nth < len(row) and row[locator.nth] in found:
        chosen = row[locator.nth]
        stands = chosen.css == locator.css if locator.css else chosen.xpath == locator.xpath != ""
        evidence = (index.leads(chosen), chosen.test_id, chosen.label, index.near(chosen))
        if stands and evidence == (locator.href, locator.test_id, locator.label, locator.near):
            place = f", number {locator.nth + 1} of {locator.of} similar ones, none of which has moved"
            return [chosen], place
    return found, ""


def _refinements(locator: Locator, index: PageIndex) -> Iterable[tuple[str, Callable[[Element], bool]]]:
    yield "name", lambda e: e.name == locator.name
    yield "name", lambda e: normal_name(e.name) == normal_name(locator.name)
    yield "landmarks", lambda e: e.landmarks == locator.landmarks
    yield "address", lambda e: index.leads(e) == locator.href
    yield "row", lambda e: index.near(e) == locator.near
    yield "test id", lambda e: e.test_id == locator.test_id
    if locator.attributes:
        yield "attributes", lambda e: has_attributes(e, locator.attributes)
    yield "label", lambda e: e.label == locator.label
    yield "visibility", lambda e: e.visible


def _objection(
    locator: Locator,
    best: Sequence[Element],
    alike: Sequence[Element],
    tier: Tier,
    pool: Sequence[Element],
    index: PageIndex,
) -> str:
    """Return why the best fit is not to be trusted, or ""; ``alike`` could not be told apart by a better tier."""
    if len(best) > 1:
        return f"{len(best)} elements fit {locator.words} by {tier.value}"
    chosen = best[0]
    if alike and chosen not in alike:
        return f"{len(alike)} elements are similar to {locator.words}, and none is where it was"
    if tier is Tier.TEST_ID:
        return ""
    same_name = normal_name(chosen.name) == normal_name(locator.name)
    same_address = bool(locator.href) and index.leads(chosen) == locator.href
    if tier is Tier.ATTRIBUTES and not same_name and locator.name:
        if _by_role_and_name(locator, pool, index):
            return f"another element is called {locator.name!r} now"
        weak = all(key in _WEAK or any(map(str.isdigit, value)) for key, value in locator.attributes)
        if weak and not same_address and not _words_alike(chosen.name, locator.name):
            return f"what looks like {locator.words} is called {chosen.name!r} now"
    return _objection_to_place(locator, chosen, tier, index, same_name=same_name, same_address=same_address)


def _objection_to_place(
    locator: Locator, chosen: Element, tier: Tier, index: PageIndex, *, same_name: bool, same_address: bool
) -> str:
    """Return what around the element is no longer as it was, or ""."""
    by_place = tier in (Tier.CSS, Tier.XPATH)
    if by_place and not same_name and not same_address and not _words_alike(chosen.name, locator.name):
        return f"{chosen.role} {chosen.name!r} is where {locator.words} was"
    if tier is Tier.ATTRIBUTES or (same_address and not by_place):
        return ""
    same_row = normal_name(index.near(chosen)) == normal_name(locator.near)
    if locator.near and not same_row and (by_place or locator.of > 1):
        return f"the row of {locator.near!r} that {locator.words} was in is not here"
    if locator.of > 1 and not (locator.near and same_row) and len(index.alike(chosen)) != locator.of:
        return f"{locator.of} elements like {locator.words} were here, and their number has changed"
    return ""


# what an element is compared by


def _identifying_attributes(element: Element, index: PageIndex) -> tuple[tuple[str, str], ...]:
    """Return the fewest stable attributes that identify the element among those of its role; none if all
    together don't.
    """
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
            if index.holders(element, chosen) <= {element.index}:
                return chosen
    return ()


def is_generated(value: str) -> bool:
    """Whether an attribute's value looks machine-made for this one load (``:r3:``, ``ext-gen1042``)."""
    return bool(_GENERATED.search(value))


def _words_alike(now: str, before: str) -> bool:
    """Whether two names share at least half of their words; two elements without a name do."""
    a, b = set(normal_name(now).split()), set(normal_name(before).split())
    if not a and not b:
        return True
    return len(a & b) >= MIN_SHARED_WORDS * len(a | b)
