"""Two arms over the tasks that are decided in both: pairs, differences by group, and the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from statistics import fmean

import numpy as np

from app.engine.api.evaluation_api import ComparisonVerdict, DifferenceRow, PairRow
from app.engine.core.evaluation.episode import MIN_TEMPLATES, EpisodeRecord
from app.engine.core.evaluation.suite import SuiteTask
from app.engine.evaluation.answering import AnswerFacts, answer_of, sentence_of, templates_for_same
from app.engine.evaluation.pooling import CostFigure, PooledEpisodes, TaskInArm, TaskTraits, is_decided
from app.engine.evaluation.statistics.always_valid import always_valid_interval
from app.engine.evaluation.statistics.cluster_bootstrap import (
    ClusterSums,
    bootstrap_mean,
)
from app.engine.evaluation.statistics.paired_tests import holm, naive_mcnemar, sign_flip
from app.engine.evaluation.statistics.planner import PlanAssumptions, more_templates

RIGHT = 0.5
"""A task counts as right in an arm if at least this share of its decided repeats passed."""
WITHOUT_TAINTED = "without tainted tasks"


@dataclass(frozen=True, kw_only=True)
class TaskPair:
    """One task in both arms; ``with_`` or ``without`` may be undecided."""

    task: str
    traits: TaskTraits
    with_: TaskInArm
    without: TaskInArm
    tainted: bool

    @cached_property
    def is_decided(self) -> bool:
        """Whether it counts as a pair."""
        return self.with_.rate is not None and self.without.rate is not None

    @cached_property
    def difference(self) -> float:
        """Of the means over repeats; 0 where it is undecided."""
        return (self.with_.rate or 0.0) - (self.without.rate or 0.0) if self.is_decided else 0.0

    @cached_property
    def result(self) -> str:
        """``won``, ``lost``, ``both``, ``neither`` or ``undecided``."""
        if not self.is_decided:
            return "undecided"
        right = (self.with_.rate or 0.0) >= RIGHT
        if (self.without.rate or 0.0) >= RIGHT:
            return "both" if right else "lost"
        return "won" if right else "neither"


class ArmPair:
    """One arm beside another."""

    def __init__(self, pooled: PooledEpisodes, arm: str, against: str) -> None:
        self.arm, self.against = arm, against
        self._pooled = pooled
        with_, without = pooled.outcomes[arm], pooled.outcomes[against]
        self.pairs = [
            TaskPair(
                task=task,
                traits=pooled.traits[task],
                with_=with_[task],
                without=without[task],
                tainted=task in pooled.tainted,
            )
            for task in sorted(with_.keys() & without.keys(), key=pooled.order.__getitem__)
        ]
        self.early = any(key.arm in (arm, against) for key in pooled.missing)

    def rows(self) -> list[DifferenceRow]:
        """Return the differences over all tasks, by site, by type, and without tainted tasks if there are some.

        Sites are one family for Holm's correction, types another.
        """
        clean = [pair for pair in self.pairs if not pair.tainted]
        apart = [self._row(WITHOUT_TAINTED, clean)] if clean and len(clean) < len(self.pairs) else []
        return [
            self._row("all", self.pairs),
            *self._family("site", lambda pair: pair.traits.site),
            *self._family("type", lambda pair: pair.traits.kind or "unknown"),
            *apart,
        ]

    def _family(self, word: str, group_of: Callable[[TaskPair], str]) -> list[DifferenceRow]:
        groups: dict[str, list[TaskPair]] = {}
        for pair in self.pairs:
            groups.setdefault(group_of(pair), []).append(pair)
        rows = [self._row(f"{word} {name}", pairs) for name, pairs in sorted(groups.items())]
        corrected = holm([row.p for row in rows])
        return [replace(row, p_holm=p) for row, p in zip(rows, corrected, strict=True)]

    def _row(self, group: str, pairs: Sequence[TaskPair]) -> DifferenceRow:
        decided = [pair for pair in pairs if pair.is_decided]
        sums = _sums(decided)
        mean = bootstrap_mean(sums, -1.0, 1.0)
        results = [pair.result for pair in pairs]
        won, lost = results.count("won"), results.count("lost")
        p = sign_flip(sums)
        return DifferenceRow(
            arm=self.arm,
            against=self.against,
            group=group,
            tasks=len(decided),
            templates=sums.count,
            difference=mean.mean,
            low=mean.low,
            high=mean.high,
            p=p,
            p_holm=p,
            mcnemar_p=naive_mcnemar(won, lost),
            won=won,
            lost=lost,
            both=results.count("both"),
            neither=results.count("neither"),
            undecided=results.count("undecided"),
            steps=_mean_difference(decided, "steps") or 0.0,
            seconds=_mean_difference(decided, "seconds") or 0.0,
            tokens=_mean_difference(decided, "tokens") or 0.0,
            money=_mean_difference(decided, "money"),
        )

    @staticmethod
    def _assumptions(decided: Sequence[TaskPair]) -> PlanAssumptions:
        """Return the plan's assumptions for suites like this one."""
        templates = len({pair.traits.cluster for pair in decided})
        repeats = max((len(pair.with_.records) for pair in decided), default=1)
        return PlanAssumptions(
            per_template=len(decided) / templates if templates else 1.0, repeats=max(1, repeats)
        )

    def verdict(self, margin: float) -> ComparisonVerdict:
        """Return the answer; its rule is that of ``answer_of``."""
        decided = [pair for pair in self.pairs if pair.is_decided]
        looked = self._looked()
        always = always_valid_interval(looked.sums.sums, looked.sums.sizes, looked.largest)
        fixed = bootstrap_mean(_sums(decided), -1.0, 1.0)
        sums = looked.sums if self.early else _sums(decided)
        low, high = always if self.early else (fixed.low, fixed.high)
        answer = answer_of(low, high, templates=sums.count, margin=margin)
        more, effect = (
            (0, 0.0)
            if answer != "not enough data"
            else _more(sums, low, high, margin, self._assumptions(decided))
        )
        facts = AnswerFacts(
            answer=answer,
            difference=sums.mean,
            low=low,
            high=high,
            templates=sums.count,
            planned=looked.planned,
            margin=margin,
            more=more,
            effect=effect,
            steps=_steps_share(decided),
            early=self.early,
            tainted=sum(pair.tainted for pair in decided),
        )
        return ComparisonVerdict(
            arm=self.arm,
            against=self.against,
            answer=answer,
            sentence=sentence_of(facts),
            more_templates=more,
            always_valid=always,
            early=self.early,
        )

    def _looked(self) -> TemplatesSeen:
        """Return what the always-valid interval is of: the first repeat, templates up to the first incomplete one.

        Later repeats would change the values of templates that were bet on already.  Order is that of the plan, without
        gaps: which templates behind a gap are over has to do with how long they take, and so with how they end.
        """
        first = self._pooled.first
        planned: dict[str, list[str]] = {}
        for task in self._pooled.order:
            if (
                (traits := self._pooled.traits.get(task))
                and (self.arm, task) in first
                and (self.against, task) in first
            ):
                planned.setdefault(traits.cluster, []).append(task)
        sums: list[float] = []
        sizes: list[float] = []
        complete = takewhile(
            lambda tasks: all(map(self._both_first, tasks)),
            sorted(planned.values(), key=lambda tasks: self._pooled.order[tasks[-1]]),
        )
        for tasks in complete:
            pairs = [
                pair for task in tasks if (pair := self._both_first(task)) and all(map(is_decided, pair))
            ]
            if pairs:
                passed = [_passed(one) - _passed(other) for one, other in pairs]
                sums.append(float(sum(passed)))
                sizes.append(float(len(passed)))
        largest = float(max((len(tasks) for tasks in planned.values()), default=0))
        return TemplatesSeen(ClusterSums(np.array(sums), np.array(sizes)), largest, len(planned))

    def _both_first(self, task: str) -> tuple[EpisodeRecord, EpisodeRecord] | None:
        one = self._pooled.first[self.arm, task]
        other = self._pooled.first[self.against, task]
        return (one, other) if one is not None and other is not None else None

    def bounds(self) -> tuple[float, float]:
        """Return the difference if all that is undecided had failed with the arm and passed without; the reverse."""
        if not self.pairs:
            return -1.0, 1.0
        low = fmean(pair.with_.rate_if(False) - pair.without.rate_if(True) for pair in self.pairs)
        high = fmean(pair.with_.rate_if(True) - pair.without.rate_if(False) for pair in self.pairs)
        return low, high

    def table(self, tasks: Mapping[str, SuiteTask]) -> list[PairRow]:
        """Return a row for each task, in the order of the evaluation."""
        return [
            PairRow(
                task=pair.task,
                cluster=pair.traits.cluster,
                site=pair.traits.site,
                kind=pair.traits.kind,
                intent=tasks[pair.task].intent if pair.task in tasks else "",
                arm=self.arm,
                against=self.against,
                result=pair.result,
                score=pair.with_.rate,
                score_against=pair.without.rate,
                runs=_runs(pair.with_),
                runs_against=_runs(pair.without),
                why=_why(pair.with_),
                why_against=_why(pair.without),
                tainted=pair.tainted,
            )
            for pair in self.pairs
        ]


