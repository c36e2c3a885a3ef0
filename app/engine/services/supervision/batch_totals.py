"""Sums over the runs of a batch, kept as they change: a batch of thousands is not added up with every row."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from app.engine.core.cost import Cost
from app.engine.services.supervision import batch_rules as rules
from app.engine.services.supervision.batch_rules import Spending
from app.engine.store.supervision.batch_store import BatchRun

NEWEST = 200
"""Ended runs by which the time of further ones is estimated."""


class BatchTotals:
    """The cost of all runs of a batch.

    Ended runs are added up once; those that have not ended, and hence still cost, are few and are added each time.

    Attributes:
        newest: the runs that ended last.
    """

    def __init__(self, runs: Iterable[BatchRun]) -> None:
        self._open: dict[str, BatchRun] = {}
        self._closed: dict[str, BatchRun] = {}
        self.newest = deque[BatchRun](maxlen=NEWEST)
        for run in runs:
            self._sort(run)
        self._add_up()

    @property
    def open_runs(self) -> list[BatchRun]:
        """Runs that have not ended, in the order of their start."""
        return list(self._open.values())

    @property
    def spending(self) -> Spending:
        """The cost of all runs together."""
        now, ended = rules.spending_of(self._open.values()), self._spent
        return Spending(
            money=ended.money + now.money,
            is_known=ended.is_known and now.is_known,
            tokens=ended.tokens + now.tokens,
        )

    @property
    def cost(self) -> Cost | None:
        """The cost of all runs together, ``None`` where none had a model."""
        now, ended = rules.cost_of_runs(self._open.values()), self._cost
        return now if ended is None else ended if now is None else ended + now

    def put(self, before: BatchRun | None, run: BatchRun) -> None:
        """Take a run as it is now; ``before`` is as it was, ``None`` for a new one."""
        had_ended = before is not None and before.run in self._closed
        self._sort(run)
        if had_ended:  # it is resumed, or its last cost came late
            self._add_up()
        elif run.run in self._closed:
            one = rules.spending_of([run])
            ended = self._spent
            self._spent = Spending(
                money=ended.money + one.money,
                is_known=ended.is_known and one.is_known,
                tokens=ended.tokens + one.tokens,
            )
            cost = run.cost
            self._cost = cost if self._cost is None else self._cost if cost is None else self._cost + cost

    def _sort(self, run: BatchRun) -> None:
        if run.state in rules.FINAL:
            self._open.pop(run.run, None)
            if run.run not in self._closed:
                self.newest.append(run)
            self._closed[run.run] = run
        else:
            self._closed.pop(run.run, None)
            self._open[run.run] = run

    def _add_up(self) -> None:
        self._spent = rules.spending_of(self._closed.values())
        self._cost = rules.cost_of_runs(self._closed.values())
