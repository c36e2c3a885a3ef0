"""Rules of batches: a task's state, which task is next, the budget, the state that follows.  Pure functions.

States of a task, by its newest run:

- no run, or asked for again since: not started;  ended by a person: stopped;  ended with an answer, by hand or by its
  environment: answered;  ended otherwise: failed;
- a person is asked, or it waits for one: needs you;
- broken off in this process: failed;  left by a process that died: active, as it can be resumed.

Order of starting: tasks that a person asked for again first, then those never started, each in the order of the file.

Budget: reached once the runs together have cost as much, or a part of their cost is not known.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.engine.core.batch import BatchState, TaskState
from app.engine.core.cost import Cost, amount
from app.engine.core.supervision import LiveRow, RunState
from app.engine.core.trajectory import Outcome
from app.engine.store.supervision.batch_store import BatchRun, BatchStatus
from app.errors import Conflict

ANSWERED = frozenset({Outcome.ANSWERED.value, Outcome.DONE_BY_HAND.value, Outcome.ENDED_BY_ENVIRONMENT.value})
"""Outcomes of a run whose task counts as answered."""
FINAL = frozenset({TaskState.ANSWERED, TaskState.FAILED, TaskState.STOPPED})
UNFINISHED = frozenset({TaskState.ACTIVE, TaskState.NEEDS_PERSON})

_NO_ROOM = {
    "pause": {BatchState.STOPPED, BatchState.ENDED},
    "resume": {BatchState.ENDED},
    "stop": {BatchState.ENDED},
    "dismiss": {BatchState.ACTIVE, BatchState.PAUSED, BatchState.OUT_OF_BUDGET},
}
_REFUSALS = {
    ("pause", BatchState.STOPPED): "the batch is stopped; it starts nothing",
    ("pause", BatchState.ENDED): "the batch has ended",
    ("resume", BatchState.ENDED): "the batch has ended; retry its failed tasks, or start another batch",
    ("stop", BatchState.ENDED): "the batch has ended",
}


def check_command(command: str, state: BatchState) -> None:
    """Check that a batch in this state takes a command.

    Raises:
        Conflict: it does not; the message says why.
    """
    if state in _NO_ROOM.get(command, ()):
        raise Conflict(_REFUSALS.get((command, state), f"the batch is {state.value}; stop it first"))


def ended_state(outcome: str) -> TaskState:
    """Return the state of a task whose run has ended."""
    if outcome in ANSWERED:
        return TaskState.ANSWERED
    return TaskState.STOPPED if outcome == Outcome.STOPPED else TaskState.FAILED


def outcome_words(run: BatchRun) -> str:
    """Return the outcome of an ended run; what a person answered or finished is counted as answered, and called so."""
    by_hand = run.outcome == Outcome.DONE_BY_HAND or (run.outcome == Outcome.ANSWERED and run.ended_by)
    return "answered by hand" if by_hand else run.outcome


def run_state(row: LiveRow, *, broke_off_here: bool) -> TaskState:
    """Return the state of a task by the row of its newest run."""
    if row.state is RunState.ENDED:
        return ended_state(row.outcome)
    if row.state is RunState.INTERRUPTED and broke_off_here:
        return TaskState.FAILED
    if row.needs or row.state is RunState.WAITING:
        return TaskState.NEEDS_PERSON
    return TaskState.ACTIVE


def task_state(runs: Sequence[BatchRun], retries: int) -> TaskState:
    """Return the state of a task by its runs and how often it was asked for again; lost runs don't count."""
    there = [run for run in runs if not run.lost]
    return there[-1].state if len(there) > retries else TaskState.WAITING


