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


def ended_label(outcome: str, ended_by: str) -> str:
    """Return the label of an outcome; an answer that a person gave is not called the agent's."""
    return "answered by hand" if ended_by and outcome == "answered" else outcome_label(outcome)


def state_label(row: LiveRow) -> str:
    """Return the label of a live run's state, or of its outcome once it has ended."""
    if row.needs and row.state is not RunState.TAKEN_OVER:
        return _STATES[RunState.WAITING]
    if row.state is RunState.ENDED:
        return ended_label(row.outcome, row.ended_by)
    return _STATES.get(row.state, row.state.value)
