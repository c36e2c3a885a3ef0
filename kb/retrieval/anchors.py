"""The anchor route: is the region a tip was drawn on (``kb.tip.Anchor``) on the page in front?

Compared are words.  A region's words are the names of its elements; a name is found in one control or heading, at least
half of whose words it has, never in several together; of its words those without a digit count, if there are any.

- words: the share of the region's words that are found.  Below a half: the score is 0.  A region without words (an
  icon) is known by its neighbours alone.
- role: whether one of the controls has the region's role (1 where it names none).
- neighbours: the share of the neighbours that are controls or headings of the page (1 where there are none).
- page: whether the address fits the template the region was drawn on.

Score: 0.5 words + 0.15 role + 0.25 neighbours + 0.1 page, in steps of 0.0001.

Where somebody has compared pictures, their likeness (``Query.looks``) gives a score of its own, and the higher one
counts: 0 for a likeness of 0, else 0.5 + 0.4 likeness.  The likeness is 0 for a place on the page no more like the
region than other places of the region's own page are, 1 for the very same picture.  So a picture never takes away
what the words have found, and alone reaches the threshold from about half of the way on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from kb.retrieval.terms import stems_of
from kb.retrieval.url import Address, compile_page_pattern
from kb.tip import BETWEEN, Anchor, Query

_PLACEHOLDER = re.compile(r"\{[^{}]*\}|(?<=/):\w+")
_LEAST = 0.5
_LOOK = 0.5
MOST_BY_LOOK = 0.9
"""The score of a region whose picture is the very same."""


@dataclass(frozen=True, slots=True)
class PageControls:
    """The page in front as anchors see it: its controls and headings by role and stems, and by each of their stems."""

    controls: tuple[tuple[str, tuple[str, ...]], ...]
    names: frozenset[tuple[str, ...]]
    by_stem: Mapping[str, Sequence[tuple[str, tuple[str, ...]]]]

    @classmethod
    def of(cls, query: Query) -> PageControls:
        """Read the controls ("role name"), the headings and the element about to be used."""
        controls: list[tuple[str, tuple[str, ...]]] = []
        for control in (*query.controls, *((query.element,) if query.element else ())):
            role, _, name = control.partition(" ")
            if stems := tuple(stems_of(name)):
                controls.append((role.lower(), stems))
        controls += [("heading", stems) for text in query.headings if (stems := tuple(stems_of(text)))]
        by_stem: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for control in dict.fromkeys(controls):
            for stem in control[1]:
                by_stem.setdefault(stem, []).append(control)
        return cls(tuple(controls), frozenset(stems for _, stems in controls), by_stem)

    def has(self, name: str) -> bool:
        """Whether a control or heading has this name."""
        return tuple(stems_of(name)) in self.names


@dataclass(frozen=True, slots=True)
class _Region:
    names: tuple[frozenset[str], ...]
    role: str
    neighbours: tuple[tuple[str, ...], ...]
    page: str


class AnchorIndex:
    """The anchors of rows, found by any word of theirs; rows are appended and never removed."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        """Rows that have an anchor, also one that only its picture tells."""
        self._regions: dict[int, _Region] = {}
        self._of_stem: dict[str, list[int]] = {}

    def add(self, row: int, anchor: Anchor | None) -> None:
        """Index a row's anchor, if it has one that can be told again."""
        if anchor is None:
            return
        neighbours = tuple(
            dict.fromkeys(stems for text in anchor.neighbours if (stems := tuple(stems_of(text))))
        )
        names = tuple(
            stems for text in anchor.words.split(BETWEEN) if (stems := _without_numbers(stems_of(text)))
        )
        self.rows.append(row)
        if not names and len(neighbours) < 2:
            return
        self._regions[row] = _Region(names, anchor.role.lower(), neighbours, anchor.page)
        for stem in {stem for stems in names or neighbours for stem in stems}:
            self._of_stem.setdefault(stem, []).append(row)

    def scores(
        self,
        page: PageControls,
        address: Address | None,
        size: int,
        looks: Mapping[int, float] | None = None,
    ) -> NDArray[np.float64]:
        """The anchor scores of all rows; shape (size,).  ``looks`` are likenesses of pictures, by row."""
        scores = np.zeros(size)
        for row in {row for stem in page.by_stem for row in self._of_stem.get(stem, ())}:
            scores[row] = _score(self._regions[row], page, address)
        for row, look in (looks or {}).items():
            scores[row] = max(scores[row], look_score(look))
        return scores


def look_score(look: float) -> float:
    """The score of a region by its picture."""
    return round(_LOOK + (MOST_BY_LOOK - _LOOK) * min(look, 1.0), 4) if look > 0 else 0.0


def _score(region: _Region, page: PageControls, address: Address | None) -> float:
    near = _share(region.neighbours, page.names)
    found, roles = 0, set[str]()
    for name in region.names:
        held, by = _found(name, page)
        found += held
        roles |= by
    words = found / sum(map(len, region.names)) if region.names else near
    if words < _LEAST:
        return 0.0
    there = roles if region.names else {role for role, _ in page.controls}
    role = not region.role or region.role in there
    return round(0.5 * words + 0.15 * role + 0.25 * near + 0.1 * _fits(region.page, address), 4)


def _found(name: frozenset[str], page: PageControls) -> tuple[int, set[str]]:
    """Return how many words of a name the best control holds, and the roles of the controls that hold so many."""
    best, roles = 0, set[str]()
    for role, stems in (control for stem in name for control in page.by_stem.get(stem, ())):
        held = len(name.intersection(stems))
        if held < best or 2 * held < len(stems):
            continue
        roles = {role} if held > best else roles | {role}
        best = held
    return best, roles


def _without_numbers(stems: Iterable[str]) -> frozenset[str]:
    """Return the stems without a digit, or all if each has one: a count is another on every page."""
    every = frozenset(stems)
    return frozenset(stem for stem in every if stem.isalpha()) or every


def _share(wanted: Sequence[tuple[str, ...]], there: Iterable[tuple[str, ...]]) -> float:
    names = frozenset(there)
    return sum(one in names for one in wanted) / len(wanted) if wanted else 1.0


def _fits(template: str, address: Address | None) -> bool:
    if not template or address is None:
        return False
    path = urlsplit(template).path if "://" in template else template[template.find("/") :].partition("?")[0]
    pattern = compile_page_pattern(_PLACEHOLDER.sub("*", path or "/"), ())
    return pattern.matches(address)
