"""``sitelore explore`` and ``sitelore graph``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli import graph_text as words
from app.cli.common import (
    Depth,
    Headed,
    Json,
    MaxStates,
    SiteName,
    StorageState,
    full_path,
    print_note,
    print_result,
    table,
    with_engine,
)
from app.cli.graph_choice import chosen_map, chosen_state
from app.engine.api.graph_api import ExploreOptions, ExploreReport, Journey, LabReport, NodeDetail, PathPlan
from app.engine.core.page_state import Mode

if TYPE_CHECKING:
    from app.engine.engine import Engine

app = typer.Typer(help="Interaction graphs: maps of sites.", no_args_is_help=True)

Site = Annotated[str, typer.Argument(help="Site, as 'graph list' names it.")]
Choose = Annotated[
    int | None,
    typer.Option(
        "--choose",
        min=1,
        max=5,
        help="Which of the first five states for a description (default: ask, or the best).",
    ),
]


SearchMethod = Literal["late", "dense", "keyword", "picture"]


GraphFormat = Literal["graphml", "gexf", "json", "webnavigator"]


def explore(
    context: typer.Context,
    url: Annotated[
        str,
        typer.Argument(help="The site's home page (default: the start page of --site).", show_default=False),
    ] = "",
    site: SiteName = "",
    depth: Depth = 3,
    max_states: MaxStates = 1000,
    max_seconds: Annotated[float, typer.Option(min=1, help="Time limit in seconds.")] = 1800.0,
    mode: Annotated[
        Mode, typer.Option(help="full: every page; skeleton: one page of each kind.")
    ] = Mode.FULL,
    block_list: Annotated[
        Path | None, typer.Option(help="Rule file in addition to the built-in rules and the site's own.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=16, help="Number of pages explored in parallel.")] = 2,
    rate: Annotated[
        float,
        typer.Option(
            min=0, help="Maximum page loads a second (0: 2 on a public host, unlimited on this machine)."
        ),
    ] = 0.0,
    storage_state: StorageState = None,
    ignore_robots: Annotated[
        bool,
        typer.Option("--ignore-robots", help="Explore what robots.txt forbids too; for your own sites only."),
    ] = False,
    robots: Annotated[
        bool, typer.Option("--robots/--no-robots", help="Obey robots.txt.", hidden=True)
    ] = True,
    second_map: Annotated[
        bool,
        typer.Option(
            "--second-map", help="Make a second map of a host that has one of another name, without asking."
        ),
    ] = False,
    headed: Headed = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start over instead of resuming the last exploration.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Explore a website into an interaction graph. No model, no tokens; nothing is sent, bought or deleted."""
    if not (url or site):
        raise typer.BadParameter(
            "give the address of the site's home page, or --site", context, param_hint="URL"
        )
    options = ExploreOptions(
        depth=depth,
        max_states=max_states,
        max_seconds=max_seconds,
        mode=mode,
        block_list=full_path(block_list),
        workers=workers,
        rate=rate,
        storage_state=full_path(storage_state),
        obey_robots=robots and not ignore_robots,
        headed=headed,
        resume=not fresh,
    )

    async def exploring(engine: Engine) -> ExploreReport:
        name, second = await chosen_map(engine, url, site, second_map or not _asks(as_json))
        return await engine.explore(url, name, options, second_map or second)

    report = with_engine(exploring)
    print_result(report, as_json, lambda: words.exploration_text(report))
    if report.ended == "failed":
        raise typer.Exit(1)


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the graphs of this workspace."""
    rows = with_engine(lambda engine: engine.graphs())
    heads = ("site", "states", "transitions", "waiting", "mode", "exploration", "home")
    print_result(
        rows,
        as_json,
        lambda: table([words.graph_row(row) for row in rows], heads) or "no graph yet: sitelore explore URL",
    )
    broken = [row.error for row in rows if row.error]
    for error in broken:
        print_note(error)
    if broken:
        raise typer.Exit(3)


@app.command()
def stats(site: Site, as_json: Json = False) -> None:
    """Show a graph in numbers, with the states at each depth."""
    found = with_engine(lambda engine: engine.graph_stats(site))

    def text() -> str:
        row = found.row
        facts = [
            f"{row.states} states, {found.templates} address templates, {found.interaction_only} without an address"
            " of their own",
            f"{row.transitions} transitions: {found.tried} tried ({found.success_rate:.0%} reached the expected state),"
            f" {found.seen_only} seen but not followed",
            *(f"skipped, {reason}: {count}" for reason, count in sorted(found.skipped.items())),
            *found.notes,
        ]
        return "\n".join(facts) + "\n\n" + words.depths_table(found.depths)

    print_result(found, as_json, text)


@app.command("show")
def show_(site: Site, node: str, as_json: Json = False) -> None:
    """Show a state: elements and their status, transitions, runs, tips."""
    detail = with_engine(lambda engine: engine.graph_node(site, node))
    print_result(detail, as_json, lambda: words.state_text(detail))


@app.command()
def search(
    site: Site,
    query: str,
    method: Annotated[SearchMethod, typer.Option(help="How states are compared with the query.")] = "late",
    k: Annotated[int, typer.Option(min=1, help="Maximum number of states.")] = 10,
    as_json: Json = False,
) -> None:
    """Search states by a description."""
    hits = with_engine(lambda engine: engine.graph_search(site, query, method, k), encoder=_encoder(method))
    print_result(hits, as_json, lambda: words.hits_table(hits) or "no matching state")


@app.command()
def compare(
    site: Site,
    queries: Annotated[
        Path, typer.Argument(help='Labelled queries, one JSON object a line: {"query", "expect"}.')
    ],
    as_json: Json = False,
) -> None:
    """Compare the search methods on labelled queries."""
    found = with_engine(
        lambda engine: engine.graph_compare_search(site, full_path(queries)), encoder="wanted"
    )
    heads = ("method", "recall@1", "recall@10", "MRR", "p50 ms", "p95 ms", "MB")
    rows = [
        (m.method, f"{m.recall_at_1:.2f}", f"{m.recall_at_10:.2f}", f"{m.mrr:.2f}", f"{m.p50_ms:.1f}",
         f"{m.p95_ms:.1f}", f"{m.megabytes:.1f}")
        for m in found.methods
    ]  # fmt: skip
    missed = "".join(f"\nmissed by every method: {query}" for query in found.missed)
    if found.absent:
        missed += f"\nskipped, because the map has no such state: {len(found.absent)}"
    print_result(
        found,
        as_json,
        lambda: f"{found.queries} queries over {found.states} states\n{table(rows, heads)}{missed}",
    )


@app.command()
def path(
    site: Site,
    to: Annotated[str, typer.Argument(help="A state's id (or its first digits), or a description.")],
    start: Annotated[str, typer.Option("--from", help="A state's id; empty for the home page.")] = "",
    choose: Choose = None,
    as_json: Json = False,
) -> None:
    """Show the cheapest path to a state."""

    async def planning(engine: Engine) -> PathPlan:
        node, _ = await chosen_state(engine, site, to, choose or 0, _asks(as_json))
        return await engine.graph_path(site, node, start)

    plan = with_engine(planning, encoder="cached")
    print_result(plan, as_json, lambda: words.path_text(plan))


@app.command("navigate")
@app.command("go", hidden=True)
def navigate(
    site: Site,
    to: Annotated[str, typer.Argument(help="A state's id (or its first digits), or a description.")],
    choose: Choose = None,
    headed: Annotated[bool, typer.Option("--headed", help="Show the browser, and leave it open.")] = False,
    storage_state: StorageState = None,
    as_json: Json = False,
) -> None:
    """Navigate to a state in a live browser; the page after every step is compared with the map."""

    async def going(engine: Engine) -> Journey:
        node, hits = await chosen_state(engine, site, to, choose or 0, _asks(as_json))
        journey = await engine.graph_navigate(site, node, headed, storage_state=full_path(storage_state))
        if headed and journey.arrived:
            print_note("the browser stays open; press Enter to close it")
            await _enter()
        return replace(journey, choices=hits)

    journey = with_engine(going, encoder="cached")
    print_result(journey, as_json, lambda: words.navigation_text(journey))
    if not journey.arrived:
        raise typer.Exit(1)


@app.command()
def verify(
    site: Site,
    storage_state: StorageState = None,
    thorough: Annotated[
        bool,
        typer.Option(
            "--thorough", help="Open every page and try every transition, even where nothing changed."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Verify every state and transition; gone ones are marked, and tips about them become suspect."""
    report = with_engine(lambda engine: engine.graph_verify(site, full_path(storage_state), thorough))
    print_result(report, as_json, lambda: words.verification_text(report))
    if report.gone_states or report.gone_transitions:
        raise typer.Exit(1)


