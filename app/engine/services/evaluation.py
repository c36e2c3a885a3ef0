"""Evaluations: planned, run by workers, resumed from their journal."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from app.engine.api.evaluation_api import EpisodeRequest, EvaluationPlan, EvaluationRequest, EvaluationRow
from app.engine.api.run_api import RunRequest, RunSummary
from app.engine.core.evaluation.episode import EpisodeRecord, EvaluationHead, EvaluationJournal
from app.engine.core.events import EvaluationAdvanced
from app.engine.evaluation.packing import pack_files, read_folder
from app.engine.evaluation.pooling import budget_of, scoring_of
from app.engine.evaluation.protocol import is_failed
from app.engine.evaluation.scale.engine_port import EpisodeEngine
from app.engine.evaluation.scale.local_engine import LocalEngine
from app.engine.jobs import Job
from app.engine.services.core import Core
from app.engine.services.episode_run import EpisodeRunner
from app.engine.services.evaluation_plan import EvaluationPreparer, PreparedEvaluation, request_of
from app.engine.services.evaluation_run import EvaluationRun
from app.engine.services.record_check import check_records
from app.engine.services.rescored_runs import HIDDEN
from app.engine.services.rescoring import RescoringService
from app.engine.services.run_adoption import RunAdoption
from app.engine.services.site_locks import SiteLocks
from app.engine.services.suites import SuiteService
from app.engine.store.evaluation_files import WORKERS_FOLDER, EvaluationFolder, KnownEvaluations
from app.errors import Conflict, InputError, NotFound, SiteloreError, UsageError

_MATCHING = (
    "suite_sha256",
    "dialect",
    "policy",
    "arms",
    "repeats",
    "max_steps",
    "seed",
    "model",
    "prompts_sha256",
)
"""Fields of a head that must be the same for an evaluation to go on; so must budget and rules of scoring."""


class EvaluationService:
    """Use cases of evaluations.

    Args:
        detect: looks for flags in runs.
        encoder_ready: loads the encoder, or waits for it.
        map_ready: reads a site's map and makes it searchable.
    """

    def __init__(
        self,
        core: Core,
        suites: SuiteService,
        rescoring: RescoringService,
        run_task: Callable[[RunRequest], Awaitable[RunSummary]],
        detect: Callable[[Sequence[str]], Awaitable[object]],
        encoder_ready: Callable[[], Awaitable[object]],
        map_ready: Callable[[str], Awaitable[object]],
    ) -> None:
        self._core, self._suites = core, suites
        self._preparer = EvaluationPreparer(core, suites)
        self._episodes = EpisodeRunner(core, rescoring, run_task, encoder_ready, map_ready)
        self._detect, self._encoder_ready = detect, encoder_ready
        self._known = KnownEvaluations(core.workspace.path)

    async def evaluations(self) -> list[EvaluationRow]:
        """Return the evaluations that the workspace knows, the newest first."""

        def reading() -> list[EvaluationRow]:
            rows = [_row(EvaluationFolder(folder)) for folder in self._known.folders()]
            return sorted(rows, key=lambda row: (-row.begun_at, row.name))

        return await self._core.on_worker(reading)

    async def plan_evaluation(self, request: EvaluationRequest) -> EvaluationPlan:
        """Return what an evaluation would do, how long it would take and what it could show."""
        prepared = await self._preparer.prepared(request)
        folder = self._folder(prepared)
        known = await self._core.on_worker(self._known_records, prepared.head)
        there = (folder.path / "evaluation.json").exists()
        journal = await self._core.on_worker(folder.journal) if there else None
        return self._preparer.plan(prepared, known, journal)

    async def run_evaluation(self, request: EvaluationRequest) -> EvaluationRow:
        """Run an evaluation, or go on with the one in its folder, as a job."""
        prepared = await self._preparer.prepared(request)
        return await self._run(prepared, self._folder(prepared))

    async def resume_evaluation(self, folder: str, workers: int = 0) -> EvaluationRow:
        """Go on with an evaluation from its journal; 0 workers: as many as before."""
        place = _place(folder)
        head = await self._core.on_worker(EvaluationFolder(place).head)
        prepared = await self._preparer.prepared(request_of(head, place, workers))
        return await self._run(prepared, EvaluationFolder(place))

    async def stop_evaluation(self, folder: str) -> None:
        """Stop an evaluation after the episodes in flight."""
        place = EvaluationFolder(_place(folder))
        await self._core.on_worker(place.head)
        if not await self._core.on_worker(lambda: place.is_running):
            raise Conflict(f"the evaluation in {place.path} is not running")
        await self._core.on_worker(place.ask_to_stop)

    async def forget_evaluation(self, folder: str) -> None:
        """Take an evaluation off the list; its folder stays."""
        await self._core.on_worker(self._known.forget, _place(folder))

    async def run_episode(self, request: EpisodeRequest) -> EpisodeRecord:
        """Run one task in one arm and score it; what a worker does."""
        return await self._episodes.run(await self._suites.suite(request.suite), request)

    async def packed_run(self, run: str) -> bytes:
        """Return a run as a packed native run folder, for a journal on another machine."""
        with tempfile.TemporaryDirectory() as scratch:
            place = await self._core.on_store(self._core.workspace.runs.export, run, Path(scratch))
            return await self._core.on_worker(lambda: pack_files(read_folder(place)))

    async def episode_records(self, folder: str) -> list[EpisodeRecord]:
        """Return the records of an evaluation's journal so far."""
        return list((await self.journal(folder)).records)

    async def journal(self, folder: str) -> EvaluationJournal:
        """Read an evaluation's folder; of a blind suite without the reasons of verdicts, which tell its answers.

        Raises:
            NotFound: there is none.  InputError: it is damaged, or of a newer version.
        """
        journal = await self._core.on_worker(EvaluationFolder(_place(folder)).journal)
        suites = self._core.workspace.suites
        blind = await self._core.on_store(suites.is_blind, journal.head.suite_sha256)
        return _without_reasons(journal) if blind else journal

    async def checked_journal(self, folder: str) -> EvaluationJournal:
        """Read an evaluation's folder, and refuse records that say another score than their runs.

        Raises:
            NotFound: there is none.  InputError: it is damaged, of a newer version, or was edited.
        """
        journal = await self.journal(folder)
        place = EvaluationFolder(_place(folder))
        await self._core.on_worker(check_records, place.path, place.runs, journal.records)
        return journal

    # inside

    def _folder(self, prepared: PreparedEvaluation) -> EvaluationFolder:
        if prepared.request.out:
            return EvaluationFolder(_place(prepared.request.out))
        return EvaluationFolder(self._known.own_folder(_folder_name(prepared.head.name)))

    def _known_records(self, head: EvaluationHead) -> list[EpisodeRecord]:
        """Return the records of known evaluations of the same suite and policy."""
        found: list[EpisodeRecord] = []
        for path in self._known.folders():
            try:
                journal = EvaluationFolder(path).journal()
            except SiteloreError:
                continue
            if (journal.head.suite_sha256, journal.head.policy) == (head.suite_sha256, head.policy):
                found += journal.records
        return found

    async def _run(self, prepared: PreparedEvaluation, folder: EvaluationFolder) -> EvaluationRow:
        if prepared.problems:
            more = f" (and {len(prepared.problems) - 1} more: --plan lists them)" * (
                len(prepared.problems) > 1
            )
            raise InputError(f"the evaluation can't begin: {prepared.problems[0]}{more}")
        engine = _engine(prepared.request, folder)
        await self._core.on_worker(folder.take)
        locks = SiteLocks()
        try:
            rows = self._core.workspace.site_store.rows
            await self._core.on_worker(locks.take, prepared.tasks, rows)
            prepared = await self._core.on_worker(_begun, prepared, folder)
            await self._core.on_worker(self._known.remember, folder.path)
            if any(arm.kb != "none" or arm.maps for arm in prepared.head.arms):
                await self._encoder_ready()  # made once, before several workers look for it

            async def work(job: Job) -> None:
                adoption = RunAdoption(self._core, self._detect)
                if any(folder.runs.iterdir()):
                    adoption.adopt(folder.runs)  # of an earlier part, where its process was killed
                await EvaluationRun(self._core, prepared, folder, engine, adoption, job).run()

            _, task = self._core.registry.start(f"Evaluation: {prepared.head.name}", work)
            await task
        finally:
            locks.release()
            folder.release()
        row = await self._core.on_worker(_row, folder)
        self._core.bus.publish(
            EvaluationAdvanced(folder=row.folder, state=row.state, done=row.done, episodes=row.episodes)
        )
        return row


