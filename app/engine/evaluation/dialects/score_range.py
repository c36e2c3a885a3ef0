"""Scores of which a part may be undecided: their lowest and highest possible value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScoreRange:
    """A score between ``low`` and ``high``; both are the same where it is decided."""

    low: float
    high: float

    @property
    def decided(self) -> float | None:
        """The score, ``None`` where it is undecided."""
        return self.low if self.low == self.high else None


UNKNOWN = ScoreRange(0.0, 1.0)
FULL = ScoreRange(1.0, 1.0)
NOTHING = ScoreRange(0.0, 0.0)


def range_of(score: float | None) -> ScoreRange:
    """Return the range of a score that may be undecided."""
    return UNKNOWN if score is None else ScoreRange(score, score)


def product(parts: Sequence[ScoreRange]) -> ScoreRange:
    """Return the product: all parts have to hold."""
    return ScoreRange(math.prod(part.low for part in parts), math.prod(part.high for part in parts))


def mean(parts: Sequence[ScoreRange]) -> ScoreRange:
    """Return the mean, 1 for no parts."""
    if not parts:
        return FULL
    # Summed up first, as published: 2/3 is not the same number as 1/3 + 1/3.
    return ScoreRange(
        sum(part.low for part in parts) / len(parts), sum(part.high for part in parts) / len(parts)
    )


def best(parts: Sequence[ScoreRange]) -> ScoreRange:
    """Return the best: one part is enough."""
    return ScoreRange(max(part.low for part in parts), max(part.high for part in parts))
