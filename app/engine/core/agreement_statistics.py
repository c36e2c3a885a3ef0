"""Agreement of two annotators beyond chance: Cohen's kappa with its interval, over labels and by label.  Pure.

Kappa: J. Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20 (1960)
37-46.  Its standard error where the annotators do agree: J. L. Fleiss, J. Cohen, B. S. Everitt, Large sample standard
errors of kappa and weighted kappa, Psychological Bulletin 72 (1969) 323-327.  The interval is the normal
approximation, which is rough below some dozens of runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

FEWEST = 2
"""Runs below which there is no kappa."""
_NORMAL_95 = 1.959963984540054

_LEAST_ERROR = 1e-6
"""A standard error below this is 0 but for rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KappaEstimate:
    """Kappa and its 95 % interval.

    ``kappa`` is ``None`` below two pairs, and where chance alone agrees always: both gave one and the same label.
    ``low`` and ``high`` are ``None`` then, and where the standard error is 0, which says nothing: every pair agrees, or
    one of the two gave a single label.
    """

    kappa: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCounts:
    """The fourfold table of one label against the rest, and its kappa."""

    both: int
    only_first: int
    only_second: int
    neither: int
    kappa: float | None


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> KappaEstimate:
    """Return kappa over the labels that two annotators gave to the same things."""
    total = len(pairs)
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    agreed = sum(one == other for one, other in pairs)
    by_chance = sum(first[label] * second[label] for label in first)  # times total, like the next line
    room = total * total - by_chance
    if total < FEWEST or not room:
        return KappaEstimate(kappa=None)
    kappa = (total * agreed - by_chance) / room
    if agreed == total:
        return KappaEstimate(kappa=kappa)
    error = _standard_error(Counter(pairs), first, second, total)
    if error < _LEAST_ERROR:
        return KappaEstimate(kappa=kappa)
    return KappaEstimate(
        kappa=kappa, low=max(-1.0, kappa - _NORMAL_95 * error), high=min(1.0, kappa + _NORMAL_95 * error)
    )


def label_counts(pairs: Sequence[tuple[str, str]], label: str) -> LabelCounts:
    """Return how two annotators used one label."""
    table = Counter((one == label, other == label) for one, other in pairs)
    same = cohen_kappa([(str(one == label), str(other == label)) for one, other in pairs])
    return LabelCounts(
        both=table[True, True],
        only_first=table[True, False],
        only_second=table[False, True],
        neither=table[False, False],
        kappa=same.kappa,
    )


def _standard_error(
    cells: Counter[tuple[str, str]], first: Counter[str], second: Counter[str], total: int
) -> float:
    rows = {label: count / total for label, count in first.items()}
    columns = {label: count / total for label, count in second.items()}
    observed = sum(count for (one, other), count in cells.items() if one == other) / total
    chance = sum(share * columns.get(label, 0.0) for label, share in rows.items())
    spread = -((observed * chance - 2 * chance + observed) ** 2)
    for (one, other), count in cells.items():
        if one == other:
            spread += count / total * ((1 - chance) - (rows[one] + columns[one]) * (1 - observed)) ** 2
        else:
            spread += (
                count / total * (1 - observed) ** 2 * (columns.get(one, 0.0) + rows.get(other, 0.0)) ** 2
            )
    return math.sqrt(max(0.0, spread) / total) / (1 - chance) ** 2
