"""Ranking of page states without a model: by the words that query and state have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.engine.agent.navigator import StateCandidate

_WORD = re.compile(r"[^\W_]+")
_STOP_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "to",
        "in",
        "on",
        "for",
        "and",
        "or",
        "with",
        "page",
        "list",
        "all",
        "my",
        "where",
        "that",
    ]
)
_WEIGHTS = (("title", 3.0), ("url", 2.0), ("headings", 2.0), ("controls", 1.0))
"""A title says more about a page than one of its buttons does."""


def best_candidate(query: str, intent: str, candidates: Sequence[StateCandidate]) -> int | None:
    """Return the number of the candidate whose title, address, headings and controls hold most of the query.

    ``None`` if none holds any word of it.  The intent breaks ties, then the order of the search.
    """
    wanted, besides = _words(query), _words(intent)
    best, found = 0.0, None
    for number, candidate in enumerate(candidates):
        score = _share(wanted, candidate)
        if score <= 0:
            continue
        score += 0.1 * _share(besides, candidate) + candidate.score
        if score > best:
            best, found = score, number
    return found


def _share(wanted: frozenset[str], candidate: StateCandidate) -> float:
    """Return the weight of the wanted words that the candidate holds, each counted in its weightiest part."""
    texts = {
        "title": candidate.title,
        "url": candidate.url,
        "headings": " ".join(candidate.headings),
        "controls": " ".join(candidate.controls),
    }
    words = [(_words(texts[part]), weight) for part, weight in _WEIGHTS]
    total = sum(next((weight for held, weight in words if word in held), 0.0) for word in wanted)
    return total / len(wanted) if wanted else 0.0


def _words(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORD.findall(text.casefold()) if word not in _STOP_WORDS)


def _stem(word: str) -> str:
    """Make plural and singular one word."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
