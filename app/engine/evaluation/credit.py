"""The credit of tips: what each is worth, from evaluations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from app.engine.api.evaluation_api import TipCreditRow
from app.engine.core.evaluation.episode import MIN_TEMPLATES, Arm, EpisodeRecord, EvaluationJournal
from app.engine.evaluation.pooling import TaskInArm
from app.engine.evaluation.statistics.cluster_bootstrap import ClusterSums, bootstrap_mean

PAIRS, LEFT_OUT = "pairs", "left out"
_NO_KNOWLEDGE = ("none", "")

KnowledgeTexts = Mapping[str, Mapping[str, str]]
"""The text of every tip by its id, of each frozen file by the hash of its bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TipObservation:
    """One task in which a tip was shown: its mean with the tip's arm less that in the other arm.

    ``followed``: at least one of the steps it was shown at did what it says.
    """

    tip: str
    suite: str
    task: str
    cluster: str
    difference: float
    followed: bool
    method: str


def observe(journals: Sequence[EvaluationJournal], knowledge: KnowledgeTexts) -> list[TipObservation]:
    """Return what evaluations say of single tips.

    The rule:

    1. A tip is looked at in the tasks in which an arm showed it; of the repeats, in those in which it was shown.
    2. ``pairs``: they are compared with the same tasks in an arm of the same evaluation without knowledge, with the
       same use of maps. The difference is that of the whole knowledge base in these tasks: other tips shown there
       share in it.
    3. ``left out``: they are compared with the same tasks in an arm of the same evaluation whose knowledge base lacks
       this tip and is otherwise the same. The difference is that of the tip alone.
    4. A task that is undecided in one of the two arms, and one that is tainted, is not looked at.
    5. A task of the same suite that was looked at several times counts once, with its mean (``credit_rows``).
    """
    return [seen for journal in journals for seen in _observe_one(journal, knowledge)]


def _observe_one(journal: EvaluationJournal, knowledge: KnowledgeTexts) -> list[TipObservation]:
    by_arm: dict[str, dict[str, list[EpisodeRecord]]] = {}
    for record in {record.key: record for record in journal.records}.values():
        by_arm.setdefault(record.key.arm, {}).setdefault(record.key.task, []).append(record)
    found: list[TipObservation] = []
    for arm in journal.head.arms:
        shown = _shown(by_arm.get(arm.name, {}), set(journal.head.tainted))
        for other in journal.head.arms:
            method, only = _method(arm, other, knowledge)
            if method:
                found += _paired(journal, shown, by_arm.get(other.name, {}), method, only)
    return found


def _shown(
    tasks: Mapping[str, Sequence[EpisodeRecord]], tainted: set[str]
) -> dict[tuple[str, str], list[EpisodeRecord]]:
    """Return the episodes in which each tip was shown, by tip and task."""
    shown: dict[tuple[str, str], list[EpisodeRecord]] = {}
    for task, records in tasks.items():
        for record in records if task not in tainted else ():
            for tip in {used.tip for used in record.tips if used.shown > 0}:
                shown.setdefault((tip, task), []).append(record)
    return shown


def _method(arm: Arm, other: Arm, knowledge: KnowledgeTexts) -> tuple[str, str]:
    """Return how two arms say something of tips, and of which one; "" for not at all, and for every tip."""
    if arm.kb in _NO_KNOWLEDGE or arm.maps is not other.maps:
        return "", ""
    if other.kb in _NO_KNOWLEDGE:
        return PAIRS, ""
    mine, others = set(knowledge.get(arm.kb_sha256, ())), set(knowledge.get(other.kb_sha256, ()))
    gone = mine - others
    return (LEFT_OUT, gone.pop()) if len(gone) == 1 and others < mine else ("", "")


def _paired(
    journal: EvaluationJournal,
    shown: Mapping[tuple[str, str], Sequence[EpisodeRecord]],
    others: Mapping[str, Sequence[EpisodeRecord]],
    method: str,
    only: str,
) -> list[TipObservation]:
    rates = {task: TaskInArm(tuple(records)).rate for task, records in others.items()}
    found: list[TipObservation] = []
    for (tip, task), records in shown.items():
        with_, without = TaskInArm(tuple(records)).rate, rates.get(task)
        if (only and tip != only) or with_ is None or without is None:
            continue
        found.append(
            TipObservation(
                tip=tip,
                suite=journal.head.suite_sha256,
                task=task,
                cluster=f"{journal.head.suite_sha256}:{records[0].cluster}",
                difference=with_ - without,
                followed=any(used.followed for one in records for used in one.tips if used.tip == tip),
                method=method,
            )
        )
    return found


def credit_rows(observations: Sequence[TipObservation], knowledge: KnowledgeTexts) -> list[TipCreditRow]:
    """Return a row for each tip and method, the best tips first; its verdict is that of ``credit_verdict``."""
    texts = {tip: text for tips in knowledge.values() for tip, text in tips.items()}
    grouped: dict[tuple[str, str], list[TipObservation]] = {}
    for one in observations:
        grouped.setdefault((one.tip, one.method), []).append(one)
    # Tips with as many templates one after the other: they share their draws.
    merged = {key: _merged(found) for key, found in grouped.items()}
    order = sorted(merged, key=lambda key: (len({one.cluster for one in merged[key]}), key))
    rows = [_row(tip, texts.get(tip, ""), method, merged[tip, method]) for tip, method in order]
    return sorted(rows, key=lambda row: (-row.difference, row.tip, row.method))


def _merged(found: Sequence[TipObservation]) -> list[TipObservation]:
    """Return one observation for each task: the mean of what was seen of it."""
    tasks: dict[tuple[str, str], list[TipObservation]] = {}
    for one in found:
        tasks.setdefault((one.suite, one.task), []).append(one)
    return [
        TipObservation(
            tip=seen[0].tip,
            suite=suite,
            task=task,
            cluster=seen[0].cluster,
            difference=fmean(one.difference for one in seen),
            followed=any(one.followed for one in seen),
            method=seen[0].method,
        )
        for (suite, task), seen in tasks.items()
    ]


def _row(tip: str, text: str, method: str, tasks: Sequence[TipObservation]) -> TipCreditRow:
    sums = ClusterSums.of([one.difference for one in tasks], [one.cluster for one in tasks])
    mean = bootstrap_mean(sums, -1.0, 1.0)
    followed = [one.difference for one in tasks if one.followed]
    ignored = [one.difference for one in tasks if not one.followed]
    return TipCreditRow(
        tip=tip,
        text=text,
        retrieved=len(tasks),
        followed=len(followed),
        templates=mean.clusters,
        difference=mean.mean,
        low=mean.low,
        high=mean.high,
        method=method,
        verdict=credit_verdict(mean.low, mean.high, mean.clusters),
        followed_difference=fmean(followed) if followed else None,
        ignored_difference=fmean(ignored) if ignored else None,
    )


def credit_verdict(low: float, high: float, templates: int) -> str:
    """Return the verdict on a tip; the first clause that holds decides.

    1. It was seen in fewer than 8 templates: ``not enough data``, whatever the interval is.
    2. The 95 % interval by template lies above 0: ``helps``.
    3. It lies below 0: ``hurts``.
    4. Else: ``no difference seen``.

    Each tip is judged for itself: of 100 tips that do nothing, about five look as if they did.
    """
    if templates < MIN_TEMPLATES:
        return "not enough data"
    if low > 0:
        return "helps"
    return "hurts" if high < 0 else "no difference seen"