def _begun(prepared: PreparedEvaluation, folder: EvaluationFolder) -> PreparedEvaluation:
    """Begin a new evaluation, or check that the one in the folder is this one; return it with the head in force.

    Raises:
        Conflict: the folder holds another evaluation.
    """
    try:
        head = folder.head()
    except NotFound:
        folder.begin(prepared.head)
        return prepared
    now = prepared.head
    changed = [name for name in _MATCHING if getattr(head, name) != getattr(now, name)]
    if sorted(head.tasks) != sorted(now.tasks):
        changed.append("tasks")
    changed += [
        words
        for words, of in (("budgets", budget_of), ("rules of scoring", scoring_of))
        if of(head) != of(now)
    ]
    if changed:
        raise Conflict(
            f"the evaluation in {folder.path} was begun with other {', '.join(_in_words(one) for one in changed)};"
            " put that back, or choose another folder with --out"
        )
    return replace(prepared, head=head)


def _without_reasons(journal: EvaluationJournal) -> EvaluationJournal:
    records = tuple(replace(one, why=HIDDEN if one.why else "", judge=()) for one in journal.records)
    return replace(journal, records=records)


def _in_words(name: str) -> str:
    words = {"suite_sha256": "contents of its suite", "arms": "arms or contents of their files"}
    return words.get(name, name.removesuffix("_sha256").replace("_", " "))


