"""Runs the batches of this process: starts their tasks, follows their runs, keeps their budgets.

What changes is gathered for ``PUBLISH_INTERVAL`` seconds, then stored and published; the budget is looked at with every
row of a run.  When it is used up, the active runs are paused rather than ended, so that they go on where they were once
it is raised.  Whoever changes where a batch stands holds ``one_at_a_time``.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import replace

from app.engine.core.batch import BatchRow, BatchState, TaskState
from app.engine.core.events import BatchChanged, Event, LiveRunChanged, LiveRunDismissed
from app.engine.core.supervision import LiveRow, OperatorAction, RunState
from app.engine.services.agent_runs import AgentRunService, new_run_id
from app.engine.services.core import Core
from app.engine.services.policy_factory import run_budget
from app.engine.services.supervision import batch_rules as rules
from app.engine.services.supervision.batch_files import left_run
from app.engine.services.supervision.fleet import MAX_CONCURRENCY, Fleet
from app.engine.services.supervision.live_batch import LiveBatch, task_key
from app.engine.services.supervision.supervised_run import SupervisedRun
from app.engine.store.supervision.batch_store import BatchRun
from app.errors import Conflict, NotFound, SiteloreError

log = logging.getLogger(__name__)

PUBLISH_INTERVAL = 0.3
"""Seconds for which changes of a batch are collected."""
MAX_OPEN_BROWSERS = MAX_CONCURRENCY * 3 // 4
"""Open browsers of a batch with those of held runs: a person can always start a run besides."""
MAX_ENDED_ROWS = 30
"""Ended runs of a batch that stay among the live runs; older ones are dismissed."""
MAX_FAILED_STARTS = 3
"""Runs in a row that break off before their first step, after which a batch is paused."""

NO_PROCESS = "the program that ran it ended; resume it to go on"


class BatchRunner:
    """The batches of this process.

    Attributes:
        ours: by id.
        one_at_a_time: to be held while a batch is changed.
    """

    def __init__(self, core: Core, fleet: Fleet, agent_runs: AgentRunService) -> None:
        self._core, self._fleet, self._agent_runs = core, fleet, agent_runs
        self.ours: dict[str, LiveBatch] = {}
        self.one_at_a_time = asyncio.Lock()
        self._own_budgets: dict[str, tuple[float, int]] = {}
        self._told: set[str] = set()
        self._closing = False
        fleet.on_room, fleet.budget_keeper = self._on_room, self._keep_within_budget
        core.bus.subscribe(self._heard)

    async def claim(self, id: str) -> bool:
        """Make a batch this process's before it is read; return ``False`` where a living process has it."""
        return await self._core.on_store(self._core.workspace.run_registry.claim_batch, id)

    async def give_up(self, id: str) -> None:
        """Leave a claimed batch to others."""
        await self._core.on_store(self._core.workspace.run_registry.give_up_batch, id)

    def own(self, batch: LiveBatch) -> None:
        """Run a claimed batch from now on."""
        self.ours[batch.id] = batch
        self._fleet.batches.add(batch.id)
        self._fleet.listen()

    async def adopt(self, batch: LiveBatch, *, automatically: bool) -> None:
        """Take over a claimed batch that a process left: its runs are as the fleet found them.

        ``automatically``: an active batch goes on; else it is paused.  Of a stopped one the runs that were left are
        ended, as its process had not come to it.
        """
        self.own(batch)
        for run in batch.unfinished:
            found = self._fleet.find(run)
            if found is not None:
                batch.take(found.row, broke_off_here=False)
                if found.is_active:
                    batch.started.add(run)
            else:
                batch.put(await self._core.on_store(left_run, self._core.workspace, batch.runs[run]))
        if batch.status.state is BatchState.ACTIVE and not automatically:
            batch.status = replace(batch.status, state=BatchState.PAUSED, why=NO_PROCESS)
        if batch.status.state is BatchState.STOPPED:
            async with self.one_at_a_time:
                await self._end_runs(batch)
        self.share_budget(batch)
        self.refresh_soon(batch)

    async def aclose(self) -> None:
        """Store how the runs fare; they are as the program leaves them from now on."""
        self._closing = True
        async with self.one_at_a_time:
            for batch in self.ours.values():
                await self.save(batch)

    # ------------------------------------------------------------ where a batch stands

    async def enter(
        self, batch: LiveBatch, state: BatchState, why: str = "", *, only_retried: bool = False
    ) -> None:
        """Let a batch be in a state, and store it."""
        over = state in (BatchState.ENDED, BatchState.STOPPED)
        batch.status = replace(
            batch.status,
            state=state,
            why=why,
            only_retried=only_retried,
            ended_at=time.time() if over else 0.0,
        )
        await self.save(batch)

    async def pause(self, batch: LiveBatch, state: BatchState, why: str) -> None:
        """Start nothing more, and pause the active runs."""
        await self.enter(batch, state, why, only_retried=batch.status.only_retried)
        for run in self.runs_of(batch):
            with suppress(Conflict):  # it has ended meanwhile
                await self._pause_run(batch, run, why)
        self.publish(batch)

    async def go_on(self, batch: LiveBatch, *, only_retried: bool) -> None:
        """Release the runs that were paused with the batch, resume those a process left, and start further ones."""
        await self.enter(batch, BatchState.ACTIVE, only_retried=only_retried)
        self.share_budget(batch)
        for run in self.runs_of(batch):
            if run.run in batch.held:
                run.control.pause_after_takeover(None)
            if run.run in batch.held and run.is_active and run.control.pause_requested:
                with suppress(Conflict):  # it is taken over, or has ended
                    run.control.resume()
                    await self._fleet.record(run, OperatorAction.RESUMED)
        batch.held.clear()
        batch.to_resume = [
            run
            for run in batch.unfinished
            if (found := self._fleet.find(run)) is not None and self._is_left(batch, found)
        ]
        await self.feed()
        self.publish(batch)
        self.refresh_soon(batch)

    async def stop(self, batch: LiveBatch, why: str) -> None:
        """Start nothing more, and end the runs that have not ended."""
        batch.held.clear()
        batch.to_resume.clear()
        await self.enter(batch, BatchState.STOPPED, why)
        await self._end_runs(batch)
        self.publish(batch)
        self.refresh_soon(batch)

    async def _end_runs(self, batch: LiveBatch) -> None:
        unfinished = set(batch.unfinished)
        for run in self.runs_of(batch):
            if run.row.state is not RunState.ENDED and run.run in unfinished:
                with suppress(Conflict, NotFound):  # it has ended by itself meanwhile
                    await self._fleet.end_run(run.run)

    async def save(self, batch: LiveBatch) -> None:
        """Store what has changed.  Raises ``StoreError``."""
        rows = self._core.workspace.batches
        runs, status = [batch.runs[run] for run in batch.changed], batch.status

        def saving() -> None:
            with rows.batch():
                rows.save_runs(runs)
                rows.save_status(batch.id, status)

        if runs or status != batch.saved:
            await self._core.on_store(saving)
            batch.changed -= {run.run for run in runs if batch.runs[run.run] == run}
            batch.saved = status

    def publish(self, batch: LiveBatch) -> BatchRow:
        """Publish the row of a batch, unless it is as it was published last."""
        row = batch.row(self._fleet.at_once)
        if row != batch.published and not batch.status.dismissed:
            batch.published = row
            self._core.bus.publish(BatchChanged(row=row))
        return row

    # ------------------------------------------------------------ what its runs do

    def _heard(self, event: Event) -> None:
        if self._closing or self._fleet.is_closing:
            return
        match event:
            case LiveRunChanged(row=row) if (batch := self.ours.get(row.batch)) and row.run in batch.runs:
                self._take(batch, row)
                if row.state in (RunState.STARTING, RunState.RUNNING):
                    batch.started.add(row.run)
                    self._hold_late(batch, row.run)
            case LiveRunDismissed(run=run):
                for batch in self.ours.values():
                    if run in batch.runs and batch.runs[run].state in rules.UNFINISHED:
                        gone = replace(
                            batch.runs[run], state=TaskState.STOPPED, why="removed from the live runs"
                        )
                        batch.put(gone)
                        self.refresh_soon(batch)
            case _:
                pass

    def _take(self, batch: LiveBatch, row: LiveRow) -> None:
        before = batch.runs[row.run]
        if batch.take(row, broke_off_here=row.run in batch.started):
            self._on_progress(batch, before, batch.runs[row.run])

    def _on_progress(self, batch: LiveBatch, before: BatchRun, after: BatchRun) -> None:
        if after.state is TaskState.FAILED and not after.outcome and not after.steps:
            if before.state is not TaskState.FAILED:
                batch.failed_starts += 1
                batch.start_problem = after.number, after.why
        elif after.steps > before.steps or after.outcome:
            batch.failed_starts = 0
        if (after.tokens, after.cost) != (before.tokens, before.cost):
            self.share_budget(batch)
            if batch.status.state is BatchState.ACTIVE and batch.budget_problem:
                self._core.registry.hold(self._refresh(batch))
                return
        self.refresh_soon(batch)

    def _hold_late(self, batch: LiveBatch, run: str) -> None:
        """Pause a run that was queued when its batch was paused."""
        found = self._fleet.find(run)
        stands = batch.status.state in (BatchState.PAUSED, BatchState.OUT_OF_BUDGET)
        if stands and found is not None and run in batch.queued:
            batch.queued.discard(run)
            self._core.registry.hold(self._pause_run(batch, found, batch.status.why))

    def refresh_soon(self, batch: LiveBatch) -> None:
        """Store, publish and start what can be started in a moment."""
        if batch.id not in self._told and not self._closing:
            self._told.add(batch.id)
            asyncio.get_running_loop().call_later(PUBLISH_INTERVAL, self._refresh_now, batch)

    def _refresh_now(self, batch: LiveBatch) -> None:
        self._told.discard(batch.id)
        if not self._closing and not self._fleet.is_closing:
            self._core.registry.hold(self._refresh(batch))

    async def _refresh(self, batch: LiveBatch) -> None:
        try:
            async with self.one_at_a_time:
                if self._closing:
                    return
                for run in self.runs_of(batch):  # a run leaves its slot a moment before its row is published
                    self._take(batch, run.row)
                await self._settle(batch)
                await self.feed()
                await self.save(batch)
                ended = [run.run for run in self.runs_of(batch) if batch.runs[run.run].state in rules.FINAL]
                for run in ended[:-MAX_ENDED_ROWS]:
                    await self.drop_row(run)
        except SiteloreError as error:
            log.warning("batch %s could not be stored: %s", batch.id, error)
        self.publish(batch)

    async def _settle(self, batch: LiveBatch) -> None:
        """Let the state follow from tasks and budget."""
        before = batch.status.state
        state, why = batch.following_state()
        if state is not before and state is BatchState.OUT_OF_BUDGET:
            await self.pause(batch, state, why)
        elif state is not before:
            await self.enter(batch, state, why)
        elif state is BatchState.ACTIVE and batch.failed_starts >= MAX_FAILED_STARTS:
            count, batch.failed_starts = batch.failed_starts, 0
            number, problem = batch.start_problem
            why = f"{count} runs in a row could not begin; the last, of task {number}: {problem}"
            await self.pause(batch, BatchState.PAUSED, why)

    # ------------------------------------------------------------ runs

    def runs_of(self, batch: LiveBatch) -> list[SupervisedRun]:
        """Return its runs among the live runs."""
        return [run for run in self._fleet.all if run.run in batch.runs]

    def _on_room(self) -> None:
        for batch in self.ours.values():
            if batch.status.state is BatchState.ACTIVE and batch.next_task:
                self.refresh_soon(batch)

    async def feed(self) -> None:
        """Start tasks of the active batches in turn, while there is room."""
        going = True
        while going:
            going = False
            for batch in list(self.ours.values()):
                if batch.status.state is BatchState.ACTIVE and self._has_room(batch):
                    going = await self._start_next(batch) or going

    def _has_room(self, batch: LiveBatch) -> bool:
        if self._closing or self._fleet.is_closing or self._fleet.room <= 0 or batch.budget_problem:
            return False
        runs = [run for run in self.runs_of(batch) if run.run not in batch.to_resume]
        active = sum(run.row.state.counts_as_active or run.row.state is RunState.QUEUED for run in runs)
        browsers = sum(run.is_active for run in runs)
        return active < (batch.status.at_once or MAX_CONCURRENCY) and browsers < MAX_OPEN_BROWSERS

    async def _start_next(self, batch: LiveBatch) -> bool:
        while batch.to_resume:
            found = self._fleet.find(batch.to_resume.pop(0))
            if found is not None and self._is_left(batch, found):
                batch.started.add(found.run)
                await self._fleet.continue_run(found.run)
                return True
        number = batch.next_task
        if not number:
            return False
        run = BatchRun(run=new_run_id(), number=number)
        left = self._own_left(batch, run).within(self._shared_left(batch))
        request = replace(batch.tasks[number], max_tokens=left.tokens or 0, max_money=left.money or 0.0)
        self._agent_runs.copy_passwords(task_key(batch.id, number), run.run)
        try:
            await self._core.on_store(self._core.workspace.batches.add_run, batch.id, run)
            batch.add_run(run)
            batch.started.add(run.run)
            await self._fleet.start_checked(run.run, request)
        except SiteloreError as error:
            self._lose(batch, run, str(error))
            return False
        self.share_budget(batch)
        return True

    def _lose(self, batch: LiveBatch, run: BatchRun, why: str) -> None:
        """Count a run that could not be stored as none: its task is started again in a moment."""
        log.warning("task %d of batch %s could not be started: %s", run.number, batch.id, why)
        if run.run in batch.runs:
            batch.put(replace(run, lost=True))
        batch.started.discard(run.run)
        batch.failed_starts += 1
        batch.start_problem = run.number, why
        self.refresh_soon(batch)

    def _is_left(self, batch: LiveBatch, run: SupervisedRun) -> bool:
        """Whether a process left a run, in its midst or before it had begun, that nobody has resumed yet."""
        state = run.row.state
        return state is RunState.INTERRUPTED or (state is RunState.QUEUED and run.run not in batch.started)

    async def _pause_run(self, batch: LiveBatch, run: SupervisedRun, why: str) -> None:
        if run.row.state is RunState.QUEUED:
            batch.queued.add(run.run)
        if run.is_active and run.control.is_taken:
            run.control.pause_after_takeover(why)
            batch.held.add(run.run)
            return
        if not run.is_active or run.control.pause_requested:
            return
        run.control.pause(why, self._core.author)
        batch.held.add(run.run)
        await self._fleet.record(run, OperatorAction.PAUSED, why)

    async def drop_row(self, run: str) -> None:
        """Remove an ended or broken-off run from the live runs."""
        found = self._fleet.find(run)
        if found is not None and not found.row.state.alive:
            with suppress(SiteloreError):
                await self._fleet.dismiss_run(run)

    # ------------------------------------------------------------ the budget

    def _shared_left(self, batch: LiveBatch) -> rules.Left:
        return rules.left_of(batch.spending, batch.status.max_money, batch.status.max_tokens)

    def _own_left(self, batch: LiveBatch, run: BatchRun) -> rules.Left:
        if run.run not in self._own_budgets:
            self._own_budgets[run.run] = run_budget(batch.tasks[run.number])
        return rules.left_of(rules.spending_of([run]), *self._own_budgets[run.run])

    def share_budget(self, batch: LiveBatch) -> None:
        """Let each active run spend at most what its batch has left."""
        shared = self._shared_left(batch)
        for found in self.runs_of(batch):
            run = batch.runs[found.run]
            if found.row.state.alive and run.number in batch.tasks:
                left = self._own_left(batch, run).within(shared)
                found.leave_budget(left.tokens, left.money)

    async def _keep_within_budget(self, found: SupervisedRun) -> bool:
        """Hold a run whose model was refused because of its batch's budget, and not of its own."""
        batch = self.ours.get(found.request.batch)
        if batch is None or found.run not in batch.runs or self._closing:
            return False
        refused_by, before = found.refused_by, batch.status
        own = self._own_left(batch, batch.runs[found.run])
        if not rules.is_refused_by_batch(refused_by, own, self._shared_left(batch)):
            return False
        async with self.one_at_a_time:
            if batch.status.state in (BatchState.STOPPED, BatchState.ENDED):
                return False
            if rules.is_raised(refused_by, before, batch.status):
                return True  # meanwhile; it asks again
            row = batch.row(self._fleet.at_once)
            used = row.token_words if refused_by == "tokens" else row.money_words
            why = batch.budget_problem or f"{used}: too little is left for the next answer; raise the budget"
            batch.refused_at = batch.budget
            if batch.status.state is BatchState.ACTIVE:
                await self.pause(batch, BatchState.OUT_OF_BUDGET, why)
            await self._pause_run(batch, found, why)
        return True
