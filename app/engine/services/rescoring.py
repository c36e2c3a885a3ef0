"""Rescoring: the verdict of a named dialect on stored runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from app import settings
from app.engine.api.evaluation_api import RescoredRun
from app.engine.api.run_rows import RunFilter
from app.engine.core.evaluation.judge_question import JudgeQuestion
from app.engine.core.evaluation.run_evidence import RunEvidence
from app.engine.core.evaluation.suite import Dialect, Suite, SuiteTask
from app.engine.core.evaluation.task_score import TaskScore
from app.engine.core.trajectory import Run
from app.engine.evaluation.evaluate import EvaluatorOptions, evaluate, questions
from app.engine.evaluation.strict.environment import StrictEnvironment
from app.engine.evaluation.strict.scoring import strict_score
from app.engine.evaluation.taint import suite_names
from app.engine.imports.run_ends import find_run_places, read_run_end
from app.engine.imports.run_format import FoundRun
from app.engine.jobs import Job
from app.engine.services.core import Core
from app.engine.services.evaluation_judge import NOT_ASKED, EvaluationJudge
from app.engine.services.page_targets import PageTargets
from app.engine.services.rescored_runs import (
    RescoringRules,
    RunInScoring,
    StoredRun,
    read_stored_run,
    refused_run,
    with_suite,
)
from app.engine.services.stored_evidence import bases_of
from app.engine.services.suites import SuiteService
from app.errors import InputError, NotFound, PathError, SiteloreError, UsageError

JOB_TITLE = "Score runs again"
CHUNK = 8
"""Runs that are read and compared between two looks at whether to stop."""

_Read = StoredRun | RescoredRun


class RescoringService:
    """Use cases of scoring stored runs again.

    Args:
        judge: for tests; else the endpoint of the settings.
    """

    def __init__(self, core: Core, suites: SuiteService, judge: EvaluationJudge | None = None) -> None:
        self._core, self._suites = core, suites
        self._judge = judge or EvaluationJudge(core)

    async def rescore(
        self,
        runs: Sequence[str],
        suite: str,
        dialect: str = "",
        judge: bool = False,
        browsergym: bool | None = None,
    ) -> list[RescoredRun]:
        """Score runs of the workspace again; none given: all of the suite's tasks.

        Args:
            dialect: "" for the suite's own.
            judge: ask a judge model where the verdict depends on one.
            browsergym: its two extra rules; ``None``: for runs that it had scored.

        Raises:
            NotFound: there is no such suite, or no such run.
            UsageError: there is no such dialect, or it is not for suites of this form.
        """
        rules = await self._rules(suite, dialect, browsergym)
        ids = list(runs) or await self._core.on_store(self._runs_of, rules.suite)
        heads = [await self._core.on_store(self._head, one, bool(runs)) for one in ids]
        return await self._as_job(rules, self._stored(heads), len(heads), judge=judge)

    async def rescore_folder(
        self,
        path: str,
        suite: str,
        dialect: str = "",
        judge: bool = False,
        browsergym: bool | None = None,
    ) -> list[RescoredRun]:
        """Score the runs in a folder again, without importing them; their names are those of their folders.

        Args:
            dialect, judge, browsergym: as of ``rescore``.

        Raises:
            NotFound: there is no such suite.
            UsageError: there is no such dialect, or it is not for suites of this form.
            InputError: there is no such folder, or no run in it.
        """
        rules = await self._rules(suite, dialect, browsergym)
        problems: list[PathError] = []
        places = await self._core.on_worker(find_run_places, Path(path), problems)
        return await self._as_job(rules, self._foreign(places, rules), len(places), judge=judge)

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
        chosen = _dialect(dialect, suite)
        bases = bases_of(evidence, self._core.workspace.site_store.rows)
        if chosen is Dialect.STRICT:
            return with_suite(await _strict(task, evidence, bases), suite)
        options = EvaluatorOptions(
            dialect=chosen,
            infeasible_is_na=infeasible_is_na,
            off_site_is_zero=off_site_is_zero,
            bases=bases,
            no_judge=NOT_ASKED,
        )
        asked = questions(task, evidence, options) if judge else ()
        found = await self._judge.ask(asked)
        if found.why:
            options = replace(options, no_judge=found.why)
        return with_suite(await self._core.on_worker(evaluate, task, evidence, options, found.replies), suite)

    # inside

    async def _rules(self, suite: str, dialect: str, browsergym: bool | None) -> RescoringRules:
        read = await self._suites.suite(suite)
        workspace = self._core.workspace
        blind = await self._core.on_store(workspace.suites.is_blind, read.sha256)
        return RescoringRules(
            suite=read,
            dialect=fitting_dialect(dialect, read),
            sites=workspace.site_table,
            rows=dict(workspace.site_store.rows),
            browsergym=browsergym,
            blind=blind,
        )

    def _runs_of(self, suite: Suite) -> list[str]:
        index, known = self._core.workspace.index, {task.id for task in suite.tasks}
        return [
            row.id
            for name in suite_names(suite)
            for row in index.rows(RunFilter(suite=name))
            if row.task_id in known
        ]

    def _head(self, run: str, was_named: bool) -> Run | RescoredRun:
        """Return a run without its steps, or the row of one that can't be read; one that was named has to be there."""
        try:
            return self._core.workspace.runs.load_head(run)
        except NotFound as error:
            if was_named:
                raise
            why = str(error)
        except SiteloreError as error:
            why = str(error)
        return refused_run(run, Run(id=run, source=""), why)

    async def _stored(self, heads: Sequence[Run | RescoredRun]) -> AsyncIterator[list[_Read]]:
        """Read the workspace's runs with their evidence."""
        read = self._core.workspace.runs.read_blob
        for at in range(0, len(heads), CHUNK):
            yield [
                await self._core.on_store(read_stored_run, one.id, one, read) if isinstance(one, Run) else one
                for one in heads[at : at + CHUNK]
            ]

    async def _foreign(self, places: list[FoundRun], rules: RescoringRules) -> AsyncIterator[list[_Read]]:
        """Read the ends of a folder's runs."""

        def reading(chunk: Sequence[FoundRun]) -> list[_Read]:
            return [_foreign_run(place, rules) for place in chunk]

        for at in range(0, len(places), CHUNK):
            yield await self._core.on_worker(reading, places[at : at + CHUNK])

    async def _as_job(
        self, rules: RescoringRules, source: AsyncIterator[list[_Read]], total: int, *, judge: bool
    ) -> list[RescoredRun]:
        async def work(job: Job) -> list[RescoredRun]:
            found: list[RunInScoring | RescoredRun] = []
            async with AsyncExitStack() as stack:
                pages = PageTargets(stack, settings.load().browser, lambda: job.cancel_requested)
                fault: SiteloreError | None = None
                async with asyncio.TaskGroup() as group:
                    try:
                        async for chunk in source:
                            begun = await self._begun(chunk, rules)
                            found += begun
                            for one in begun:
                                if isinstance(one, RunInScoring) and pages.are_wanted(one):
                                    group.create_task(pages.read(one))
                            job.advance(len(found), total)
                            if job.cancel_requested:
                                break
                    except SiteloreError as error:  # raised here it would come out wrapped
                        fault = error
                if fault is not None:
                    raise fault
            if judge and not job.cancel_requested:
                await self._judged([one for one in found if isinstance(one, RunInScoring)], job)
            job.advance(len(found), total)
            rows = [one.row(blind=rules.blind) if isinstance(one, RunInScoring) else one for one in found]
            return [replace(row, suite=rules.suite.name, dialect=rules.dialect.value) for row in rows]

        _, task = self._core.registry.start(JOB_TITLE, work)
        return await task

    async def _begun(self, chunk: Sequence[_Read], rules: RescoringRules) -> list[RunInScoring | RescoredRun]:
        """Return runs with the verdict that needs neither their page nor a judge."""

        def comparing() -> list[RunInScoring | RescoredRun]:
            return [RunInScoring.begin(one, rules) if isinstance(one, StoredRun) else one for one in chunk]

        begun = await self._core.on_worker(comparing)
        if rules.dialect is Dialect.STRICT:
            for one in begun:
                if isinstance(one, RunInScoring):
                    one.score = await _strict(one.task, one.stored.evidence, one.options.bases)
        return begun

    async def _judged(self, open_runs: Sequence[RunInScoring], job: Job) -> None:
        """Ask a judge about all runs that need one, each question once."""
        waiting = [one for one in open_runs if one.is_open]
        asked = [question for one in waiting for question in _questions(one)]

        def progress(done: int, of: int) -> None:
            job.advance(job.done, job.total, f"{done} of {of} questions to the judge")

        found = await self._judge.ask(list(dict.fromkeys(asked)), progress)
        for one in waiting:
            if _questions(one):
                options = replace(one.options, no_judge=found.why or one.options.no_judge)
                one.score = evaluate(one.task, one.stored.evidence, options, found.replies)


