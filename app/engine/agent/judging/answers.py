"""Verdicts read from a model's answer about a step or a run.  Every answer gives a verdict: undecided at worst."""

from __future__ import annotations

import math
import re
from typing import Any

from app.engine.agent.model_api import Reply
from app.engine.detectors.base import Known
from app.engine.detectors.vlm import RunOutcome, StepConsistency
from app.engine.judgement import ModelVerdict, Reason, Sense
from app.engine.redaction import redact_text

STEP_SCHEMA: dict[str, Any] = {
    "title": "step_check",
    "type": "object",
    "properties": {
        "expected": {"type": "string"},
        "shows": {"type": "string", "enum": ["yes", "no", "unclear"]},
        "evidence": {"type": "string"},
        "confidence": {"type": "number"},
    },
    "required": ["expected", "shows", "evidence", "confidence"],
    "additionalProperties": False,
}
OUTCOME_SCHEMA: dict[str, Any] = {
    "title": "run_check",
    "type": "object",
    "properties": {
        "missing": {"type": "string"},
        "met": {"type": "string", "enum": ["yes", "no", "unclear"]},
        "reason": {"type": "string", "enum": ["", "only claimed", "failed", "blocked", "impossible task"]},
        "step": {"type": "integer"},
        "evidence": {"type": "string"},
        "confidence": {"type": "number"},
    },
    "required": ["missing", "met", "reason", "step", "evidence", "confidence"],
    "additionalProperties": False,
}
UNSAID = 0.6
"""Confidence of a verdict that comes without one."""
MOST_EVIDENCE = 400

_YES = frozenset({"yes", "true", "met", "consistent", "success", "right", "ok"})
_NO = frozenset({"no", "false", "not met", "inconsistent", "failure", "failed", "wrong"})
_REASONS = (
    ("impossible", Reason.IMPOSSIBLE),
    ("infeasible", Reason.IMPOSSIBLE),
    ("claim", Reason.CLAIMED),
    ("block", Reason.BLOCKED),
    ("captcha", Reason.BLOCKED),
    ("fail", Reason.FAILED),
)


def step_verdict(reply: Reply, step: int, *, pictures: bool) -> ModelVerdict:
    """Return the verdict on a step."""
    data = reply.data or {}
    sense = _sense(data.get("shows"))
    return _verdict(
        StepConsistency,
        step,
        sense,
        data,
        pictures=pictures,
        reason=Reason.FAILED if sense is Sense.WRONG else Reason.NONE,
    )


def outcome_verdict(reply: Reply, last: int, *, pictures: bool) -> ModelVerdict:
    """Return the verdict on a run whose last step is ``last``."""
    data = reply.data or {}
    sense = _sense(data.get("met"))
    named = data.get("step")
    step = named if isinstance(named, int) and not isinstance(named, bool) and 0 <= named <= last else last
    reason = _reason(data.get("reason")) if sense is Sense.WRONG else Reason.NONE
    return _verdict(RunOutcome, step, sense, data, pictures=pictures, reason=reason)


def undecided(detector: type[Known], step: int, note: str) -> ModelVerdict:
    """Return an undecided verdict, for a cause outside of the run."""
    return ModelVerdict(
        detector=detector.name, step=step, sense=Sense.UNDECIDED, note=note, version=detector.version
    )


def _verdict(
    detector: type[Known], step: int, sense: Sense, data: dict[str, Any], *, pictures: bool, reason: Reason
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
        evidence=redact_text(evidence[:MOST_EVIDENCE]),
        pictures=pictures,
        version=detector.version,
    )


def _sense(said: object) -> Sense:
    if isinstance(said, bool):
        return Sense.RIGHT if said else Sense.WRONG
    word = str(said).strip().strip(".!").lower()
    return Sense.RIGHT if word in _YES else Sense.WRONG if word in _NO else Sense.UNDECIDED


def _reason(said: object) -> Reason:
    word = str(said).lower()
    return next((reason for part, reason in _REASONS if part in word), Reason.FAILED)


def _confidence(said: object) -> float:
    """Return a confidence from a share, a percentage, or a text with a number in it."""
    if isinstance(said, str):
        number = re.search(r"\d{1,3}(?:\.\d{1,6})?", said)
        said = float(number[0]) / (100 if "%" in said else 1) if number else None
    if isinstance(said, bool) or not isinstance(said, int | float) or not math.isfinite(said):
        return UNSAID
    value = said / 100 if 1 < said <= 100 else said
    return min(1.0, max(0.0, float(value)))
