"""Rescoring: the verdict of a named dialect on stored runs."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.api.evaluation_api import RescoredRun
from app.engine.core.evaluation.run_evidence import RunEvidence
from app.engine.core.evaluation.suite import Suite, SuiteTask
from app.engine.core.evaluation.task_score import TaskScore
from app.engine.services.core import Core
from app.engine.services.suites import SuiteService


class RescoringService:
    """Use cases of scoring stored runs again."""

    def __init__(self, core: Core, suites: SuiteService) -> None:
        self._core, self._suites = core, suites

    async def rescore(
        self, runs: Sequence[str], suite: str, dialect: str = "", judge: bool = False
    ) -> list[RescoredRun]:
        """Score runs of the workspace again; none given: all of the suite's tasks."""
        raise NotImplementedError

    async def rescore_folder(
        self, path: str, suite: str, dialect: str = "", judge: bool = False
    ) -> list[RescoredRun]:
        """Score the runs in a folder again, without importing them."""
        raise NotImplementedError

    async def score(
        self,
        suite: Suite,
        task: SuiteTask,
        evidence: RunEvidence,
        dialect: str = "",
        *,
        infeasible_is_na: bool = False,
        off_site_is_zero: bool = False,
        judge: bool = True,
    ) -> TaskScore:
        """Return the verdict on captured evidence."""
        raise NotImplementedError
