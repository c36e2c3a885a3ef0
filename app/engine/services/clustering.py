"""Clusters of all failures of a workspace: read, described and grouped.  Store thread only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.core.verdicts import Flag
from app.engine.detectors.cluster_rules import ClusterOfFacts, cluster_failures
from app.engine.detectors.failure_facts import (
    FailureFacts,
    control_of,
    ending_of,
    error_of,
    goal_of,
    is_weak,
    place_of,
    speaks_of_a_page,
    telling_flag,
)
from app.engine.store.cluster_rows import (
    FailedRun,
    FailedStep,
    failed_runs,
    failure_flags,
    step_facts,
    with_evidence,
)
from app.engine.store.run_index import RunIndex

_NO_STEP = FailedStep(url="", site="", action="", target="", error="")


def cluster_workspace(index: RunIndex) -> list[ClusterOfFacts]:
    """Return the clusters of all failures, whatever a filter shows, so that a run's cluster never depends on it."""
    runs, flags = failed_runs(index), failure_flags(index)
    rows = {run.id: telling_flag(flags[run.id]) for run in runs if run.id in flags}
    whole = with_evidence(index, {row: flags[run][row] for run, row in rows.items()})
    told = {run: whole[row] for run, row in rows.items()}
    at = {run.id: _step_of(run, told.get(run.id)) for run in runs}
    steps = step_facts(index, at.items())
    return cluster_failures(
        _facts(run, told.get(run.id), steps.get((run.id, at[run.id]), _NO_STEP)) for run in runs
    )


def filtered_rows(index: RunIndex, which: RunFilter) -> list[RunRow]:
    """Return the runs that pass the filter, in its order; unlike the index alone, it knows clusters and pages."""
    rows = index.rows(which)
    if which.cluster:
        wanted = runs_of_cluster(index, which.cluster)
        rows = [row for row in rows if row.id in wanted]
    return _on_page(index, rows, which.page) if which.page else rows


def _on_page(index: RunIndex, rows: Sequence[RunRow], page: str) -> list[RunRow]:
    site, slash, path = page.partition("/")
    steps = step_facts(index, ((row.id, row.suspect_step) for row in rows))
    found: list[RunRow] = []
    for row in rows:
        step = steps.get((row.id, row.suspect_step))
        if step is not None and place_of(step.url)[0] == slash + path and site in ("", step.site or row.site):
            found.append(row)
    return found


def runs_of_cluster(index: RunIndex, key: str) -> frozenset[str]:
    """Return the runs of a cluster; none for an unknown key."""
    return frozenset(
        one.run for cluster in cluster_workspace(index) if cluster.key == key for one in cluster.members
    )


def keys_by_run(clusters: Sequence[ClusterOfFacts]) -> Mapping[str, str]:
    """Return the key of each run's cluster."""
    return {one.run: cluster.key for cluster in clusters for one in cluster.members}


def _step_of(run: FailedRun, flag: Flag | None) -> int:
    """Return the step that shows the failure: the flag's, else the last."""
    step = flag.step if flag is not None else run.steps - 1
    return max(0, min(step, run.steps - 1))


def _facts(run: FailedRun, flag: Flag | None, step: FailedStep) -> FailureFacts:
    detector = flag.detector if flag is not None else ""
    acted = flag is not None and speaks_of_a_page(detector)
    page, section = place_of(step.url)
    return FailureFacts(
        run=run.id,
        site=run.site,
        outcome=run.outcome,
        steps=run.steps,
        detector=detector,
        goal=goal_of(run.intent),
        error=error_of(flag, run.outcome, run.error, run.answer, run.pages),
        ending=ending_of(run.outcome, run.answer, run.pages),
        is_hint=flag is not None and is_weak(flag),
        page=page,
        section=section,
        control=control_of(step.target) if acted else "",
        action=step.action if acted else "",
        other=place_of(str(flag.evidence.get("url", "")))[0] if flag is not None else "",
    )
