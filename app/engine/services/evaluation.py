"""Evaluations: planned, run by workers, resumed from their journal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from app.engine.api.evaluation_api import EpisodeRequest, EvaluationPlan, EvaluationRequest, EvaluationRow
from app.engine.api.run_api import RunRequest, RunSummary
from app.engine.core.evaluation.episode import EpisodeRecord, Journal
from app.engine.services.core import Core
from app.engine.services.rescoring import RescoringService
from app.engine.services.suites import SuiteService


class EvaluationService:
    """Use cases of evaluations."""

    def __init__(
        self,
        core: Core,
        suites: SuiteService,
        rescoring: RescoringService,
        run_task: Callable[[RunRequest], Awaitable[RunSummary]],
    ) -> None:
        self._core, self._suites, self._rescoring, self._run_task = core, suites, rescoring, run_task

    async def evaluations(self) -> list[EvaluationRow]:
        """Return the evaluations that the workspace knows, the newest first."""
        raise NotImplementedError

    async def plan_evaluation(self, request: EvaluationRequest) -> EvaluationPlan:
        """Return what an evaluation would do, how long it would take and what it could show."""
        raise NotImplementedError

    async def run_evaluation(self, request: EvaluationRequest) -> EvaluationRow:
        """Run an evaluation, or go on with the one in its folder, as a job."""
        raise NotImplementedError

    async def resume_evaluation(self, folder: str, workers: int = 0) -> EvaluationRow:
        """Go on with an evaluation from its journal; 0 workers: as many as before."""
        raise NotImplementedError

    async def stop_evaluation(self, folder: str) -> None:
        """Stop an evaluation after the episodes in flight."""
        raise NotImplementedError

    async def forget_evaluation(self, folder: str) -> None:
        """Take an evaluation off the list; its folder stays."""
        raise NotImplementedError

    async def run_episode(self, request: EpisodeRequest) -> EpisodeRecord:
        """Run one task in one arm and score it; what a worker does."""
        raise NotImplementedError

    async def packed_run(self, run: str) -> bytes:
        """Return a run as a packed native run folder, for a journal on another machine."""
        raise NotImplementedError

    async def episode_records(self, folder: str) -> list[EpisodeRecord]:
        """Return the records of an evaluation's journal so far."""
        raise NotImplementedError

    async def journal(self, folder: str) -> Journal:
        """Read an evaluation's folder.

        Raises:
            NotFound: there is none.  InputError: it is damaged, or of a newer version.
        """
        raise NotImplementedError
