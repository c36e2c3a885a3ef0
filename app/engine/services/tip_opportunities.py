"""Pages on which runs fail, and the tips there: "which tip would help most".  Store thread only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.engine.api.review_api import TipOpportunity
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.core.sites import CROSS
from app.engine.core.verdicts import AGENT_DID_NOT_FAIL, Label
from app.engine.detectors.failure_facts import place_of
from app.engine.graph.annotations import tips_by_page
from app.engine.services.clustering import cluster_workspace, keys_by_run
from app.engine.services.core import Core
from app.engine.store.cluster_rows import step_facts
from kb.evidence import EvidenceKind
from kb.retrieval.url import is_site_wide
from kb.tip import RETRIEVABLE, Status, Tip

NO_TIP_HELPS = AGENT_DID_NOT_FAIL | {Label.HARNESS_FAULT, Label.ENVIRONMENT_FAULT}
"""Verdicts, given or suggested by the cause, after which no tip could have helped."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """A failed run on the page of its suspect step."""

    row: RunRow
    url: str


def find_opportunities(core: Core, site: str = "") -> list[TipOpportunity]:
    """Return the pages of a site, or of all, on which runs fail: most failures without a tip first.

    The page is that of the suspect step. Runs are left out that failed by no fault of the agent, by verdict or cause,
    and those that never saw a page.
    """
    index = core.workspace.index
    clusters = cluster_workspace(index)
    key_of = keys_by_run(clusters)
    no_help = {one.run for cluster in clusters if cluster.label in NO_TIP_HELPS for one in cluster.members}
    rows = [
        row
        for row in index.rows(RunFilter(order="risk"))
        if row.id in key_of and (row.label not in NO_TIP_HELPS if row.label else row.id not in no_help)
    ]
    steps = step_facts(index, ((row.id, row.suspect_step) for row in rows))
    pages: dict[tuple[str, str], list[_Failure]] = defaultdict(list)
    for row in rows:
        step = steps.get((row.id, row.suspect_step))
        where = (step.site if step is not None else "") or (row.site if row.site != CROSS else "")
        if step is not None and step.url and where and site in ("", where):
            pages[where, place_of(step.url)[0]].append(_Failure(row, step.url))
    found: list[TipOpportunity] = []
    for where in sorted({name for name, _ in pages}):
        here = {page: failures for (name, page), failures in pages.items() if name == where}
        found += _of_site(core, where, here, key_of)
    return sorted(found, key=lambda one: (-one.uncovered, -len(one.runs), one.site, one.page))


def _of_site(
    core: Core, site: str, pages: Mapping[str, Sequence[_Failure]], key_of: Mapping[str, str]
) -> list[TipOpportunity]:
    tips = [tip for tip in core.kb.tips(site=site) if tip.status is not Status.RETIRED]
    local = [tip for tip in tips if not is_site_wide(tip.scope)]
    wide = sum(is_site_wide(tip.scope) and tip.status in RETRIEVABLE for tip in tips)
    urls = list(dict.fromkeys(failure.url for failures in pages.values() for failure in failures))
    hosts = (*core.workspace.sites.get(site, ()), *core.kb.hosts().get(site, ()))
    tips_at = dict(zip(urls, tips_by_page(urls, site, local, hosts), strict=True))
    used = {tip.id: _runs_that_used(core, tip) for tip in local}
    found: list[TipOpportunity] = []
    for page, failures in pages.items():
        here = [local[row] for row in sorted({row for one in failures for row in tips_at[one.url]})]
        users = {run for tip in here for run in used[tip.id]}
        covered = sum(
            one.row.id in users or any(local[row].status in RETRIEVABLE for row in tips_at[one.url])
            for one in failures
        )
        found.append(
            TipOpportunity(
                site=site,
                page=page,
                runs=tuple(one.row.id for one in failures),
                tips=tuple(tip.id for tip in here),
                statuses=tuple(tip.status.value for tip in here),
                site_tips=wide,
                covered=covered,
                clusters=tuple(dict.fromkeys(key_of[one.row.id] for one in failures)),
                step=failures[0].row.suspect_step,
            )
        )
    return found


def _runs_that_used(core: Core, tip: Tip) -> frozenset[str]:
    uses = (piece for piece in core.kb.evidence(tip.id) if piece.kind is EvidenceKind.USE)
    return frozenset(piece.run for piece in uses)
