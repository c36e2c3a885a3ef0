"""The program without a window: opens a workspace and implements ``EngineApi``."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app import settings
from app.engine.api.engine_api import Check, EngineApi, WorkspaceInfo
from app.engine.api.run_api import RunRequest, RunSummary
from app.engine.browser.launch import launcher, sandbox
from app.engine.core.events import BrowserStarted, JobChanged
from app.engine.core.supervision import LiveRow
from app.engine.core.verdicts import Flag
from app.engine.jobs import Job
from app.engine.services.agent_runs import AgentRunService
from app.engine.services.core import Core
from app.engine.services.exploration import ExplorationService
from app.engine.services.graph_cache import GraphCache
from app.engine.services.graph_navigation import GraphNavigationService
from app.engine.services.graph_search import GraphSearchService
from app.engine.services.graphs import GraphService
from app.engine.services.history import HistoryService
from app.engine.services.knowledge import KnowledgeService
from app.engine.services.model_judging import ModelJudging
from app.engine.services.retrieval import RetrievalService
from app.engine.services.review import ReviewService
from app.engine.services.run_reader import RunReader
from app.engine.services.runs import RunService
from app.engine.services.supervision.approvals import ApprovalService
from app.engine.services.supervision.fleet import Fleet
from app.engine.services.supervision.operator_actions import OperatorActions
from app.engine.services.supervision.takeover_results import TakeoverResults
from app.engine.services.supervision.takeover_service import TakeoverService


def author_name() -> str:
    """Return the user's name: from the settings, else the log-in name."""
    try:
        return settings.load().author or getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


