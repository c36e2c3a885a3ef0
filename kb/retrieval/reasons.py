"""A one-line explanation for every tip delivered or missed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kb.anchor_words import region_words
from kb.retrieval.anchors import PageControls
from kb.retrieval.cascade import PartScores, RetrievalSettings, Scores, Sums
from kb.retrieval.keyword import Vocabulary, shared_words
from kb.retrieval.scopes import QueryLocation
from kb.retrieval.table import Rows
from kb.retrieval.terms import QueryTerms, TipTerms
from kb.retrieval.url import compile_page_pattern
from kb.tip import Route, Tip, TipRecord

_NAMES = {
    Route.URL: "address",
    Route.ANCHOR: "region",
    Route.KEYWORD: "words",
    Route.EMBEDDING: "meaning",
}


@dataclass(frozen=True, slots=True)
class QueryScores:
    """The routes' results for a query: the considered rows, their scores, and their packed ranks."""

    place: QueryLocation
    terms: QueryTerms
    rows: Rows
    parts: PartScores
    sums: Sums
    rank: Rows
    vocabulary: Vocabulary
    page: PageControls | None = None
    """The controls in front, for the words of a region."""

    def score_of(self, route: Route, position: int) -> float:
        """A row's score on a route: of words and meaning the highest of task and page."""
        parts = self.parts
        if route is Route.KEYWORD:
            scores = (parts.words, parts.condition, parts.answer, parts.page_words)
            return max(_at(one, position) for one in scores)
        if route is Route.EMBEDDING:
            return max(_at(parts.meaning, position), _at(parts.page_meaning, position))
        return _at(parts.url if route is Route.URL else parts.anchor, position)

    def all_scores(self, position: int) -> dict[str, float]:
        """The scores above zero, by route."""
        scores = {route.value: self.score_of(route, position) for route in Route}
        return {route: score for route, score in scores.items() if score > 0}


def _at(scores: Scores | NDArray[np.bool_], position: int) -> float:
    return float(scores[position] if len(scores) > 1 else scores[0])


def why_found(
    tip: Tip, terms: TipTerms, found: QueryScores, position: int, added: dict[Route, int], score: float
) -> str:
    """Why a tip is delivered: the routes, that which adds most first, its record, and the sum in parts."""
    said = [_line(route, tip, terms, found, position) for route in added]
    if Route.URL not in added and tip.scope.path:
        said.append(
            f"written for {tip.scope} of the same site" if found.place.address else f"written for {tip.scope}"
        )
    if _at(found.parts.beside, position):
        said.append("though the goal asks for something else")
    if _at(found.parts.reached, position):
        said.append("though its way ends at this page")
    record = int(found.parts.record[position])
    said.append(_record_line(tip.record) if record else "")
    parts = [f"{_NAMES[route]} {points / 1000:+.1f}" for route, points in added.items()]
    parts += [f"record {record / 1000:+.1f}"] if record else []
    return "; ".join(filter(None, [*said, f"{score:.2f} ({', '.join(parts)})"]))


def _line(route: Route, tip: Tip, terms: TipTerms, found: QueryScores, position: int) -> str:
    if route is Route.URL:
        return _address_line(tip)
    if route is Route.ANCHOR:
        return _region_line(tip, found)
    if route is Route.KEYWORD:
        answer = _at(found.parts.answer, position) > 0
        return _words_line(found, terms, _at(found.parts.condition, position), answer)
    return _meaning_line(_at(found.parts.meaning, position))


def _region_line(tip: Tip, found: QueryScores) -> str:
    """Name the region; one without words on the page is the picture's find."""
    there = found.page.has if found.page is not None else None
    words = region_words(tip.anchor, there) if tip.anchor is not None else ""
    return f"looks like: {words or 'the picture of its region'}"


def _address_line(tip: Tip) -> str:
    pattern = compile_page_pattern(tip.scope.path, tip.scope.query)
    where = f"{tip.scope}" if tip.scope.host else f"{tip.site} {tip.scope}".strip()
    if pattern.is_site_wide:
        return f"holds for the whole of {where}"
    details = [
        _count(pattern.fixed, "fixed segment"),
        _count(pattern.partial, "part-fixed segment"),
        _count(len(pattern.keys) + len(pattern.pairs) + len(pattern.globs), "query key"),
    ]
    told = ", ".join(detail for detail in details if detail)
    return f"address matches {where}" + (f" ({told})" if told else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}" if number else ""


def _words_line(found: QueryScores, terms: TipTerms, condition: float, answer: bool) -> str:
    words, near, labels = shared_words(found.terms, terms, found.vocabulary)
    parts: list[str] = []
    if words:
        parts.append("shares " + ", ".join(f"'{word}'" for word in words[:5]) + " with the goal")
    if condition > 0:
        parts.append("the goal is what it is for")
    if answer:
        parts.append("the goal asks for an answer")
    if labels:
        parts.append("the goal names " + ", ".join(f'"{label}"' for label in labels[:3]))
    if near:
        parts.append("nearly the same: " + ", ".join(near[:3]))
    return ", ".join(parts)


def _meaning_line(cosine: float) -> str:
    if cosine < 0.35:
        return ""
    degree = (
        "nearly the same as"
        if cosine >= 0.65
        else "much the same as"
        if cosine >= 0.5
        else "something close to"
    )
    return f"means {degree} the goal ({cosine:.2f})"


def _record_line(record: TipRecord) -> str:
    told = (
        (record.effect, "effect seen {}×"),
        (record.failed, "could not be done {}×"),
        (record.tests - record.broke, "held in a test {}×"),
        (record.broke, "broke in a test {}×"),
        (record.up, "voted useful {}×"),
        (record.down, "voted not useful {}×"),
    )
    return ", ".join(text.format(count) for count, text in told if count > 0)


def why_missed(
    tip: Tip,
    score: float,
    deliverable: bool,
    settings: RetrievalSettings,
    *,
    full: bool,
    tokens: int,
    left: int,
) -> str:
    """Why a near miss is not delivered."""
    if score < settings.threshold:
        gap = settings.threshold - score
        digits = 2 if gap >= 0.005 else 4
        return f"{score:.{digits}f} is {gap:.{digits}f} below the threshold {settings.threshold:.{digits}f}"
    if not deliverable:
        return f"its status is {tip.status.value}"
    if full:
        return "enough others rank before it"
    return f"over the token budget: it takes {tokens}, {max(0, left)} are left"
