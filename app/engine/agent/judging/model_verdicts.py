"""Verdicts read from a model's answer about a step or a run.  Every answer gives a verdict: undecided at worst."""

from __future__ import annotations

import math
import re
from typing import Any

from app.engine.core.model_api import INTEGER, NUMBER, TEXT, ModelReply, choice_schema, object_schema
from app.engine.core.redaction import redact_text
from app.engine.core.verdicts import GoalFailure, Judgement, ModelVerdict
from app.engine.detectors.base import DetectorInfo
from app.engine.detectors.vlm import RunOutcome, StepConsistency

_VERDICTS = choice_schema(("yes", "no", "unclear"))
STEP_SCHEMA = object_schema("step_check", expected=TEXT, shows=_VERDICTS, evidence=TEXT, confidence=NUMBER)
OUTCOME_SCHEMA = object_schema(
    "run_check",
    missing=TEXT,
    met=_VERDICTS,
    reason=choice_schema(("", "only claimed", "failed", "blocked", "impossible task")),
    step=INTEGER,
    evidence=TEXT,
    confidence=NUMBER,
)
DEFAULT_CONFIDENCE = 0.6
"""Confidence of a verdict that comes without one."""
MAX_EVIDENCE = 400

_YES = frozenset({"yes", "true", "met", "consistent", "success", "right", "ok"})
_NO = frozenset({"no", "false", "not met", "inconsistent", "failure", "failed", "wrong"})
_REASONS = (
    ("impossible", GoalFailure.IMPOSSIBLE),
    ("infeasible", GoalFailure.IMPOSSIBLE),
    ("claim", GoalFailure.CLAIMED),
    ("block", GoalFailure.BLOCKED),
    ("captcha", GoalFailure.BLOCKED),
    ("fail", GoalFailure.FAILED),
)


def step_verdict(reply: ModelReply, step: int, *, pictures: bool) -> ModelVerdict:
    """Return the verdict on a step."""
    data = reply.data or {}
    sense = _sense(data.get("shows"))
    return _verdict(
        StepConsistency,
        step,
        sense,
        data,
        pictures=pictures,
        reason=GoalFailure.FAILED if sense is Judgement.WRONG else GoalFailure.NONE,
    )


def outcome_verdict(reply: ModelReply, last: int, *, pictures: bool) -> ModelVerdict:
    """Return the verdict on a run whose last step is ``last``."""
    data = reply.data or {}
    sense = _sense(data.get("met"))
    named = data.get("step")
    step = named if isinstance(named, int) and not isinstance(named, bool) and 0 <= named <= last else last
    reason = _reason(data.get("reason")) if sense is Judgement.WRONG else GoalFailure.NONE
    return _verdict(RunOutcome, step, sense, data, pictures=pictures, reason=reason)


def undecided(detector: type[DetectorInfo], step: int, note: str) -> ModelVerdict:
    """Return an undecided verdict, for a cause outside of the run."""
    return ModelVerdict(
        detector=detector.name, step=step, sense=Judgement.UNDECIDED, note=note, version=detector.version
    )


def _verdict(
    detector: type[DetectorInfo],
    step: int,
    sense: Judgement,
    data: dict[str, Any],
    *,
    pictures: bool,
    reason: GoalFailure,
) -> ModelVerdict:
    if not data:
        return undecided(detector, step, "the model's answer can't be read")
    evidence = " ".join(str(data.get("evidence") or "").split())
    return ModelVerdict(
        detector=detector.name,
        step=step,
        sense=sense,
        reason=reason,
        confidence=_confidence(data.get("confidence")),
        evidence=redact_text(evidence[:MAX_EVIDENCE]),
        pictures=pictures,
        version=detector.version,
    )


def _sense(said: object) -> Judgement:
    if isinstance(said, bool):
        return Judgement.RIGHT if said else Judgement.WRONG
    word = str(said).strip().strip(".!").lower()
    return Judgement.RIGHT if word in _YES else Judgement.WRONG if word in _NO else Judgement.UNDECIDED


def _reason(said: object) -> GoalFailure:
    word = str(said).lower()
    return next((reason for part, reason in _REASONS if part in word), GoalFailure.FAILED)


def _confidence(said: object) -> float:
    """Return a confidence from a share, a percentage, or a text with a number in it."""
    if isinstance(said, str):
        number = re.search(r"\d{1,3}(?:\.\d{1,6})?", said)
        said = float(number[0]) / (100 if "%" in said else 1) if number else None
    if isinstance(said, bool) or not isinstance(said, int | float) or not math.isfinite(said):
        return DEFAULT_CONFIDENCE
    value = said / 100 if 1 < said <= 100 else said
    return min(1.0, max(0.0, float(value)))
