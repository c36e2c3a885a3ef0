"""How much of a paged list a page shows, read from its text: ``Items 1-12 of 57``.  Pure functions."""

from __future__ import annotations

import re
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
    r"(?:link|button) '\W*((?:go to )?(?:the )?next(?: page)?|more|older(?: posts| entries)?|load more|show more)\W*'"
    r"(?![^\n]*disabled)",
    re.IGNORECASE,
)


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
    for found in _RANGE.finditer(tree):
        first, last, total = (int(one.replace(",", "")) for one in found.groups())
        if not 0 < first <= last <= total or last - first + 1 == total:
            continue
        size = last - first + 1 if last < total else max(1, first - 1)
        return ListShare(page=(first - 1) // size + 1, pages=-(-total // size), text=found[0].strip())
    for pattern in (_PAGE_OF, _FIELD):
        found = pattern.search(tree)
        if found is not None and 0 < int(found[1]) <= int(found[2]) != 1:
            return ListShare(
                page=int(found[1]), pages=int(found[2]), text=f"page {found[1]} of {found[2]}"
            )
    way = _WAY.search(tree)
    return ListShare(page=0, pages=0, text=way[1]) if way is not None else None
