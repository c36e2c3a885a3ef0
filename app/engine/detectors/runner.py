"""Run every rule over a run: a stored one at once, a live one step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.engine.core.trajectory import BY_PERSON, ErrorClass, Outcome, Run, Step
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.base import Detector, DetectorInfo, RunContext, RunEnding
from app.engine.detectors.page_texts import LoadBlob, PageTexts
from app.engine.detectors.rules.claims import AnswerNotOnPages, UnprovenClaim, UntouchedConstraint
from app.engine.detectors.rules.endings import Crash, GaveUp, LeftSites, NoAnswer, StepLimit
from app.engine.detectors.rules.errors import CoveredElement, HardErrors, UnreadableOutput
from app.engine.detectors.rules.length import TooLong
from app.engine.detectors.rules.loops import (
    ActionCycle,
    PageCycle,
    RepeatedAction,
    StateActionLoop,
    UrlRevisits,
)
from app.engine.detectors.rules.pages import ErrorPage, LoginWall, NoEffect
from app.engine.detectors.rules.targets import OtherTarget, TargetNotOnPage
from app.engine.detectors.vlm import MODEL_DETECTORS

RULES: tuple[type[Detector], ...] = (
    LeftSites,
    Crash,
    TargetNotOnPage,
    OtherTarget,
    StateActionLoop,
    RepeatedAction,
    ActionCycle,
    PageCycle,
    CoveredElement,
    LoginWall,
    ErrorPage,
    UnreadableOutput,
    GaveUp,
    StepLimit,
    NoAnswer,
    UnprovenClaim,
    UntouchedConstraint,
    AnswerNotOnPages,
    TooLong,
    HardErrors,
    UrlRevisits,
    NoEffect,
)
"""Every rule, the most significant first."""

ALL_DETECTORS: tuple[type[DetectorInfo], ...] = (*MODEL_DETECTORS, *RULES)
"""Every detector, those that ask a model too: decides ``flag_rank`` where severity and confidence are equal."""

BY_NAME: dict[str, type[DetectorInfo]] = {detector.name: detector for detector in ALL_DETECTORS}

_RANK = {detector.name: rank for rank, detector in enumerate(ALL_DETECTORS)}
_NO_ENDING = frozenset(
    (
        Outcome.ENDED_BY_ENVIRONMENT,
        Outcome.RUNNING,
        Outcome.INTERRUPTED,
        Outcome.UNKNOWN,
        Outcome.DONE_BY_HAND,
    )
)
_WEIGHT = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.HINT: 2}


class RuleRunner:
    """All rules over one run in progress; every call returns the new flags."""

    def __init__(self, context: RunContext, detectors: Sequence[type[Detector]] = RULES) -> None:
        self._detectors = [detector(context) for detector in detectors]
        self._pages = context.pages
        self._in_hand = False

    def see(self, step: Step, blobs: Mapping[str, bytes] | None = None) -> list[Flag]:
        """Check the next step, complete with its error; of a person's steps only the page where they began.

        ``blobs`` are the contents of a live step, which are not stored yet.
        """
        if blobs is not None:
            self._pages.add(blobs, step.tree)
        taken, self._in_hand = step.by == BY_PERSON and not self._in_hand, step.by == BY_PERSON
        if taken:
            page = without_action(step)
            return [flag for detector in self._detectors for flag in detector.see_handover(page)]
        if self._in_hand:
            return []
        return [flag for detector in self._detectors for flag in detector.see(step)]

    def see_last(self, final: Step) -> list[Flag]:
        """Check the page after the last action; an action requested there never ran and is removed first."""
        page = without_action(final)
        return [flag for detector in self._detectors for flag in detector.see_last(page)]

    def end(self, ending: RunEnding) -> list[Flag]:
        """Check the ending; not to be called when a score ended the run."""
        return [flag for detector in self._detectors for flag in detector.end(ending)]


def context_of(
    run: Run,
    usual_steps: float | None,
    allowed_hosts: frozenset[str] | None = None,
    load: LoadBlob | None = None,
) -> RunContext:
    """Return what a live system would have known of this run at its start, without score and outcome."""
    return RunContext(
        run=run.id,
        site=run.site,
        intent=run.intent,
        start_url=run.start_url,
        step_limit=run.step_limit,
        usual_steps=usual_steps,
        allowed_hosts=allowed_hosts,
        pages=PageTexts(load),
    )


def ending_of(run: Run) -> RunEnding | None:
    """Return how the run ended, as a live system would know it; ``None`` where unknown or a score would show.

    A run that its environment scored and stopped, that a person interrupted or finished, or that is in progress has no
    ending of its own: detectors then have only its steps, exactly as for a run in progress.
    """
    if run.ended_by or run.outcome in _NO_ENDING:
        return None
    infeasible = (run.answer or "") if run.outcome is Outcome.INFEASIBLE else None
    return RunEnding(
        crash=(run.error or "unknown error") if run.outcome is Outcome.CRASHED else "",
        at_step_limit=run.outcome is Outcome.STEP_LIMIT,
        answer=None if infeasible is not None else run.answer,
        infeasible=infeasible,
        left_sites=run.outcome is Outcome.LEFT_ALLOWED_SITES,
    )


def detect_run(
    run: Run, steps: Sequence[Step], usual_steps: float | None, load: LoadBlob | None = None
) -> list[Flag]:
    """Return all flags of a stored run, by step and then the most significant first.

    ``load`` reads the content of a page by its hash; without it, detectors that look at pages stay silent.
    """
    watch = RuleRunner(context_of(run, usual_steps, load=load))
    flags = [flag for step in steps for flag in watch.see(step)]
    if run.final is not None:
        flags += watch.see_last(run.final)
    ending = ending_of(run)
    if ending is not None:
        flags += watch.end(ending)
    return in_order(flags)


def in_order(flags: Sequence[Flag]) -> list[Flag]:
    """Return flags by step and then the most significant first."""
    return sorted(flags, key=lambda flag: (flag.step, flag_rank(flag)))


def flag_rank(flag: Flag) -> tuple[int, float, int, str]:
    """Sort key: severity, confidence, then the order of ``ALL_DETECTORS``; the most significant is the smallest."""
    return (_WEIGHT[flag.severity], -flag.confidence, _RANK.get(flag.detector, len(_RANK)), flag.message)


def evidence_rank(flag: Flag) -> int:
    """Return how well a flag points at the step that went wrong: 0 is best, 3 means not at all.

    A hindrance comes first, then how the agent ended the run, then a hindrance that it may have overcome.
    """
    explains = BY_NAME[flag.detector].explains if flag.detector in BY_NAME else "nothing"
    if explains == "hindrance":
        return 0 if flag.severity is not Severity.HINT else 2
    return 1 if explains == "ending" else 3


def without_action(final: Step) -> Step:
    """Return only the page of a step, without reasoning, action and result."""
    return replace(
        final,
        reason="",
        raw_output="",
        action=None,
        target=None,
        executed=False,
        error="",
        error_class=ErrorClass.NONE,
        summary="",
        env_seconds=0.0,
        agent_seconds=0.0,
    )
