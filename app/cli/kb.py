"""``sitelore kb``: retrieve from, freeze, check, compare and exchange knowledge bases."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from app.cli import kb_shared
from app.cli.common import (
    Json,
    counted,
    json_data,
    print_coverage,
    print_note,
    print_result,
    table,
    with_engine,
)
from app.cli.kb_serve import EXAMPLES, serve_
from app.cli.tip_tests import try_site
from app.errors import UsageError
from kb.confidential import LeaveOut
from kb.errors import KbError
from kb.tip import PARTLY, Query, Retrieval, Retrieved, Status, VerifyReport

app = typer.Typer(help="Retrieve from, freeze, compare and exchange knowledge bases.", no_args_is_help=True)


ExchangeFormatName = Literal["jsonl", "csv", "txt", "hints", "markdown", "auto"]
"""Formats of exchange files."""


ENCODING_GRACE_SECONDS = 2.0
"""Seconds spent on encoding after the answer is printed; vectors made by then are kept for the next call."""

LOSSES = {
    "txt": "txt holds the texts alone: scopes, corrected steps and regions are left out; jsonl and csv hold them",
    "markdown": "markdown holds no corrected steps, regions and origins; jsonl and csv hold them",
    "hints": "AgentLab's table holds texts, topics, authors and tasks alone; jsonl and csv hold the rest",
}
"""Parts of tips that a format can't hold."""

Format = Annotated[ExchangeFormatName, typer.Option(help="File format; auto: by the file name.")]


@app.command()
def retrieve(
    url: Annotated[str, typer.Option(help="The page's address.")] = "",
    query: Annotated[str, typer.Option(help="The goal.")] = "",
    site: Annotated[str, typer.Option(help="The site, where the address does not identify it.")] = "",
    k: Annotated[
        int,
        typer.Option(min=0, max=1000, help="Maximum number of tips (0: as many as the token budget allows)."),
    ] = 0,
    kb: Annotated[str, typer.Option(help="A knowledge base file instead of the workspace's own.")] = "",
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until every tip is encoded, for a reproducible answer.")
    ] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show every route's score, and which tips were left out and why."),
    ] = False,
    as_json: Json = False,
) -> None:
    """List the tips an agent would get for a page and a goal."""
    asked = Query(url=url, text=query, site=site)

    async def asking(engine: Any) -> None:
        found = await engine.retrieve(asked, k or None, kb)
        if wait and found.routes_off and await engine.prepared():
            found = await engine.retrieve(asked, k or None, kb)
        _show_found(found, explain, as_json)
        await engine.prepared(ENCODING_GRACE_SECONDS)

    with_engine(asking, encoder="wanted")


def _show_found(found: Retrieval, explain: bool, as_json: bool) -> None:
    rows = [(r.route.value, f"{r.score:.2f}", r.tip.id, r.tip.text, r.why) for r in found.results]
    heads = ("route", "score", "tip", "text", "why")
    told = [line for result in found.results for line in _explained(result)] if explain else []
    print_result(
        _document(found, explain),
        as_json,
        lambda: "\n".join([table(rows, heads, widest=70) or "nothing found", *told]),
    )
    sys.stdout.flush()
    if found.note:
        print_note(found.note)
    for route, reason in found.routes_off.items():
        print_note(
            f"the {route} route is {reason}"
            if reason.startswith(PARTLY)
            else f"the {route} route is off: {reason}"
        )
    if explain and not as_json:
        print_note(f"{found.tokens} of {found.budget} tokens used")
        for missed in found.missed:
            print_note(f"  not given: {missed.tip.id}: {missed.reason}")


def _explained(result: Retrieved) -> list[str]:
    scores = ", ".join(f"{route} {score:.2f}" for route, score in result.routes.items())
    return [f"{result.tip.id}: {result.why}", f"  routes: {scores}; {result.tokens} tokens"]


def _document(found: Retrieval, explain: bool) -> list[dict[str, Any]]:
    body: list[dict[str, Any]] = []
    for result in found.results:
        entry = {
            "tip": result.tip.id,
            "text": result.tip.text,
            "route": result.route.value,
            "score": result.score,
            "why": result.why,
        }
        extra = {"routes": dict(result.routes), "tokens": result.tokens, "given": True} if explain else {}
        body.append({**entry, **extra})
    for missed in found.missed if explain else ():
        body.append(
            {
                "tip": missed.tip.id,
                "text": missed.tip.text,
                "route": None,
                "score": 0.0,
                "why": missed.reason,
                "routes": dict(missed.routes),
                "given": False,
            }
        )
    return body


