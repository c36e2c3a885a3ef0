"""All supervised runs of this process: begun as many at once as are allowed, held, steered, ended, shown on a wall."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from app import settings
from app.engine.agent.probing import DiskProbe
from app.engine.cases.core import Core
from app.engine.cases.desk import Desk
from app.engine.cases.judging import Judging
from app.engine.cases.recovering import recover
from app.engine.cases.run_reading import RunReading
from app.engine.cases.running import Prepared, Running, new_run_id
from app.engine.cases.supervised import Supervised
from app.engine.cases.task_files import read_tasks
from app.engine.errors import Conflict, NotFound, SiteloreError, UsageError
from app.engine.events import Event, HintChanged, LiveChanged, LiveGone, RequestChanged
from app.engine.live_api import LiveDetail
from app.engine.run_api import RunRequest, RunSummary
from app.engine.store.desk_state import LiveNote, Wish
from app.engine.store.walls import living_elsewhere
from app.engine.supervision import Deed, LiveRow, RequestState, RunState, TakeoverAccount, on_the_wall

log = logging.getLogger(__name__)

MOST_AT_ONCE = 32
"""Runs that may go on at once; and browsers that may be open, those of runs that wait for a person too."""


class Fleet:
    """The wall of one process."""

    def __init__(
        self, core: Core, desk: Desk, running: Running, reading: RunReading, judging: Judging
    ) -> None:
        self._core, self._desk, self._judging = core, desk, judging
        self._running, self._reading = running, reading
        self._runs: dict[str, Supervised] = {}
        self._queue: list[str] = []
        self._at_once = min(max(settings.load().at_once, 1), MOST_AT_ONCE)
        self._listening: asyncio.Task[None] | None = None
        self._closing = False
        self.granting: dict[str, Callable[[str, str], Awaitable[object]]] = {}
        """What else another process may ask for, by its name: takes the run and the words of the wish."""
        self._disk = DiskProbe(core.workspace.path, core.on_worker)
        core.bus.subscribe(self._heard)

    # ------------------------------------------------------------ the wall

    async def live_runs(self) -> list[LiveRow]:
        """Every run on the wall, in its order; those of another process as they were noted last."""
        notes = await self._core.on_store(self._living_elsewhere)
        return on_the_wall([*(run.snapshot() for run in self._runs.values()), *(note.row for note in notes)])

    async def start_runs(self, requests: Sequence[RunRequest], at_once: int = 0) -> list[str]:
        """Begin runs, as many at once as are allowed (0: as before); the others wait.  Their ids, in order.

        Raises:
            UsageError, NotFound, InputError, ModelError: one of them makes no sense; then none was begun.
        """
        ids = await self._line_up(requests, at_once)
        self._pump()
        return ids

    async def _line_up(self, requests: Sequence[RunRequest], at_once: int = 0) -> list[str]:
        if not requests:
            raise UsageError("there is no run to start")
        checked = [
            await self._checked(request, number, len(requests)) for number, request in enumerate(requests, 1)
        ]
        if at_once:
            await self.set_at_once(at_once)
        ids = [new_run_id() for _ in checked]
        await self._core.on_store(self._core.workspace.wall.claim, ids)
        for run, asked in zip(ids, checked, strict=True):
            request = self._running.lift(run, asked)
            row = LiveRow(
                run=run,
                intent=request.intent,
                state=RunState.QUEUED,
                site=request.site,
                policy=request.policy,
                start_url=request.start_url,
                max_steps=request.max_steps,
                started_at=time.time(),
            )
            self._add(self._supervised(request, row))
            self._queue.append(row.run)
        return ids

    async def run_supervised(self, request: RunRequest) -> RunSummary:
        """Do one run on the wall, at once, and wait for its end; raises as ``Running.run_task``."""
        (run,) = await self._line_up([request])
        self._queue.remove(run)
        return await self._drive(self._claimed(self._runs[run]))

    async def resume_supervised(self, run: str) -> RunSummary:
        """Go on with a run that broke off, on the wall, and wait for its end."""
        return await self._drive(self._claimed(await self._found(run)), again=True)

    async def read_tasks(self, path: str, start_url: str = "") -> list[RunRequest]:
        """The runs that a file asks for.  Raises ``InputError``."""
        return await self._core.on_worker(read_tasks, Path(path).expanduser(), start_url)

    async def run_request(self, run: str) -> RunRequest:
        """What a run was asked for, to ask for it again."""
        if run in self._runs:
            return self._runs[run].request
        return await self._reading.request_of(run)

    async def set_at_once(self, limit: int) -> int:
        """How many runs may go on at once from now on; those that do go on stay."""
        if not 1 <= limit <= MOST_AT_ONCE:
            raise UsageError(f"{limit} runs at once is not possible", remedy=f"give 1 to {MOST_AT_ONCE}")
        self._at_once = limit
        self._pump()
        return limit

    async def dismiss_run(self, run: str) -> None:
        """Take a run off the wall; it stays in the workspace.

        Raises:
            Conflict: it is still going on.
        """
        found = self.known(run)
        if found.row.state.alive and found.row.state is not RunState.QUEUED:
            raise Conflict("the run is still going on; stop it first")
        self._queue = [other for other in self._queue if other != run]
        del self._runs[run]
        for request in await self._desk.requests(run):
            await self._desk.void(request.id, "the run was taken off the wall")
        await self._core.on_store(self._core.workspace.desk.drop_live, run)
        self._core.bus.publish(LiveGone(run=run))

    # ------------------------------------------------------------ one run

    async def pause_run(self, run: str) -> None:
        """Hold a run before its next action."""
        if await self.wished_of_another(run, "pause"):
            return
        found = self.going(run)
        found.control.pause(author=self._core.author)
        await self.did(found, Deed.PAUSED)

    async def continue_run(self, run: str) -> None:
        """Let a paused run go on, or take one up again that broke off."""
        if await self.wished_of_another(run, "continue"):
            return
        found = await self._found(run)
        if found.row.state is RunState.BROKEN_OFF:
            self.go_on_again(found)
        elif found.row.state is RunState.QUEUED:
            self._queue = [run, *(other for other in self._queue if other != run)]
            self._pump()
        else:
            self.going(run).control.go_on()
        await self.did(found, Deed.RESUMED)

    async def step_run(self, run: str) -> None:
        """Let a held run do one step."""
        if await self.wished_of_another(run, "step"):
            return
        found = self.going(run)
        found.control.step_once()
        await self.did(found, Deed.STEPPED)

    async def end_run(self, run: str) -> None:
        """End a run after the action in flight."""
        if await self.wished_of_another(run, "stop"):
            return
        found = self.known(run)
        held = found.control.state.held
        if found.row.state is RunState.QUEUED:
            self._queue = [other for other in self._queue if other != run]
            found.show(state=RunState.ENDED, outcome="stopped", why="it was stopped before it began")
        elif found.row.state is RunState.BROKEN_OFF:
            with suppress(NotFound):  # it may have broken off before it began
                await self._reading.end_broken_off(run)
            found.show(state=RunState.ENDED, outcome="stopped", needs=())
            await self.drop_requests(run, "the run was stopped")
        else:
            account = await self.going(run).page.hand_in(found.control.stop)
            if account is not None:
                await self._desk.note(run, account.first_step + account.steps, Deed.RELEASED, account.words)
        await self.did(found, Deed.STOPPED, reacting=held)

    async def pause_all(self) -> int:
        """Hold every run that goes on; how many that were."""
        states = (RunState.STARTING, RunState.RUNNING, RunState.MENDING)
        going = [run for run in self._runs.values() if run.snapshot().state in states]
        for run in going:
            await self.pause_run(run.run)
        return len(going)

    async def live_run(self, run: str) -> LiveDetail:
        """One run, large."""
        found = self.known(run)
        memory = await self._reading.run_memory(run) if found.ledger is None else None
        steps = found.steps or await self._reading.steps_of(run)
        return LiveDetail(
            row=found.snapshot(),
            steps=tuple(steps),
            next=found.next,
            knowledge=found.knowledge,
            ledger=found.ledger if memory is None else memory.ledger,
            ledger_changes=found.changes,
            requests=tuple(await self._desk.requests(run)),
            hints=tuple(await self._desk.hints(run)),
            interventions=tuple(await self._desk.deeds(run)),
            takeover=found.page.account,
        )

    # ------------------------------------------------------------ the page

    async def watch_page(self, run: str, width: int, height: int, rate: float) -> None:
        """Pictures of a run's page from now on; 0 a second for none."""
        if run in self._runs:
            await self._runs[run].page.watch(width, height, rate)
        elif rate > 0:
            raise NotFound(f"no run {run!r} on the wall")

    def account_of(self, run: str) -> TakeoverAccount | None:
        """What the person did at the last takeover of a run that is on the wall."""
        found = self._runs.get(run)
        return found.page.account if found is not None else None

    async def aclose(self) -> None:
        """Keep where every run stands; the jobs are ended by the registry."""
        if self._closing:
            return
        self._closing = True
        for found in list(self._runs.values()):
            found.row = found.snapshot()
            if found.row.state.alive or found.has_news:
                await found.note()
            found.is_closing = True

    async def recover(self, *, automatically: bool) -> list[LiveRow]:
        """Put what a process left behind on the wall; ``automatically`` goes on with what was going."""

        def put(row: LiveRow, request: RunRequest) -> None:
            if row.run not in self._runs:
                self._add(self._supervised(request, row))

        async def resume(run: str) -> None:
            found = self.known(run)
            if found.row.state is RunState.QUEUED:
                if run not in self._queue:
                    self._queue.append(run)
                self._pump()
            else:
                self.go_on_again(found)

        return await recover(self._core, put, resume, automatically=automatically)

    # ------------------------------------------------------------ inside

    def _living_elsewhere(self) -> list[LiveNote]:
        """Runs that another process works on; on the store thread."""
        return [note for note in living_elsewhere(self._core.workspace) if note.run not in self._runs]

    async def wished_of_another(self, run: str, what: str, words: str = "") -> bool:
        """Whether another process has the run; then it is asked."""
        if run in self._runs:
            return False
        workspace = self._core.workspace

        def wishing() -> bool:
            there = any(note.run == run for note in living_elsewhere(workspace)) or workspace.runs.is_live(
                run
            )
            if there:
                workspace.desk.add_wish(run, what, words)
            return there

        return await self._core.on_store(wishing)

    async def _checked(self, request: RunRequest, number: int, of: int) -> RunRequest:
        try:
            return replace(await self._running.checked(request), supervised=True)
        except SiteloreError as error:
            if of == 1:
                raise
            raise type(error)(f"task {number} of {of}: {error}") from error

    def _supervised(self, request: RunRequest, row: LiveRow) -> Supervised:
        return Supervised(self._core, self._desk, self._judging, self._disk, request, row)

    def _add(self, supervised: Supervised) -> None:
        self._runs[supervised.run] = supervised
        supervised.show()
        if self._listening is None:
            self._listening = self._core.registry.hold(self._desk.listen(self._alive, self._grant))

    def go_on_again(self, found: Supervised) -> None:
        """Take a run up again that broke off, in the background."""
        self._core.registry.hold(self._quietly(self._drive(self._claimed(found), again=True)))

    @property
    def all(self) -> list[Supervised]:
        """Every run on the wall."""
        return list(self._runs.values())

    def find(self, run: str) -> Supervised | None:
        """A run, if it is on the wall."""
        return self._runs.get(run)

    def _alive(self) -> list[str]:
        return list(self._runs)

    def _pump(self) -> None:
        """Begin what is queued, as far as there is room.

        A run that waits for a person, is paused or taken over gives up its place, but its browser stays open: of those
        there are ``MOST_AT_ONCE`` at most.  It goes on at once when the person lets it, even where all places are
        taken by then; no other run begins until fewer go on than may.
        """
        states = [one.snapshot().state for one in self._runs.values()]
        going = sum(state.takes_a_place for state in states)
        alive = sum(state.alive and state is not RunState.QUEUED for state in states)
        while self._queue and going < self._at_once and alive < MOST_AT_ONCE and not self._closing:
            found = self._runs[self._queue.pop(0)]
            self._core.registry.hold(self._quietly(self._drive(self._claimed(found))))
            going, alive = going + 1, alive + 1

    def _claimed(self, found: Supervised) -> Supervised:
        """The run, begun by the caller and nobody else; from now on it can be paused and stopped."""
        row = found.row
        if row.state not in (RunState.QUEUED, RunState.BROKEN_OFF) and row.outcome != "crashed":
            raise Conflict(f"the run can't be begun: it is {row.state.value}")
        found.renew()
        return found

    async def _quietly(self, drive: object) -> None:
        """A run that nobody waits for: what went wrong stands on its row."""
        try:
            await drive  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]
        except SiteloreError as error:
            log.info("a supervised run broke off: %s", error)

    async def _drive(self, found: Supervised, *, again: bool = False) -> RunSummary:
        try:
            await found.ready()
            prepared: Prepared = await (
                self._running.prepare_again(found.run)
                if again and await self._core.on_store(self._core.workspace.runs.has, found.run)
                else self._running.prepare(found.request, found.run)
            )
            found.request = prepared.request
            summary = await self._running.go(prepared, found)
            found.ended(summary)
            return summary
        except BaseException as error:
            found.broke_off(str(error) if isinstance(error, SiteloreError) else "the program was closed")
            raise
        finally:
            self._pump()

    async def _found(self, run: str) -> Supervised:
        """A run on the wall; one that is not there is put there."""
        if run not in self._runs:
            request = await self._reading.request_of(run)
            row = LiveRow(
                run=run,
                intent=request.intent,
                state=RunState.BROKEN_OFF,
                site=request.site,
                policy=request.policy,
                start_url=request.start_url,
                max_steps=request.max_steps,
                started_at=time.time(),
            )
            self._add(self._supervised(request, row))
        return self._runs[run]

    def known(self, run: str) -> Supervised:
        """A run on the wall.  Raises ``NotFound``."""
        found = self._runs.get(run)
        if found is None:
            raise NotFound(f"no run {run[:120]!r} on the wall")
        return found

    def going(self, run: str) -> Supervised:
        """A run on the wall that goes on.  Raises ``NotFound``, ``Conflict``."""
        found = self.known(run)
        if not found.row.state.alive or found.row.state is RunState.QUEUED:
            raise Conflict(f"the run is not going on: {found.row.state.value}")
        return found

    async def did(self, found: Supervised, deed: Deed, words: str = "", *, reacting: bool = False) -> None:
        """Put what a person did on the time line; ``reacting`` where a flag held the run."""
        flags = found.flags if reacting else ()
        await self._desk.note(found.run, found.row.step, deed, words, flags=flags)

    async def drop_requests(self, run: str, why: str) -> None:
        """Close what a run waits for."""
        for request in await self._desk.requests(run):
            await self._desk.void(request.id, why)

    def _heard(self, event: Event) -> None:
        match event:
            case RequestChanged(request=request) if request.run in self._runs:
                found = self._runs[request.run]
                left = [need for need in found.row.needs if need.id != request.id]
                found.needs([*left, request] if request.state is RequestState.OPEN else left)
            case HintChanged(hint=hint) if hint.run in self._runs:
                found = self._runs[hint.run]
                found.show(hints=max(0, found.row.hints + (-1 if hint.taken_at else 1)))
            case LiveChanged(row=row) if row.run in self._runs and row.state.held:
                self._pump()
            case _:
                pass

    async def _grant(self, wish: Wish) -> None:
        """Another process asks for something."""
        deeds = {
            "pause": self.pause_run,
            "continue": self.continue_run,
            "step": self.step_run,
            "stop": self.end_run,
        }
        try:
            if wish.what in deeds:
                await deeds[wish.what](wish.run)
            elif wish.what in self.granting:
                await self.granting[wish.what](wish.run, wish.text)
        except SiteloreError as error:
            log.warning("%s was asked of run %s: %s", wish.what, wish.run, error)
