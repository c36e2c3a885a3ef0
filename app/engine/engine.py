"""The program without a window: opens a workspace and does what ``EngineApi`` promises."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app import settings
from app.engine.api import Check, EngineApi, WorkspaceInfo
from app.engine.cases.asking import Asking
from app.engine.cases.atlas import Atlas
from app.engine.cases.core import Core
from app.engine.cases.exploring import Exploring
from app.engine.cases.finding import Finding
from app.engine.cases.graphs import GraphCases
from app.engine.cases.history import HistoryCases
from app.engine.cases.judging import Judging
from app.engine.cases.knowledge import KnowledgeCases
from app.engine.cases.retrieving import Retrieving
from app.engine.cases.running import Running
from app.engine.cases.runs import RunCases
from app.engine.cases.wayfinding import Wayfinding
from app.engine.events import JobChanged
from app.engine.jobs import Job
from app.engine.judgement import Flag


def author_name() -> str:
    """Who is working: from the settings, else the log-in name."""
    try:
        return settings.load().author or getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


class Engine:
    """Every use case of an open workspace; one instance a process.

    The cases are parts with their own state; this class only names them in one place.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self.bus, self.registry = core.bus, core.registry
        chosen = settings.load()
        model = Path(chosen.encoder) if chosen.encoder else None
        retrieving = Retrieving(core, settings.cache_dir() / "encoder", model, chosen.token_budget)
        judging = Judging(core)
        runs, knowledge = RunCases(core, judging), KnowledgeCases(core, retrieving)
        history = HistoryCases(core, judging)
        self._retrieving, self._judging = retrieving, judging

        self.import_runs, self.list_runs, self.open_run = runs.import_runs, runs.list_runs, runs.open_run
        self.view_step, self.blob, self.search = runs.view_step, runs.blob, runs.search
        self.delete_runs, self.export_runs = runs.delete_runs, runs.export_runs
        self.rebuild_index = runs.rebuild_index

        self.detect, self.give_verdict = judging.detect, judging.give_verdict
        self._asking = Asking(core, judging)
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
        self.unfit_to_freeze = knowledge.unfit_to_freeze
        self.kb_stats, self.kb_diff, self.kb_merge = knowledge.kb_stats, knowledge.kb_diff, knowledge.kb_merge
        self.kb_import, self.kb_export = knowledge.kb_import, knowledge.kb_export
        self.keep_draft, self.kept_draft = knowledge.keep_draft, knowledge.kept_draft
        self.retrieve, self.kb_behaviour_diff = retrieving.retrieve, retrieving.behaviour_diff

        atlas = Atlas(core)
        graphs, exploring = GraphCases(core, atlas), Exploring(core, atlas, knowledge)
        finding, ways = Finding(core, atlas, retrieving), Wayfinding(core, atlas)
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
        self.graph_path, self.graph_go, self.close_browser = (
            ways.graph_path,
            ways.graph_go,
            ways.close_browser,
        )
        self.log_in_by_hand, self.logged_in = ways.log_in_by_hand, ways.logged_in

        running = Running(core, atlas, finding, retrieving, judging)
        self.run_task, self.resume_run, self.stop_run = running.run_task, running.resume_run, running.stop_run
        self.run_memory, self.run_tips = running.run_memory, running.run_tips

        self.undo, self.redo, self.history = history.undo, history.redo, history.history
        self.load_session, self.save_session = history.load_session, history.save_session

    @classmethod
    async def open(cls, workspace: Path, author: str = "") -> Engine:
        """Open or make a workspace; raises a ``SiteloreError`` that says what is wrong with it."""
        engine = cls(await Core.open(workspace, author or author_name()))
        if engine._core.workspace.index_made_anew:
            await engine.detect()  # flags stand in the index alone
        return engine

    async def aclose(self) -> None:
        """End the jobs and close the stores; what verdicts teach is learnt first."""
        await self._ways.aclose()
        await self._judging.settle()
        await self._core.aclose()

    def warm_up(self) -> None:
        """Start what is wanted soon, in the background: the encoder."""
        self.registry.hold(self._retrieving.load_encoder())

    async def load_encoder(self, allow_export: bool = True) -> None:
        """Make the embedding route usable now (the command line waits for it)."""
        await self._retrieving.load_encoder(allow_export)

    async def info(self) -> WorkspaceInfo:
        """What the status bar says at the start."""
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
        )

    async def doctor(self) -> list[Check]:
        """What works here, and how to mend what does not."""
        from app.engine.doctor import examine

        return await examine(self._core.workspace.path)

    async def ask_model(self, runs: Sequence[str] = (), limit: int = 20) -> list[Flag]:
        """Ask a model about these runs, or the riskiest it was never asked about; its flags join the rules'.

        Raises ``ModelError`` when no endpoint is set or it does not answer.
        """

        async def work(job: Job) -> list[Flag]:
            return await self._asking.ask_model(runs, limit=limit, job=job)

        _, task = self.registry.start("Ask a model about runs", work, cooperative=False)
        return await task

    async def jobs(self) -> list[JobChanged]:
        """Every job of this process."""
        return [job.snapshot() for job in self.registry.jobs]

    async def cancel_job(self, job: str) -> None:
        """Stop a job; what it has finished stays."""
        self.registry.cancel(job)


if TYPE_CHECKING:
    promise: Callable[[Engine], EngineApi] = lambda engine: engine  # noqa: E731 pyright proves it here