def next_task(states: Mapping[int, TaskState], retries: Mapping[int, int], *, only_retried: bool) -> int:
    """Return the number of the task to start next, 0 for none."""
    waiting = [number for number, state in states.items() if state is TaskState.WAITING]
    again = [number for number in waiting if retries.get(number)]
    first = again if again or only_retried else waiting
    return min(first, default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The cost of all runs of a batch together: US dollars that are known, whether all are, tokens in and out."""

    money: float = 0.0
    is_known: bool = True
    tokens: int = 0


def spending_of(runs: Iterable[BatchRun]) -> Spending:
    """Return the cost of runs together."""
    money, is_known, tokens = 0.0, True, 0
    for run in runs:
        tokens += run.tokens
        if run.cost is not None:
            money += run.cost.known
            is_known = is_known and not run.cost.unpriced
    return Spending(money=money, is_known=is_known, tokens=tokens)


def cost_of_runs(runs: Iterable[BatchRun]) -> Cost | None:
    """Return the cost of runs together, ``None`` where none had a model."""
    costs = [run.cost for run in runs if run.cost is not None]
    return sum(costs, Cost()) if costs else None


def budget_problem(spent: Spending, max_money: float, max_tokens: int) -> str:
    """Return why a budget leaves nothing, in a sentence; "" where it leaves something."""
    if max_tokens and spent.tokens >= max_tokens:
        return f"{spent.tokens:,} of {max_tokens:,} tokens are used; raise the budget to go on"
    if max_money and not spent.is_known:
        return "the price of a model that was used is not known; set it, or take the budget of money away"
    if max_money and spent.money >= max_money:
        return f"${amount(spent.money)} of ${amount(max_money)} is used; raise the budget to go on"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Remainder of a budget, in tokens and US dollars; ``None`` for no limit."""

    tokens: int | None = None
    money: float | None = None

    def within(self, other: Left) -> Left:
        """Return the smaller of both limits."""
        tokens = [one for one in (self.tokens, other.tokens) if one is not None]
        money = [one for one in (self.money, other.money) if one is not None]
        return Left(tokens=min(tokens, default=None), money=min(money, default=None))


def left_of(spent: Spending, max_money: float, max_tokens: int) -> Left:
    """Return what a budget leaves; 0 is no limit."""
    return Left(
        tokens=max(0, max_tokens - spent.tokens) if max_tokens else None,
        money=max(0.0, max_money - spent.money) if max_money else None,
    )


def is_refused_by_batch(limit: str, own: Left, shared: Left) -> bool:
    """Whether a request that this limit refused was refused because of the batch's budget, not of the run's own."""
    if limit == "tokens":
        return shared.tokens is not None and (own.tokens is None or shared.tokens < own.tokens)
    return limit == "money" and shared.money is not None and (own.money is None or shared.money < own.money)


def is_raised(limit: str, before: BatchStatus, now: BatchStatus) -> bool:
    """Whether the budget of this limit was raised, or taken away."""
    old, new = (before.max_tokens, now.max_tokens) if limit == "tokens" else (before.max_money, now.max_money)
    return old != new and (not new or 0 < old < new)


def state_after(status: BatchStatus, states: Iterable[TaskState], problem: str) -> tuple[BatchState, str]:
    """Return the state that follows, with its reason, once a task has changed or something was spent.

    A stopped batch stays stopped.  Without an unfinished task a batch has ended, also while it is paused; one that only
    starts again what was asked for is stopped again.
    """
    there = set(states)
    if status.state in (BatchState.STOPPED, BatchState.ENDED):
        return status.state, status.why
    if not there & {TaskState.WAITING, *UNFINISHED}:
        return BatchState.ENDED, ""
    if status.state is BatchState.ACTIVE and problem:
        return BatchState.OUT_OF_BUDGET, problem
    return status.state, status.why


def seconds_left(runs: Iterable[BatchRun], tasks_left: int, at_once: int) -> float | None:
    """Return an estimate of the seconds until all tasks have ended, by the median time of runs that have."""
    times = [run.seconds for run in runs if run.state in FINAL and run.seconds > 0]
    if not times or not tasks_left:
        return None
    return statistics.median(times) * tasks_left / max(1, min(at_once, tasks_left))
