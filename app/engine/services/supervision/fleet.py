"""All supervised runs of this process: queued, started, paused, stepped and ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from app import settings
from app.engine.agent.health_probes import DiskProbe
from app.engine.api.live_api import LiveRunDetail
from app.engine.api.run_api import RunRequest, RunSummary
from app.engine.core.events import Event, HintChanged, LiveRunChanged, LiveRunDismissed, RequestChanged
from app.engine.core.labels import state_label
from app.engine.core.supervision import (
    LiveRow,
    OperatorAction,
    RunState,
    open_requests,
    sort_live_rows,
)
from app.engine.services.agent_runs import AgentRunService, PreparedRun, new_run_id
from app.engine.services.core import Core
from app.engine.services.review import ReviewService
from app.engine.services.run_reader import RunReader
from app.engine.services.supervision.approvals import ApprovalService
from app.engine.services.supervision.checked_requests import checked_requests
from app.engine.services.supervision.crash_recovery import IsWanted, recover_runs
from app.engine.services.supervision.forwarding import FORWARDED, forwarded
from app.engine.services.supervision.supervised_run import SupervisedRun, new_live_row
from app.engine.services.task_files import read_tasks
from app.engine.store.supervision.supervision_state import LiveRunSnapshot, RemoteCommand
from app.errors import Conflict, NotFound, SiteloreError, UsageError

log = logging.getLogger(__name__)

MAX_CONCURRENCY = 32
"""Largest concurrency, and the most open browsers including those of held runs."""


class Fleet:
    """The supervised runs of one process, with a queue and a concurrency limit."""

    def __init__(
        self,
        core: Core,
        approvals: ApprovalService,
        agent_runs: AgentRunService,
        run_reader: RunReader,
        review: ReviewService,
    ) -> None:
        self._core, self._approvals, self._review = core, approvals, review
        self._agent_runs, self._run_reader = agent_runs, run_reader
        self._runs: dict[str, SupervisedRun] = {}
        self._queue: list[str] = []
        self._at_once = min(max(settings.load().at_once, 1), MAX_CONCURRENCY)
        self._listening: asyncio.Task[None] | None = None
        self._closing = False
        self.remote_handlers: dict[str, Callable[[str, str], Awaitable[object]]] = {}
        """Further commands that another process may send, by name; each takes the run and the command's text."""
        self.batches: set[str] = set()
        """Batches of this process, which take commands like runs."""
        self.on_room: Callable[[], None] | None = None
        """Called when a run may have left its slot."""
        self.budget_keeper: Callable[[SupervisedRun], Awaitable[bool]] | None = None
        """Asked when a run has used up its budget; returns whether it is held until there is more."""
        self._disk = DiskProbe(core.workspace.path, core.on_worker)
        core.bus.subscribe(self._heard)

    # ------------------------------------------------------------ the wall

    async def live_runs(self) -> list[LiveRow]:
        """Return every live run in order of attention; those of other processes by their latest snapshot."""
        notes = await self.runs_of_others()
        return sort_live_rows(
            [*(run.snapshot() for run in self._runs.values()), *(note.row for note in notes)]
        )

    async def start_runs(self, requests: Sequence[RunRequest], at_once: int = 0) -> list[str]:
        """Queue runs and start as many as ``at_once`` allows (0: unchanged); return their ids in order.

        Raises:
            UsageError, NotFound, InputError, ModelError: a request is invalid; then none was started.
        """
        ids = await self._line_up(requests, at_once)
        self._pump()
        return ids

    async def _line_up(self, requests: Sequence[RunRequest], at_once: int = 0) -> list[str]:
        checked = await checked_requests(self._agent_runs, requests)
        if at_once:
            await self.set_concurrency(at_once)
        ids = [new_run_id() for _ in checked]
        await self._core.on_store(self._core.workspace.run_registry.claim, ids)
        for run, asked in zip(ids, checked, strict=True):
            request = self._agent_runs.remove_passwords(run, asked)
            self._add(self._supervised(request, new_live_row(run, request, RunState.QUEUED)))
            self._queue.append(run)
        return ids

    async def start_checked(self, run: str, request: RunRequest) -> None:
        """Queue a run whose request was checked and holds no passwords, and start it if the limits allow."""
        await self._core.on_store(self._core.workspace.run_registry.claim, [run])
        self._add(self._supervised(request, new_live_row(run, request, RunState.QUEUED)))
        self._queue.append(run)
        self._pump()

    async def run_supervised(self, request: RunRequest) -> RunSummary:
        """Start one supervised run now and wait for its end; raises as ``AgentRunService.run_task``."""
        (run,) = await self._line_up([request])
        self._queue.remove(run)
        return await self._drive(self._claimed(self._runs[run]))

    async def resume_supervised(self, run: str) -> RunSummary:
        """Resume an interrupted run under supervision and wait for its end."""
        return await self._drive(self._claimed(await self._found(run)), again=True)

    async def read_tasks(self, path: str, start_url: str = "") -> list[RunRequest]:
        """Return the runs that a file asks for.  Raises ``InputError``."""
        sites = dict(self._core.workspace.site_store.rows)
        names = await self._core.on_store(self._core.workspace.suites.by_hash)
        return await self._core.on_worker(read_tasks, Path(path), start_url, sites=sites, names=names)

    async def run_request(self, run: str) -> RunRequest:
        """Return the request of a run, to start it again."""
        if run in self._runs:
            return self._runs[run].request
        return await self._run_reader.request_of(run)

    async def set_concurrency(self, limit: int) -> int:
        """Set how many runs may be active; those that are active stay so."""
        if not 1 <= limit <= MAX_CONCURRENCY:
            raise UsageError(
                f"{limit} is not a valid number of parallel runs", remedy=f"give 1 to {MAX_CONCURRENCY}"
            )
        self._at_once = limit
        self._pump()
        return limit

    async def dismiss_run(self, run: str) -> None:
        """Remove a run from the live runs; it stays in the workspace.

        Raises:
            Conflict: it is still active.
        """
        found = self.get(run)
        if found.is_active:
            raise Conflict("the run is still active; stop it first")
        self._queue = [other for other in self._queue if other != run]
        del self._runs[run]
        await self.void_requests(run, "the run was dismissed")
        await self._core.on_store(self._core.workspace.supervision.delete_snapshot, run)
        self._core.bus.publish(LiveRunDismissed(run=run))

    # ------------------------------------------------------------ one run

    @forwarded("pause")
    async def pause_run(self, run: str) -> None:
        """Pause a run before its next action."""
        found = self.get_active(run)
        found.control.pause(author=self._core.author)
        await self.record(found, OperatorAction.PAUSED)

    @forwarded("continue")
    async def continue_run(self, run: str) -> None:
        """Resume a paused or an interrupted run, or move a queued one to the front."""
        found = await self._found(run)
        if found.row.state is RunState.INTERRUPTED:
            self.resume_in_background(found)
        elif found.row.state is RunState.QUEUED:
            self._queue = [run, *(other for other in self._queue if other != run)]
            self._pump()
        else:
            self.get_active(run).control.resume()
        await self.record(found, OperatorAction.RESUMED)

    @forwarded("step")
    async def step_run(self, run: str) -> None:
        """Let a held run do one step."""
        found = self.get_active(run)
        found.control.step_once()
        await self.record(found, OperatorAction.STEPPED)

    @forwarded("stop")
    async def end_run(self, run: str) -> None:
        """End a run after the action in flight."""
        found = self.get(run)
        held = found.row.state.held
        if found.row.state is RunState.QUEUED:
            self._queue = [other for other in self._queue if other != run]
            found.update(state=RunState.ENDED, outcome="stopped", why="stopped before it started")
        elif found.row.state is RunState.INTERRUPTED:
            with suppress(NotFound):  # it may have broken off before it began
                await self._run_reader.end_interrupted(run)
            found.update(state=RunState.ENDED, outcome="stopped", needs=())
            await self.void_requests(run, "the run was stopped")
        else:
            account = await self.get_active(run).page.end_takeover_and_stop(found.control.stop)
            if account is not None:
                await self._approvals.note(
                    run, account.first_step + account.steps, OperatorAction.RELEASED, account.words
                )
        await self.record(found, OperatorAction.STOPPED, reacting=held)

    async def pause_all(self) -> int:
        """Pause every active run; return how many."""
        states = (RunState.STARTING, RunState.RUNNING, RunState.RECOVERING)
        going = [run for run in self._runs.values() if run.row.state in states]
        for run in going:
            await self.pause_run(run.run)
        return len(going)

    async def live_run(self, run: str) -> LiveRunDetail:
        """Return one run in full."""
        found = self.get(run)
        memory = await self._run_reader.run_memory(run) if found.ledger is None else None
        steps = found.steps or await self._run_reader.steps_of(run)
        return LiveRunDetail(
            row=found.snapshot(),
            steps=tuple(steps),
            next=found.next,
            knowledge=found.knowledge,
            ledger=found.ledger if memory is None else memory.ledger,
            ledger_changes=found.changes,
            requests=tuple(await self._approvals.requests(run)),
            hints=tuple(await self._approvals.hints(run)),
            interventions=tuple(await self._approvals.interventions(run)),
            takeover=found.page.summary,
        )

    # ------------------------------------------------------------ the page

    async def watch_page(self, run: str, width: int, height: int, rate: float) -> None:
        """Start or change the picture stream of a run's page; ``rate`` 0 stops it."""
        if run in self._runs:
            await self._runs[run].page.watch(width, height, rate)
        elif rate > 0:
            raise NotFound(f"no run {run!r} among the live runs")

    async def aclose(self) -> None:
        """Store where every run is; the registry ends the jobs."""
        if self._closing:
            return
        self._closing = True
        for found in list(self._runs.values()):
            found.row = found.snapshot()
            if found.row.state.alive or found.has_news:
                await found.save_snapshot()
            found.is_closing = True

    async def recover(self, *, automatically: bool, wanted: IsWanted | None = None) -> list[LiveRow]:
        """Show the runs that a crashed process left; ``automatically`` resumes those that were active."""

        def put(row: LiveRow, request: RunRequest) -> None:
            if row.run not in self._runs:
                self._add(self._supervised(request, row))

        async def resume(run: str) -> None:
            found = self.get(run)
            if found.row.state is RunState.QUEUED:
                if run not in self._queue:
                    self._queue.append(run)
                self._pump()
            else:
                self.resume_in_background(found)

        ours = set(self._runs)
        return await recover_runs(self._core, put, resume, wanted, ours=ours, automatically=automatically)

    # ------------------------------------------------------------ inside

    async def runs_of_others(self) -> list[LiveRunSnapshot]:
        """Return the runs of other processes by their latest snapshot."""
        found = await self._core.on_store(self._core.workspace.runs_of_other_processes)
        return [note for note in found if note.run not in self._runs]

    async def forward_if_remote(self, run: str, what: str, words: str = "") -> bool:
        """Send a command to the process that has the run; return whether there is one."""
        if run in self._runs:
            return False
        workspace = self._core.workspace

        def wishing() -> bool:
            there = any(
                note.run == run for note in workspace.runs_of_other_processes()
            ) or workspace.runs.is_live(run)
            if there:
                workspace.supervision.add_remote_command(run, what, words)
            return there

        return await self._core.on_store(wishing)

    def _supervised(self, request: RunRequest, row: LiveRow) -> SupervisedRun:
        made = SupervisedRun(self._core, self._approvals, self._review, self._disk, request, row)
        made.more_budget = self._more_budget
        return made

    def _add(self, supervised: SupervisedRun) -> None:
        self._runs[supervised.run] = supervised
        supervised.update()
        self.listen()

    def listen(self) -> None:
        """Take the commands of other processes from now on."""
        if self._listening is None:
            self._listening = self._core.registry.hold(self._approvals.listen(self._alive, self._grant))

    def resume_in_background(self, found: SupervisedRun) -> None:
        """Resume an interrupted run in the background."""
        self._core.registry.hold(self._quietly(self._drive(self._claimed(found), again=True)))

    @property
    def all(self) -> list[SupervisedRun]:
        """Every live run."""
        return list(self._runs.values())

    def find(self, run: str) -> SupervisedRun | None:
        """Return a live run, or ``None``."""
        return self._runs.get(run)

    async def _more_budget(self, found: SupervisedRun) -> bool:
        return self.budget_keeper is not None and await self.budget_keeper(found)

    def _alive(self) -> list[str]:
        return [*self._runs, *self.batches]

    @property
    def at_once(self) -> int:
        """How many runs may be active."""
        return self._at_once

    @property
    def is_closing(self) -> bool:
        """Whether the program is about to end."""
        return self._closing

    @property
    def room(self) -> int:
        """How many further runs would start at once."""
        going = sum(one.row.state.counts_as_active for one in self._runs.values())
        alive = sum(one.is_active for one in self._runs.values())
        return min(self._at_once - going, MAX_CONCURRENCY - alive) - len(self._queue)

    def _pump(self) -> None:
        """Start queued runs as far as the limits allow.

        A run that waits for a person, is paused or taken over frees its slot, but its browser stays open: there are
        at most ``MAX_CONCURRENCY`` of those.  Such a run resumes at once when a person releases it, even over the
        limit; no queued run starts until the number of active ones is below the limit again.
        """
        free = self.room + len(self._queue)
        while self._queue and free > 0 and not self._closing:
            found = self._runs[self._queue.pop(0)]
            self._core.registry.hold(self._quietly(self._drive(self._claimed(found))))
            free -= 1
        if self.on_room is not None:
            self.on_room()

    def _claimed(self, found: SupervisedRun) -> SupervisedRun:
        """Reserve a run for the caller to start; from now on it can be paused and stopped."""
        if found.row.state not in (RunState.QUEUED, RunState.INTERRUPTED) and found.row.outcome != "crashed":
            raise Conflict(f"the run can't be started: {state_label(found.row)}")
        found.restart()
        return found

    async def _quietly(self, drive: object) -> None:
        """Await a run that nobody waits for; its row says what failed."""
        try:
            await drive  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]
        except SiteloreError as error:
            log.info("a supervised run failed: %s", error)

    async def _drive(self, found: SupervisedRun, *, again: bool = False) -> RunSummary:
        try:
            await found.load_overrides()
            prepared: PreparedRun = await (
                self._agent_runs.prepare_resume(found.run)
                if again and await self._core.on_store(self._core.workspace.runs.has, found.run)
                else self._agent_runs.prepare(found.request, found.run)
            )
            found.request = prepared.request
            summary = await self._agent_runs.execute(prepared, found)
            found.on_ended(summary)
            return summary
        except BaseException as error:
            found.on_interrupted(str(error) if isinstance(error, SiteloreError) else "the program was closed")
            raise
        finally:
            self._pump()

    async def _found(self, run: str) -> SupervisedRun:
        """Return a live run, adding one that is not shown yet."""
        if run not in self._runs:
            request = await self._run_reader.request_of(run)
            row = new_live_row(run, request, RunState.INTERRUPTED)
            row = replace(row, needs=open_requests(await self._approvals.requests(run)))
            self._add(self._supervised(request, row))
        return self._runs[run]

    def get(self, run: str) -> SupervisedRun:
        """Return a live run.  Raises ``NotFound``."""
        found = self._runs.get(run)
        if found is None:
            raise NotFound(f"no run {run[:120]!r} among the live runs")
        return found

    def get_active(self, run: str) -> SupervisedRun:
        """Return a run that is active or held.  Raises ``NotFound``, ``Conflict``."""
        found = self.get(run)
        if not found.is_active:
            raise Conflict(f"the run is not active: {state_label(found.row)}")
        return found

    async def record(
        self, found: SupervisedRun, deed: OperatorAction, words: str = "", *, reacting: bool = False
    ) -> None:
        """Add an operator's action to the time line; ``reacting`` where a flag held the run."""
        flags = found.flags if reacting else ()
        await self._approvals.note(found.run, found.row.step, deed, words, flags=flags)

    async def void_requests(self, run: str, why: str) -> None:
        """Close the open requests of a run."""
        for request in await self._approvals.requests(run):
            await self._approvals.void(request.id, why)

    def _heard(self, event: Event) -> None:
        match event:
            case RequestChanged(request=request) if request.run in self._runs:
                self._runs[request.run].on_request(request)
            case HintChanged(hint=hint) if hint.run in self._runs:
                found = self._runs[hint.run]
                found.update(hints=max(0, found.row.hints + (-1 if hint.taken_at else 1)))
            case LiveRunChanged(row=row) if row.run in self._runs and row.state.held:
                self._pump()
            case _:
                pass

    async def _grant(self, command: RemoteCommand) -> None:
        """Run a command that another process sent."""
        try:
            if command.what in FORWARDED:
                await FORWARDED[command.what](self, command.run)
            elif command.what in self.remote_handlers:
                await self.remote_handlers[command.what](command.run, command.text)
        except SiteloreError as error:
            log.warning("%s was asked of run %s: %s", command.what, command.run, error)
