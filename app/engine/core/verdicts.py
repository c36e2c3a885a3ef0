"""Judgements of a run by detectors, models and people: flags, opinions, risk, verdicts.  Pure data."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """How certain a single flag makes it that the run failed."""

    HINT = "hint"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """A detector's finding at a step; ``confidence`` in [0, 1], ``message`` in plain words."""

    run: str
    detector: str
    step: int
    severity: Severity
    confidence: float
    message: str
    evidence: dict[str, str | int | float] = field(default_factory=dict[str, str | int | float])
    version: int = 1


class Judgement(StrEnum):
    """A model's answer to a question about a run."""

    RIGHT = "right"
    WRONG = "wrong"
    UNDECIDED = "undecided"  # it can't tell, or its answer can't be parsed


class GoalFailure(StrEnum):
    """Why a goal was not met; an impossible task is no failure of the agent."""

    NONE = ""
    FAILED = "failed"
    CLAIMED = "only claimed"
    BLOCKED = "blocked"  # a captcha, a login wall, a broken site
    IMPOSSIBLE = "impossible task"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVerdict:
    """A model's answer to one detector's question at a step.

    ``confidence`` is in [0, 1]; ``evidence`` are the words or things on the page it relies on; ``pictures`` whether
    it saw any; ``note`` says why it is undecided if the cause is outside the run; ``live`` whether it was asked while
    the run went on.
    """

    detector: str
    step: int
    sense: Judgement
    reason: GoalFailure = GoalFailure.NONE
    confidence: float = 0.0
    evidence: str = ""
    pictures: bool = False
    note: str = ""
    version: int = 1
    live: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """Everything one model said about a run at one time (Unix seconds)."""

    run: str
    model: str = ""
    at: float = 0.0
    outcome: ModelVerdict | None = None
    steps: tuple[ModelVerdict, ...] = ()
    calls: tuple[str, ...] = ()
    """Content hashes of the exchanges with the model."""
    asked: int = 0
    """Questions asked while the run went on, answered or not."""

    @property
    def is_partial(self) -> bool:
        """Whether it was given while the run went on, without a word about how the run ended."""
        is_open = self.outcome is None or bool(self.outcome.note)
        return is_open and any(verdict.live for verdict in self.steps)

    @property
    def silence(self) -> str:
        """Why nothing was decided, if the cause is outside the run; else ""."""
        verdicts = [*([self.outcome] if self.outcome is not None else []), *self.steps]
        notes = [verdict.note for verdict in verdicts]
        return notes[0] if notes and all(notes) else ""


class Label(StrEnum):
    """An annotator's labels for what went wrong (DESIGN part 3).  The order is that of the digit keys."""

    WRONG_ELEMENT = "wrong element"
    WRONG_PAGE = "wrong page"
    MISSED_CONSTRAINT = "missed constraint"
    WRONG_ANSWER = "wrong answer"
    LOOP = "loop"
    PREMATURE_STOP = "premature stop"
    GAVE_UP = "gave up"
    BLOCKED = "blocked by the page"
    NOT_A_FAILURE = "not a failure"
    COUNTING = "counting"
    CALCULATION = "calculation"
    ENVIRONMENT_FAULT = "environment fault"
    HARNESS_FAULT = "harness fault"
    EVALUATOR_WRONG = "evaluator is wrong"
    TASK_AMBIGUOUS = "task ambiguous"


AGENT_DID_NOT_FAIL = frozenset({Label.NOT_A_FAILURE, Label.EVALUATOR_WRONG})
"""Labels that count as "no failure" when detectors are calibrated; an ambiguous task counts as neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A person's judgement of a run, or of one step or flag in it."""

    id: str
    run: str
    label: Label
    step: int | None = None
    detector: str = ""
    note: str = ""
    author: str = ""
    at: float = 0.0
    guideline: str = "1"
    lead_seconds: float = 0.0
    origin: str = ""
    """The file it was imported from; "" for one given here."""
    settles: bool = False
    """Whether it settles a disagreement of annotators; it then counts before theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """The probability that a run failed, in [0, 1], and the step to look at first."""

    run: str
    value: float
    suspect_step: int
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How often a detector fired, and how often correctly, by people's verdicts.  Rates are ``None`` without data."""

    detector: str
    site: str
    version: int
    fired: int
    judged: int
    right: int
    precision: float | None
    recall: float | None
    reacted: int = 0
    """Live runs on whose flag an operator reacted, ..."""
    reacted_right: int = 0
    """... and those of them whose newest reaction confirms the flag."""
