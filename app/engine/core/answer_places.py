"""Where the terms of an answer stand on the pages of a run.  Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.engine.core.answer_terms import FoldedLines, FoldedPage, SoughtTerm
from app.engine.core.ax_tree import AxNode, parse_line
from app.engine.core.text import one_line

MOST_PLACES = 6
"""Places of one term at most."""
MOST_ON_A_PAGE = 2
MAX_WORDS = 300


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
    lines = FoldedLines(rows)
    said: set[str] = set()
    for at in held:
        said.clear()
        for number in lines.candidates(terms[at]):
            node = parse_line(rows[number])
            words = _words(node) if node is not None else ""
            # A link and the text inside it say the same: that is one place.
            if words in said or not FoldedPage(words).holds(terms[at]):
                continue
            said.add(words)
            text = one_line(words, MAX_WORDS)
            found[at].append(TermPlace(step=page.step, row=number, url=page.url, title=page.title, text=text))
            if len(said) == MOST_ON_A_PAGE or len(found[at]) == MOST_PLACES:
                break


def _words(node: AxNode) -> str:
    """Return what a node says to a reader: its name, and a field's value."""
    value = next((part for part in node.properties.split(", ") if part.startswith("value=")), "")
    return f"{node.name} {value.removeprefix('value=').strip(chr(39) + chr(34))}".strip()
