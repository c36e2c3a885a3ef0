"""One batch in memory: its tasks, its runs as they fare, and its row."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from app.engine.api.run_api import RunRequest
from app.engine.core.batch import BatchRow, BatchState, BatchTask, TaskState
from app.engine.core.supervision import LiveRow
from app.engine.services.supervision import batch_rules as rules
from app.engine.services.supervision.batch_totals import BatchTotals
from app.engine.store.supervision.batch_store import BatchRun, BatchStatus, StoredBatch


class LiveBatch:
    """A batch as it stands.

    Attributes:
        head: its facts.  status: where it stands.  tasks: requests by number.
        runs: its runs by id, in the order of their start.  retries: how often each task was asked for again.
        held: runs that were paused with the batch, and are released with it.
        to_resume: runs that a process left behind, to be resumed when there is room.
        queued: runs that were not started when the batch was paused.  started: runs that this process started.
        changed: runs whose record is not stored yet.  saved, published: as it was stored and published last.
        failed_starts: runs in a row that did not begin.  start_problem: task and reason of the last.
        refused_at: budget in US dollars and tokens at which a run's next answer was too dear, ``None`` for none.
    """

    def __init__(self, stored: StoredBatch) -> None:
        self.head, self.status = stored.head, stored.status
        self.tasks: Mapping[int, RunRequest] = stored.tasks
        self.runs = {run.run: run for run in stored.runs}
        self.retries = Counter(stored.retries)
        self.held: set[str] = set()
        self.to_resume: list[str] = []
        self.queued: set[str] = set()
        self.started: set[str] = set()
        self.changed: set[str] = set()
        self.saved: BatchStatus | None = None
        self.published: BatchRow | None = None
        self.failed_starts = 0
        self.start_problem: tuple[int, str] = (0, "")
        self.refused_at: tuple[float, int] | None = None
        self._by_task = defaultdict[int, list[str]](list)
        for run in stored.runs:
            self._by_task[run.number].append(run.run)
        self._totals = BatchTotals(stored.runs)
        self._states = {number: self._state(number) for number in range(1, self.head.total + 1)}
        self._counts = Counter(self._states.values())
        self._unstarted: set[int] = set()
        self._again: set[int] = set()
        self._shown: dict[int, BatchTask] = {}
        for number in self._states:
            self._line_up(number)

    @property
    def id(self) -> str:
        """Its id."""
        return self.head.id

    @property
    def spending(self) -> rules.Spending:
        """The cost of all its runs together."""
        return self._totals.spending

    @property
    def budget_problem(self) -> str:
        """Why its budget leaves nothing, "" where it leaves something."""
        return rules.budget_problem(self.spending, self.status.max_money, self.status.max_tokens)

    @property
    def budget(self) -> tuple[float, int]:
        """Its budget in US dollars and tokens."""
        return self.status.max_money, self.status.max_tokens

    @property
    def unfinished(self) -> list[str]:
        """Runs that have not ended."""
        return [run.run for run in self._totals.open_runs if not run.lost]

    @property
    def next_task(self) -> int:
        """Number of the task to start next, 0 for none; one whose request can't be read is never started."""
        first = [min(numbers) for numbers in (self._again, self._unstarted) if numbers]
        states = dict.fromkeys(first, TaskState.WAITING)
        return rules.next_task(states, self.retries, only_retried=self.status.only_retried)

    def to_retry(self) -> list[int]:
        """Return the tasks that can be started again."""
        again = (TaskState.FAILED, TaskState.STOPPED)
        return [number for number, state in self._states.items() if state in again and number in self.tasks]

    def ask_again(self, numbers: Iterable[int]) -> None:
        """Count that tasks are to be started once more."""
        for number in numbers:
            self.retries[number] += 1
            self._follow(number)

    def add_run(self, run: BatchRun) -> None:
        """Add a run of a task."""
        self.runs[run.run] = run
        self._by_task[run.number].append(run.run)
        self._totals.put(None, run)
        self._follow(run.number)

    def take(self, row: LiveRow, *, broke_off_here: bool) -> bool:
        """Take over what a run's row says; return whether anything changed."""
        before = self.runs[row.run]
        after = replace(
            before,
            lost=False,
            state=rules.run_state(row, broke_off_here=broke_off_here),
            outcome=row.outcome,
            why=row.why,
            ended_by=row.ended_by,
            steps=row.step,
            tokens=max(row.tokens, before.tokens),
            cost=row.cost if row.cost is not None else before.cost,
            seconds=row.seconds or before.seconds,
        )
        if after == before:
            return False
        self.put(after)
        return True

    def put(self, run: BatchRun) -> None:
        """Replace the record of a run."""
        before, self.runs[run.run] = self.runs[run.run], run
        self.changed.add(run.run)
        self._totals.put(before, run)
        self._follow(run.number)

    def following_state(self) -> tuple[BatchState, str]:
        """Return the state that follows from tasks and budget, with its reason."""
        there = {state for state, count in self._counts.items() if count}
        state, why = rules.state_after(self.status, there, self.budget_problem)
        only = self.status.only_retried and state is BatchState.ACTIVE
        if only and not self.next_task and not there & rules.UNFINISHED:
            return BatchState.STOPPED, ""
        return state, why

    def row(self, at_once: int) -> BatchRow:
        """Return its row; ``at_once`` is the number of parallel runs that the workspace allows."""
        head, status = self.head, self.status
        states = self._counts
        left = states[TaskState.WAITING] + states[TaskState.ACTIVE] + states[TaskState.NEEDS_PERSON]
        goes_on = status.state is BatchState.ACTIVE
        parallel = min(status.at_once or at_once, at_once)
        spent = self.spending
        return BatchRow(
            id=head.id,
            name=head.name,
            state=status.state,
            why=status.why,
            author=head.author,
            source=head.source,
            policy=head.policy,
            model=head.model,
            kb=head.kb,
            graph=head.graph,
            sites=head.sites,
            at_once=status.at_once,
            max_money=status.max_money,
            max_tokens=status.max_tokens,
            total=head.total,
            waiting=states[TaskState.WAITING],
            active=states[TaskState.ACTIVE],
            needy=states[TaskState.NEEDS_PERSON],
            answered=states[TaskState.ANSWERED],
            failed=states[TaskState.FAILED],
            stopped=states[TaskState.STOPPED],
            cost=self._totals.cost,
            tokens=spent.tokens,
            seconds_left=rules.seconds_left(self._totals.newest, left, parallel) if goes_on else None,
            created_at=head.created_at,
            ended_at=status.ended_at,
        )

    def batch_tasks(self) -> tuple[BatchTask, ...]:
        """Return its tasks in order."""
        for number in self._states.keys() - self._shown.keys():
            self._shown[number] = self._task(number)
        return tuple(self._shown[number] for number in self._states)

    def newest_run(self, number: int) -> BatchRun | None:
        """Return the newest run of a task, ``None`` before its first."""
        runs = [self.runs[run] for run in self._by_task.get(number, ()) if not self.runs[run].lost]
        return runs[-1] if runs else None

    def _state(self, number: int) -> TaskState:
        runs = [self.runs[run] for run in self._by_task.get(number, ())]
        return rules.task_state(runs, self.retries[number])

    def _follow(self, number: int) -> None:
        """Let the state of a task, and what is counted by it, follow from its runs and retries."""
        self._shown.pop(number, None)
        if number not in self._states:
            return
        before, after = self._states[number], self._state(number)
        self._counts[before] -= 1
        self._counts[after] += 1
        self._states[number] = after
        self._line_up(number)

    def _line_up(self, number: int) -> None:
        """Put a task among those that wait for their start, or take it out."""
        self._again.discard(number)
        self._unstarted.discard(number)
        if self._states[number] is TaskState.WAITING and number in self.tasks:
            (self._again if self.retries[number] else self._unstarted).add(number)

    def _task(self, number: int) -> BatchTask:
        request, state = self.tasks.get(number), self._states[number]
        newest = self.newest_run(number) if state in rules.FINAL else None
        return BatchTask(
            number=number,
            intent=request.intent if request is not None else "(the task can't be read)",
            task_id=request.task_id if request is not None else "",
            site=request.site if request is not None else "",
            state=state,
            runs=tuple(run for run in self._by_task.get(number, ()) if not self.runs[run].lost),
            why=newest.why if newest is not None else "",
            outcome=rules.outcome_words(newest) if newest is not None else "",
        )


def task_key(batch: str, number: int) -> str:
    """Return the name under which the passwords of a task are kept in memory."""
    return f"{batch}/{number}"
