"""One episode: a task in one arm, run without supervision and scored.  It is what a worker does.

Everything that goes wrong becomes one sentence in the record; a failure of the surroundings (a site that is down, a
log-in that is not accepted, a browser that is gone) is no failure of the agent, so that its verdict is open.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from app.engine.api.evaluation_api import EpisodeRequest
from app.engine.api.run_api import WITHOUT_KNOWLEDGE, RunRequest, RunSummary
from app.engine.core.evaluation.episode import EpisodeKey, EpisodeRecord, TipInEpisode
from app.engine.core.evaluation.run_evidence import SiteState
from app.engine.core.evaluation.suite import Suite, SuiteTask
from app.engine.core.evaluation.task_score import TaskScore
from app.engine.core.events import RunsChanged
from app.engine.core.sites import Site
from app.engine.core.trajectory import Outcome, Run, Step, add_blob
from app.engine.evaluation.evidence_codec import decode_evidence, encode_evidence
from app.engine.services.core import Core
from app.engine.services.episode_logins import can_renew, renew_logins
from app.engine.services.rescoring import RescoringService
from app.engine.services.site_commands import read_state
from app.engine.services.suite_requests import run_request, site_row
from app.engine.store.blob_store import pack_blobs
from app.engine.store.run_locks import replace_run_file
from app.errors import SiteloreError, printable

log = logging.getLogger(__name__)

RunTask = Callable[[RunRequest], Awaitable[RunSummary]]

_CLAIMS = frozenset({Outcome.ANSWERED, Outcome.DONE_BY_HAND})
_LOGIN_WALL = "a log-in blocks"
_AGENTS_OWN = "answers in a row had no action"
"""Part of the error of a run that crashed because of its agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _FinishedRun:
    summary: RunSummary
    run: Run
    steps: Sequence[Step]


class EpisodeRunner:
    """Runs and scores single episodes in this engine."""

    def __init__(
        self,
        core: Core,
        rescoring: RescoringService,
        run_task: RunTask,
        encoder_ready: Callable[[], Awaitable[object]],
        map_ready: Callable[[str], Awaitable[object]],
    ) -> None:
        self._core, self._rescoring, self._run_task = core, rescoring, run_task
        self._encoder_ready, self._map_ready = encoder_ready, map_ready

    async def run(self, suite: Suite, request: EpisodeRequest) -> EpisodeRecord:
        """Run one episode; raises ``NotFound`` for a task that the suite lacks, and nothing else that is expected."""
        began = time.monotonic()
        task = suite.task(request.task)
        record = EpisodeRecord(
            key=EpisodeKey(task=task.id, repeat=request.repeat, arm=request.arm.name),
            cluster=task.cluster,
            sites=task.sites,
            kind=task.kind,
            required_obs=task.required_obs,
        )
        try:
            record = await self._done(record, suite, task, request)
        except SiteloreError as error:
            record = replace(record, error=printable(str(error)))
        spent = time.monotonic() - began
        return replace(
            record, overhead=round(max(0.0, spent - record.seconds), 3), finished_at=round(time.time(), 3)
        )

    async def _done(
        self, record: EpisodeRecord, suite: Suite, task: SuiteTask, request: EpisodeRequest
    ) -> EpisodeRecord:
        rows = self._core.workspace.site_store.rows
        sites = [row for name in task.sites if (row := site_row(name, rows)) is not None]
        if request.arm.kb != WITHOUT_KNOWLEDGE or request.arm.maps:
            await self._encoder_ready()  # what is retrieved may not depend on when a worker was started
        graphs = await self._graphs(task) if request.arm.maps else ()
        for site in graphs:
            await self._map_ready(site)  # read and encoded once a worker, which is no part of a run's time
        await renew_logins(task, sites, request.renew)
        before = await self._states(sites, "before", task)
        done = await self._run(suite, task, request, graphs)
        renewable = [site.name for site in sites if can_renew(task, site)]
        if renewable and _is_locked_out(done.run):  # once more: the log-in may have expired meanwhile
            await renew_logins(task, sites, renewable)
            before = await self._states(sites, "before", task)
            done = await self._run(suite, task, request, graphs)
        record = _with_run(record, done)
        after = await self._states(sites, "after", task)
        record = replace(record, unasked=sum(_count_unasked(state) for state in after))
        if error := _outside_failure(done.run):
            return replace(record, error=printable(error))
        try:
            score = await self._score(suite, task, request, done.run, before, after)
        except SiteloreError as error:
            return replace(record, error=printable(f"the run could not be scored: {error}"))
        except Exception as error:  # the run stays whatever a rule of scoring stumbles over
            log.exception("run %s could not be scored", done.run.id)
            return replace(record, error=f"the run could not be scored: {type(error).__name__}: {error}")
        return replace(
            record,
            verdict=score.verdict,
            score=score.score,
            why=printable(score.why),
            evaluator=score.evaluator,
            judge=tuple(replace(reply, reply=printable(reply.reply)) for reply in score.judge),
        )

    async def _graphs(self, task: SuiteTask) -> tuple[str, ...]:
        """Return the sites of a task that have a map here."""
        rows = self._core.workspace.site_store.rows
        known = await self._core.on_store(self._core.workspace.graph_sites)
        own = [row.name for name in task.sites if (row := site_row(name, rows)) is not None]
        return tuple(site for site in own if site in known)

    async def _run(
        self, suite: Suite, task: SuiteTask, request: EpisodeRequest, graphs: tuple[str, ...]
    ) -> _FinishedRun:
        rows = self._core.workspace.site_store.rows
        asked = run_request(suite, task, rows, max_steps=request.max_steps)
        summary = await self._run_task(
            replace(
                asked,
                policy=request.policy,
                kb=self._kb(request.arm.kb),
                graph=graphs,
                setup=task.setup,
                har=request.har,
                max_seconds=request.max_seconds,
                max_tokens=request.max_tokens,
                max_money=request.max_money,
                supervised=False,
            )
        )
        run, steps = await self._core.on_store(self._core.workspace.runs.load, summary.run)
        return _FinishedRun(summary=summary, run=run, steps=steps)

    def _kb(self, kb: str) -> str:
        """Return the path of a knowledge base; a relative one is in this workspace, where the bundle put it."""
        return kb if kb == WITHOUT_KNOWLEDGE else str(self._core.workspace.path / Path(kb))

    async def _states(
        self, sites: Sequence[Site], moment: Literal["before", "after"], task: SuiteTask
    ) -> tuple[SiteState, ...]:
        return tuple([await read_state(site, moment, task.id) for site in sites if site.state])

    async def _score(
        self,
        suite: Suite,
        task: SuiteTask,
        request: EpisodeRequest,
        run: Run,
        before: tuple[SiteState, ...],
        after: tuple[SiteState, ...],
    ) -> TaskScore:
        """Score a run's evidence with the states of its sites, and store both in the run."""
        if not run.evidence:
            raise SiteloreError("no evidence was captured at its end")
        read = self._core.workspace.runs.read_blob
        evidence = decode_evidence(await self._core.on_store(read, run.evidence), f"evidence of run {run.id}")
        if before or after:
            evidence = replace(evidence, before=before, after=after)
        blobs: dict[str, bytes] = {}
        digest = add_blob(blobs, encode_evidence(evidence))
        score = await self._rescoring.score(
            suite,
            task,
            evidence,
            request.dialect,
            infeasible_is_na=request.infeasible_is_na,
            off_site_is_zero=request.off_site_is_zero,
        )

        def storing() -> None:
            workspace = self._core.workspace
            workspace.runs.blobs.add(pack_blobs(blobs))
            replace_run_file(workspace.runs.folder(run.id), replace(run, evidence=digest, score=score.score))
            workspace.index_run(run.id)

        await self._core.on_store(storing)
        self._core.bus.publish(RunsChanged(runs=(run.id,)))
        return score


