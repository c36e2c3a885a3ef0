"""The queue that teaches the ranking most: covering picks, then the riskiest runs.

A covering pick is the run most like many others that no judged run and no earlier pick is like: its verdict corrects
them all. Passed runs are picked as well. With ``EVERY`` above 1 only every such verdict is asked of a covering pick,
and those between of the riskiest run.
"""

from __future__ import annotations

import hashlib
import heapq
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.engine.detectors.similar_goals import SIMILAR, Likenesses, SimilarGoals, SiteGoals

EVERY = 1
"""Measured on runs never asked about: after 40 verdicts covering picks alone gain .060 AUROC on WebArena, one in three
.046. Whoever wants failures first has the order by risk; this one asks what teaches.
"""
MAX_GOALS = 1500
"""Distinct goals of a site that are compared with each other; of more, a fixed sample stands for all."""
MAX_PICKS = 200
"""Covering picks that are chosen ahead; later places of the queue go by risk."""
_LEAST_GAIN = 1e-3


@dataclass(frozen=True, slots=True)
class Pick:
    """A covering pick: the run, and the number of other waiting runs with similar goals that it is the first for."""

    run: str
    stands_for: int

    @property
    def words(self) -> str:
        """Why its verdict teaches much."""
        if not self.stands_for:
            return "no judged run has a goal like this one"
        runs = "run with a similar goal" if self.stands_for == 1 else "runs with similar goals"
        return f"stands for {self.stands_for} {runs}"


def teaching_order(
    waiting: Sequence[str], picks: Sequence[Pick], judged: int, every: int = EVERY
) -> list[tuple[str, str]]:
    """Return the waiting runs in teaching order, each with why it teaches much ("" for one that is only risky).

    ``waiting`` are runs without a verdict, riskiest first. ``judged`` verdicts were asked before, so that asking again
    after each verdict keeps the rhythm.
    """
    left = dict.fromkeys(waiting)
    covering = deque(pick for pick in picks if pick.run in left)
    found: list[tuple[str, str]] = []
    while left:
        while covering and covering[0].run not in left:
            covering.popleft()
        is_turn = (judged + len(found)) % every == 0
        run = covering[0].run if covering and is_turn else next(iter(left))
        words = covering[0].words if covering and covering[0].run == run else ""
        del left[run]
        found.append((run, words))
    return found


def covering_picks(
    goals: SimilarGoals, judged: Collection[str], candidates: Sequence[str], limit: int = MAX_PICKS
) -> list[Pick]:
    """Return covering picks among the candidates, the one that covers most first.

    All runs that are not judged are to be covered, whether they are candidates or not. Of runs with one goal the
    first candidate is picked. The same runs give the same picks.
    """
    done, place = frozenset(judged), {run: at for at, run in enumerate(candidates)}
    covers = {site: _Cover(known, done, place) for site, known in goals.sites.items()}
    heap = [
        (-cover.gain(goal), cover.first[goal], site, goal)
        for site, cover in covers.items()
        for goal in cover.first
    ]
    heapq.heapify(heap)
    picks: list[Pick] = []
    while heap and len(picks) < limit:
        _, first, site, goal = heapq.heappop(heap)
        cover = covers[site]
        gain = cover.gain(goal)  # what it adds can only have shrunk since it was put there
        if gain < _LEAST_GAIN:
            continue
        if heap and (-gain, first) > heap[0][:2]:
            heapq.heappush(heap, (-gain, first, site, goal))
            continue
        picks.append(Pick(candidates[first], cover.take(goal)))
    return picks


class _Cover:
    """How well each goal of a site is covered by judged runs and picks."""

    def __init__(self, site: SiteGoals, judged: frozenset[str], place: dict[str, int]) -> None:
        self._site = site
        known = _sample(site)
        self.waiting: npt.NDArray[np.float32] = np.zeros(len(site), np.float32)
        self.covered: Likenesses = np.zeros(len(site), np.float32)
        self.first: dict[int, int] = {}
        for goal, runs in enumerate(site.runs):
            open_runs = [run for run in runs if run not in judged]
            if len(open_runs) < len(runs):
                self.covered = np.maximum(self.covered, site.likenesses(goal))
            if goal not in known:
                continue
            self.waiting[goal] = len(open_runs)
            if places := [place[run] for run in open_runs if run in place]:
                self.first[goal] = min(places)

    def gain(self, goal: int) -> float:
        more = np.maximum(self._site.likenesses(goal) - self.covered, 0)
        return round(float((more * self.waiting).sum()), 4)  # of equal ones the riskier is picked

    def take(self, goal: int) -> int:
        """Cover what this goal covers; return the number of other waiting runs that gain by it and are similar."""
        likeness = self._site.likenesses(goal)
        newly = (likeness > self.covered) & (likeness >= SIMILAR)
        count = round(float(self.waiting[newly].sum())) - (1 if newly[goal] else 0)
        self.covered = np.maximum(self.covered, likeness)
        return max(0, count)


def _sample(site: SiteGoals) -> Collection[int]:
    if len(site) <= MAX_GOALS:
        return range(len(site))

    def drawn(goal: int) -> bytes:
        return hashlib.blake2b(site.runs[goal][0].encode(), digest_size=8).digest()

    return frozenset(sorted(range(len(site)), key=drawn)[:MAX_GOALS])
