"""The expected outcome of a run, with the verdict that its suite's own rules give on it."""

from __future__ import annotations

from dataclasses import replace

from app.engine.api.evaluation_api import ExpectedOutcome, RescoredRun
from app.engine.core.evaluation.suite import Dialect, Suite
from app.engine.core.evaluation.task_score import TaskScore
from app.engine.services.core import Core
from app.engine.services.rescored_runs import RescoringRules, RunInScoring, read_stored_run, with_suite
from app.engine.services.suites import SuiteService
from app.errors import SiteloreError


class ExpectedOutcomeService:
    """The use case of Review."""

    def __init__(self, core: Core, suites: SuiteService) -> None:
        self._core, self._suites = core, suites

    async def expected_outcome(self, run: str) -> ExpectedOutcome | None:
        """Return what a run should have come to; ``None`` where no suite of the workspace has its task.

        The verdict is that of the suite's own dialect on the stored evidence: no page is opened and no judge is asked.
        There is none for a blind suite, nor for the strict dialect, which is a program that takes its time.

        Raises:
            NotFound: there is no such run.
        """
        outcome = await self._suites.expected_rules(run)
        if outcome is None or outcome.hidden:
            return outcome
        suite = await self._suites.suite(outcome.suite)
        if suite.dialect is Dialect.STRICT:
            return outcome
        return replace(outcome, score=await self._core.on_store(self._score, run, suite))

    def _score(self, run: str, suite: Suite) -> TaskScore | None:
        workspace = self._core.workspace
        try:
            head = workspace.runs.load_head(run)
        except SiteloreError:  # it is in the index alone
            return None
        rules = RescoringRules(
            suite=suite,
            dialect=suite.dialect,
            sites=workspace.site_table,
            rows=dict(workspace.site_store.rows),
        )
        stored = read_stored_run(run, head, workspace.runs.read_blob)
        begun = stored if isinstance(stored, RescoredRun) else RunInScoring.begin(stored, rules)
        return None if isinstance(begun, RescoredRun) else with_suite(begun.score, suite)
