"""The rule that combines the routes into one answer.

Gate.  A tip is considered only if its scope does not exclude the address; no score overrides that.  A tip whose scope
names a host requires that host.  A tip without one belongs to its site: if hosts of that site are known, the address
must be on one of them, or the query must name the site, as the page's own or among those of a task across sites; if
none is known, the query's sites decide, and without one words and meaning may still find it.  A tip of the site
``cross`` is for tasks over several sites: words and meaning may find it anywhere.  Without an address the sites named
in the query decide, and without those every tip is considered.  So the gate depends on one tip and its own site's
hosts alone, and a frozen base, which holds the hosts of its own sites only, answers as the live one.  Path and query
of a scope are no gate: they belong to the address route, so a tip about another page of the same site can still be
found by its words.

Scores, each in [0, 1] in steps of 0.0001, each a function of the query and the one tip alone:

- address: specificity of the scope that matches (``kb.retrieval.url``); a scope that matches the whole site is weak.
- words: the best of the task, the subgoal in hand, the element about to be used and the last failure
  (``kb.retrieval.keyword``).  Page words: the page's title, headings and controls.
- condition: how much of when the tip applies the task says (``kb.retrieval.conditions``); it belongs to the words.
- answer: 1 for a tip that tells how answers have to look, whatever the task, at a task that asks for an answer
  (``kb.retrieval.answers``); it belongs to the words too.
- meaning: the better cosine of the task and the subgoal (``kb.retrieval.embedding``).  Page meaning: that of the
  page's title and headings.
- anchor: the region the tip was drawn on, looked for among the page's controls, and by its picture where the caller
  has compared pictures (``kb.retrieval.anchors``).

Sum.  Each score adds points by a monotone table of written constants (``kb.retrieval.calibration``); the tip's record
adds or takes some within bounds.  A tip for what is asked about loses some at a task that asks for something else
(``kb.retrieval.answers``), and so does one whose way ends at the page in front (``kb.retrieval.destinations``), unless
its scope or its region is the page's own.  With the bias the sum is a logit in thousandths, and its probability is the
tip's score.  A tip whose meaning is unknown (no encoder, or not encoded yet) is summed by the constants for words
without meaning.  A scope for the page itself and a region found on it reach the threshold alone; a
site-wide scope never does.

Threshold.  A tip whose probability is below ``threshold`` is not given; nothing fills up.  Higher sums come first,
then the smaller id.  So the order does not depend on the order in which tips were added, and adding a tip never
changes the order of the others.

Record.  With ``good`` = votes up, steps done with their effect seen and tests that held, and ``bad`` = votes down,
steps that could not be done and three for each test that broke: ``(good - bad) / (good + bad + 4)`` of 800 points if
that is above 0, else of 2,000, rounded down.

Cut.  In that order tips are taken, each if its tokens still fit the budget; one that does not fit is skipped, and a
shorter one after it may still be taken.  A caller may ask for at most ``k``; otherwise the budget alone decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kb.retrieval.calibration import (
    ANCHOR,
    ANSWER,
    BESIDE,
    BIAS,
    BIAS_WITHOUT_MEANING,
    BROKE_WEIGHT,
    CONDITION,
    MEANING,
    PAGE_MEANING,
    PAGE_WORDS,
    REACHED,
    RECORD_FALL,
    RECORD_PRIOR,
    RECORD_RISE,
    SITE_WIDE,
    STEPS,
    THRESHOLD,
    URL,
    WORDS,
    WORDS_WITHOUT_MEANING,
    points_table,
)
from kb.tip import Route, TipRecord

_FRAME_TOKENS = 6
LEAST_TOKENS = _FRAME_TOKENS + 1
"""Tokens of the shortest tip."""
_PLACE_BITS = 19
MOST_TIPS = 1 << _PLACE_BITS
"""Maximum number of tips in a packed rank; far beyond what people write."""
_OFFSET = 1 << 20
"""Added to a sum, so that a rank is never negative."""

Scores = NDArray[np.float64]
Ranks = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSettings:
    """Threshold, and limits of the delivery.

    Attributes:
        threshold: the probability below which a tip is not given.
        token_budget: tokens of all delivered tips together, by ``estimate_tokens``.
        near: how far below the threshold a tip is still listed among the missed.
        missed: how many missed tips are listed.
    """

    threshold: float = THRESHOLD
    token_budget: int = 1_200
    near: float = 0.05
    missed: int = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PartScores:
    """The scores of rows, by part; the arrays broadcast against each other.

    Attributes:
        record: in points.
        beside: for something else than the task asks for.
        reached: the tip's way ends at the page in front.
    """

    url: Scores
    words: Scores
    condition: Scores
    answer: Scores
    meaning: Scores
    page_words: Scores
    page_meaning: Scores
    anchor: Scores
    record: Ranks
    beside: NDArray[np.bool_]
    reached: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        url: Scores,
        words: Scores,
        meaning: Scores,
        condition: Scores | None = None,
        anchor: Scores | None = None,
        record: Ranks | None = None,
        answer: Scores | None = None,
        beside: NDArray[np.bool_] | None = None,
    ) -> PartScores:
        """Scores of a query without a page."""
        none = np.zeros(1)
        return cls(
            url=url,
            words=words,
            condition=none if condition is None else condition,
            answer=none if answer is None else answer,
            meaning=meaning,
            page_words=none,
            page_meaning=none,
            anchor=none if anchor is None else anchor,
            record=np.zeros(1, dtype=np.int64) if record is None else record,
            beside=np.zeros(1, dtype=bool) if beside is None else beside,
            reached=np.zeros(1, dtype=bool),
        )


@dataclass(frozen=True, slots=True)
class Sums:
    """The points each route adds for rows, and their sums: logits in thousandths; of one length."""

    added: dict[Route, Ranks]
    total: Ranks

    def routes_at(self, position: int) -> dict[Route, int]:
        """The points each route adds for one row, the most first; routes that add nothing are left out."""
        found = [(int(points[position]), route) for route, points in self.added.items()]
        return {route: points for points, route in sorted(found, key=lambda one: -one[0]) if points > 0}

    def leading(self) -> list[Route]:
        """The route that adds most, of every row; the first of them where several do."""
        routes = list(self.added)
        return [routes[at] for at in np.argmax(np.stack(list(self.added.values())), axis=0).tolist()]


def estimate_tokens(text: str) -> int:
    """Tokens a tip costs in a prompt: four ASCII characters a token, one for any other, and six for its frame.

    A conservative estimate for English and for scripts that tokenizers split by character; no tokenizer is used, so
    that the budget cuts alike on every machine.
    """
    ascii_count = len(text) if text.isascii() else sum(char.isascii() for char in text)
    return _FRAME_TOKENS + math.ceil(ascii_count / 4) + len(text) - ascii_count


def record_points(record: TipRecord) -> int:
    """The points of a tip's record."""
    good = record.up + record.effect + max(0, record.tests - record.broke)
    bad = record.down + record.failed + BROKE_WEIGHT * record.broke
    bound = RECORD_RISE if good > bad else RECORD_FALL
    return bound * (good - bad) // (good + bad + RECORD_PRIOR)


