"""The decisions that fit each need of a run.  Pure data."""

from __future__ import annotations

from app.engine.core.supervision import DecisionKind, Need

_ALLOWED_DECISIONS = {
    Need.FLAG: frozenset({DecisionKind.APPROVE, DecisionKind.DENY, DecisionKind.ANSWER, DecisionKind.RETRY}),
    Need.APPROVAL: frozenset({DecisionKind.APPROVE, DecisionKind.DENY, DecisionKind.EDIT}),
    Need.QUESTION: frozenset({DecisionKind.APPROVE, DecisionKind.DENY, DecisionKind.ANSWER}),
    Need.WALL: frozenset(
        {
            DecisionKind.APPROVE,
            DecisionKind.DENY,
            DecisionKind.ANSWER,
            DecisionKind.RETRY,
            DecisionKind.NO_WALL,
        }
    ),
    Need.TROUBLE: frozenset(
        {DecisionKind.APPROVE, DecisionKind.DENY, DecisionKind.ANSWER, DecisionKind.RETRY}
    ),
}
"""The decisions that fit each need."""


def decision_problem(need: Need, verb: DecisionKind) -> str:
    """Return why a decision does not fit this need; "" where it does."""
    if verb in _ALLOWED_DECISIONS[need]:
        return ""
    return f"{verb.value} does not fit this {need.value}: give {', '.join(allowed_decisions(need))}"


def allowed_decisions(need: Need) -> list[str]:
    """Return the decisions that fit a need, in words."""
    return [one.value for one in DecisionKind if one in _ALLOWED_DECISIONS[need]]
