"""The detectors that ask a model, by name, and the flags that its findings make.  Asking is ``agent.judging``'s work.

A model is asked two things of a run: whether each page shows what the action before it was to bring about, and whether
the goal was met at the end or only claimed to be.  That a task can't be done is kept apart from a run that failed:
it says something about the task and nothing about the agent.
"""

from __future__ import annotations

from app.engine.detectors.base import Known, quoted
from app.engine.judgement import Flag, ModelVerdict, Opinion, Reason, Sense, Severity


class RunOutcome(Known):
    """The goal was not met, whatever the agent says."""

    name = "run-outcome"
    severity = Severity.ERROR
    summary = "A model that looked at the run finds the goal not met, or only claimed to be."
    explains = "ending"


class ImpossibleTask(Known):
    """The goal can't be met on this site as it is."""

    name = "impossible-task"
    severity = Severity.HINT
    summary = "A model that looked at the run finds that the task can't be done on this site."
    explains = "nothing"


class StepConsistency(Known):
    """An action did not bring about what it was meant to."""

    name = "step-consistency"
    severity = Severity.WARNING
    summary = "A model that looked at the page after an action does not find there what the action was for."


MODEL_DETECTORS: tuple[type[Known], ...] = (RunOutcome, ImpossibleTask, StepConsistency)
"""The most telling first."""

LEAST_CONFIDENCE = 0.5
"""Below this a verdict counts as undecided."""

_ENDINGS = {
    Reason.CLAIMED: "The goal was claimed and not met",
    Reason.BLOCKED: "The site stood in the way of the goal",
    Reason.IMPOSSIBLE: "The task can't be done here",
}


def flags_of(opinion: Opinion) -> list[Flag]:
    """What a model's opinion of a run gives reason to flag: what it found wrong, and nothing it was undecided about."""
    flags: list[Flag] = []
    for verdict in opinion.steps:
        if is_decided(verdict) and verdict.sense is Sense.WRONG:
            flags.append(
                _flag(opinion, StepConsistency, verdict, "The page does not show what the action was for")
            )
    ending = opinion.outcome
    if ending is not None and is_decided(ending) and ending.sense is Sense.WRONG:
        detector = ImpossibleTask if ending.reason is Reason.IMPOSSIBLE else RunOutcome
        flags.append(_flag(opinion, detector, ending, _ENDINGS.get(ending.reason, "The goal was not met")))
    return flags


def decided(opinion: Opinion) -> frozenset[str]:
    """Names of the detectors whose question the opinion answers: where one of them did not call, it was content.

    What an older version of a question was answered does not count.
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
    return verdict.sense is not Sense.UNDECIDED and verdict.confidence >= LEAST_CONFIDENCE


def _flag(opinion: Opinion, detector: type[Known], verdict: ModelVerdict, words: str) -> Flag:
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
