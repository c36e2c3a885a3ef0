"""Which elements of a page a name from a task means, and how well it fits.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from app.engine.agent.scout.phrases import one_of
from app.engine.core.page_state import Element

_SPLIT = re.compile(r"[^\w]+", re.UNICODE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
STOP = one_of(
    "the a an of to in on for with and or is are be it this that by at from as into your my ",
    "their its",
)


_NAMING = frozenset({"title", "aria-label", "placeholder", "alt"})
_MARKING = frozenset({"id", "name", "class"})
_HOLDING = frozenset({"generic", "listitem", "list", "group"})
_BY_CODE = 0.55
"""What a name counts that only the page's makers use."""
_SIGNS = {
    "x": "close",
    "×": "close",
    "✕": "close",
    "✖": "close",
    "close": "close",
    "☰": "menu",
    "menu": "menu",
}
"""Signs that are read as words."""


@dataclass(frozen=True, slots=True)
class Fit:
    """An element and how well a name fits it, in [0, 1]."""

    element: Element
    score: float


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Words in lower case with single spaces, without signs at either end."""
    return " ".join(text.split()).strip(" .:*!?,;…\"'").casefold()


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Words of a text in lower case, ``camelCase`` and ``snake_case`` taken apart."""
    return tuple(word for word in _SPLIT.split(_CAMEL.sub(" ", text).replace("_", " ").casefold()) if word)


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """A word without its commonest English endings, so that ``orders`` meets ``order``."""
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = f"{word[:-3]}y" if word.endswith("ies") and len(word) > 4 else word[:-1]
    if len(word) > 4:
        for ending in ("ing", "ed", "or", "er", "ly", "e"):
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                return word[: -len(ending)]
    return word


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning."""
    return frozenset(stem(word) for word in words(text) if word not in STOP)


def names_of(element: Element) -> tuple[str, ...]:
    """What an element is called, the plainest first: name, label, text, title, placeholder."""
    found = [name for name in (element.name, element.label, element.text) if name]
    found += [value for key, value in element.attributes if key in _NAMING and value]
    return tuple(dict.fromkeys(found)) if len(found) > 1 else tuple(found)


def marks_of(element: Element) -> tuple[str, ...]:
    """What an element is called in its code: id, name, class tokens, test id."""
    found = [value for key, value in element.attributes if key in _MARKING and value]
    return (*found, element.test_id) if element.test_id else tuple(found)


@lru_cache(maxsize=8192)
def likeness(wanted: str, found: str) -> float:
    """How well a name fits: 1 for the same in the same letters, 0.97 but for case and signs, less for part of it."""
    if not wanted or not found:
        return 0.0
    if wanted == found:
        return 1.0
    if _SIGNS.get(wanted.strip().lower(), wanted) == _SIGNS.get(found.strip().lower(), found):
        return 0.95
    here, there = plain(wanted), plain(found)
    if here == there:
        return 0.97 if here else 0.0
    if not here or not there:
        return 0.0
    ours, theirs = stems(wanted), stems(found)
    if ours and ours == theirs:
        return 0.93
    if ours and theirs:
        common = len(ours & theirs)
        if common == len(ours) and len(ours) > 0:
            return 0.6 + 0.3 * len(ours) / len(theirs)
        if common == len(theirs) and len(theirs) > 0:
            return 0.5 + 0.3 * len(theirs) / len(ours)
        if common:
            return 0.5 * common / max(len(ours), len(theirs))
    if len(here) > 4 and len(there) > 4:
        close = fuzz.ratio(here, there) / 100
        return 0.8 * close if close > 0.84 else 0.0
    return 0.0


def fit(wanted: str, element: Element) -> float:
    """How well a name fits an element, by what people see first and by its code last."""
    best = 0.0
    for place, name in enumerate(names_of(element)):
        best = max(best, likeness(wanted, name) - 0.01 * place)
    if best >= _BY_CODE or not element.attributes:
        return best
    asked = stems(wanted)
    return _BY_CODE if asked and any(asked <= stems(mark) for mark in marks_of(element)) else best


def find(
    wanted: str, elements: Iterable[Element], *, roles: frozenset[str] = frozenset(), least: float = 0.5
) -> list[Fit]:
    """Elements that a name fits, best first, document order among equals; an asked-for role counts for something."""
    found: list[Fit] = []
    for element in elements:
        score = fit(wanted, element)
        if score >= least:
            more = 0.05 if roles and element.role in roles else 0.0
            holds = element.role in _HOLDING and not element.listens  # it may only hold what is meant
            less = 0.02 if holds else 0.0
            found.append(Fit(element, score + more - less))
    found.sort(key=lambda one: (-one.score, one.element.index))
    return found


def best(
    wanted: str, elements: Iterable[Element], *, roles: frozenset[str] = frozenset(), least: float = 0.5
) -> Element | None:
    """The element that a name fits best."""
    found = find(wanted, elements, roles=roles, least=least)
    return found[0].element if found else None


def of_roles(elements: Iterable[Element], roles: frozenset[str]) -> list[Element]:
    """Elements of these roles in document order."""
    return [element for element in elements if element.role in roles]


def nth(elements: Sequence[Element], ordinal: int) -> Element | None:
    """The first for 1, the last for -1; ``None`` where there are too few, or for 0."""
    place = ordinal - 1 if ordinal > 0 else len(elements) + ordinal
    return elements[place] if ordinal and 0 <= place < len(elements) else None