def _questions(one: RunInScoring) -> Sequence[JudgeQuestion]:
    return questions(one.task, one.stored.evidence, one.options)


def _foreign_run(place: FoundRun, rules: RescoringRules) -> _Read:
    try:
        end = read_run_end(place, rules.sites, rules.wants_page)
    except InputError as error:
        return refused_run(place.name, Run(id=place.name, source=place.format.name), error.what)

    def read(digest: str) -> bytes:
        if digest not in end.blobs:
            raise NotFound("its content is missing")
        return end.blobs[digest]

    return read_stored_run(place.name, end.run, read)


async def _strict(task: SuiteTask, evidence: RunEvidence, bases: Sequence[tuple[str, str]]) -> TaskScore:
    return await strict_score(
        task.id,
        evidence.answer,
        evidence.infeasible,
        evidence.har,
        StrictEnvironment.in_cache(settings.cache_dir()),
        dict(bases),
    )


def _dialect(name: str, suite: Suite) -> Dialect:
    """Return the dialect of a name, the suite's own for "".  Raises ``UsageError``."""
    if not name:
        return suite.dialect
    try:
        return Dialect(name)
    except ValueError:
        raise UsageError(f"there is no dialect {name[:40]!r}; use {', '.join(Dialect)}") from None


def fitting_dialect(name: str, suite: Suite) -> Dialect:
    """Return a dialect that can read a suite's reference answers: ``sitelore`` has kinds of its own.

    Raises ``UsageError``.
    """
    chosen = _dialect(name, suite)
    fitting = [one for one in Dialect if (one is Dialect.SITELORE) == (suite.dialect is Dialect.SITELORE)]
    if chosen not in fitting:
        raise UsageError(
            f"the rules {chosen} can't read the reference answers of the suite {suite.name},"
            f" which are written for {suite.dialect}",
            remedy=f"use {', '.join(fitting)}",
        )
    return chosen
