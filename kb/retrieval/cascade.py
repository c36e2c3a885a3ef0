"""The rule that combines the three routes into one answer.

Gate.  A tip is considered only if its scope does not exclude the address; no score overrides that.  A tip whose scope
names a host requires that host.  A tip without one belongs to its site: if hosts of that site are known, the address
must be on one of them, or the query must name the site; if none is known, the query's site decides, and without one
the keyword and embedding routes may still find it.  A tip of the site ``cross`` is for tasks over several sites:
words and meaning may find it anywhere.  Without an address the site named in the query decides, and without that
every tip is considered.  So the gate depends on one tip and its own site's hosts alone, and a frozen base, which
holds the hosts of its own sites only, answers as the live one.  Path and query of a scope are no gate: they belong to
the URL route, so a tip about another page of the same site can still be found by its words.

Scores, each in [0, 1] in steps of 0.0001, each a function of the query and the one tip alone:

- URL: specificity of the scope that matches the address (``kb.retrieval.url``).  A scope that matches the whole
  site scores below the URL threshold; that is what makes it *weak*.
- keyword: ``kb.retrieval.keyword``.  Embedding: the cosine, ``kb.retrieval.embedding``.

Cascade.  A tip is in the first class it reaches; classes are delivered in this order:

1. URL: the scope matches the address and its score reaches the URL threshold. 2. Keyword: the score reaches the
keyword threshold. 3. Embedding: the score reaches the embedding threshold. 4. Weak URL: only a whole-site scope
matches, and neither words nor meaning support it.  It fills the remaining budget.

Within a class the route's own score decides, then the other scores (URL: keyword, embedding; keyword: URL, embedding;
embedding: URL, keyword; weak URL: keyword, embedding), then the id.  So the order does not depend on the order in
which tips were added, and adding a tip never changes the order of the others.

Cut.  In that order tips are taken until there are ``k``, each if its tokens still fit the budget; one that does not
fit is skipped, and a shorter one after it may still be taken.  Thresholds belong to routes; none is on a mixed score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kb.tip import Route

STEPS = 10_000
URL_CLASS, KEYWORD_CLASS, EMBEDDING_CLASS, WEAK_CLASS = 3, 2, 1, 0
ROUTE_OF_CLASS = (Route.URL, Route.EMBEDDING, Route.KEYWORD, Route.URL)
_FRAME_TOKENS = 6
_PLACE_BITS = 19
MOST_TIPS = 1 << _PLACE_BITS
"""Maximum number of tips in a packed rank; far beyond what people write."""

Scores = NDArray[np.float64]
Ranks = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSettings:
    """Thresholds by route, and limits of the delivery.

    Attributes:
        url_threshold: below it a matching scope counts as weak; with the default every path or query pattern passes.
        keyword_threshold: 0.5 requires two informative words, or one of a very short tip, or a label.
        embedding_threshold: cosine; over 796 real goals and the published tips nearly all pairs from 0.45 on fit.
        token_budget: tokens of all delivered tips together, by ``estimate_tokens``.
        near: how far below a threshold a tip is still listed among the missed.
        missed: how many missed tips are listed.
    """

    url_threshold: float = 0.15
    keyword_threshold: float = 0.5
    embedding_threshold: float = 0.45
    token_budget: int = 600
    near: float = 0.1
    missed: int = 8


def estimate_tokens(text: str) -> int:
    """Tokens a tip costs in a prompt: four ASCII characters a token, one for any other, and six for its frame.

    A conservative estimate for English and for scripts that tokenizers split by character; no tokenizer is used, so
    that the budget cuts alike on every machine.
    """
    ascii_count = len(text) if text.isascii() else sum(char.isascii() for char in text)
    return _FRAME_TOKENS + math.ceil(ascii_count / 4) + len(text) - ascii_count


def ranks(url: Scores, keyword: Scores, embedding: Scores, settings: RetrievalSettings) -> Ranks:
    """Class and scores packed into one number per tip, higher first; -1 for a tip no route found.

    The arrays hold scores in steps of 1/10,000 and broadcast against each other; 0 means "not found".
    """
    u, w, e = (
        np.rint(np.maximum(scores, 0) * STEPS).astype(np.int64) for scores in (url, keyword, embedding)
    )
    by_url = (u > 0) & (u >= round(settings.url_threshold * STEPS))
    by_word = (w > 0) & (w >= round(settings.keyword_threshold * STEPS))
    by_meaning = (e > 0) & (e >= round(settings.embedding_threshold * STEPS))
    return np.select(
        [by_url, by_word, by_meaning, u > 0],
        [
            _pack(URL_CLASS, u, w, e),
            _pack(KEYWORD_CLASS, w, u, e),
            _pack(EMBEDDING_CLASS, e, u, w),
            _pack(WEAK_CLASS, u, w, e),
        ],
        -1,
    )


def _pack(klass: int, first: Ranks, second: Ranks, third: Ranks) -> Ranks:
    return (klass << 42) | (first << 28) | (second << 14) | third


def class_of(rank: int) -> int:
    """The class of a rank ``with_place``."""
    return rank >> (42 + _PLACE_BITS)


def leading_score(rank: int) -> float:
    """The score of the route that ranks a tip, from its rank ``with_place``."""
    return (rank >> (28 + _PLACE_BITS) & 0x3FFF) / STEPS


def with_place(rank: Ranks, place: Ranks) -> Ranks:
    """Ranks made unique by the tips' places in the order of ids (the smaller id first); -1 stays -1."""
    return np.where(rank < 0, -1, (rank << _PLACE_BITS) | (MOST_TIPS - 1 - place))


def take(tokens: list[int], k: int, budget: int) -> tuple[list[int], int]:
    """Positions taken from a ranked list of token counts, and the sum of their tokens."""
    taken: list[int] = []
    used = 0
    for position, cost in enumerate(tokens):
        if len(taken) >= k:
            break
        if used + cost <= budget:
            taken.append(position)
            used += cost
    return taken, used
