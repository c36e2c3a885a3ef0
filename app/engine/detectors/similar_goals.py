"""Correction of the ranking by the verdicts on runs with similar goals of the same site.

Runs of like goals fail alike, which no flag says. The log odds of run i move by
``STRENGTH * sum_j k_ij (failed_j - p_j) / (sum_j k_ij + SHRINKAGE)`` over the judged runs j of its site, where ``p_j``
is the uncorrected chance and ``k_ij`` the likeness of the goals: the cosine of their tf-idf, cubed, numbers read alike.
Nothing else about a run is used: start times, hosts, latencies and the length of reasons tell when a run was made, and
in collections that keep the last of several tries that tells its outcome.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from app.engine.core.goal_likeness import plain_goal, unit_vector, word_weights

Vector = npt.NDArray[np.float64]
Likenesses = npt.NDArray[np.float32]

STRENGTH, SHRINKAGE, POWER = 5.0, 0.35, 3
SIMILAR = 0.5**POWER
"""Likeness from which goals are called similar in words: a cosine of one half."""


@dataclass(frozen=True, slots=True)
class RunGoal:
    """The goal of a run and the site it is for."""

    run: str
    site: str
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A judged run: whether the agent failed, and the chance of it by the ranking before any correction."""

    failed: bool
    chance: float


@dataclass(frozen=True, slots=True)
class Correction:
    """The change of a run's log odds, and the judged runs with similar goals: how many, and how many failed."""

    shift: float
    similar: int
    failed: int

    @property
    def words(self) -> str:
        """The correction as a reason of the risk; "" where no judged run has a similar goal."""
        if not self.similar:
            return ""
        runs = "judged run with a similar goal" if self.similar == 1 else "judged runs with similar goals"
        if self.similar == 1:
            return f"The only {runs} {'failed' if self.failed else 'did not fail'}"
        return f"{self.failed or 'None'} of {self.similar} {runs} failed"


class SiteGoals:
    """The distinct goals of a site, the runs of each, and the likenesses of goals; computed once each, when needed."""

    def __init__(self, runs_by_goal: Mapping[str, Sequence[str]], weight_of: Mapping[str, float]) -> None:
        self.runs = [tuple(runs) for runs in runs_by_goal.values()]
        self.goal_of = {run: at for at, runs in enumerate(self.runs) for run in runs}
        self._vectors = [unit_vector(text, weight_of) for text in runs_by_goal]
        self._columns: dict[int, Likenesses] = {}
        postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for at, vector in enumerate(self._vectors):
            for word, value in vector.items():
                postings[word].append((at, value))
        self._postings = {
            word: (np.array([at for at, _ in found]), np.array([value for _, value in found]))
            for word, found in postings.items()
        }

    def __len__(self) -> int:
        return len(self.runs)

    def likenesses(self, goal: int) -> Likenesses:
        """Return the likeness of every goal to this one."""
        if (known := self._columns.get(goal)) is None:
            cosines = np.zeros(len(self))
            for word, value in self._vectors[goal].items():
                places, values = self._postings[word]
                cosines[places] += value * values
            known = self._columns[goal] = (np.minimum(cosines, 1.0) ** POWER).astype(np.float32)
        return known

    def own_likeness(self, goal: int) -> float:
        """Return a goal's likeness to itself: 0 for one without a word."""
        return 1.0 if self._vectors[goal] else 0.0


class SimilarGoals:
    """The goals of all runs, by site.

    Building it reads every goal. Likenesses to a goal are computed when they are needed and kept, so that one more
    verdict costs one column. Threads may share it: computing a column twice gives the same.
    """

    def __init__(self, goals: Iterable[RunGoal]) -> None:
        self.goals = tuple(goals)
        grouped: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for goal in self.goals:
            grouped[goal.site][plain_goal(goal.text)].append(goal.run)
        texts = {text for by_text in grouped.values() for text in by_text}
        weight_of = word_weights(texts)
        self.sites = {site: SiteGoals(by_text, weight_of) for site, by_text in grouped.items()}
        self.site_of = {goal.run: goal.site for goal in self.goals}

    def corrections(self, findings: Mapping[str, Finding]) -> dict[str, Correction]:
        """Return the correction of each run that has a judged run on its site; its own verdict never enters it."""
        judged: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        for run in findings:
            if (site := self.site_of.get(run)) is not None:
                judged[site][self.sites[site].goal_of[run]].append(run)
        found: dict[str, Correction] = {}
        for site, by_goal in judged.items():
            found |= _correct_site(self.sites[site], by_goal, findings)
        return found


def corrected_logit(logit: float, correction: Correction | None) -> float:
    """Return the log odds after the correction, if there is any."""
    return logit + correction.shift if correction is not None else logit


def _correct_site(
    site: SiteGoals, by_goal: Mapping[int, Sequence[str]], findings: Mapping[str, Finding]
) -> dict[str, Correction]:
    likeness = np.stack([site.likenesses(goal) for goal in by_goal], axis=1).astype(np.float64)
    surprise = np.array([sum(_surprise(findings[run]) for run in runs) for runs in by_goal.values()])
    count = np.array([float(len(runs)) for runs in by_goal.values()])
    failed = np.array([float(sum(findings[run].failed for run in runs)) for runs in by_goal.values()])
    near = (likeness >= SIMILAR).astype(np.float64)
    pulled, weight = _dot(likeness, surprise), _dot(likeness, count)
    shifts = (STRENGTH * pulled / (weight + SHRINKAGE)).tolist()
    similar, similar_failed = _dot(near, count).tolist(), _dot(near, failed).tolist()
    found: dict[str, Correction] = {}
    for goal, runs in enumerate(site.runs):
        plain = Correction(shifts[goal], round(similar[goal]), round(similar_failed[goal]))
        found.update(dict.fromkeys(runs, plain))
    for goal, runs in by_goal.items():
        own = site.own_likeness(goal)
        for run in runs if own else ():
            finding, plain = findings[run], found[run]
            others = max(0.0, float(weight[goal]) - own)
            pull = float(pulled[goal]) - own * _surprise(finding)
            found[run] = Correction(
                STRENGTH * pull / (others + SHRINKAGE), plain.similar - 1, plain.failed - finding.failed
            )
    return found


def _surprise(finding: Finding) -> float:
    return finding.failed - finding.chance


def _dot(table: Vector, values: Vector) -> Vector:
    """Multiply with ``einsum``, which is single-threaded: a pool of BLAS threads rounds differently on each machine."""
    product: Any = np.einsum("ij,j->i", table, values)
    return cast("Vector", product)
