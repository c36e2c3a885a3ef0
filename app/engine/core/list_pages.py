"""How much of a paged list a page shows, read from its text: ``Items 1-12 of 57``.  Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_RANGE = re.compile(
    r"\b(?:items? |showing |displaying |results? |entries |records? )?"
    r"(\d[\d,]{0,9}) ?(?:-|–|to) ?(\d[\d,]{0,9}) of (?:about |over )?(\d[\d,]{0,9})\b(?! ?%)",
    re.IGNORECASE,
)
_PAGE_OF = re.compile(r"\bpage (\d{1,5}) of (\d{1,5})\b", re.IGNORECASE)
_FIELD = re.compile(
    r"(?:textbox|spinbutton) '[^'\n]*\bpage\b[^'\n]*'[^\n]*?\bvalue='?(\d{1,5})\b[^\n]*"
    r"(?:\n[^\n]*){0,5}?\n[^\n]*\bof (\d{1,5})\b",
    re.IGNORECASE,
)
_WAY = re.compile(
    r"(?:link '\W*((?:go to )?(?:the )?next(?: page)?|more|older(?: posts| entries)?)"
    r"|(?:link|button) '\W*((?:load|show) more))"
    r"\W*'(?![^\n]*disabled)",
    re.IGNORECASE,
)
"""A button "Next" mostly turns pictures of one thing."""

_NEAR = 2_000
"""Characters of a line, and of those after it, that are looked at."""
_MOST_LINES = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ListShare:
    """The share of a list that a page shows.

    Attributes:
        page: number of the page, 0 where it does not say.
        pages: number of pages, 0 where it only has a way to the next one.
        text: its own words, or the name of that way.
    """

    page: int
    pages: int
    text: str


def list_share(tree: str) -> ListShare | None:
    """Return the share of a list that a page shows, where the list has more than one page; else ``None``."""
    lower = lowered(tree)
    for line in lines_with(tree, lower, " of "):
        for found in _RANGE.finditer(line):
            first, last, total = (int(one.replace(",", "")) for one in found.groups())
            if not 0 < first <= last <= total or last - first + 1 == total:
                continue
            size = last - first + 1 if last < total else max(1, first - 1)
            return ListShare(page=(first - 1) // size + 1, pages=-(-total // size), text=found[0].strip())
        if (of := _PAGE_OF.search(line)) is not None and (share := _numbered(of[1], of[2])) is not None:
            return share
    for at in _places(lower, "page"):
        start = lower.rfind("\n", 0, at) + 1
        if "value=" not in lower[start : lower.find("\n", at) % (len(lower) + 1)]:
            continue
        found = _FIELD.search(tree, start, start + _NEAR)
        if found is not None and (share := _numbered(found[1], found[2])) is not None:
            return share
    for word in ("next", "more", "older"):
        for line in lines_with(tree, lower, word):
            if (way := _WAY.search(line)) is not None:
                return ListShare(page=0, pages=0, text=way[1] or way[2])
    return None


def _numbered(page: str, pages: str) -> ListShare | None:
    if not 0 < int(page) <= int(pages) != 1:
        return None
    return ListShare(page=int(page), pages=int(pages), text=f"page {page} of {pages}")


def lowered(tree: str) -> str:
    """Return a text in small letters, of the same length."""
    lower = tree.lower()
    return lower if len(lower) == len(tree) else tree  # a few capitals have no small letter of their length


def lines_with(tree: str, lower: str, words: str) -> Iterator[str]:
    """Yield the lines that hold some words; ``lower`` is the text by ``lowered``."""
    for at in _places(lower, words):
        yield tree[tree.rfind("\n", 0, at) + 1 : tree.find("\n", at) % (len(tree) + 1)][:_NEAR]


def _places(text: str, words: str) -> Iterator[int]:
    """Yield the first places of some words, one a line."""
    at = text.find(words)
    for _ in range(_MOST_LINES):
        if at == -1:
            return
        yield at
        end = text.find("\n", at)
        at = text.find(words, end) if end != -1 else -1