@app.command()
def update(
    site: Site,
    storage_state: StorageState = None,
    depth: Depth = 3,
    max_states: MaxStates = 1000,
    as_json: Json = False,
) -> None:
    """Verify, then explore only what is new."""
    options = ExploreOptions(depth=depth, max_states=max_states, storage_state=full_path(storage_state))
    report = with_engine(lambda engine: engine.graph_update(site, options))
    print_result(
        report,
        as_json,
        lambda: (
            f"{words.verification_text(report.verify)}\n{words.exploration_text(report.explore)}\n{words.diff_text(report.diff)}"
        ),
    )


@app.command()
def diff(
    site: Site,
    other: Annotated[
        str, typer.Argument(help="An exported graph (JSON); empty compares the last two explorations.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Show what changed between two explorations."""
    found = with_engine(lambda engine: engine.graph_diff(site, other))
    print_result(found, as_json, lambda: words.diff_text(found))


@app.command()
def export(
    site: Site,
    out: Path,
    format: Annotated[GraphFormat, typer.Option(help="The file format.")] = "json",
    as_json: Json = False,
) -> None:
    """Export the graph for another program."""
    count = with_engine(lambda engine: engine.graph_export(site, full_path(out), format))
    print_result({"states": count, "out": str(out)}, as_json, lambda: f"{count} states written to {out}")


@app.command("from-runs")
def from_runs(site: Site, as_json: Json = False) -> None:
    """Build or extend the graph from the stored runs on this site; nothing is visited."""
    row = with_engine(lambda engine: engine.graph_from_runs(site))
    print_result(row, as_json, lambda: f"{row.states} states, {row.transitions} transitions of {row.site}")


@app.command()
def merge(site: Site, nodes: list[str], as_json: Json = False) -> None:
    """Merge states (undo with 'sitelore review undo')."""
    node = with_engine(lambda engine: engine.merge_nodes(site, nodes))
    print_result({"node": node}, as_json, lambda: f"merged into {node[:8]}")


@app.command()
def split(site: Site, node: str, as_json: Json = False) -> None:
    """Split a state into the pages merged in it."""
    parts = with_engine(lambda engine: engine.split_node(site, node))
    print_result({"nodes": parts}, as_json, lambda: " ".join(part[:8] for part in parts))


@app.command()
def rules(
    site: Site,
    node: str,
    file: Annotated[
        Path | None, typer.Option(help="Rule file to test (default: the rules in force).")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the elements of a stored page that the rules would stop."""

    async def trying(engine: Engine) -> tuple[LabReport, NodeDetail]:
        from app.engine.graph.rules.rule_file import text_of

        text = text_of(file) if file else await engine.block_rules(site)
        return await engine.try_rules(site, node, text), await engine.graph_node(site, node)

    report, detail = with_engine(trying)
    by_index = {element.index: element for element in detail.elements}

    def text() -> str:
        rows = [
            (hit.verdict, by_index[hit.element].role, by_index[hit.element].name, hit.rule, hit.why)
            for hit in report.hits
            if hit.element in by_index and hit.verdict != "allow"
        ]
        heads = ("verdict", "role", "name", "rule", "why")
        here = f"{report.stopped_here} of {len(detail.elements)} here"
        everywhere = f"{report.stopped_everywhere} of {report.elements_everywhere} on all pages"
        return "\n".join([*report.notes, table(rows, heads), f"{here}, {everywhere}"])

    if report.error:
        print_note(report.error)
        raise typer.Exit(3)
    print_result(report, as_json, text)


def _encoder(method: str) -> str:
    return "" if method == "keyword" else "wanted"


def _asks(as_json: bool) -> bool:
    """Return whether a person can be asked."""
    return not as_json and sys.stdin.isatty() and sys.stderr.isatty()


async def _enter() -> None:
    import asyncio

    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
