"""The choice among the states that a map offers: the one that shows most of the task, if any promises enough.  Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from app.engine.agent.navigator import StateCandidate
from app.engine.agent.scout.page_context import page_key
from app.engine.agent.scout.terms import Terms, best_of, evidence, path_words, score

TITLE, ADDRESS, CONTROL = 0.95, 0.8, 0.4
"""Weight of what a state shows by where it stands; controls lead on from it."""
LEAST = 0.2
"""Score below which a state says nothing of the task."""


def choose_state(
    terms: Terms, candidates: Sequence[StateCandidate], *, fit: float = 0.0, seen: Collection[str] = ()
) -> int | None:
    """Return the number of the state that shows most of the terms; ``None`` where none is better than ``fit``.

    ``fit`` is how well the page in front fits, in [0, 1]; ``seen`` are keys of pages that were in front.
    """
    best, chosen = max(fit, LEAST), None
    for number, one in enumerate(candidates):
        if page_key(one.url) in seen:
            continue
        shown = best_of(
            evidence(terms, (one.title, *one.headings), TITLE),
            evidence(terms, (path_words(one.url),), ADDRESS),
            evidence(terms, one.controls, CONTROL),
        )
        if (mine := score(terms, shown)) > best:
            best, chosen = mine, number
    return chosen