def _with_run(record: EpisodeRecord, done: _FinishedRun) -> EpisodeRecord:
    """Return the record with what the run itself says."""
    shown: Counter[str] = Counter()
    followed: Counter[str] = Counter()
    for step in done.steps:
        shown.update({one.tip for one in step.exposures})
        followed.update({one.tip for one in step.exposures if one.step})
    cost = done.summary.cost
    return replace(
        record,
        run=done.run.id,
        outcome=done.run.outcome.value,
        claimed=done.run.outcome in _CLAIMS,
        steps=done.run.step_count,
        seconds=done.summary.seconds,
        tokens_in=sum(role.tokens_in for role in done.summary.usage),
        tokens_out=sum(role.tokens_out for role in done.summary.usage),
        money=cost.total if cost is not None else 0.0,
        tips=tuple(TipInEpisode(tip=tip, shown=shown[tip], followed=followed[tip]) for tip in sorted(shown)),
        actions=tuple(step.action.kind for step in done.steps if step.action is not None),
        flags=done.summary.flags,
    )


def _is_locked_out(run: Run) -> bool:
    return run.outcome is Outcome.NEEDS_PERSON and run.error.startswith(_LOGIN_WALL)


def _outside_failure(run: Run) -> str:
    """Return why a run failed for a reason outside of its agent, "" where it did not."""
    if _is_locked_out(run):
        return f"the log-in has expired or is not accepted: {run.error}"
    if run.outcome is Outcome.CRASHED and _AGENTS_OWN not in run.error:
        return run.error or "the run crashed"
    if run.final is not None and run.final.url.startswith("chrome-error:"):
        return "the site could not be reached at the end of the run"
    return ""


def _count_unasked(state: SiteState) -> int:
    found = state.output.get("unasked")
    return len(found) if isinstance(found, list) else 0  # pyright: ignore[reportUnknownArgumentType]
