"""Written constants of the rule in ``kb.retrieval.cascade``: what a score of each part adds to a tip's logit.

In thousandths of a logit.  A part's points are linear between its knots, which rise with the score; so every part is
monotone, and sums of whole numbers are the same on every machine.  ``BIAS``, ``WORDS``, ``CONDITION`` and ``MEANING``
are fitted on the half "work" of ``benchmarks/data/tip_relevance`` by ``python -m benchmarks.fit_tip_scores`` (a
logistic regression whose weights may not be negative), and once more for tips whose meaning is unknown; fitted anew
beside ``ANSWER``, ``BESIDE`` and ``REACHED`` they move by less than a quarter and give the same tips, so they stay.
Those three are fitted too, but ``ANSWER`` is kept below its fit, since of the labelled tips only one is of that form.
The others are written by judgement, since the labelled tips have no path, no anchor and no record; of the page's words
and meaning the fit makes nothing (their weights are 0), so they only decide between tips that are otherwise alike.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

STEPS = 10_000
"""Scores are whole multiples of 1/10,000."""

Knots = tuple[tuple[float, int], ...]

BIAS, BIAS_WITHOUT_MEANING = -4_500, -4_200
WORDS: Knots = ((0.0, 0), (1.0, 1_900))
WORDS_WITHOUT_MEANING: Knots = ((0.0, 0), (1.0, 3_100))
CONDITION: Knots = ((0.0, 0), (1.0, 2_450))
MEANING: Knots = ((0.0, 0), (1.0, 4_400))
ANSWER: Knots = ((0.0, 0), (1.0, 4_000))

THRESHOLD = 0.06
"""About the highest that keeps 0.8 of the useful tips of "work"; without an encoder one shared word is not enough."""

SITE_WIDE = 100
"""What a scope that matches the whole site adds: it says little about the page."""
URL: Knots = ((0.0, 0), (0.1, SITE_WIDE), (0.15, 3_000), (1.0, 5_000))
ANCHOR: Knots = ((0.0, 0), (0.65, 0), (0.75, 3_000), (1.0, 5_000))
PAGE_WORDS: Knots = ((0.0, 0), (1.0, 100))
PAGE_MEANING: Knots = ((0.0, 0), (1.0, 100))

BESIDE, REACHED = 1_600, 1_300
"""What a tip loses for something else than the task asks for, and one whose way ends at the page in front."""

RECORD_RISE, RECORD_FALL, RECORD_PRIOR, BROKE_WEIGHT = 800, 2_000, 4, 3
"""A record lifts less than it lowers: however good, it never brings a tip that nothing else speaks for."""


@lru_cache(maxsize=16)
def points_table(knots: Knots) -> NDArray[np.int64]:
    """The points of every score from 0 to 1 in steps of 1/10,000."""
    table = np.zeros(STEPS + 1, dtype=np.int64)
    for (low, below), (high, above) in pairwise(knots):
        start, end = round(low * STEPS), round(high * STEPS)
        for at in range(start, end + 1):
            table[at] = below + (above - below) * (at - start) // (end - start)
    return table