@app.command()
def freeze(
    out: Path,
    include: Annotated[
        list[Status] | None, typer.Option(help="Also freeze tips with this status; may be repeated.")
    ] = None,
    waive: Annotated[
        list[str] | None,
        typer.Option(help="TIP=REASON: include a tip despite its lint errors; may be repeated."),
    ] = None,
    with_learnings: Annotated[
        bool, typer.Option("--with-learnings", help="Also freeze what runs learned by themselves.")
    ] = False,
    without_tag: Annotated[
        list[str] | None, typer.Option(help="Leave out tips with this tag; may be repeated.")
    ] = None,
    without_author: Annotated[
        list[str] | None, typer.Option(help="Leave out tips this person wrote or edited; may be repeated.")
    ] = None,
    without_site: Annotated[
        list[str] | None, typer.Option(help="Leave out the tips of this site; may be repeated.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the active tips to one read-only file with a manifest. Same tips, same bytes."""
    reasons = {tip: reason for tip, _, reason in (pair.partition("=") for pair in waive or ())}
    if not all(reasons.values()):
        raise UsageError("a waiver needs a reason", remedy="write --waive TIP=REASON")
    try:
        leave_out = LeaveOut.of(without_tag or (), without_author or (), without_site or ())
    except KbError as error:
        raise UsageError(str(error)) from error
    report = with_engine(
        lambda engine: engine.freeze(str(out), include or (), reasons, with_learnings, leave_out),
        encoder="cached",
    )
    left = ", ".join(f"{count} {why}" for why, count in report.left_out.items())
    words = f"{counted(report.tips, 'tip')} frozen in {report.path}\nsha256 {report.sha256}" + (
        f"\nleft out: {left}" if left else ""
    )
    print_result(report, as_json, lambda: words)
    for warning in report.warnings:
        print_note(f"  {warning}")
    if not report.tips:
        print_note("the file has no tips: set tips to active first ('sitelore tip status TIP --to active')")


@app.command()
def without(file: Path, tip: str, out: Path, as_json: Json = False) -> None:
    """Write a frozen file without one of its tips: the arm that shows what the tip is worth."""
    report = with_engine(lambda engine: engine.kb_without(str(file), tip, str(out)))
    words = f"{counted(report.tips, 'tip')} frozen in {report.path}, without {tip}\nsha256 {report.sha256}"
    print_result(report, as_json, lambda: words)


@app.command()
def verify(file: Path, as_json: Json = False) -> None:
    """Check a frozen file against its manifest; exit code 1 if they differ."""
    report = with_engine(lambda engine: engine.verify(str(file)))
    print_result(report, as_json, lambda: verified_text(report))
    for problem in report.problems:
        print_note(f"  {problem}")
    if not report.ok:
        raise typer.Exit(1)


def verified_text(report: VerifyReport) -> str:
    """Describe a check: how many tips there are, or how many can still be read."""
    tips = counted(report.tips, "tip")
    if report.ok:
        return f"intact: {tips}, sha256 {report.sha256}"
    return f"NOT INTACT: {f'{tips} can be read, ' if report.tips else ''}sha256 {report.sha256}"


@app.command()
def stats(as_json: Json = False) -> None:
    """Show the number of tips by site, status and kind."""
    found = with_engine(lambda engine: engine.kb_stats())
    print_result(
        found,
        as_json,
        lambda: "\n".join(
            f"{key.replace('_', ' ')}: {_count(value)}" for key, value in json_data(found).items()
        ),
    )


def _count(value: object) -> str:
    """Return a figure, or figures by name, as text."""
    if isinstance(value, dict):
        counts = cast("dict[str, int]", value)
        return ", ".join(f"{count} {name or 'without'}" for name, count in counts.items()) or "none"
    return str(value)


@app.command("import")
def import_(
    file: Path, format: Format = "auto", site: Annotated[str, typer.Option()] = "", as_json: Json = False
) -> None:
    """Import tips as quarantined drafts."""

    async def importing(engine: Any) -> Any:
        report = await engine.kb_import(str(file), format, site)
        tips = [await engine.tip(tip) for tip in report.added]
        scoped = [tip for tip in tips if str(tip.scope)]
        return report, [(tip, await engine.scope_coverage(tip.site, tip.scope)) for tip in scoped]

    report, coverages = with_engine(importing)
    print_result(
        report, as_json, lambda: f"{len(report.added)} added as drafts, {report.skipped} already present"
    )
    for tip, coverage in coverages:
        if not as_json and not coverage.holds:
            print_coverage(coverage, f"{tip.id} {tip.scope}: ")
    for failure in report.failed:
        print_note(f"  {failure}")
    if report.failed:
        raise typer.Exit(3)


@app.command()
def export(
    out: Path,
    format: Format = "auto",
    site: Annotated[str, typer.Option(help="Only tips of this site.")] = "",
    status: Annotated[
        list[Status] | None, typer.Option(help="Only tips with this status; may be repeated.")
    ] = None,
    kb: Annotated[str, typer.Option(help="A knowledge base file instead of the workspace's own.")] = "",
    as_json: Json = False,
) -> None:
    """Export tips to a file for other programs.

    Markdown and AgentLab's hints are for other agents: they get the active tips that are not tagged confidential.
    """
    count = with_engine(lambda engine: engine.kb_export(str(out), format, site, status or (), kb))
    print_result(
        {"exported": count, "out": str(out)}, as_json, lambda: f"{counted(count, 'tip')} written to {out}"
    )
    if not count:
        print_note("no tip has the status that was asked for; see sitelore tip list, and --status")
    if lost := _lost_in(out.name, format):
        print_note(lost)


def _lost_in(name: str, format: str) -> str:
    """Return what a file of this name and format can't hold, "" for nothing."""
    if format == "auto":
        format = {".txt": "txt", ".md": "markdown"}.get(Path(name).suffix.lower(), "")
    return LOSSES.get(format, "")


app.command()(kb_shared.diff)
app.command()(kb_shared.merge)
app.command()(kb_shared.release)
app.command("test")(try_site)
app.command("serve", epilog=EXAMPLES)(serve_)
