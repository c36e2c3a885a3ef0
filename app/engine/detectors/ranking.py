"""The ranking in use, and every run's risk by it: chosen and fitted anew from all verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.engine.core.supervision import FlagReaction
from app.engine.core.verdicts import Flag, Risk, Verdict
from app.engine.detectors.cross_validation import SIMILAR_GOALS, CrossValidation, cross_validate, findings
from app.engine.detectors.risk import JudgedRun, RiskModel, chance_of, fit
from app.engine.detectors.scorecard import agent_failed
from app.engine.detectors.similar_goals import Correction, SimilarGoals, corrected_logit

STRONG_SHIFT = 1.0
"""Change of the log odds from which a correction is told before the flags: as much as a strong flag is worth."""
MAX_REASONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedRun:
    """A run to rank: steps and usual steps, task ("" where unknown), flags, and the detectors that a model answered."""

    steps: int
    usual_steps: float | None
    task: str = ""
    flags: tuple[Flag, ...] = ()
    decided: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingData:
    """All that a ranking learns from, by run."""

    runs: Mapping[str, RankedRun]
    verdicts: Mapping[str, Sequence[Verdict]] = field(default_factory=dict[str, Sequence[Verdict]])
    reactions: Mapping[str, Sequence[FlagReaction]] = field(default_factory=dict[str, Sequence[FlagReaction]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The model in use, the comparison that chose it, and the risk of every run."""

    model: RiskModel
    trial: CrossValidation
    risks: tuple[Risk, ...]


def rank(data: RankingData, goals: SimilarGoals) -> Ranking:
    """Compare the rankings on the judged runs, and rank every run by the one that is best."""
    judged = judged_runs(data)
    trial = cross_validate(judged, goals)
    model = fit(judged) if trial.fit_is_better else RiskModel()
    risks = [
        model.assess(run, known.flags, known.steps, known.usual_steps, known.decided)
        for run, known in data.runs.items()
    ]
    if trial.in_use == SIMILAR_GOALS:
        risks = corrected_risks(risks, data, goals, judged, trial)
    return Ranking(model=model, trial=trial, risks=tuple(risks))


def judged_runs(data: RankingData) -> list[JudgedRun]:
    """Return the runs that people judged as failed or not."""
    found: list[JudgedRun] = []
    for run in data.verdicts.keys() | data.reactions.keys():
        failed = agent_failed(data.verdicts.get(run, ()), data.reactions.get(run, ()))
        if failed is not None and run in data.runs:
            found.append(_example(run, data.runs[run], failed))
    return found


def corrected_risks(
    risks: Sequence[Risk],
    data: RankingData,
    goals: SimilarGoals,
    judged: Sequence[JudgedRun],
    trial: CrossValidation,
) -> list[Risk]:
    """Correct risks of the built-in ranking by the verdicts on similar goals."""
    prior = RiskModel()
    logits = {run: prior.logit(_example(run, known, False)) for run, known in data.runs.items()}
    corrections = goals.corrections(findings(judged, logits))
    return [_corrected(risk, logits[risk.run], corrections.get(risk.run), trial) for risk in risks]


def _corrected(risk: Risk, logit: float, correction: Correction | None, trial: CrossValidation) -> Risk:
    value = chance_of(trial.slope * corrected_logit(logit, correction) + trial.offset)
    words = correction.words if correction is not None else ""
    if correction is None or not words:
        reasons = risk.reasons
    elif correction.shift >= STRONG_SHIFT:
        reasons = (words, *risk.reasons)
    else:
        reasons = (*risk.reasons[: MAX_REASONS - 1], words)
    return replace(risk, value=value, reasons=reasons[:MAX_REASONS])


def _example(run: str, known: RankedRun, failed: bool) -> JudgedRun:
    return JudgedRun(
        run=run,
        flags=known.flags,
        steps=known.steps,
        usual_steps=known.usual_steps,
        failed=failed,
        decided=known.decided,
        task=known.task,
    )
