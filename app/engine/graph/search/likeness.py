"""How like a description a state is, so that a map can say that it has nothing like it.

The best of many states always has some score, whatever is asked for.  Three things together tell a question about the
map from one about something else: the mean likeness of its words (late interaction), that of its meaning (one vector
for question and state), and the share of its words that stand on the state, a rare word counting more than a common
one and a word that the map does not have at all the most.  ``LEAST`` was chosen on two maps and is measured on a third
(``benchmarks.navigate``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

SHARE_WORTH = 0.5
"""What a state that has all words of the question is worth beside the two cosines."""

LEAST = (0.2, 0.4, 0.85)
"""The least likeness of a state that a description may mean, by the number of cosines that the encoder can tell."""


class Likeness(NamedTuple):
    """One state beside a description: the sum to compare, the share of the words that stand there, the other words."""

    total: float
    share: float
    missing: tuple[str, ...]


def rarity(holders: int, kinds: int) -> float:
    """Return the worth of a word that so many of all kinds of page have."""
    return math.log(1 + (kinds - holders + 0.5) / (holders + 0.5))


def likeness(
    cosines: Sequence[float], worth: Mapping[str, float], held: set[str], shown: Mapping[str, str]
) -> Likeness:
    """Return a state's likeness to a description.

    Args:
        cosines: what the encoder tells: of the words, of the meaning.
        worth: of each stem of the description.
        held: stems that stand on the state.
        shown: the words of the description by stem.
    """
    total = sum(worth.values())
    share = sum(value for stem, value in worth.items() if stem in held) / total if total else 0.0
    missing = tuple(shown[stem] for stem in worth if stem not in held)
    return Likeness(round(sum(cosines) + SHARE_WORTH * share, 6), share, missing)