def _engine(request: EvaluationRequest, folder: EvaluationFolder) -> EpisodeEngine:
    if request.engine == "local":
        return LocalEngine(folder.path / WORKERS_FOLDER, request.workers)
    from app.engine.evaluation.scale.ray_engine import RayEngine

    return RayEngine(request.workers, request.address)


def _row(folder: EvaluationFolder) -> EvaluationRow:
    try:
        journal = folder.journal()
    except SiteloreError as error:
        return EvaluationRow(
            name=folder.path.name, folder=str(folder.path), suite="", state="unreadable", episodes=0, done=0,
            note=str(error),
        )  # fmt: skip
    head, records = journal.head, journal.records
    episodes = len(head.tasks) * len(head.arms) * head.repeats
    money = [record.money for record in records]
    state = "running" if folder.is_running else "done" if len(records) >= episodes else "stopped"
    return EvaluationRow(
        name=head.name,
        folder=str(folder.path),
        suite=head.suite,
        state=state,
        episodes=episodes,
        done=len(records),
        errors=sum(map(is_failed, records)),
        arms=head.arms,
        repeats=head.repeats,
        begun_at=head.begun_at,
        tokens=sum(record.tokens_in + record.tokens_out for record in records),
        money=None if None in money else round(sum(one for one in money if one is not None), 6),
        seconds=round(sum(record.seconds for record in records), 2),
        note="; ".join(journal.notes),
    )


def _place(folder: str) -> Path:
    if not folder.strip():
        raise UsageError("no folder of an evaluation was given")
    return Path(folder).expanduser().absolute()


def _folder_name(name: str) -> str:
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name).strip(".-")
    return plain[:80] or "evaluation"
