"""The anchor route: is the region a tip was drawn on (``kb.tip.Anchor``) on the page in front?

Compared are words, never pixels.  A control belongs to the region if at least half of its words are the region's.

- words: the share of the region's words that such controls, or the headings, hold.  Below a half: the score is 0.  A
  region without words (an icon) is known by its neighbours alone.
- role: whether one of the controls has the region's role (1 where it names none).
- neighbours: the share of the neighbours that are controls or headings of the page (1 where there are none).
- page: whether the address fits the template the region was drawn on.

Score: 0.5 words + 0.15 role + 0.25 neighbours + 0.1 page, in steps of 0.0001.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from kb.retrieval.terms import stems_of
from kb.retrieval.url import Address, compile_page_pattern
from kb.tip import Anchor, Query

_PLACEHOLDER = re.compile(r"\{[^{}]*\}|(?<=/):\w+")
_LEAST = 0.5


@dataclass(frozen=True, slots=True)
class PageControls:
    """The page in front as anchors see it: roles and stems of its controls, and the stems of its headings."""

    controls: tuple[tuple[str, tuple[str, ...]], ...]
    names: frozenset[tuple[str, ...]]
    stems: frozenset[str]

    @classmethod
    def of(cls, query: Query) -> PageControls:
        """Read the controls ("role name"), the headings and the element about to be used."""
        controls: list[tuple[str, tuple[str, ...]]] = []
        for control in (*query.controls, *((query.element,) if query.element else ())):
            role, _, name = control.partition(" ")
            if stems := tuple(stems_of(name)):
                controls.append((role.lower(), stems))
        controls += [("heading", stems) for text in query.headings if (stems := tuple(stems_of(text)))]
        names = frozenset(stems for _, stems in controls)
        return cls(tuple(controls), names, frozenset(stem for _, stems in controls for stem in stems))


@dataclass(frozen=True, slots=True)
class _Region:
    words: frozenset[str]
    role: str
    neighbours: tuple[tuple[str, ...], ...]
    page: str


class AnchorIndex:
    """The anchors of rows, found by any word of theirs; rows are appended and never removed."""

    def __init__(self) -> None:
        self._regions: dict[int, _Region] = {}
        self._of_stem: dict[str, list[int]] = {}

    def add(self, row: int, anchor: Anchor | None) -> None:
        """Index a row's anchor, if it has one that can be told again."""
        if anchor is None:
            return
        neighbours = tuple(
            dict.fromkeys(stems for text in anchor.neighbours if (stems := tuple(stems_of(text))))
        )
        region = _Region(frozenset(stems_of(anchor.words)), anchor.role.lower(), neighbours, anchor.page)
        if not region.words and len(neighbours) < 2:
            return
        self._regions[row] = region
        for stem in region.words or {stem for stems in neighbours for stem in stems}:
            self._of_stem.setdefault(stem, []).append(row)

    def scores(self, page: PageControls, address: Address | None, size: int) -> NDArray[np.float64]:
        """The anchor scores of all rows; shape (size,)."""
        scores = np.zeros(size)
        for row in {row for stem in page.stems for row in self._of_stem.get(stem, ())}:
            scores[row] = _score(self._regions[row], page, address)
        return scores


def _score(region: _Region, page: PageControls, address: Address | None) -> float:
    inside = [
        (role, stems)
        for role, stems in page.controls
        if 2 * len(region.words.intersection(stems)) >= len(stems)
    ]
    near = _share(region.neighbours, page.names)
    found = region.words.intersection(stem for _, stems in inside for stem in stems)
    words = len(found) / len(region.words) if region.words else near
    if words < _LEAST:
        return 0.0
    roles = [role for role, _ in (inside if region.words else page.controls)]
    role = not region.role or region.role in roles
    return round(0.5 * words + 0.15 * role + 0.25 * near + 0.1 * _fits(region.page, address), 4)


def _share(wanted: Sequence[tuple[str, ...]], there: Iterable[tuple[str, ...]]) -> float:
    names = frozenset(there)
    return sum(one in names for one in wanted) / len(wanted) if wanted else 1.0


def _fits(template: str, address: Address | None) -> bool:
    if not template or address is None:
        return False
    path = urlsplit(template).path if "://" in template else template[template.find("/") :].partition("?")[0]
    pattern = compile_page_pattern(_PLACEHOLDER.sub("*", path or "/"), ())
    return pattern.matches(address)
