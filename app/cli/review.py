"""``sitelore detect`` and ``sitelore review``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.common import GLOBALS, Json, add_undo_commands, json_data, print_result, table, with_engine
from app.cli.review_clusters import add_cluster_commands
from app.cli.review_compare import add_compare_command
from app.cli.review_filter import FilterWords, filter_of
from app.cli.review_people import add_people_commands
from app.cli.review_progress import add_progress_command
from app.cli.review_verdicts import add_verdict_commands
from app.cli.review_why import add_why_command
from app.cli.run_ids import RunId, completed
from app.engine.api.run_rows import RunFilter
from app.engine.core.person_names import ME, check_name
from app.engine.core.verdicts import Flag, Label

if TYPE_CHECKING:
    from app.engine.api.run_rows import RunRow
    from app.engine.engine import Engine

app = typer.Typer(help="Review runs: verdicts, detector scores, undo.", no_args_is_help=True)


@app.callback()
def review(
    person: Annotated[
        str | None, typer.Option("--as", help="Act as this person (default: the author of the settings).")
    ] = None,
) -> None:
    """Review runs: verdicts, detector scores, undo."""
    GLOBALS.author = "" if person in (None, ME) else check_name(person)


def detect(
    runs: Annotated[
        list[str] | None,
        typer.Argument(help="Ids of runs, or their beginnings (default: all runs).", callback=completed),
    ] = None,
    vlm: Annotated[
        bool,
        typer.Option(
            "--vlm",
            help="Also ask the configured model: did each step do its job, was the goal met?",
        ),
    ] = False,
    limit: Annotated[
        int,
        typer.Option(
            min=1, help="With --vlm and no run ids: number of riskiest runs the model has not judged yet."
        ),
    ] = 20,
    as_json: Json = False,
) -> None:
    """Run every rule detector and update the risk ranking; with --vlm ask a model as well."""

    async def looking(engine: Engine) -> list[Flag]:
        return await (engine.ask_model(runs or (), limit) if vlm else engine.detect(runs or ()))

    flags = with_engine(looking)
    keys = ("run", "detector", "step", "severity", "confidence", "message")
    body = [{key: json_data(getattr(flag, key)) for key in keys} for flag in flags]
    rows = [(f.run, f.step, f.severity.value, f"{f.confidence:.2f}", f.detector, f.message) for f in flags]
    print_result(
        body,
        as_json,
        lambda: table(rows, ("run", "step", "severity", "confidence", "detector", "message"), widest=90),
    )


@app.command()
def verdict(
    run: RunId,
    label: Annotated[Label, typer.Option(help="The verdict.")],
    step: Annotated[int | None, typer.Option(help="The step it concerns.")] = None,
    note: Annotated[str, typer.Option(help="A note in your own words.")] = "",
    as_json: Json = False,
) -> None:
    """Give a verdict on a run or on one of its steps."""
    given = with_engine(lambda engine: engine.give_verdict(run, label, step, note))
    print_result(given, as_json, lambda: f"{given.run}: {given.label.value}")


@app.command("next")
def next_(
    after: Annotated[str, typer.Option(help="The run just reviewed.", callback=completed)] = "",
    other_kind: Annotated[
        bool, typer.Option("--other-kind", help="Skip runs that failed the same way.")
    ] = False,
    teach: Annotated[
        bool,
        typer.Option(
            "--teach",
            help="The run whose verdict teaches the ranking most; passed runs are asked about, too.",
        ),
    ] = False,
    words: FilterWords = "",
    as_json: Json = False,
) -> None:
    """Show the failed run most worth reviewing, or the one among the runs of a filter."""

    async def asking(engine: Engine) -> RunRow | None:
        which = RunFilter(order="teach") if teach else None
        if words.strip():
            asked = await filter_of(engine, words)
            which = replace(asked, order="teach") if teach else asked
        return await engine.next_to_review(after, other_kind, which)

    row = with_engine(asking)
    print_result(
        row,
        as_json,
        lambda: _next_text(row) if row else "nothing left to review",
    )


@app.command()
def scores(as_json: Json = False) -> None:
    """Show how often each detector fired, and its precision and recall by people's verdicts."""
    report = with_engine(lambda engine: engine.risk_report())
    rows = [
        (s.detector, s.site or "all", s.fired, s.judged, s.right, _rate(s.precision), _rate(s.recall))
        for s in report.scores
    ]
    heads = ("detector", "site", "fired", "judged", "right", "precision", "recall")
    print_result(report, as_json, lambda: f"{table(rows, heads)}\nranking: {report.why}")


add_cluster_commands(app)
add_why_command(app)
add_compare_command(app)
add_people_commands(app)
add_verdict_commands(app)
add_progress_command(app)
add_undo_commands(app)


def _next_text(row: RunRow) -> str:
    text = f"{row.id} at step {row.suspect_step}: {row.intent}"
    if row.teaches:
        text = f"{text}\nwhy this one: {row.teaches}"
    return f"{text}\ngave up: {row.needs}" if row.needs else text


def _rate(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
