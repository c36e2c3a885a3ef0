"""Where the terms of an answer stand on the pages of a run.  Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.engine.core.answer_terms import FoldedPage, SoughtTerm
from app.engine.core.ax_tree import AxNode, parse_line
from app.engine.core.text import one_line

MOST_PLACES = 6
"""Places of one term at most."""
MOST_ON_A_PAGE = 2
MAX_WORDS = 300

_UNSAID = frozenset({"", "InlineTextBox"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedPage:
    """A page of a run: the step whose page it is, and its tree with element ids."""

    step: int
    url: str
    title: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TermPlace:
    """A line of a page where a term stands; ``row`` counts the rows of the tree."""

    step: int
    row: int
    url: str
    title: str
    text: str


def find_places(
    terms: Sequence[SoughtTerm], pages: Sequence[SearchedPage], rows_of: Callable[[str], Sequence[str]]
) -> list[tuple[TermPlace, ...]]:
    """Return the places of each term, first visits first; a page that came again counts once.

    Args:
        rows_of: the rows of a tree as they are shown.
    """
    found: list[list[TermPlace]] = [[] for _ in terms]
    seen: set[str] = set()
    for page in pages:
        if page.tree in seen or not page.tree:
            continue
        seen.add(page.tree)
        wanted = [at for at, places in enumerate(found) if len(places) < MOST_PLACES]
        if not wanted:
            break
        folded = FoldedPage(page.tree)
        held = [at for at in wanted if folded.holds(terms[at])]
        if held:
            _add_places(page, rows_of(page.tree), terms, held, found)
    return [tuple(places) for places in found]


def _add_places(
    page: SearchedPage,
    rows: Sequence[str],
    terms: Sequence[SoughtTerm],
    held: Sequence[int],
    found: list[list[TermPlace]],
) -> None:
    left = {at: min(MOST_ON_A_PAGE, MOST_PLACES - len(found[at])) for at in held}
    said: set[tuple[int, str]] = set()
    for number, row in enumerate(rows):
        if not left:
            return
        line = FoldedPage(row)
        hits = [at for at in left if line.holds(terms[at])]
        node = parse_line(row) if hits else None
        if node is None:
            continue
        words = _words(node)
        told = FoldedPage(words)
        for at in hits:
            # A link and the text inside it say the same: that is one place.
            if not told.holds(terms[at]) or (at, words) in said:
                continue
            said.add((at, words))
            place = TermPlace(
                step=page.step, row=number, url=page.url, title=page.title, text=one_line(words, MAX_WORDS)
            )
            found[at].append(place)
            left[at] -= 1
            if not left[at]:
                del left[at]


def _words(node: AxNode) -> str:
    """Return what a node says to a reader: its name, and a field's value."""
    value = next((part for part in node.properties.split(", ") if part.startswith("value=")), "")
    return f"{node.name} {value.removeprefix('value=').strip(chr(39) + chr(34))}".strip()
