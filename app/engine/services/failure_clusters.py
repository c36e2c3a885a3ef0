"""Failures of one kind as clusters, verdicts on many runs at once, and pages that want a tip."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import replace

from app.engine.api.review_api import BulkVerdict, FailureCluster, TipOpportunity
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.core.verdicts import Label, Verdict
from app.engine.detectors.cluster_rules import ClusterOfFacts
from app.engine.services.clustering import cluster_workspace, filtered_rows
from app.engine.services.core import Core, on_store
from app.engine.services.review import ReviewService
from app.engine.services.tip_opportunities import find_opportunities
from app.errors import InputError, NotFound


class FailureClusterService:
    """Failures of one kind as clusters, verdicts on many runs at once, and pages that want a tip."""

    def __init__(self, core: Core, review: ReviewService) -> None:
        self._core, self._review = core, review

    @on_store
    def clusters(self, which: RunFilter) -> list[FailureCluster]:
        """Return the clusters of the failures that pass the filter: unjudged ones first, then the largest."""
        index = self._core.workspace.index
        rows = {row.id: row for row in filtered_rows(index, replace(which, cluster=""))}
        shown = [
            _shown(cluster, [row for one in cluster.members if (row := rows.get(one.run)) is not None])
            for cluster in cluster_workspace(index)
            if which.cluster in ("", cluster.key)
        ]
        return sorted(
            (cluster for cluster in shown if cluster.runs),
            key=lambda one: (one.judged == len(one.runs), -len(one.runs), one.title, one.key),
        )

    @on_store
    def tip_opportunities(self, site: str = "") -> list[TipOpportunity]:
        """Return the pages on which runs fail, those with most failures that no tip reaches first."""
        return find_opportunities(self._core, site)

    async def give_verdicts(
        self, runs: Sequence[str], label: Label, note: str = "", lead_seconds: float = 0.0
    ) -> BulkVerdict:
        """Give all these runs one verdict; one undo withdraws them all.

        Runs whose newest verdict of this author has this label are skipped. Of the time spent each run gets
        an equal share.

        Raises:
            InputError: no run is named.  NotFound: one is unknown; then no verdict is given.
        """
        asked = list(dict.fromkeys(runs))
        if not asked:
            raise InputError("no run to judge", remedy="name runs, or a cluster or filter that has some")

        def judging() -> BulkVerdict:
            workspace = self._core.workspace
            known = workspace.index.ids()
            if unknown := [run for run in asked if run not in known]:
                more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
                raise NotFound(f"no run {unknown[0]!r}{more}; no verdict was given")
            newest = {
                verdict.run: verdict  # they come oldest first
                for verdict in workspace.review.verdicts()
                if verdict.author == self._core.author and not verdict.settles and not verdict.detector
            }
            has_it = {run for run, one in newest.items() if one.label is label and one.step is None}
            judged = [run for run in asked if run not in has_it]
            now, guideline = time.time(), workspace.annotators.guideline_version()
            verdicts = [
                Verdict(
                    id=f"v-{uuid.uuid4().hex[:12]}",
                    run=run,
                    label=label,
                    note=note,
                    author=self._core.author,
                    at=now,
                    guideline=guideline,
                    lead_seconds=lead_seconds / len(judged),
                )
                for run in judged
            ]
            workspace.review.add_verdicts(verdicts)
            return BulkVerdict(
                label=label,
                verdicts=tuple(verdict.id for verdict in verdicts),
                runs=tuple(judged),
                skipped=tuple(run for run in asked if run in has_it),
            )

        label = Label(label)
        given = await self._core.do_in_review(judging)
        if given.runs:
            await self._review.after_verdicts(given.runs)
        return given


def _shown(cluster: ClusterOfFacts, rows: Sequence[RunRow]) -> FailureCluster:
    return FailureCluster(
        key=cluster.key,
        title=cluster.title,
        detector=cluster.detector,
        sites=tuple(sorted({row.site for row in rows if row.site})),
        page=cluster.page,
        runs=tuple(row.id for row in sorted(rows, key=lambda row: (-row.risk, row.id))),
        judged=sum(bool(row.label) for row in rows),
        label=cluster.label,
        control=cluster.control,
        error=cluster.error,
    )
