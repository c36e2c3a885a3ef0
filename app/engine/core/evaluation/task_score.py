"""The verdict on one run.  Pure data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.engine.core.evaluation.suite import Dialect


class ScoreVerdict(StrEnum):
    """The verdict of an evaluator."""

    PASS = "pass"
    FAIL = "fail"
    UNDECIDED = "undecided"  # what it would need is not there; never counted as one of the others


@dataclass(frozen=True, slots=True, kw_only=True)
class SubCheck:
    """One comparison.

    Attributes:
        evaluator: its kind (``Evaluator``).
        expected: what was required and by which rule, in words.
        found: what was there instead, shortened; "" for nothing.
        score: in [0, 1]; ``None`` where it could not be decided.
        why: why it failed or is undecided; "" where it holds.
    """

    evaluator: str
    expected: str
    found: str = ""
    score: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReply:
    """A judge model's answer to one question: the raw reply, and the hash of the prompt it answers."""

    model: str
    prompt_sha256: str
    reply: str
    decided: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskScore:
    """The verdict on a run with its sub-checks.

    Attributes:
        score: in [0, 1], partial credit kept; ``None`` if undecided. Only 1 passes.
        why: one sentence.
        suite_sha256: of the suite it was scored by.
        evaluator: name and version of the rules (``sitelore 1``, or those that WebArena-Verified reports).
    """

    verdict: ScoreVerdict
    score: float | None
    why: str
    dialect: Dialect
    checks: tuple[SubCheck, ...] = ()
    judge: tuple[JudgeReply, ...] = ()
    suite_sha256: str = ""
    evaluator: str = ""
