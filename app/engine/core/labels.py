"""One label for each state and outcome of a run, in the window as in the terminal."""

from __future__ import annotations

from app.engine.core.supervision import LiveRow, RunState

_STATES = {
    RunState.WAITING: "needs you",
    RunState.TAKEN_OVER: "you have control",
    RunState.RECOVERING: "recovering",
    RunState.INTERRUPTED: "interrupted",
}
_OUTCOMES = {
    "": "ended",
    "infeasible": "gave up",
    "ended_by_environment": "ended by the site",
    "step_limit": "out of steps",
    "left_allowed_sites": "left the site",
    "needs_person": "nobody to ask",
}


def outcome_label(outcome: str) -> str:
    """Return the label of an outcome."""
    return _OUTCOMES.get(outcome) or outcome.replace("_", " ")


def state_label(row: LiveRow) -> str:
    """Return the label of a live run's state, or of its outcome once it has ended."""
    if row.needs and row.state is not RunState.TAKEN_OVER:
        return _STATES[RunState.WAITING]
    if row.state is RunState.ENDED:
        return outcome_label(row.outcome)
    return _STATES.get(row.state, row.state.value)
