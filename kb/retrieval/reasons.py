"""A one-line explanation for every tip delivered or missed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kb.retrieval.cascade import KEYWORD_CLASS, WEAK_CLASS, RetrievalSettings
from kb.retrieval.keyword import Vocabulary, shared_words
from kb.retrieval.scopes import QueryLocation
from kb.retrieval.table import Rows
from kb.retrieval.terms import QueryTerms, TipTerms
from kb.retrieval.url import compile_page_pattern
from kb.tip import Route, Tip


@dataclass(frozen=True, slots=True)
class QueryScores:
    """The routes' results for a query: the considered rows, their scores, and their packed ranks."""

    place: QueryLocation
    terms: QueryTerms
    rows: Rows
    url: NDArray[np.float64]
    keyword: NDArray[np.float64]
    embedding: NDArray[np.float64]
    rank: Rows
    vocabulary: Vocabulary

    def all_scores(self, position: int) -> dict[str, float]:
        """The scores above zero, by route."""
        scores = {
            Route.URL.value: float(self.url[position]),
            Route.KEYWORD.value: float(self.keyword[position]),
            Route.EMBEDDING.value: float(self.embedding[position]),
        }
        return {route: score for route, score in scores.items() if score > 0}

    def routes(self, position: int, settings: RetrievalSettings) -> dict[str, float]:
        """The routes that found a row: a matching scope, however weak, and scores that reach their thresholds."""
        least = {
            Route.URL.value: 0.0,
            Route.KEYWORD.value: settings.keyword_threshold,
            Route.EMBEDDING.value: settings.embedding_threshold,
        }
        return {route: score for route, score in self.all_scores(position).items() if score >= least[route]}


def why_found(
    tip: Tip, terms: TipTerms, found: QueryScores, position: int, klass: int, routes: dict[str, float]
) -> str:
    """Why a tip is delivered: its leading route first, then further reasons."""
    said: list[str] = []
    if Route.URL in routes:
        said.append(_address_line(tip, klass == WEAK_CLASS))
    if Route.KEYWORD in routes:
        said.append(_words_line(found, terms))
    if Route.EMBEDDING in routes:
        said.append(_meaning_line(routes[Route.EMBEDDING]))
    if Route.URL not in routes and tip.scope.path:
        said.append(
            f"written for {tip.scope} of the same site" if found.place.address else f"written for {tip.scope}"
        )
    if klass == KEYWORD_CLASS and Route.URL in routes:
        said = [*said[1:], said[0]]
    return "; ".join(said)


def _address_line(tip: Tip, unbacked: bool) -> str:
    pattern = compile_page_pattern(tip.scope.path, tip.scope.query)
    where = f"{tip.scope}" if tip.scope.host else f"{tip.site} {tip.scope}".strip()
    if pattern.is_site_wide:
        line = f"holds for the whole of {where}"
        return line + "; neither words nor meaning of the goal support it" if unbacked else line
    details = [
        _count(pattern.fixed, "fixed segment"),
        _count(pattern.partial, "part-fixed segment"),
        _count(len(pattern.keys) + len(pattern.pairs), "query key"),
    ]
    told = ", ".join(detail for detail in details if detail)
    return f"address matches {where}" + (f" ({told})" if told else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}" if number else ""


def _words_line(found: QueryScores, terms: TipTerms) -> str:
    words, near, labels = shared_words(found.terms, terms, found.vocabulary)
    parts: list[str] = []
    if words:
        parts.append("shares " + ", ".join(f"'{word}'" for word in words[:5]) + " with the goal")
    if labels:
        parts.append("the goal names " + ", ".join(f'"{label}"' for label in labels[:3]))
    if near:
        parts.append("nearly the same: " + ", ".join(near[:3]))
    return ", ".join(parts)


def _meaning_line(cosine: float) -> str:
    degree = (
        "nearly the same as"
        if cosine >= 0.65
        else "much the same as"
        if cosine >= 0.5
        else "something close to"
    )
    return f"means {degree} the goal ({cosine:.2f})"


def why_missed(
    tip: Tip,
    found: QueryScores,
    position: int,
    deliverable: bool,
    settings: RetrievalSettings,
    *,
    full: bool,
    tokens: int,
    left: int,
) -> str:
    """Why a near miss is not delivered."""
    if found.rank[position] < 0 or not found.routes(position, settings):
        return _below(found, position, settings)
    if not deliverable:
        return f"its status is {tip.status.value}"
    if full:
        return "enough others rank before it"
    if tokens > left:
        return f"over the token budget: it takes {tokens}, {max(0, left)} are left"
    return _below(found, position, settings)


def _below(found: QueryScores, position: int, settings: RetrievalSettings) -> str:
    gaps = [
        f"{name} {score:.2f} is {least - score:.2f} below the threshold {least:.2f}"
        for name, score, least in (
            ("keyword", float(found.keyword[position]), settings.keyword_threshold),
            ("embedding", float(found.embedding[position]), settings.embedding_threshold),
        )
        if least - settings.near <= score < least
    ]
    return "; ".join(gaps) or "no route found it"
