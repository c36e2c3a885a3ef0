"""The coordinator of an evaluation: gives episodes to workers by the rule of site locks, and keeps what they send.

Everything that counts is on the disk before the next thing begins: a run, then its record.  So a kill at any moment
loses the episodes in flight, and they are run again.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.engine.api.evaluation_api import EpisodeRequest
from app.engine.core.evaluation.episode import Arm, EpisodeRecord
from app.engine.core.evaluation.suite import Dialect, SuiteTask
from app.engine.core.events import EvaluationAdvanced
from app.engine.core.sites import Site
from app.engine.evaluation.packing import unpack_files
from app.engine.evaluation.protocol import Episode, SiteSchedule, episodes_left, next_attempt
from app.engine.evaluation.scale.engine_port import (
    EpisodeEngine,
    EpisodeResult,
    EpisodeWorkerDied,
    EpisodeWorkerLost,
)
from app.engine.jobs import Job
from app.engine.services.core import Core
from app.engine.services.evaluation_bundle import bundled_arm, make_bundle
from app.engine.services.evaluation_plan import PreparedEvaluation
from app.engine.services.run_adoption import RunAdoption
from app.engine.services.site_commands import reset_site
from app.engine.services.suite_requests import site_row
from app.engine.store.evaluation_files import EvaluationFolder
from app.engine.store.run_files import validate_run_id
from app.errors import SiteloreError, printable

log = logging.getLogger(__name__)

POLL_SECONDS = 0.5
"""How often it is checked whether another process asks to stop."""


@dataclass(slots=True)
class _SiteResets:
    """Resets of one site: how many there were, and why the last one failed."""

    count: int = 0
    failed: str = ""


@dataclass(slots=True)
class EvaluationRun:
    """One evaluation while it runs; its folder and its sites are locked by the caller.

    Attributes:
        rows: rows of the table of sites by the names that tasks use.
    """

    core: Core
    prepared: PreparedEvaluation
    folder: EvaluationFolder
    engine: EpisodeEngine
    adoption: RunAdoption
    job: Job
    stopping: bool = False
    _waiting: list[Episode] = field(default_factory=list[Episode])
    _holding: list[Episode] = field(default_factory=list[Episode])
    _flights: dict[asyncio.Task[Any], Episode] = field(default_factory=dict[asyncio.Task[Any], Episode])
    _idle: list[int] = field(default_factory=list[int])
    _lost: set[int] = field(default_factory=set[int])
    _stained: set[str] = field(default_factory=set[str])
    _resets: dict[str, _SiteResets] = field(default_factory=dict[str, _SiteResets])
    _logged_in: dict[tuple[int, str], int] = field(default_factory=dict[tuple[int, str], int])
    _done: int = 0
    _broken: str = ""
    _blind: bool = False
    _schedule: SiteSchedule = field(default_factory=SiteSchedule)
    _tasks: dict[str, SuiteTask] = field(default_factory=dict[str, SuiteTask])
    _arms: dict[str, Arm] = field(default_factory=dict[str, Arm])
    _rows: dict[str, Site] = field(default_factory=dict[str, Site])

    async def run(self) -> None:
        """Run the episodes that are left; return when they are done, or after those in flight when asked to stop.

        Raises:
            StoreError: the disk is full.  EpisodeWorkerLost: no worker is left.  SiteloreError: none could start.
        """
        journal = self.folder.journal()
        self.folder.repair(journal)
        self._prepare(journal.records)
        sha256 = self.prepared.suite.sha256
        self._blind = await self.core.on_store(self.core.workspace.suites.is_blind, sha256)
        self._advance("running", "")
        unfit = self.prepared.unfit
        for episode in [one for one in self._waiting if one.key.task in unfit]:
            await self._keep(self._failed(episode, unfit[episode.key.task]))
        self._waiting = [one for one in self._waiting if one.key.task not in unfit]
        if self._waiting:
            await self._run_all()
        await self.adoption.finish()

    def _prepare(self, records: Sequence[EpisodeRecord]) -> None:
        prepared = self.prepared
        self._tasks = {task.id: task for task in prepared.tasks}
        self._arms = {arm.name: bundled_arm(arm, place) for place, arm in enumerate(prepared.head.arms)}
        table = self.core.workspace.site_store.rows
        names = {site for task in prepared.tasks for site in task.sites}
        self._rows = {name: row for name in names if (row := site_row(name, table)) is not None}
        self._resets = {name: _SiteResets() for name in self._rows}
        self._waiting = episodes_left(prepared.episodes, records)
        self._done = len(prepared.episodes) - len(self._waiting)

    async def _run_all(self) -> None:
        prepared = self.prepared
        bundle = await self.core.on_store(
            make_bundle,
            self.core.workspace,
            prepared.suite,
            prepared.tasks,
            prepared.head.arms,
            pictures=prepared.head.policy == "llm",
        )
        needed = sorted({site for episode in self._waiting for site in episode.sites})
        self.job.advance(
            self._done, len(prepared.episodes), "putting the sites back and starting the workers"
        )
        try:
            await asyncio.gather(self.engine.start(bundle), *(self._reset(site) for site in needed))
            self._idle = list(range(self.engine.workers))
            await self._serve()
        finally:
            for flight in self._flights:
                flight.cancel()
            await asyncio.gather(*self._flights, return_exceptions=True)
            await self.engine.close()

    async def _serve(self) -> None:
        """Start what may start, wait for something to end, until nothing is left or the flights are over."""
        while True:
            await self._put_stained_back()
            self.stopping = self.stopping or self.job.cancel_requested or self.folder.stop_asked
            if not self.stopping and not self._broken:
                self._start_episodes()
            if not self._flights:
                break
            ended, _ = await asyncio.wait(
                self._flights, timeout=POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            for flight in ended:
                self._holding.remove(self._flights.pop(flight))
                flight.result()
        if self._broken:
            raise EpisodeWorkerLost(self._broken)

    def _start_episodes(self) -> None:
        while self._idle:
            free = [one for one in self._waiting if not self._stained & one.sites]
            episode = self._schedule.next(free, self._holding)
            if episode is None:
                return
            self._waiting.remove(episode)
            self._holding.append(episode)
            worker = self._idle.pop(0)
            flight = self.core.registry.hold(self._fly(worker, episode))
            self._flights[flight] = episode

    async def _fly(self, worker: int, episode: Episode) -> None:
        """Run an episode, put its sites back if it wrote, and keep its record."""
        broken = next((why for site in sorted(episode.sites) if (why := self._failure_of(site))), "")
        if broken:
            self._idle.append(worker)
            await self._keep(self._failed(episode, broken))
            return
        began = time.monotonic()
        again: Episode | None = None
        result: EpisodeResult | None = None
        try:
            result = await self.engine.run(worker, self._request(worker, episode))
        except EpisodeWorkerDied as died:
            again = next_attempt(episode)
            if again is None:
                result = EpisodeResult(record=self._failed(episode, f"{died}, twice"))
        except EpisodeWorkerLost as lost:
            self._lose(worker, str(lost))
            again = episode
        except SiteloreError as error:
            result = EpisodeResult(record=self._failed(episode, str(error)))
        if worker not in self._lost:
            self._idle.append(worker)
        spent = time.monotonic() - began
        if episode.writes:
            await asyncio.gather(*(self._reset(site) for site in sorted(episode.sites)))
        elif result is None or result.record.unasked:
            self._stained |= episode.sites
        if again is not None:
            self._waiting.insert(0, again)
            return
        assert result is not None
        put_back = time.monotonic() - began - spent
        record = replace(
            result.record,
            attempt=episode.attempt,
            worker=f"{self.prepared.request.engine} {worker}",
            overhead=round(result.record.overhead + put_back, 3),
            finished_at=round(time.time(), 3),
        )
        await self._keep(record, result.run)

    def _request(self, worker: int, episode: Episode) -> EpisodeRequest:
        head, asked = self.prepared.head, self.prepared.request
        renew: list[str] = []
        for site in sorted(episode.sites):
            count = self._resets[site].count if site in self._resets else 0
            if self._logged_in.get((worker, site), -1) != count:
                self._logged_in[worker, site] = count
                renew.append(self._rows[site].name)
        return EpisodeRequest(
            suite=self.prepared.suite.name,
            dialect=head.dialect,
            task=episode.key.task,
            arm=self._arms[episode.key.arm],
            repeat=episode.key.repeat,
            policy=head.policy,
            max_steps=head.max_steps,
            max_seconds=asked.max_seconds,
            max_tokens=asked.max_tokens,
            max_money=asked.max_money,
            infeasible_is_na=asked.infeasible_is_na,
            off_site_is_zero=asked.off_site_is_zero,
            renew=tuple(renew),
            har=head.dialect == Dialect.STRICT.value,
        )

    # sites

    def _failure_of(self, site: str) -> str:
        return self._resets[site].failed if site in self._resets else ""

    async def _put_stained_back(self) -> None:
        """Put back the sites on which a task that only reads wrote, or its worker died, once nobody is on them."""
        held = {site for episode in self._holding for site in episode.sites}
        free = sorted(self._stained - held)
        if free:
            await asyncio.gather(*(self._reset(site) for site in free))
            self._stained.difference_update(free)

    async def _reset(self, site: str) -> None:
        """Put a site back; a failure is remembered, and keeps episodes off the site."""
        row = self._rows.get(site)
        if row is None or not row.reset:
            return
        state = self._resets[site]
        try:
            await reset_site(row)
            state.failed = ""
        except SiteloreError as error:
            state.failed = f"the site '{site}' could not be put back: {error}"
            log.warning("%s", state.failed)
        state.count += 1

    # workers

    def _lose(self, worker: int, why: str) -> None:
        self._lost.add(worker)
        log.warning("worker %d is lost: %s", worker, why)
        if len(self._lost) >= self.engine.workers:
            self._broken = f"no worker is left ({why}); go on with: sitelore eval resume {self.folder.path}"

    # records

    def _failed(self, episode: Episode, why: str) -> EpisodeRecord:
        task = self._tasks[episode.key.task]
        return EpisodeRecord(
            key=episode.key,
            cluster=task.cluster,
            sites=task.sites,
            kind=task.kind,
            required_obs=task.required_obs,
            error=printable(why),
            finished_at=round(time.time(), 3),
            attempt=episode.attempt,
        )

    async def _keep(self, record: EpisodeRecord, packed: bytes = b"") -> None:
        """Keep a run and then its record, and let the workspace adopt the run."""
        if packed:
            try:
                await self.core.on_worker(_place_run, self.folder.runs, record.run, packed)
            except SiteloreError as error:
                record = replace(record, run="", error=printable(f"its run can't be kept: {error}"))
        await self.core.on_worker(self.folder.append, record)
        if record.run:
            self.adoption.adopt(self.folder.runs / record.run)
        self._done += 1
        self._advance("running", _words(replace(record, why="") if self._blind else record))

    def _advance(self, state: str, words: str) -> None:
        total = len(self.prepared.episodes)
        self.job.advance(self._done, total, words)
        self.core.bus.publish(
            EvaluationAdvanced(
                folder=str(self.folder.path), state=state, done=self._done, episodes=total, words=words
            )
        )


def _place_run(runs: Path, run: str, packed: bytes) -> None:
    """Unpack a run whole or not at all; an earlier one of the same id is replaced."""
    draft, place = runs / f".{uuid.uuid4().hex[:12]}", runs / validate_run_id(run)
    try:
        unpack_files(packed, draft, f"run {run}")
        shutil.rmtree(place, ignore_errors=True)
        draft.rename(place)
    finally:
        with suppress(OSError):
            shutil.rmtree(draft, ignore_errors=True)


def _words(record: EpisodeRecord) -> str:
    found = record.error or record.why or record.verdict.value
    return f"task {record.key.task}, {record.key.arm}: {record.verdict.value} ({found})"[:200]
