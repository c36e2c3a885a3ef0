"""The program without a window: opens a workspace and implements ``EngineApi``."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app import settings
from app.engine import channel
from app.engine.api.engine_api import Check, EngineApi, WorkspaceInfo
from app.engine.api.evaluation_api import EpisodeRequest
from app.engine.api.run_api import RunRequest, RunSummary
from app.engine.browser.launch import launcher, sandbox
from app.engine.core.evaluation.episode import EpisodeRecord
from app.engine.core.events import BrowserStarted, JobChanged
from app.engine.core.supervision import LiveRow
from app.engine.core.verdicts import Flag
from app.engine.jobs import Job
from app.engine.services.agent_runs import AgentRunService
from app.engine.services.annotators import AnnotatorService
from app.engine.services.ask_again import AskAgainService
from app.engine.services.comparison import ComparisonService
from app.engine.services.core import Core
from app.engine.services.evaluation import EvaluationService
from app.engine.services.exchanges import ExchangeService
from app.engine.services.expected_outcomes import ExpectedOutcomeService
from app.engine.services.exploration import ExplorationService
from app.engine.services.failure_clusters import FailureClusterService
from app.engine.services.graph_cache import GraphCache
from app.engine.services.graph_navigation import GraphNavigationService
from app.engine.services.graph_search import GraphSearchService
from app.engine.services.graphs import GraphService
from app.engine.services.history import HistoryService
from app.engine.services.knowledge import KnowledgeService
from app.engine.services.model_judging import ModelJudging
from app.engine.services.model_testing import ModelTestService
from app.engine.services.prompts import PromptService
from app.engine.services.rescoring import RescoringService
from app.engine.services.retrieval import RetrievalService
from app.engine.services.review import ReviewService
from app.engine.services.review_progress import ReviewProgressService
from app.engine.services.run_causes import RunCauseService
from app.engine.services.run_comparison import RunComparisonService
from app.engine.services.run_evidence import task_lookup
from app.engine.services.run_exports import RunExportService
from app.engine.services.run_reader import RunReader
from app.engine.services.runs import RunService
from app.engine.services.scheduled_work import ScheduledWork
from app.engine.services.schedules import ScheduleService
from app.engine.services.shared_knowledge import SharedKnowledgeService
from app.engine.services.sites import SiteService
from app.engine.services.step_drafting import StepDraftingService
from app.engine.services.stored_suites import StoredSuites
from app.engine.services.suites import SuiteService
from app.engine.services.supervision.approvals import ApprovalService
from app.engine.services.supervision.batches import BatchService
from app.engine.services.supervision.crash_recovery import left_runs
from app.engine.services.supervision.equal_requests import EqualRequestService
from app.engine.services.supervision.fleet import Fleet
from app.engine.services.supervision.operator_actions import OperatorActions
from app.engine.services.supervision.other_processes import OtherProcesses
from app.engine.services.supervision.pointing import PointingService
from app.engine.services.supervision.takeover_service import TakeoverService
from app.engine.services.task_files import TaskFileService
from app.engine.services.tip_testing import TipTestService
from app.engine.services.verdict_files import VerdictFileService


def author_name() -> str:
    """Return the user's name: from the settings, else the log-in name."""
    try:
        return settings.load().author or getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


