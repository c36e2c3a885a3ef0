"""The comparison of the arms of evaluations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from app.engine.api.evaluation_api import Comparison, RateRow
from app.engine.core.evaluation.episode import Arm, EpisodeRecord, EvaluationJournal
from app.engine.core.evaluation.suite import SuiteTask
from app.engine.evaluation.answering import points
from app.engine.evaluation.credit import KnowledgeTexts, credit_rows, observe
from app.engine.evaluation.group_tables import group_tables
from app.engine.evaluation.pairing import ArmPair
from app.engine.evaluation.pooling import PooledEpisodes, TaskInArm, pool
from app.engine.evaluation.statistics.cluster_bootstrap import ClusterSums, bootstrap_mean
from app.engine.evaluation.statistics.single_rates import RepeatRates, wilson
from app.errors import UsageError


def compare(
    journals: Sequence[EvaluationJournal],
    tasks: Mapping[str, SuiteTask],
    *,
    arm: str = "",
    against: str = "",
    margin: float = 0.02,
    labels: Mapping[str, Sequence[str]] | None = None,
    knowledge: KnowledgeTexts | None = None,
) -> Comparison:
    """Compare the arms of evaluations of one suite over the tasks that they share.

    Args:
        journals: of evaluations with the same suite, dialect, policy and model.
        tasks: of the suite by id, as far as it is still there.
        arm: the arm that is looked at, "" for every other one.
        against: the arm it is compared with; "" for the one without knowledge and maps, else the first one.
        margin: difference below which arms are the same.
        labels: people's verdicts by run.
        knowledge: the texts of the tips of each frozen file, by the file's hash.

    Raises:
        UsageError: evaluations that can't be mixed, an unknown arm, or a margin out of range.
    """
    if not 0 <= margin < 1:
        raise UsageError(f"a margin of {margin:g} makes no sense", remedy="give a share such as 0.02")
    pooled = pool(journals, tasks)
    base = pooled.arm(against) if against else _base(pooled)
    chosen = [pooled.arm(arm)] if arm else [one for one in pooled.arms if one.name != base.name]
    if arm and arm == base.name:
        raise UsageError(
            f"the arm {arm!r} can't be compared with itself", remedy="give --against another one"
        )
    rates = tuple(_rate(one.name, pooled.outcomes[one.name]) for one in pooled.arms)
    pairs = [ArmPair(pooled, one.name, base.name) for one in chosen]
    verdicts = tuple(pair.verdict(margin) for pair in pairs)
    differences = tuple(row for pair in pairs for row in pair.rows())
    return Comparison(
        heads=pooled.heads,
        arms=rates,
        verdicts=verdicts,
        differences=differences,
        pairs=tuple(row for pair in pairs for row in pair.table(tasks)),
        credits=tuple(credit_rows(observe(journals, knowledge or {}), knowledge or {})),
        tables=group_tables(pooled, rates, labels or {}),
        margin=margin,
        notes=(*_notes(pooled, pairs), *_tainted_notes(pooled, pairs)),
    )


def _base(pooled: PooledEpisodes) -> Arm:
    """Return the arm that others are compared with: without knowledge, best without maps too; else the first."""
    plain = [arm for arm in pooled.arms if not arm.kb_sha256 and arm.kb in ("none", "")]
    without_maps = [arm for arm in plain if not arm.maps]
    return (without_maps or plain or list(pooled.arms))[0]


def _rate(name: str, outcomes: Mapping[str, TaskInArm]) -> RateRow:
    decided = [task for task in outcomes.values() if task.rate is not None]
    records = [record for task in outcomes.values() for record in task.records]
    done = [record for record in records if not record.error]
    sums = ClusterSums.of(
        [task.rate or 0.0 for task in decided], [task.records[0].cluster for task in decided]
    )
    mean = bootstrap_mean(sums, 0.0, 1.0)
    repeats = RepeatRates.of([task.passes for task in decided])
    wilson_low, wilson_high = wilson(mean.mean, len(decided))
    prices = [record.money for record in done]
    known = [price for price in prices if price is not None]
    return RateRow(
        name=name,
        tasks=len(decided),
        templates=sums.count,
        mean=mean.mean,
        low=mean.low,
        high=mean.high,
        wilson_low=wilson_low,
        wilson_high=wilson_high,
        all_of=repeats.all_of,
        best_of=repeats.best_of,
        macro=sums.macro,
        undecided=sum(task.rate is None for task in outcomes.values()),
        steps=_mean([record.steps for record in done]),
        seconds=_mean([record.seconds for record in done]),
        tokens=_mean([record.tokens_in + record.tokens_out for record in done]),
        money=_mean(known) if len(known) == len(prices) else None,
        false_done=sum(_claims_falsely(record) for record in done),
        unasked=sum(record.unasked for record in done),
    )


def _claims_falsely(record: EpisodeRecord) -> bool:
    return record.claimed and record.verdict == "fail"


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


def _notes(pooled: PooledEpisodes, pairs: Sequence[ArmPair]) -> list[str]:
    """Return what a reader has to know: missing, failed and undecided episodes."""
    notes = list(pooled.notes)
    if len(pooled.arms) < 2:
        notes.append("There is one arm only: nothing to compare it with.")
    if len({head.tasks for head in pooled.heads}) > 1:
        notes.append(
            "Evaluations of different tasks were put together. If one was added because the others did not say enough,"
            " only the always-valid interval counts: the usual one would be looked at more than once."
        )
    if pooled.missing:
        notes.append(
            f"The evaluation is not over: {len(pooled.missing)} episodes are missing."
            " Only the always-valid interval counts; it looks at the first run of each task, in templates whose tasks"
            " have all been run."
        )
    for arm, tasks in pooled.outcomes.items():
        errors = sum(task.errors for task in tasks.values())
        undecided = sum(task.undecided for task in tasks.values())
        if errors:
            notes.append(
                f"{_episodes(errors)} of the arm {arm} could not be run or scored and count as neither right nor"
                " wrong: resume the evaluation to run them again."
            )
        if undecided:
            notes.append(f"{_episodes(undecided)} of the arm {arm} are undecided and left out.")
    for pair in pairs:
        low, high = pair.bounds()
        if high - low > 1e-9:
            notes.append(
                f"Had all episodes without a verdict failed with {pair.arm} and passed with {pair.against}, the"
                f" difference would be {points(low)} points; the other way round, {points(high)}."
            )
        if not any(one.is_decided for one in pair.pairs):
            notes.append(f"No task is decided in both {pair.arm} and {pair.against}.")
    return notes


def _tainted_notes(pooled: PooledEpisodes, pairs: Sequence[ArmPair]) -> list[str]:
    tainted = len({one.task for pair in pairs for one in pair.pairs if one.tainted})
    if not tainted:
        return []
    return [
        f"{'1 task is' if tainted == 1 else f'{tainted} tasks are'} tainted: an author of a tip had seen a task of"
        " the same template. The row 'without tainted tasks' leaves them out; so does the credit of tips."
    ]


def _episodes(number: int) -> str:
    return "1 episode" if number == 1 else f"{number} episodes"
