"""Episodes of one or several evaluations of the same suite, together: by arm and task, repeats side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Literal

from app.engine.core.evaluation.episode import (
    Arm,
    EpisodeKey,
    EpisodeRecord,
    EvaluationHead,
    EvaluationJournal,
)
from app.engine.core.evaluation.suite import SuiteTask
from app.engine.core.evaluation.task_score import ScoreVerdict
from app.errors import UsageError

SEVERAL_SITES = "several sites"
NO_SITE = "no site"
CostFigure = Literal["steps", "seconds", "tokens", "money"]
_BUDGETS = ("max_seconds", "max_tokens", "max_money")
_SCORING_OPTIONS = ("infeasible_is_na", "off_site_is_zero")


@dataclass(frozen=True)
class TaskInArm:
    """The episodes of one task in one arm.

    An episode is right if it passed: only a score of 1 does.  One that is undecided, or whose record says why it could
    not be run or scored, is neither right nor wrong.
    """

    records: tuple[EpisodeRecord, ...]

    @cached_property
    def passes(self) -> tuple[bool, ...]:
        """Of the episodes that were decided."""
        return tuple(record.verdict is ScoreVerdict.PASS for record in self.records if is_decided(record))

    @cached_property
    def rate(self) -> float | None:
        """Mean over the decided repeats; ``None`` without any."""
        return fmean(self.passes) if self.passes else None

    @cached_property
    def costs(self) -> Mapping[CostFigure, float | None]:
        """Means over the episodes that could be run; a figure that is not known of one of them is ``None``."""
        ran = [record for record in self.records if not record.error]
        prices = [record.money for record in ran if record.money is not None]
        return {
            "steps": fmean([record.steps for record in ran]) if ran else None,
            "seconds": fmean([record.seconds for record in ran]) if ran else None,
            "tokens": fmean([record.tokens_in + record.tokens_out for record in ran]) if ran else None,
            "money": fmean(prices) if ran and len(prices) == len(ran) else None,
        }

    @property
    def errors(self) -> int:
        """Episodes that could not be run or scored."""
        return sum(bool(record.error) for record in self.records)

    @property
    def undecided(self) -> int:
        """Episodes without a verdict that had no error."""
        return len(self.records) - len(self.passes) - self.errors

    def rate_if(self, passed: bool) -> float:
        """Return the mean over all repeats if those without a verdict had passed, or failed."""
        open_ = len(self.records) - len(self.passes)
        return (sum(self.passes) + (open_ if passed else 0)) / len(self.records)


def is_decided(record: EpisodeRecord) -> bool:
    """Whether an episode counts as right or wrong."""
    return not record.error and record.verdict is not ScoreVerdict.UNDECIDED


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTraits:
    """Traits that tasks are grouped by; ``site`` is ``several sites`` for a task with more than one."""

    cluster: str
    site: str
    kind: str
    modality: str


@dataclass(frozen=True, kw_only=True)
class PooledEpisodes:
    """Everything that evaluations say, by arm and task.

    Attributes:
        arms: in the order of the evaluations; the names are unique.
        outcomes: by name of arm, then id of task.
        traits: of each task that has a record or is in the suite.
        order: place of each task in the order of the evaluations.
        missing: keys of the episodes that are planned and have no record, with their arms' names here.
        first: the episode of each task in each arm that came first by plan; looks before the end use these alone.
        notes: what is odd in the journals, one sentence each.
    """

    heads: tuple[EvaluationHead, ...]
    arms: tuple[Arm, ...]
    outcomes: Mapping[str, Mapping[str, TaskInArm]]
    traits: Mapping[str, TaskTraits]
    order: Mapping[str, int]
    missing: frozenset[EpisodeKey]
    first: Mapping[tuple[str, str], EpisodeRecord | None]
    tainted: frozenset[str]
    notes: tuple[str, ...]

    def arm(self, name: str) -> Arm:
        """Return the arm of this name.  Raises ``UsageError``."""
        for arm in self.arms:
            if arm.name == name:
                return arm
        known = ", ".join(arm.name for arm in self.arms)
        raise UsageError(f"there is no arm {name[:80]!r}", remedy=f"there are {known}")


def pool(journals: Sequence[EvaluationJournal], tasks: Mapping[str, SuiteTask]) -> PooledEpisodes:
    """Put evaluations together; the same arm and task in two of them are more repeats.

    ``tasks`` tells the clusters of tasks that have no record yet; the records tell the others.

    Raises:
        UsageError: there are none, or they can't be mixed.
    """
    refuse_mixed([journal.head for journal in journals])
    names = _arm_names(journals)
    notes = [note for journal in journals for note in journal.notes]
    grouped: dict[str, dict[str, list[EpisodeRecord]]] = {}
    arms: dict[str, Arm] = {}
    missing: set[EpisodeKey] = set()
    first: dict[tuple[str, str], EpisodeRecord | None] = {}
    strangers = 0
    for number, journal in enumerate(journals):
        head, by_key = journal.head, {record.key: record for record in journal.records}
        planned = _planned(head)
        for arm in head.arms:
            name = names[number, arm.name]
            arms.setdefault(name, replace(arm, name=name))
            for task in head.tasks:
                first.setdefault((name, task), by_key.get(EpisodeKey(task=task, repeat=0, arm=arm.name)))
        missing |= {replace(key, arm=names[number, key.arm]) for key in planned - by_key.keys()}
        strangers += len(by_key.keys() - planned)
        for key, record in by_key.items():
            if key in planned:
                grouped.setdefault(names[number, key.arm], {}).setdefault(key.task, []).append(record)
    if strangers:
        notes.append(
            f"{_count(strangers, 'record')} of tasks, repeats or arms that the evaluation does not name:"
            " left out."
        )
    ids = list(dict.fromkeys(task for journal in journals for task in journal.head.tasks))
    seen = {record.key.task: record for journal in journals for record in journal.records}
    known = {id: _traits(seen.get(id), tasks.get(id)) for id in ids if id in seen or id in tasks}
    heads = tuple(journal.head for journal in journals)
    return PooledEpisodes(
        heads=heads,
        arms=tuple(arms.values()),
        outcomes={
            arm: {task: TaskInArm(tuple(records)) for task, records in grouped.get(arm, {}).items()}
            for arm in arms
        },
        traits=known,
        order={id: place for place, id in enumerate(ids)},
        missing=frozenset(missing),
        first=first,
        tainted=frozenset(task for head in heads for task in head.tainted),
        notes=tuple(dict.fromkeys((*notes, *_differing_notes(heads)))),
    )


def _planned(head: EvaluationHead) -> set[EpisodeKey]:
    return {
        EpisodeKey(task=task, repeat=repeat, arm=arm.name)
        for task in head.tasks
        for arm in head.arms
        for repeat in range(head.repeats)
    }


def _traits(record: EpisodeRecord | None, task: SuiteTask | None) -> TaskTraits:
    """Return a task's traits as its record tells them, else as the suite does."""
    told = record or task
    if told is None:
        raise ValueError("a task that nothing is known of")
    return TaskTraits(
        cluster=told.cluster, site=site_group(told.sites), kind=told.kind, modality=told.required_obs
    )


