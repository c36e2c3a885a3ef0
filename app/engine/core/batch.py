"""Batches: runs that are started together, share a budget, and are watched as one.  Pure data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.engine.core.cost import Cost, amount


class BatchState(StrEnum):
    """The state of a batch."""

    ACTIVE = "active"
    PAUSED = "paused"  # no task is started; runs that had begun are paused, too
    OUT_OF_BUDGET = "out of budget"  # no task is started until the budget is raised
    STOPPED = "stopped"  # by a person; its failed and unstarted tasks can be started again
    ENDED = "ended"  # every task has ended


class TaskState(StrEnum):
    """The state of a task of a batch, from its newest run."""

    WAITING = "not started"
    ACTIVE = "active"
    NEEDS_PERSON = "needs you"
    ANSWERED = "answered"
    FAILED = "failed"  # it ended without an answer
    STOPPED = "stopped"  # by a person, or with the batch


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTask:
    """A task of a batch.

    Attributes:
        number: from 1, in the order of the file.
        runs: ids of its runs, the newest last; none before it is started.
        why: the answer of the newest run, or the reason of its end; "" without one.
        outcome: of the newest run once it has ended, ``answered by hand`` where a person did the task.
    """

    number: int
    intent: str
    task_id: str = ""
    site: str = ""
    state: TaskState = TaskState.WAITING
    runs: tuple[str, ...] = ()
    why: str = ""
    outcome: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """A batch as it stands.

    Attributes:
        why: reason for its state, in a sentence; "" where the state says it.
        source: the task file, "" for none.
        policy, model, kb, graph, sites: of all its tasks; several are joined by commas. ``model`` is "" for the
            settings' model.
        at_once: its parallel runs at most; 0 for as many as the workspace allows.
        max_money, max_tokens: budget of the whole batch in US dollars and tokens; 0 for none.
        total: tasks. ``waiting``, ``active``, ``needy``, ``answered``, ``failed`` and ``stopped`` add up to it.
        cost, tokens: of all its runs, failed and repeated ones too; ``cost`` is ``None`` without a model.
        seconds_left: estimate of the time to its end, ``None`` where unknown.
        created_at, ended_at: Unix seconds, 0 for not yet.
    """

    id: str
    name: str
    state: BatchState = BatchState.ACTIVE
    why: str = ""
    author: str = ""
    source: str = ""
    policy: str = ""
    model: str = ""
    kb: str = ""
    graph: str = ""
    sites: str = ""
    at_once: int = 0
    max_money: float = 0.0
    max_tokens: int = 0
    total: int = 0
    waiting: int = 0
    active: int = 0
    needy: int = 0
    answered: int = 0
    failed: int = 0
    stopped: int = 0
    cost: Cost | None = None
    tokens: int = 0
    seconds_left: float | None = None
    created_at: float = 0.0
    ended_at: float = 0.0

    @property
    def ended(self) -> int:
        """Number of tasks that have ended."""
        return self.answered + self.failed + self.stopped

    @property
    def answered_share(self) -> float | None:
        """Share of the ended tasks that were answered, in [0, 1]; ``None`` before one has ended."""
        return self.answered / self.ended if self.ended else None

    @property
    def words(self) -> str:
        """The progress in words: ``37 of 812, 4 need you, 61 % answered, $12.40 of $50.00``."""
        parts = [f"{self.ended} of {self.total}"]
        if self.needy:
            parts.append(f"{self.needy} {'needs' if self.needy == 1 else 'need'} you")
        if self.answered_share is not None:
            parts.append(f"{self.answered_share:.0%} answered".replace("%", " %"))
        parts += [part for part in (self.money_words, self.token_words) if part]
        return ", ".join(parts)

    @property
    def money_words(self) -> str:
        """The cost with its budget: ``$12.40 of $50.00``; "" without either."""
        spent = self.cost.short if self.cost is not None else ""
        if not self.max_money:
            return spent
        return f"{spent or '$0.00'} of ${amount(self.max_money)}"

    @property
    def token_words(self) -> str:
        """The tokens with their budget: ``12,400 of 50,000 tokens``; "" without either."""
        if self.max_tokens:
            return f"{self.tokens:,} of {self.max_tokens:,} tokens"
        return f"{self.tokens:,} tokens" if self.tokens else ""
