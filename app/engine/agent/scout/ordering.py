"""Orders of a list: what a task asks for, and what a control offers by its words or its address.  Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl

from app.engine.agent.scout.likeness import meaning, word_fit, words
from app.engine.core.addresses import split_address
from app.engine.core.text import word_set

_DOWN = (
    "highest|largest|biggest|greatest|most recent(?:ly)?|newest|latest|most expensive|most|longest|best|top"
)
_UP = "lowest|smallest|least recent(?:ly)?|oldest|earliest|longest ago|cheapest|least|fewest|shortest"
_FIRST = re.compile(
    rf"((?:\b\w+ ){{0,3}})\b({_UP}|{_DOWN})\b((?: \w+){{0,3}}?)(?: are| is)? (?:first|at the top|on top)\b"
)
_SORTED = re.compile(
    r"\b(?:sort(?:ed)?|order(?:ed)?|arranged|ranked) (?:\w+ )?(?:by|according to) ((?:\w+ ?){1,3})"
    r"(.{0,20})"
)
_ALPHABETICAL = re.compile(r"((?:\b\w+ ){0,2})(?:in )?(reverse )?alphabetical(?:ly)?(?: order)?\b")
_DESCENDING = word_set("descending desc down decreasing reverse newest latest highest largest")
_ASCENDING = word_set("ascending asc up increasing")
_SORTING = word_set("sort order ordering orderby order_by sort_by sortby sort-by")
_IDLE = word_set(
    "ones one order sort sorted first list all items with by in the ascending descending asc desc"
)
_LEAST_LIKE = 0.6


@dataclass(frozen=True, slots=True)
class Ordering:
    """An order of rows: words of the column, and whether the highest or latest come first; ``said`` is its text."""

    column: tuple[str, ...]
    descending: bool
    said: str = ""


@lru_cache(maxsize=4096)
def read_ordering(text: str) -> Ordering | None:
    """Return the order that a text speaks of: ``the highest total at the top``, ``sorted by title``."""
    low = text.casefold()[:400]
    if found := _FIRST.search(low):
        return Ordering(_column(f"{found[1]} {found[3]}"), not re.fullmatch(_UP, found[2]), found[0])
    if found := _ALPHABETICAL.search(low):
        return Ordering(_column(found[1]), bool(found[2]), found[0])
    found = _SORTED.search(low)
    return Ordering(_column(found[1]), bool(_DESCENDING & set(words(found[0]))), found[0]) if found else None


@lru_cache(maxsize=4096)
def offered_ordering(name: str, url: str) -> Ordering | None:
    """Return the order that a control puts rows into, by its name or its address."""
    found, said = read_ordering(name), set(words(name))
    if found is not None:
        return Ordering(_column(name), found.descending, name)
    if is_sort_control(name) and said & (_DESCENDING | _ASCENDING):
        return Ordering(_column(name), bool(said & _DESCENDING), name)
    return ordering_in_address(url)


def is_sort_control(name: str) -> bool:
    """Whether the name of a control says that it sorts."""
    return words(name)[:1] in (("sort",), ("sorted",))


@lru_cache(maxsize=4096)
def ordering_in_address(url: str) -> Ordering | None:
    """Return the order that an address asks for: ``?sort=-total``, ``?order=total&dir=desc``."""
    query = parse_qsl(split_address(url).query)
    value = next((value for key, value in query if key.strip("@").casefold() in _SORTING and value), "")
    down = value.startswith("-") or any(_DESCENDING & set(words(one)) for _, one in query)
    return Ordering(_column(value), down, value) if value else None


def is_met(wanted: Ordering, offered: Ordering) -> bool:
    """Whether an order is the wanted one; a task without a column is met by any column of the same direction."""
    likes = (word_fit(one, other) >= _LEAST_LIKE for one in wanted.column for other in offered.column)
    return wanted.descending is offered.descending and (not wanted.column or any(likes))


def _column(text: str) -> tuple[str, ...]:
    return tuple(word for word in meaning(text) if word not in _IDLE)
