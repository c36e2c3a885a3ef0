"""Positions of a site's states on the map: depths as bands from left to right, few crossings, no jumps.

A band is one column of states, or several if one would grow too tall.  The order within a band follows the
neighbours' positions (barycentre sweeps, as in Sugiyama's layered drawing).  A placed state keeps its position: new
states take free positions near the pages that lead to them.  The same input gives the same output in any process.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]
Rows = NDArray[np.int64]

SWEEPS = 8
GAP = 1.6
"""Extra columns between two bands, besides the step of one."""
TALLEST = 28
"""States in one column before a band gets another one; large sites have taller ones."""
SHAPE = 0.83
"""Makes the map of a large site about 1.7 times as wide as high, with cells 1.4 times as wide as high."""


def layout(
    depths: ArrayLike,
    sources: ArrayLike,
    targets: ArrayLike,
    previous: ArrayLike | None = None,
    *,
    tidy: bool = False,
) -> Numbers:
    """Return positions of ``n`` states as an array (n, 2) of column and row, in units of one state.

    Args:
        depths: of each state, n numbers.
        sources, targets: edges as numbers of states, m each.
        previous: (n, 2) earlier positions, NaN for states without one; ``None`` for none at all.
        tidy: place everything from scratch.
    """
    depth = np.maximum(np.asarray(depths, dtype=np.int64), 0)
    from_, to = _neighbouring(depth, np.asarray(sources, np.int64), np.asarray(targets, np.int64))
    count = len(depth)
    places = np.full((count, 2), np.nan) if previous is None else np.array(previous, dtype=np.float64)
    places = places.reshape(count, 2)
    if count and (tidy or bool(np.isnan(places[:, 0]).all())):
        return _from_scratch(depth, from_, to)
    fresh = np.flatnonzero(np.isnan(places[:, 0]))
    for level in np.unique(depth[fresh]):
        _join(places, depth, from_, to, int(level), fresh[depth[fresh] == level])
    return places


def tallest(states: int) -> int:
    """Maximum rows of a column on a map of so many states."""
    return max(TALLEST, math.ceil(math.sqrt(SHAPE * states)))


# ---------------------------------------------------------------- from scratch
def _from_scratch(depth: Rows, from_: Rows, to: Rows) -> Numbers:
    bands = [np.flatnonzero(depth == level) for level in np.unique(depth)]
    ordered = _ordered(bands, depth, from_, to)
    places = np.empty((len(depth), 2))
    left = 0.0
    for band in ordered:
        columns = math.ceil(len(band) / tallest(len(depth)))
        rank = np.arange(len(band))
        places[band, 0] = left + rank % columns
        places[band, 1] = rank // columns - (math.ceil(len(band) / columns) - 1) / 2
        left += columns + GAP
    _straighten(places, ordered, from_, to)
    return places


def _ordered(bands: list[Rows], depth: Rows, from_: Rows, to: Rows) -> list[Rows]:
    """Order each band by its neighbours' order; ties keep the given order."""
    place = np.zeros(len(depth))
    for band in bands:
        place[band] = _spread(len(band))
    edges = [_between(band, from_, to) for band in bands]
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for number in range(len(bands)) if down else range(len(bands) - 1, -1, -1):
            incoming, outgoing = edges[number]
            near, own = (from_[incoming], to[incoming]) if down else (to[outgoing], from_[outgoing])
            if len(own):
                wanted = _means(place, near, own, len(depth))[bands[number]]
                wanted = np.where(np.isnan(wanted), place[bands[number]], wanted)
                bands[number] = bands[number][np.argsort(wanted, kind="stable")]
                place[bands[number]] = _spread(len(wanted))
    return bands


def _straighten(places: Numbers, bands: list[Rows], from_: Rows, to: Rows) -> None:
    """Align bands of one column with their linked states, from the largest band outwards."""
    widest = max(range(len(bands)), key=lambda number: len(bands[number]))
    rights = [(number, True) for number in range(widest + 1, len(bands))]
    lefts = [(number, False) for number in range(widest - 1, -1, -1)]
    for number, rightwards in (*rights, *lefts):
        band = bands[number]
        if len(np.unique(places[band, 0])) > 1:
            continue
        incoming, outgoing = _between(band, from_, to)
        near, own = (from_[incoming], to[incoming]) if rightwards else (to[outgoing], from_[outgoing])
        wanted = _means(places[:, 1], near, own, len(places))[band]
        places[band, 1] = apart(_filled(wanted, places[band, 1]))


# ---------------------------------------------------------------- beside existing states
def _join(places: Numbers, depth: Rows, from_: Rows, to: Rows, level: int, fresh: Rows) -> None:
    """Place new states of one depth; existing ones keep their positions."""
    placed = ~np.isnan(places[:, 0])
    know = placed[from_] & (depth[to] == level)
    back = placed[to] & (depth[from_] == level)
    near, own = np.concatenate((from_[know], to[back])), np.concatenate((to[know], from_[back]))
    wanted = _filled(_means(places[:, 1], near, own, len(places))[fresh], np.zeros(len(fresh)))
    order = np.argsort(wanted, kind="stable")
    fresh, wanted = fresh[order], wanted[order]
    band = np.flatnonzero(placed & (depth == level))
    if len(band):
        _into_gaps(places, depth, level, fresh, wanted)
        return
    nearer = np.flatnonzero(placed & (depth < level))
    deeper = bool((placed & (depth > level)).any())
    before = places[placed, 0] if deeper or not len(nearer) else places[nearer, 0]
    left = float(before.max()) + 1 + GAP if len(before) else 0.0
    columns = math.ceil(len(fresh) / tallest(len(places)))
    rank = np.arange(len(fresh))
    places[fresh, 0] = left + rank % columns
    if columns == 1:
        cells = np.floor(apart(wanted) + 1e-6) - rank
        places[fresh, 1] = np.maximum.accumulate(cells) + rank
    else:
        rows = rank // columns
        places[fresh, 1] = rows - rows[-1] // 2 + round(float(wanted.mean()))


