"""Stored runs on their way to a verdict: their task in a suite, the rules that were in force, the row for people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from app.engine.api.evaluation_api import RescoredRun
from app.engine.core.evaluation.helper_calls import evidence_targets
from app.engine.core.evaluation.run_evidence import RunEvidence
from app.engine.core.evaluation.suite import Dialect, Evaluator, Suite, SuiteTask
from app.engine.core.evaluation.task_score import ScoreVerdict, TaskScore
from app.engine.core.sites import Site, SiteTable
from app.engine.core.trajectory import Run
from app.engine.evaluation.evaluate import EvaluatorOptions, evaluate
from app.engine.evaluation.evidence_codec import decode_evidence
from app.engine.evaluation.taint import suite_names
from app.engine.services.stored_evidence import bases_of, may_be_on_page, stored_evidence
from app.errors import SiteloreError

BROWSERGYM_SOURCES = frozenset({"colorbrowseragent"})
"""Formats of runs that BrowserGym scored, with its two extra rules."""
OWN_SOURCE = "sitelore"
"""Source of runs that this program made; all others are foreign."""
HIDDEN = "the suite is blind: its answers are hidden"
"""Stands for the reasons of verdicts, which tell what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run with its evidence; ``name`` is its id, or its folder."""

    name: str
    run: Run
    evidence: RunEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoringRules:
    """The rules of one rescoring.

    Attributes:
        browsergym: BrowserGym's two rules; ``None`` where a run's own format decides.
        blind: answers of the suite are hidden.
        no_judge: why no judge model is asked.
    """

    suite: Suite
    dialect: Dialect
    sites: SiteTable
    rows: dict[str, Site]
    browsergym: bool | None = None
    blind: bool = False
    no_judge: str = "no judge model was asked"

    def task_of(self, run: Run) -> SuiteTask | str:
        """Return a run's task, or why it is not scored: a person ended it, or the suite has none."""
        if run.ended_by:
            return f"{run.ended_by[:60]} ended the run by hand, so it says nothing about the agent"
        if run.suite and run.suite not in suite_names(self.suite):
            return f"the run is of the suite {run.suite[:60]}, not of {self.suite.name}"
        found = next((task for task in self.suite.tasks if task.id == run.task_id), None)
        return found if found is not None else f"the suite {self.suite.name} has no task {run.task_id[:60]!r}"

    def wants_page(self, run: Run) -> bool:
        """Whether a verdict on a run may depend on its last page."""
        task = self.task_of(run)
        return (
            not isinstance(task, str)
            and Evaluator.HTML in task.oracle.evaluators
            and any(may_be_on_page(target) for _, target in evidence_targets(task.oracle))
        )

    def options_for(self, stored: StoredRun) -> EvaluatorOptions:
        """Return the rules for one run."""
        given = self.browsergym
        browsergym = stored.run.source in BROWSERGYM_SOURCES if given is None else given
        return EvaluatorOptions(
            dialect=self.dialect,
            infeasible_is_na=browsergym,
            off_site_is_zero=browsergym,
            bases=bases_of(stored.evidence, self.rows, foreign=stored.run.source != OWN_SOURCE),
            no_judge=self.no_judge,
        )


@dataclass(slots=True, kw_only=True)
class RunInScoring:
    """A run whose verdict may change when its page was read, or a judge has replied."""

    stored: StoredRun
    task: SuiteTask
    options: EvaluatorOptions
    score: TaskScore

    @classmethod
    def begin(cls, stored: StoredRun, rules: RescoringRules) -> RunInScoring | RescoredRun:
        """Return a run with the verdict that its records give, or the row of one without a task."""
        task = rules.task_of(stored.run)
        if isinstance(task, str):
            return refused_run(stored.name, stored.run, task)
        options = rules.options_for(stored)
        return cls(stored=stored, task=task, options=options, score=evaluate(task, stored.evidence, options))

    @property
    def is_open(self) -> bool:
        """Whether the verdict is undecided."""
        return self.score.verdict is ScoreVerdict.UNDECIDED

    def row(self, *, blind: bool) -> RescoredRun:
        """Return the row for people; a blind suite shows verdicts alone."""
        score, run = self.score, self.stored.run
        return RescoredRun(
            run=self.stored.name,
            task=self.task.id,
            recorded=run.score,
            score=score.score,
            verdict=score.verdict.value,
            why=HIDDEN if blind else score.why,
            checks=() if blind else score.checks,
            evaluators=self.task.oracle.evaluators,
            site=run.site or self.task.site,
            judge=() if blind else score.judge,
        )


def refused_run(name: str, run: Run, why: str) -> RescoredRun:
    """Return the row of a run that can't be scored."""
    return RescoredRun(
        run=name,
        task=run.task_id,
        recorded=run.score,
        score=None,
        verdict=ScoreVerdict.UNDECIDED.value,
        why=why,
        site=run.site,
    )


def read_stored_run(name: str, run: Run, read: Callable[[str], bytes]) -> StoredRun | RescoredRun:
    """Return a run with the evidence that was captured at its end, else with what its records hold.

    ``read`` returns a content by its hash and raises a ``SiteloreError`` where it is gone.
    """
    if run.evidence:
        try:
            evidence = decode_evidence(read(run.evidence), f"evidence of run {run.id}")
        except SiteloreError as error:
            return refused_run(name, run, str(error))
        return StoredRun(name=name, run=run, evidence=evidence)
    html = None
    if run.final is not None and run.final.html:
        try:
            html = read(run.final.html).decode("utf-8", "replace")
        except SiteloreError:
            html = None  # as if it had not been recorded
    return StoredRun(name=name, run=run, evidence=stored_evidence(run, html))


def with_suite(score: TaskScore, suite: Suite) -> TaskScore:
    """Return a verdict that names the suite it goes by."""
    return replace(score, suite_sha256=suite.sha256)