class Engine(EngineApi):
    """Every use case of an open workspace; one instance a process."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.bus, self.registry = core.bus, core.registry
        chosen = settings.load()
        model = Path(chosen.encoder) if chosen.encoder else None
        retrieval = RetrievalService(core, settings.cache_dir() / "encoder", model, chosen.token_budget)
        self._retrieval, self._review = retrieval, ReviewService(core)
        stored_suites = StoredSuites(core.workspace)
        knowledge = KnowledgeService(core, retrieval, stored_suites)
        graph_cache = GraphCache(core)
        exploration = ExplorationService(core, graph_cache, knowledge)
        graph_search = GraphSearchService(core, graph_cache, retrieval)
        self._graph_navigation = GraphNavigationService(core, graph_cache)
        run_reader, approvals = RunReader(core), ApprovalService(core, self._review.after_verdicts)
        suites = SuiteService(core, stored_suites)
        self._agent_runs = AgentRunService(
            core, graph_cache, graph_search, retrieval, self._review, run_reader, task_lookup(suites)
        )
        self._fleet = Fleet(core, approvals, self._agent_runs, run_reader, self._review)
        self._batches = BatchService(core, self._fleet, self._agent_runs)
        self._others = OtherProcesses(core, self._fleet, self._batches)
        self._takeovers = TakeoverService(core, approvals, self._fleet, run_reader, exploration)
        tip_tests = TipTestService(core, graph_cache)
        work = ScheduledWork(core, graph_cache, exploration, tip_tests, self._fleet)
        self._schedules = ScheduleService(core, work)
        operator_actions = OperatorActions(core, approvals, self._fleet)
        exchanges, outcomes = ExchangeService(core), ExpectedOutcomeService(core, suites)
        rescoring = RescoringService(core, suites)
        self._evaluation = EvaluationService(
            core,
            suites,
            rescoring,
            self.run_task,
            self._review.detect,
            self.encoder_loaded,
            graph_search.prepare_map,
        )
        self._asking = ModelJudging(core, self._review)
        self._bind(
            RunService(core, self._review),
            RunExportService(core),
            self._review,
            knowledge,
            retrieval,
            HistoryService(core, self._review),
            GraphService(core, graph_cache),
            exploration,
            graph_search,
            self._graph_navigation,
            run_reader,
            operator_actions,
            self._batches,
            TaskFileService(core),
            EqualRequestService(approvals, operator_actions, self._takeovers.logins),
            PointingService(core, approvals, self._fleet),
            self._schedules,
            self._fleet,
            approvals,
            self._takeovers,
            tip_tests,
            SiteService(core),
            RunCauseService(core, self._review, outcomes),
            RunComparisonService(core, self._review, stored_suites),
            FailureClusterService(core, self._review),
            AnnotatorService(core, self._review),
            VerdictFileService(core, self._review),
            ReviewProgressService(core, self._review),
            StepDraftingService(core),
            exchanges,
            AskAgainService(core, exchanges),
            PromptService(core),
            ModelTestService(core),
            outcomes,
            suites,
            rescoring,
            self._evaluation,
            comparison := ComparisonService(core, self._evaluation, suites, retrieval.kb_behaviour_diff),
            SharedKnowledgeService(core, retrieval.kb_behaviour_diff, comparison.tip_credits),
        )
        self._proof: launcher.StartedBrowser | None = None
        self._encoder_loading: asyncio.Task[Any] | None = None
        self._unlisten = launcher.on_browser_start(self._on_browser)

    def _bind(self, *services: object) -> None:
        """Offer each use case of ``EngineApi`` that is not defined here by the first service that has it."""
        for name in channel.use_cases():
            if name not in vars(Engine):
                owner = next(service for service in services if hasattr(type(service), name))
                setattr(self, name, getattr(owner, name))

    @classmethod
    async def open(cls, workspace: Path, author: str = "") -> Engine:
        """Open or create a workspace; raises a ``SiteloreError`` that says what is wrong with it."""
        engine = cls(await Core.open(workspace, author or author_name()))
        if engine._core.workspace.index_rebuilt:
            await engine._review.detect_missing()  # flags are stored in the index alone
        return engine

    async def run_task(self, request: RunRequest) -> RunSummary:
        """Do a task and wait for its end; a supervised one is among the live runs meanwhile."""
        doing = self._fleet.run_supervised if request.supervised else self._agent_runs.run_task
        return await doing(request)

    async def resume_run(self, run: str) -> RunSummary:
        """Resume an interrupted run and wait for its end."""
        request = await self.run_request(run)
        doing = self._fleet.resume_supervised if request.supervised else self._agent_runs.resume_run
        return await doing(run)

    async def run_episode(self, request: EpisodeRequest) -> EpisodeRecord:
        """Run one task in one arm and score it; what a worker does."""
        record = await self._evaluation.run_episode(request)
        return replace(record, browser=self._proof.version if self._proof is not None else "")

    async def stop_run(self, run: str) -> None:
        """End a run after the step in flight."""
        doing = self._fleet.end_run if self._fleet.find(run) is not None else self._agent_runs.stop_run
        await doing(run)

    async def recover(self, *, automatically: bool = False) -> list[LiveRow]:
        """Show the runs that a crashed process left; ``automatically`` resumes those that were active."""
        claimed = await self._batches.claim_left()
        rows = await self._fleet.recover(automatically=automatically)
        await self._batches.recover_batches(claimed, automatically=automatically)
        return rows

    async def recover_run(self, run: str) -> None:
        """Show one run if a crashed process left it; everything else is left as it is."""
        await self._fleet.recover(automatically=False, wanted=lambda found: found.run == run)

    async def left_runs(self) -> list[LiveRow]:
        """Return the runs that a crashed process left, without taking them over."""
        left = await self._core.on_store(left_runs, self._core.workspace)
        return [one.row for one in left]

    def owns_batch(self, batch: str) -> bool:
        """Whether this process runs a batch."""
        return self._batches.owns(batch)

    async def on_clients_gone(self) -> None:
        """The last client is gone: hand back all pages."""
        await self._takeovers.on_clients_gone()

    async def aclose(self) -> None:
        """End the jobs and close the stores, after the ranking has learnt from all verdicts."""
        self._unlisten()
        await self._batches.aclose()
        await self._fleet.aclose()
        await self._graph_navigation.aclose()
        await self._review.settle()
        await self._core.aclose()

    async def apply_settings(self) -> None:
        """Read the settings again and use them from now on; model, browser and budgets of a run are read by each run.

        Raises:
            InputError: a setting has a value of the wrong kind.
        """
        chosen = await self._core.on_worker(settings.load)
        await self._core.on_store(self._core.sign_as, chosen.author or author_name())
        await self._fleet.set_concurrency(min(max(chosen.at_once, 1), settings.MOST_AT_ONCE))
        encoder = Path(chosen.encoder) if chosen.encoder else None
        await self._retrieval.change(encoder, chosen.token_budget)

    def warm_up(self) -> None:
        """Start background work that is needed soon: the encoder, and detection where runs wait for it."""
        self._encoder_loading = self.registry.hold(self._retrieval.load_encoder())
        self.registry.hold(self._review.start_missing_detection())

    def watch_schedule(self) -> None:
        """Do scheduled work in the background whenever it is due."""
        self.registry.hold(self._schedules.watch_schedule())

    def watch_others(self) -> None:
        """Publish in the background how the runs and batches of other processes fare."""
        self.registry.hold(self._others.watch())

    async def load_encoder(self, allow_export: bool = True, ahead: bool = True) -> None:
        """Load the encoder now, for the embedding route (the command line waits for it)."""
        await self._retrieval.load_encoder(allow_export, ahead)

    async def encoder_loaded(self) -> None:
        """Load the encoder unless it is there, or wait until it is; without one nothing is raised."""
        if self._encoder_loading is None and self._retrieval.encoder is None:
            self._encoder_loading = self.registry.hold(self._retrieval.load_encoder(ahead=False))
        if self._encoder_loading is not None:
            await asyncio.wait([self._encoder_loading])

    async def prepared(self, seconds: float | None = None) -> bool:
        """Wait until all retrievable tips are encoded, or for so many seconds; return whether they are."""
        return await self._retrieval.wait_until_prepared(seconds)

    async def info(self) -> WorkspaceInfo:
        """Return the workspace's figures for the status bar."""
        core = self._core

        def counting() -> tuple[int, int, int]:
            index = core.workspace.index
            return index.count(), index.count_unscored(), core.kb.stats().tips

        runs, unscored, tips = await core.on_store(counting)
        path = core.workspace.path
        return WorkspaceInfo(
            path=str(path),
            name=path.name,
            runs=runs,
            tips=tips,
            encoder=self._retrieval.encoder_message,
            encoder_ready=self._retrieval.encoder is not None,
            notes=tuple(self.notes),
            author=core.author,
            unscored=unscored,
        )

    @property
    def notes(self) -> list[str]:
        """Repairs made while the workspace was opened, one sentence each."""
        return self._core.workspace.notes

    async def doctor(self, browser_only: bool = False) -> list[Check]:
        """Check the installation and name remedies; ``browser_only`` checks the browser and its sandbox."""
        from app.engine.services.doctor import browser_checks, examine

        if browser_only:
            return await browser_checks(settings.load().browser, lambda: self._proof)
        return await examine(self._core.workspace.path, proof=lambda: self._proof)

    def _on_browser(self, started: launcher.StartedBrowser) -> None:
        """Note that a browser works: a run, an exploration or a takeover has started one."""
        self._proof, why = started, started.unsandboxed
        self.bus.publish(
            BrowserStarted(
                found=started.words,
                unsandboxed=why,
                remedy=sandbox.remedy(why) if why else "",
                warning=sandbox.no_sandbox_warning(why),
            )
        )

    async def ask_model(self, runs: Sequence[str] = (), limit: int = 20) -> list[Flag]:
        """Ask a model about these runs, or the riskiest ones without an opinion; its flags join the rules'.

        Raises ``ModelError`` when no endpoint is set or it does not answer.
        """

        async def work(job: Job) -> list[Flag]:
            return await self._asking.ask_model(runs, limit=limit, job=job)

        _, task = self.registry.start("Ask a model about runs", work, cooperative=False)
        return await task

    async def jobs(self) -> list[JobChanged]:
        """Return every job of this process."""
        return [job.snapshot() for job in self.registry.jobs]

    async def cancel_job(self, job: str) -> None:
        """Cancel a job; finished parts stay."""
        self.registry.cancel(job)