@dataclass(frozen=True, slots=True)
class TemplatesSeen:
    """Differences of the templates that are complete; the size of the largest one planned, and how many are planned."""

    sums: ClusterSums
    largest: float
    planned: int


def _sums(decided: Sequence[TaskPair]) -> ClusterSums:
    return ClusterSums.of([pair.difference for pair in decided], [pair.traits.cluster for pair in decided])


def _more(
    sums: ClusterSums, low: float, high: float, margin: float, assumed: PlanAssumptions
) -> tuple[int, float]:
    """Return how many more templates would show which effect."""
    if -margin <= low and high <= margin and sums.count >= MIN_TEMPLATES:
        return templates_for_same(margin) - sums.count, margin
    more, effect = more_templates(sums.mean, sums.standard_error, sums.count, assumed)
    return max(more, MIN_TEMPLATES - sums.count), effect


def _passed(record: EpisodeRecord) -> int:
    return int(bool(TaskInArm((record,)).rate))


def _mean_difference(pairs: Sequence[TaskPair], figure: CostFigure) -> float | None:
    """Return the mean difference of a figure over tasks; ``None`` where one is not known."""
    differences: list[float] = []
    for pair in pairs:
        one, other = pair.with_.costs[figure], pair.without.costs[figure]
        if one is None or other is None:
            return None
        differences.append(one - other)
    return fmean(differences) if differences else 0.0


def _steps_share(pairs: Sequence[TaskPair]) -> float | None:
    with_ = sum(pair.with_.costs["steps"] or 0.0 for pair in pairs)
    without = sum(pair.without.costs["steps"] or 0.0 for pair in pairs)
    return with_ / without - 1 if without else None


def _runs(task: TaskInArm) -> tuple[str, ...]:
    return tuple(record.run for record in task.records if record.run)


def _why(task: TaskInArm) -> str:
    """Return why a task is not right: the first reason, of the episode that was not passed or could not be run."""
    reasons = (
        record.error or record.why for record in task.records if task.rate is None or not _passed(record)
    )
    return next((reason for reason in reasons if reason), "")