def site_group(sites: Sequence[str]) -> str:
    """Return the group of a task by its sites: the one it has, or that it has several."""
    return sites[0] if len(sites) == 1 else SEVERAL_SITES if sites else NO_SITE


def refuse_mixed(heads: Sequence[EvaluationHead]) -> None:
    """Refuse evaluations whose outcomes don't mean the same: of another suite, dialect, policy, model or budget.

    Raises:
        UsageError: in one sentence.
    """
    if not heads:
        raise UsageError("no evaluation was given", remedy="name the folder of at least one")
    first = heads[0]
    for head in heads[1:]:
        for what, one, other in (
            ("suites", f"{first.suite} {first.suite_sha256[:8]}", f"{head.suite} {head.suite_sha256[:8]}"),
            ("dialects", first.dialect, head.dialect),
            ("policies", first.policy, head.policy),
            ("models", first.model, head.model),
            ("limits of steps", str(first.max_steps), str(head.max_steps)),
            ("budgets of a run", budget_of(first), budget_of(head)),
            ("rules of scoring", scoring_of(first), scoring_of(head)),
        ):
            differs = first.suite_sha256 != head.suite_sha256 if what == "suites" else one != other
            if differs:
                raise UsageError(
                    f"{first.name!r} and {head.name!r} have other {what} ({one or 'none'} and {other or 'none'}),"
                    " so their results can't be put together",
                    remedy="compare them one at a time",
                )


def scoring_of(head: EvaluationHead) -> str:
    """Return the extra rules of scoring of an evaluation, in words."""
    return ", ".join(f"{key} {value}" for key, value in sorted(head.options) if key in _SCORING_OPTIONS)


def budget_of(head: EvaluationHead) -> str:
    """Return the limits of a run beside its steps, in words: seconds, tokens, US dollars; "" for none."""
    limits = ((name, value) for name, value in sorted(head.options) if name in _BUDGETS)
    return ", ".join(f"{name} {float(value):g}" for name, value in limits if float(value))


def _differing_notes(heads: Sequence[EvaluationHead]) -> list[str]:
    notes: list[str] = []
    for what, values in (
        ("prompts", {head.prompts_sha256 for head in heads}),
        ("versions of the program or the browser", {tuple(sorted(head.versions)) for head in heads}),
    ):
        if len(values) > 1:
            notes.append(f"The evaluations were run with other {what}.")
    return notes


def _arm_names(journals: Sequence[EvaluationJournal]) -> dict[tuple[int, str], str]:
    """Return the name of each arm of each journal; arms that only share a name get the start of their hash."""
    kinds: dict[str, set[tuple[str, bool]]] = {}
    for journal in journals:
        for arm in journal.head.arms:
            kinds.setdefault(arm.name, set()).add((arm.kb_sha256 or arm.kb, arm.maps))
    return {
        (number, arm.name): arm.name
        if len(kinds[arm.name]) == 1
        else f"{arm.name} {(arm.kb_sha256 or arm.kb)[:8]}{' with maps' if arm.maps else ''}"
        for number, journal in enumerate(journals)
        for arm in journal.head.arms
    }


def count_errors(pooled: PooledEpisodes) -> Counter[str]:
    """Return how many episodes of each arm could not be run or scored."""
    return Counter(
        {arm: sum(task.errors for task in tasks.values()) for arm, tasks in pooled.outcomes.items()}
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
