"""How verdicts agree with the scores that were recorded when the runs were made.  Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from app.engine.api.evaluation_api import RescoredRun

CLOSE = 1e-6
"""Difference up to which two scores are the same."""
NO_TASK = ("-", "no task in the suite")
"""Site and evaluators of runs that the suite can't score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreAgreement:
    """Runs of one site and one set of evaluators.

    Attributes:
        decided: with a verdict and a recorded score, which the following compare.
        agree: both pass or both do not; ``same`` those with the same score.
        false_pass: a pass by the verdict alone; ``false_fail`` by the recorded score alone.
    """

    site: str
    evaluators: str
    runs: int
    decided: int
    agree: int
    same: int
    false_pass: int
    false_fail: int


def score_agreement(rows: Sequence[RescoredRun]) -> list[ScoreAgreement]:
    """Return the agreement by site and evaluators, in their order, the sum of all last."""
    groups: dict[tuple[str, str], list[RescoredRun]] = defaultdict(list)
    for row in rows:
        groups[(row.site, " + ".join(row.evaluators)) if row.evaluators else NO_TASK].append(row)
    found = [_agreement(*names, group) for names, group in sorted(groups.items())]
    return [*found, _agreement("all", "", rows)] if len(found) != 1 else found


def undecided_reasons(rows: Sequence[RescoredRun]) -> list[tuple[str, int]]:
    """Return why verdicts are undecided, most frequent first."""
    reasons: Counter[str] = Counter()
    for row in rows:
        if row.score is None:
            reasons[next((check.why for check in row.checks if check.score is None), row.why)] += 1
    return reasons.most_common()


def _agreement(site: str, evaluators: str, rows: Sequence[RescoredRun]) -> ScoreAgreement:
    decided = [
        (row.score, row.recorded) for row in rows if row.score is not None and row.recorded is not None
    ]
    passes = [(score >= 1, recorded >= 1) for score, recorded in decided]
    return ScoreAgreement(
        site=site,
        evaluators=evaluators,
        runs=len(rows),
        decided=len(decided),
        agree=sum(now == then for now, then in passes),
        same=sum(abs(score - recorded) < CLOSE for score, recorded in decided),
        false_pass=passes.count((True, False)),
        false_fail=passes.count((False, True)),
    )
