"""``sitelore review``: several annotators."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.common import Json, print_result, table, with_engine
from app.cli.review_filter import FilterWords, filter_of
from app.cli.run_ids import RunId
from app.engine.api.review_api import AnnotatorQueue, AssignmentRequest, Guideline, PairAgreement
from app.engine.core.verdicts import Label
from app.errors import InputError

if TYPE_CHECKING:
    from app.engine.engine import Engine

guideline_app = typer.Typer(help="The guideline of the labels, in versions.", no_args_is_help=True)


def assign(
    to: Annotated[str, typer.Option(help="Annotators, separated by commas; 'me' is yourself.")],
    overlap: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of the runs that go to two annotators.")
    ] = 0.2,
    words: FilterWords = "failed",
    seed: Annotated[int, typer.Option(help="The same seed gives the same division.")] = 1,
    limit: Annotated[
        int, typer.Option(min=0, help="Maximum number of runs, in the filter's order (0: all).")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Divide runs among annotators; a second look at a shared run is blind. One undo takes it back.

    The queues of these annotators are replaced; verdicts stay.
    """
    names = tuple(name.strip() for name in to.split(",") if name.strip())

    async def assigning(engine: Engine) -> list[AnnotatorQueue]:
        request = AssignmentRequest(
            annotators=names,
            which=await filter_of(engine, words),
            overlap=overlap,
            seed=seed,
            limit=limit,
        )
        return await engine.assign_runs(request)

    found = with_engine(assigning)
    print_result(found, as_json, lambda: _queues_text(found))


def queues(as_json: Json = False) -> None:
    """List the queues of all annotators."""
    found = with_engine(lambda engine: engine.annotator_queues())
    print_result(found, as_json, lambda: _queues_text(found) or "no runs are assigned")


def agreement(as_json: Json = False) -> None:
    """Show how annotators agree: Cohen's kappa of each two, by label, and where they disagree."""
    found = with_engine(lambda engine: engine.agreement())
    print_result(
        found, as_json, lambda: "\n\n".join(map(_pair_text, found)) or "no run was judged by two people"
    )


def adjudicate(
    run: RunId,
    label: Annotated[Label, typer.Argument(help="The label that settles it.")],
    note: Annotated[str, typer.Option(help="A note in your own words.")] = "",
    as_json: Json = False,
) -> None:
    """Settle a run that two annotators have judged; the label then counts before theirs."""
    given = with_engine(lambda engine: engine.adjudicate(run, label, note))
    print_result(given, as_json, lambda: f"{given.run}: settled as {given.label.value}")


@guideline_app.command()
def show(
    version: Annotated[str, typer.Option(help="A version (default: the one in force).")] = "",
    as_json: Json = False,
) -> None:
    """Print the guideline."""
    versions = with_engine(lambda engine: engine.guidelines())
    found = next((one for one in versions if one.version == version), None) if version else versions[-1]
    if found is None:
        raise InputError(f"there is no version {version!r}", remedy=f"there are 1 to {versions[-1].version}")
    print_result(found, as_json, lambda: found.text.rstrip("\n"))


@guideline_app.command()
def edit(
    file: Annotated[Path, typer.Argument(help="File with the new text, in Markdown.")],
    as_json: Json = False,
) -> None:
    """Save a file's text as a new version; verdicts name the version in force."""
    try:
        text = file.expanduser().read_text("utf-8")
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or "this is no UTF-8 text"
        raise InputError(reason, path=str(file), remedy="name a text file") from error
    saved = with_engine(lambda engine: engine.save_guideline(text))
    print_result(saved, as_json, lambda: f"version {saved.version} is in force")


@guideline_app.command()
def history(as_json: Json = False) -> None:
    """List the versions of the guideline."""
    found = with_engine(lambda engine: engine.guidelines())
    print_result(
        found,
        as_json,
        lambda: table([_version(one) for one in found], ("version", "author", "saved", "letters")),
    )


def add_people_commands(app: typer.Typer) -> None:
    """Add the commands to ``sitelore review``."""
    for command in (assign, queues, agreement, adjudicate):
        app.command()(command)
    app.add_typer(guideline_app, name="guideline")


def _queues_text(found: list[AnnotatorQueue]) -> str:
    rows = [(one.annotator, one.assigned, one.shared, one.judged, one.assigned - one.judged) for one in found]
    return table(rows, ("annotator", "runs", "shared", "judged", "left"))


def _pair_text(pair: PairAgreement) -> str:
    if pair.kappa is None:
        kappa = "kappa is undefined" + (
            " for a single run" if pair.runs < 2 else ": both gave one label only"
        )
    elif pair.low is None or pair.high is None:
        kappa = f"kappa {pair.kappa:.2f}, without an interval: these runs say too little for one"
    else:
        kappa = f"kappa {pair.kappa:.2f} (95 %: {pair.low:.2f} to {pair.high:.2f})"
    head = f"{pair.first} and {pair.second}: {pair.agreed} of {pair.runs} runs alike, {kappa}"
    labels = [
        (
            one.label.value,
            one.both,
            one.only_first,
            one.only_second,
            "-" if one.kappa is None else f"{one.kappa:.2f}",
        )
        for one in pair.labels
    ]
    apart = [
        (
            one.run,
            one.site,
            one.first[0].value,
            one.second[0].value,
            one.settled.value if one.settled else "",
            one.intent,
        )
        for one in pair.disagreements
    ]
    parts = [
        head,
        table(labels, ("label", "both", f"only {pair.first}", f"only {pair.second}", "kappa")),
        table(apart, ("run", "site", pair.first, pair.second, "settled", "intent")),
    ]
    return "\n".join(part for part in parts if part)


def _version(one: Guideline) -> tuple[str, str, str, int]:
    from datetime import UTC, datetime

    saved = datetime.fromtimestamp(one.at, UTC).strftime("%Y-%m-%d %H:%M UTC") if one.at else "bundled"
    return one.version, one.author, saved, len(one.text)