def _steps(scores: Scores) -> Ranks:
    return (scores * STEPS + 0.5).astype(np.int64)


def sums(parts: PartScores) -> Sums:
    """Add up the scores of rows."""
    words, meaning = _steps(parts.words), _steps(parts.meaning)
    known = meaning > 0
    by_words = np.where(known, points_table(WORDS)[words], points_table(WORDS_WITHOUT_MEANING)[words])
    by_words = by_words + points_table(CONDITION)[_steps(parts.condition)]
    by_words = by_words + points_table(ANSWER)[_steps(parts.answer)]
    url, anchor = points_table(URL)[_steps(parts.url)], points_table(ANCHOR)[_steps(parts.anchor)]
    against = BESIDE * parts.beside + REACHED * parts.reached
    against = np.where(np.maximum(url, anchor) > SITE_WIDE, 0, against)
    added = np.broadcast_arrays(
        url,
        anchor,
        by_words + points_table(PAGE_WORDS)[_steps(parts.page_words)],
        points_table(MEANING)[meaning] + points_table(PAGE_MEANING)[_steps(parts.page_meaning)],
        np.where(known, BIAS, BIAS_WITHOUT_MEANING) + parts.record - against,
    )
    url, anchor, keyword, embedding, base = added
    routes = {Route.URL: url, Route.ANCHOR: anchor, Route.KEYWORD: keyword, Route.EMBEDDING: embedding}
    return Sums(routes, url + anchor + keyword + embedding + base)


def ranks(total: Ranks, settings: RetrievalSettings) -> Ranks:
    """The sums that reach the threshold as ranks, never negative, higher first; -1 for the others."""
    return np.where(total >= points_of(settings.threshold), total + _OFFSET, -1)


def points_of(probability: float) -> int:
    """The sum that has a probability."""
    bounded = min(max(probability, 0.0001), 0.9999)
    return round(1_000 * math.log(bounded / (1 - bounded)))


def probability_of(points: int) -> float:
    """The probability of a sum."""
    return round(1 / (1 + math.exp(-max(-20_000, min(20_000, points)) / 1_000)), 4)


def score_of(rank: int) -> float:
    """The probability behind a rank ``with_place``."""
    return probability_of((rank >> _PLACE_BITS) - _OFFSET)


def with_place(rank: Ranks, place: Ranks) -> Ranks:
    """Ranks made unique by the tips' places in the order of ids (the smaller id first); -1 stays -1."""
    return np.where(rank < 0, -1, (rank << _PLACE_BITS) | (MOST_TIPS - 1 - place))


def take(tokens: list[int], k: int | None, budget: int) -> tuple[list[int], int]:
    """Positions taken from a ranked list of token counts, and the sum of their tokens."""
    taken: list[int] = []
    used = 0
    for position, cost in enumerate(tokens):
        if k is not None and len(taken) >= k:
            break
        if used + cost <= budget:
            taken.append(position)
            used += cost
    return taken, used