def _into_gaps(places: Numbers, depth: Rows, level: int, fresh: Rows, wanted: Numbers) -> None:
    placed = ~np.isnan(places[:, 0])
    band = np.flatnonzero(placed & (depth == level))
    columns = [_Column(x, places[band[places[band, 0] == x], 1]) for x in np.unique(places[band, 0])]
    taken = places[placed & (depth != level), 0]
    most = tallest(len(places))
    for node, row in zip(fresh.tolist(), wanted.tolist(), strict=True):
        room = [column for column in columns if column.count < most]
        if not room:
            right = columns[-1].x + 1
            if not len(taken) or not bool((np.abs(taken - right) < 1).any()):
                columns.append(_Column(right, np.empty(0)))
                room = columns[-1:]
        found = [
            (abs(column.nearest(row) - row) + 0.25 * at, at) for at, column in enumerate(room or columns)
        ]
        column = (room or columns)[min(found)[1]]
        places[node] = (column.x, column.take(row))


class _Column:
    """Occupied rows of one column; finds the free one nearest to a row in nearly constant time."""

    def __init__(self, x: float, rows: Numbers) -> None:
        self.x, self.count = float(x), len(rows)
        self._down: dict[int, int] = {}
        self._up: dict[int, int] = {}
        for row in cast("list[float]", rows.tolist()):
            for taken in {math.floor(row), math.ceil(row)}:
                self._block(taken)

    def nearest(self, row: float) -> int:
        """The free row nearest to this one; of two equally near, the lower on the screen."""
        start = round(row)
        down, up = _follow(self._down, start), _follow(self._up, start)
        return down if down - row <= row - up else up

    def take(self, row: float) -> int:
        """Occupy the free row nearest to this one."""
        found = self.nearest(row)
        self._block(found)
        self.count += 1
        return found

    def _block(self, row: int) -> None:
        self._down[row], self._up[row] = row + 1, row - 1


def _follow(next_: dict[int, int], row: int) -> int:
    path: list[int] = []
    while row in next_:
        path.append(row)
        row = next_[row]
    for passed in path:
        next_[passed] = row
    return row


# ---------------------------------------------------------------- arithmetic
def apart(wanted: Numbers) -> Numbers:
    """Return the numbers nearest to ``wanted`` (in any order, n) that ascend by at least 1: pooling of neighbours."""
    values = wanted - np.arange(len(wanted))
    sums: list[float] = []
    sizes: list[int] = []
    for value in cast("list[float]", values.tolist()):
        total, size = value, 1
        while sums and sums[-1] * size >= total * sizes[-1]:
            total, size = total + sums.pop(), size + sizes.pop()
        sums.append(total)
        sizes.append(size)
    means = np.repeat(np.array(sums) / np.array(sizes or [1])[: len(sums)], sizes) if sums else np.empty(0)
    return means + np.arange(len(wanted))


def _neighbouring(depth: Rows, from_: Rows, to: Rows) -> tuple[Rows, Rows]:
    """Edges between neighbouring bands, all pointing to the deeper one; other edges don't affect the order."""
    levels = np.unique(depth)
    band = np.searchsorted(levels, depth)
    step = band[to] - band[from_] if len(from_) else np.empty(0, np.int64)
    keep = np.abs(step) == 1
    from_, to, step = from_[keep], to[keep], step[keep]
    return np.where(step > 0, from_, to), np.where(step > 0, to, from_)


def _between(band: Rows, from_: Rows, to: Rows) -> tuple[Rows, Rows]:
    """Indices of the edges that enter a band, and of those that leave it."""
    inside = np.zeros(
        max(int(max(from_.max(initial=0), to.max(initial=0), band.max(initial=0))), 0) + 1, bool
    )
    inside[band] = True
    return np.flatnonzero(inside[to]), np.flatnonzero(inside[from_])


def _means(value: Numbers, near: Rows, own: Rows, count: int) -> Numbers:
    """Mean of the neighbours' values for each of ``count`` states; NaN without neighbours."""
    number = np.bincount(own, minlength=count)
    total = np.bincount(own, weights=value[near], minlength=count)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _filled(wanted: Numbers, otherwise: Numbers) -> Numbers:
    """``wanted``; unknown values take the state before's, leading ones ``otherwise``."""
    known = np.flatnonzero(~np.isnan(wanted))
    if not len(known):
        return otherwise
    at = np.maximum(np.searchsorted(known, np.arange(len(wanted)), side="right") - 1, 0)
    return wanted[known[at]]


def _spread(count: int) -> Numbers:
    return (np.arange(count) + 0.5) / max(count, 1)