class Engine:
    """Every use case of an open workspace; one instance a process."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.bus, self.registry = core.bus, core.registry
        chosen = settings.load()
        model = Path(chosen.encoder) if chosen.encoder else None
        retrieving = RetrievalService(core, settings.cache_dir() / "encoder", model, chosen.token_budget)
        judging = ReviewService(core)
        runs, knowledge = RunService(core, judging), KnowledgeService(core, retrieving)
        history = HistoryService(core, judging)
        self._retrieving, self._judging = retrieving, judging

        self.import_runs, self.list_runs, self.open_run = runs.import_runs, runs.list_runs, runs.open_run
        self.view_step, self.blob, self.search = runs.view_step, runs.blob, runs.search
        self.delete_runs, self.export_runs = runs.delete_runs, runs.export_runs
        self.rebuild_index = runs.rebuild_index

        self.detect, self.give_verdict = judging.detect, judging.give_verdict
        self._asking = ModelJudging(core, judging)
        self.withdraw_verdict, self.next_to_review = judging.withdraw_verdict, judging.next_to_review
        self.risk_report = judging.risk_report

        self.compose_tip, self.check_tip = knowledge.compose_tip, knowledge.check_tip
        self.save_tip, self.edit_tip, self.set_status = (
            knowledge.save_tip,
            knowledge.edit_tip,
            knowledge.set_status,
        )
        self.list_tips, self.tip, self.lint_tip = knowledge.list_tips, knowledge.tip, knowledge.lint_tip
        self.tip_history, self.restore_revision = knowledge.tip_history, knowledge.restore_revision
        self.preflight, self.matching_pages = knowledge.preflight, knowledge.matching_pages
        self.freeze, self.verify = knowledge.freeze, knowledge.verify
        self.freeze_blockers, self.lint_marks = knowledge.freeze_blockers, knowledge.lint_marks
        self.kb_stats, self.kb_diff, self.kb_merge = knowledge.kb_stats, knowledge.kb_diff, knowledge.kb_merge
        self.kb_import, self.kb_export = knowledge.kb_import, knowledge.kb_export
        self.save_draft, self.load_draft = knowledge.save_draft, knowledge.load_draft
        self.retrieve, self.kb_behaviour_diff = retrieving.retrieve, retrieving.behaviour_diff

        atlas = GraphCache(core)
        graphs, exploring = GraphService(core, atlas), ExplorationService(core, atlas, knowledge)
        finding, ways = GraphSearchService(core, atlas, retrieving), GraphNavigationService(core, atlas)
        self._ways = ways
        self.graphs, self.graph_stats, self.graph_node = graphs.graphs, graphs.graph_stats, graphs.graph_node
        self.graph_picture, self.graph_from_runs = graphs.graph_picture, graphs.graph_from_runs
        self.graph_diff, self.graph_export = graphs.graph_diff, graphs.graph_export
        self.merge_nodes, self.split_node = graphs.merge_nodes, graphs.split_node
        self.try_rules, self.block_rules = graphs.try_rules, graphs.block_rules
        self.save_block_rules = graphs.save_block_rules
        self.explore, self.graph_verify = exploring.explore, exploring.graph_verify
        self.graph_update = exploring.graph_update
        self.pause_exploration = exploring.pause_exploration
        self.resume_exploration, self.stop_exploration = (
            exploring.resume_exploration,
            exploring.stop_exploration,
        )
        self.graph_search, self.graph_compare_search = finding.graph_search, finding.graph_compare_search
        self.graph_path, self.graph_navigate, self.close_browser = (
            ways.graph_path,
            ways.graph_navigate,
            ways.close_browser,
        )
        self.log_in_by_hand, self.logged_in = ways.log_in_by_hand, ways.logged_in

        reading, desk = RunReader(core), ApprovalService(core, judging.after_verdicts)
        running = AgentRunService(core, atlas, finding, retrieving, judging, reading)
        fleet = Fleet(core, desk, running, reading, judging)
        words = OperatorActions(core, desk, fleet)
        takeovers = TakeoverResults(core, fleet, exploring)
        self._running, self._fleet = running, fleet
        self.run_memory, self.run_tips = reading.run_memory, reading.run_tips
        self.live_runs, self.live_run, self.start_runs = fleet.live_runs, fleet.live_run, fleet.start_runs
        self.read_tasks, self.run_request = fleet.read_tasks, fleet.run_request
        self.set_concurrency, self.dismiss_run = fleet.set_concurrency, fleet.dismiss_run
        self.pause_run, self.continue_run, self.step_run = (
            fleet.pause_run,
            fleet.continue_run,
            fleet.step_run,
        )
        self.end_run, self.pause_all = fleet.end_run, fleet.pause_all
        self.requests, self.decide, self.send_hint = words.requests, words.decide, words.send_hint
        self.draft_tip_from_hint, self.interventions, self.judge_flag = (
            words.draft_tip_from_hint,
            words.interventions,
            words.judge_flag,
        )
        self.override_tip, self.vote_tip = words.override_tip, words.vote_tip
        self.intervention_policy = words.intervention_policy
        self.save_intervention_policy = words.save_intervention_policy
        self.preview_policy = words.preview_policy
        self._handing = handing = TakeoverService(core, desk, fleet, reading)
        self.watch_page, self.take_over = fleet.watch_page, handing.take_over
        self.send_input, self.move_page = handing.send_input, handing.move_page
        self.release = handing.release
        self.draft_tip_from_takeover, self.takeover_to_graph = (
            takeovers.draft_tip_from_takeover,
            takeovers.takeover_to_graph,
        )

        self._proof: launcher.StartedBrowser | None = None
        self._unlisten = launcher.on_browser_start(self._on_browser)

        self.undo, self.redo, self.history = history.undo, history.redo, history.history
        self.load_session, self.save_session = history.load_session, history.save_session

    @classmethod
    async def open(cls, workspace: Path, author: str = "") -> Engine:
        """Open or create a workspace; raises a ``SiteloreError`` that says what is wrong with it."""
        engine = cls(await Core.open(workspace, author or author_name()))
        if engine._core.workspace.index_rebuilt:
            await engine._judging.detect_missing()  # flags stand in the index alone
        return engine

    async def run_task(self, request: RunRequest) -> RunSummary:
        """Do a task and wait for its end; a supervised one is among the live runs meanwhile."""
        doing = self._fleet.run_supervised if request.supervised else self._running.run_task
        return await doing(request)

    async def resume_run(self, run: str) -> RunSummary:
        """Resume an interrupted run and wait for its end."""
        request = await self.run_request(run)
        doing = self._fleet.resume_supervised if request.supervised else self._running.resume_run
        return await doing(run)

    async def stop_run(self, run: str) -> None:
        """End a run after the step in flight."""
        doing = self._fleet.end_run if self._fleet.find(run) is not None else self._running.stop_run
        await doing(run)

    async def recover(self, *, automatically: bool = False) -> list[LiveRow]:
        """Show the runs that a crashed process left; ``automatically`` resumes those that were active."""
        return await self._fleet.recover(automatically=automatically)

    async def on_clients_gone(self) -> None:
        """The last client is gone: hand back all pages."""
        await self._handing.on_clients_gone()

    async def aclose(self) -> None:
        """End the jobs and close the stores, after the ranking has learnt from all verdicts."""
        self._unlisten()
        await self._fleet.aclose()
        await self._ways.aclose()
        await self._judging.settle()
        await self._core.aclose()

    def warm_up(self) -> None:
        """Start background work that is needed soon: the encoder, and detection where runs wait for it."""
        self.registry.hold(self._retrieving.load_encoder())
        self.registry.hold(self._judging.start_missing_detection())

    async def load_encoder(self, allow_export: bool = True, ahead: bool = True) -> None:
        """Load the encoder now, for the embedding route (the command line waits for it)."""
        await self._retrieving.load_encoder(allow_export, ahead)

    async def prepared(self, seconds: float | None = None) -> bool:
        """Wait until all retrievable tips are encoded, or for so many seconds; return whether they are."""
        return await self._retrieving.prepared(seconds)

    async def info(self) -> WorkspaceInfo:
        """Return the workspace's figures for the status bar."""
        core = self._core

        def counting() -> tuple[int, int]:
            return core.workspace.index.count(), core.kb.stats().tips

        runs, tips = await core.on_store(counting)
        path = core.workspace.path
        return WorkspaceInfo(
            path=str(path),
            name=path.name,
            runs=runs,
            tips=tips,
            encoder=self._retrieving.encoder_message,
            encoder_ready=self._retrieving.encoder is not None,
            notes=tuple(self.notes),
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


if TYPE_CHECKING:
    promise: Callable[[Engine], EngineApi] = lambda engine: engine  # noqa: E731 pyright proves it here
