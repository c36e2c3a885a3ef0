"""Clusters of failed runs by a key, so that the queue can go on to another kind of failure."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.core.addresses import path_template
from app.engine.core.trajectory import Run, Step
from app.engine.core.verdicts import Flag
from app.engine.detectors.risk import evidence_start, suspect_step
from app.engine.detectors.runner import evidence_rank, flag_rank

_MAX_SEGMENTS = 6


def cluster_key(run: Run, flags: Sequence[Flag], steps: Sequence[Step]) -> str:
    """Return the cluster key: site, first significant detector and page template.

    It depends on the flags alone and not on fitted weights, so that a cluster keeps its name when verdicts come in.
    """
    ranked = sorted(flags, key=lambda flag: (evidence_rank(flag), flag_rank(flag)))
    detector = ranked[0].detector if ranked else "no flag"
    index = evidence_start(ranked[0]) if ranked else suspect_step((), run.step_count)
    page = next((step for step in steps if step.index == index), steps[-1] if steps else None)
    return " · ".join((run.site or "unknown site", detector, page_template(page.url) if page else "no page"))


def page_template(url: str) -> str:
    """Return an address's path without numbers, hashes and long names; hosts differ between runs of a site."""
    rest = url.partition("://")[2]
    if not rest:
        return url.partition("?")[0][:60]
    path = rest.partition("/")[2].partition("#")[0].partition("?")[0]
    return "/" + "/".join(path_template(path)[:_MAX_SEGMENTS])
