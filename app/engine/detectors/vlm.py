"""Detectors that ask a model, and the flags from its opinions. ``agent.judging`` does the asking.

A model is asked two questions about a run: whether each page shows the intended result of the action before it, and
whether the goal was met at the end or only claimed to be; after the run (``agent.judging.judge``) or while it goes on
(``agent.judging.live_judge``). An impossible task is kept apart from a failed run: it says
something about the task and nothing about the agent.
"""

from __future__ import annotations

from app.engine.core.text import quoted
from app.engine.core.verdicts import Flag, GoalFailure, Judgement, ModelVerdict, Opinion, Severity
from app.engine.detectors.base import DetectorInfo, Prior


class RunOutcome(DetectorInfo):
    name = "run-outcome"
    severity = Severity.ERROR
    summary = "A model that looked at the run finds the goal not met, or only claimed to be."
    prior = Prior(1.8)
    explains = "ending"
    asked_at_end = True


class ImpossibleTask(DetectorInfo):
    name = "impossible-task"
    severity = Severity.HINT
    summary = "A model that looked at the run finds that the task can't be done on this site."
    prior = Prior(0.3)
    explains = "nothing"
    asked_at_end = True


class StepConsistency(DetectorInfo):
    name = "step-consistency"
    severity = Severity.WARNING
    summary = "A model that looked at the page after an action does not find its intended result there."
    prior = Prior(0.3, often=0.5, at_end=0.4)


MODEL_DETECTORS: tuple[type[DetectorInfo], ...] = (RunOutcome, ImpossibleTask, StepConsistency)
"""The most significant first."""

LEAST_CONFIDENCE = 0.5
"""Below this a verdict counts as undecided."""

_ENDINGS = {
    GoalFailure.CLAIMED: "The goal was claimed and not met",
    GoalFailure.BLOCKED: "The site prevented the goal",
    GoalFailure.IMPOSSIBLE: "The task can't be done here",
}


def flags_of(opinion: Opinion) -> list[Flag]:
    """Return the flags of a model's opinion: what it found wrong, and nothing it was undecided about."""
    flags: list[Flag] = []
    for verdict in opinion.steps:
        if is_decided(verdict) and verdict.sense is Judgement.WRONG:
            flags.append(
                _flag(
                    opinion, StepConsistency, verdict, "The page does not show the action's intended result"
                )
            )
    ending = opinion.outcome
    if ending is not None and is_decided(ending) and ending.sense is Judgement.WRONG:
        detector = ImpossibleTask if ending.reason is GoalFailure.IMPOSSIBLE else RunOutcome
        flags.append(_flag(opinion, detector, ending, _ENDINGS.get(ending.reason, "The goal was not met")))
    return flags


def decided(opinion: Opinion) -> frozenset[str]:
    """Return the names of the detectors whose question was answered: one that did not fire was satisfied.

    Answers to an older version of a question don't count.
    """
    names: set[str] = set()
    ending = opinion.outcome
    if ending is not None and is_decided(ending) and ending.version == RunOutcome.version:
        names |= {RunOutcome.name, ImpossibleTask.name}
    if any(is_decided(verdict) and verdict.version == StepConsistency.version for verdict in opinion.steps):
        names.add(StepConsistency.name)
    return frozenset(names)


def is_decided(verdict: ModelVerdict) -> bool:
    """Whether a model made up its mind."""
    return verdict.sense is not Judgement.UNDECIDED and verdict.confidence >= LEAST_CONFIDENCE


def is_settled(verdict: ModelVerdict) -> bool:
    """Whether a verdict given while the run went on needs no second question after it."""
    version = StepConsistency.version if verdict.detector == StepConsistency.name else RunOutcome.version
    return verdict.live and is_decided(verdict) and verdict.version == version


def _flag(opinion: Opinion, detector: type[DetectorInfo], verdict: ModelVerdict, words: str) -> Flag:
    return Flag(
        run=opinion.run,
        detector=detector.name,
        step=verdict.step,
        severity=detector.severity,
        confidence=verdict.confidence,
        message=f"{words}: {quoted(verdict.evidence, 200)}" if verdict.evidence else words,
        evidence={
            "reason": verdict.reason.value,
            "model": opinion.model,
            "pictures": int(verdict.pictures),
        },
        version=verdict.version,
    )
