"""``sitelore review clusters``, ``judge`` and ``opportunities``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.common import Json, print_result, table, with_engine
from app.cli.review_filter import filter_of
from app.cli.run_ids import ChosenRunIds
from app.engine.core.verdicts import Label
from app.errors import NotFound, UsageError

if TYPE_CHECKING:
    from app.engine.api.review_api import BulkVerdict, FailureCluster
    from app.engine.engine import Engine

Words = Annotated[
    str,
    typer.Option(
        "--filter", help="Words of the queue's filter line, such as 'site:gitlab unjudged detector:loop'."
    ),
]
Site = Annotated[str, typer.Option(help="Only runs of this site.")]
WIDEST = 76


def clusters(site: Site = "", words: Words = "", as_json: Json = False) -> None:
    """List failures of one kind as clusters: those with unjudged runs first, then the largest."""

    async def asking(engine: Engine) -> list[FailureCluster]:
        which = await filter_of(engine, words)
        return await engine.clusters(replace(which, site=site) if site else which)

    found = with_engine(asking)
    runs = sum(len(one.runs) for one in found)
    rows = [
        (
            len(one.runs),
            one.judged or "",
            one.key,
            one.title,
            one.label.value if one.label else "",
            ", ".join(one.sites),
        )
        for one in found
    ]
    heads = ("runs", "judged", "key", "failure", "suggests", "sites")
    print_result(
        found,
        as_json,
        lambda: (
            f"{table(rows, heads, widest=WIDEST)}\n{runs} failed runs in {len(found)} clusters"
            if found
            else "no failed run passes the filter"
        ),
    )


def judge(
    label: Annotated[Label, typer.Argument(help="The verdict.")],
    runs: ChosenRunIds = None,
    cluster: Annotated[str, typer.Option(help="Key of a cluster: all of its runs.")] = "",
    words: Words = "",
    note: Annotated[str, typer.Option(help="A note in your own words.")] = "",
    as_json: Json = False,
) -> None:
    """Give many runs one verdict: those named, of a cluster, or that pass a filter. One undo withdraws them all."""
    if not (runs or cluster or words.strip()) or (runs and (cluster or words.strip())):
        raise UsageError(
            "name either runs, or a cluster or filter",
            remedy="write RUN..., --cluster KEY or --filter 'WORDS'",
        )

    async def judging(engine: Engine) -> BulkVerdict:
        wanted = list(runs or ()) or await _runs_of(engine, cluster, words)
        return await engine.give_verdicts(wanted, label, note)

    given = with_engine(judging)
    skipped = f"; {_count(len(given.skipped))} had it already" if given.skipped else ""
    print_result(given, as_json, lambda: f"{given.label.value}: {_count(len(given.runs))}{skipped}")


def opportunities(site: Site = "", as_json: Json = False) -> None:
    """List the pages on which runs fail, with their tips: where a tip would help most comes first."""
    found = with_engine(lambda engine: engine.tip_opportunities(site))
    rows = [
        (
            one.uncovered,
            len(one.runs),
            ", ".join(f"{tip} ({status})" for tip, status in zip(one.tips, one.statuses, strict=False)),
            one.site,
            one.page,
            f"{one.runs[0]} step {one.step}",
        )
        for one in found
    ]
    heads = ("without a tip", "failed", "tips of the page", "site", "page", "begin at")
    print_result(
        found,
        as_json,
        lambda: table(rows, heads, widest=WIDEST) if found else "no run failed on a page of a known site",
    )


async def _runs_of(engine: Engine, cluster: str, words: str) -> list[str]:
    which = await filter_of(engine, words)
    asked = replace(which, cluster=cluster) if cluster else which
    found = [row.id for row in await engine.list_runs(asked)]
    if not found and cluster and not words.strip():
        raise NotFound(f"no cluster {cluster!r}; 'sitelore review clusters' lists them")
    if not found:
        raise NotFound("no run passes the filter; no verdict was given")
    return found


def _count(runs: int) -> str:
    return f"{runs} run" if runs == 1 else f"{runs} runs"


def add_cluster_commands(app: typer.Typer) -> None:
    """Register the commands of this module."""
    for command in (clusters, judge, opportunities):
        app.command()(command)
