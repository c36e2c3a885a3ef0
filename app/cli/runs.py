"""``sitelore import`` and ``sitelore runs``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from app.cli.common import Json, counted, json_data, print_note, print_result, table, with_engine
from app.cli.run_formats import print_formats
from app.cli.run_ids import RunId, RunIds
from app.cli.sites import give_hosts
from app.engine.api.engine_api import RunDetail, RunImportReport
from app.engine.api.evaluation_api import ExpectedOutcome
from app.engine.api.import_notes import note_lines, unrecognised_line
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.core.labels import outcome_label
from app.engine.core.prompt_set import version_words
from app.engine.core.trajectory import Step
from app.engine.exports import EXPORTS
from app.engine.exports.run_export import NATIVE
from app.errors import UsageError

if TYPE_CHECKING:
    from app.engine.engine import Engine

app = typer.Typer(help="List, show, export and delete stored runs.", no_args_is_help=True)


MAX_NOTES = 20
"""Distinct notes that an import prints; ``--json`` and ``runs show`` have all of them."""


RunOrder = Literal["risk", "teach", "date", "site", "steps", "id"]


def import_(
    paths: Annotated[list[Path], typer.Argument(help="Folders or files with runs.")],
    format: Annotated[str, typer.Option(help="auto, or a format by its name (see --formats).")] = "auto",
    formats: Annotated[
        bool,
        typer.Option("--formats", help="List the formats and end.", is_eager=True, callback=print_formats),
    ] = False,
    site: Annotated[str, typer.Option(help="The site that --host belongs to.")] = "",
    host: Annotated[
        list[str] | None,
        typer.Option(help="A host of --site, so that its pages are known. May be repeated."),
    ] = None,
    ocr: Annotated[
        bool | None,
        typer.Option(
            "--ocr/--no-ocr",
            help="Read the words of pages that have only pictures (seconds a picture; by default as the settings say).",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Import runs. Importing twice adds nothing; the originals are only read."""
    if bool(site) != bool(host):
        raise UsageError("--site and --host go together", remedy="write --site NAME --host HOST")

    async def importing(engine: Engine) -> RunImportReport:
        if host:
            await give_hosts(engine, site, host)
        return await engine.import_runs([str(path) for path in paths], format, ocr)

    report = with_engine(importing)
    body = {
        key: json_data(getattr(report, key))
        for key in ("imported", "skipped", "failed", "runs", "notes", "learned", "unrecognised")
    }
    print_result(body, as_json, lambda: f"{report.imported} imported, {report.skipped} already present")
    lines = note_lines(report.notes)
    for line in lines[:MAX_NOTES]:
        print_note(line)
    if lines:
        rest = len(lines) - MAX_NOTES
        more = f"; {rest} more notes are not shown (see --json)" if rest > 0 else ""
        print_note(f"{len(report.notes)} of the new runs have notes{more}")
    if line := unrecognised_line(report.unrecognised):
        print_note(line)
    for failure in report.failed:
        print_note(f"{failure.path}: {failure.error}")
    if report.failed:
        raise typer.Exit(3)


@app.command("list")
def list_(
    site: Annotated[str, typer.Option(help="Only this site.")] = "",
    suite: Annotated[str, typer.Option(help="Only this suite.")] = "",
    task: Annotated[str, typer.Option(help="Only runs of the task with this id.")] = "",
    failed: Annotated[bool, typer.Option("--failed", help="Only runs scored below 1.")] = False,
    passed: Annotated[bool, typer.Option("--passed", help="Only runs with the full score.")] = False,
    unjudged: Annotated[bool, typer.Option("--unjudged", help="Only runs without a verdict.")] = False,
    needs: Annotated[
        bool, typer.Option("--needs", help="Only runs that gave up and said what they would need.")
    ] = False,
    detector: Annotated[str, typer.Option(help="Only runs flagged by this detector.")] = "",
    order: Annotated[RunOrder, typer.Option(help="Sort order.")] = "id",
    search: Annotated[
        str, typer.Option(help="Search goals, reasons, actions, addresses, errors and answers.")
    ] = "",
    as_json: Json = False,
) -> None:
    """List runs in the order of the review queue."""
    which = RunFilter(
        site=site,
        suite=suite,
        task=task,
        failed=failed,
        passed=passed,
        unjudged=unjudged,
        needs=needs,
        detector=detector,
        order=order,
        search=search,
    )
    rows = with_engine(lambda engine: engine.list_runs(which))
    print_result(rows, as_json, lambda: _run_table(rows))
    if waiting := sum(not row.looked_at for row in rows):
        print_note(
            f"{waiting} of these runs have not been checked by the detectors yet; run 'sitelore detect'"
        )


@app.command("show")
def show_(run: RunId, as_json: Json = False) -> None:
    """Show a run with its steps, and what was expected of it where a suite of the workspace has its task."""

    async def showing(engine: Engine) -> tuple[RunDetail, ExpectedOutcome | None]:
        return await engine.open_run(run), await engine.expected_outcome(run)

    detail, expected = with_engine(showing)
    body = {**run_document(detail), "expected": json_data(expected)}
    print_result(body, as_json, lambda: "\n".join([_run_text(detail), *_expected_lines(expected)]))


@app.command()
def delete(runs: RunIds, as_json: Json = False) -> None:
    """Move runs to the trash (``sitelore review undo`` brings them back)."""
    count = with_engine(lambda engine: engine.delete_runs(runs))
    print_result({"deleted": count}, as_json, lambda: f"{count} moved to the trash")


@app.command()
def export(
    runs: RunIds,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the runs. Of one run its own file, or, for atif and online-mind2web, its own folder."
            " Default: the folder runs-export; for one run RUN.html, RUN.gif … here.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            help="html, gif, otlp (files); native, atif, online-mind2web (folders); a wrong name lists them."
        ),
    ] = NATIVE,
    as_json: Json = False,
) -> None:
    """Export runs: native folders that Sitelore reads, a web page or a GIF for people, or another program's format."""
    place = _default_place(runs, format) if out is None else out
    report = with_engine(lambda engine: engine.export_runs(runs, str(place), format))
    count = len(report.paths)
    body = {"exported": count, "out": str(place), **json_data(report)}
    print_result(body, as_json, lambda: f"{count} written to {_place(report.paths, place)}")
    for sentence in report.left_out:
        print_note(sentence)
    for failure in report.failed:
        print_note(f"{failure.path}: {failure.error}")
    if report.failed:
        raise typer.Exit(3)


def _default_place(runs: Sequence[str], format: str) -> Path:
    """Return the place of an export without ``--out``: one run in a format of files becomes a file here."""
    folder = Path("runs-export")
    if format not in EXPORTS or len(set(runs)) > 1:
        return folder
    suffix = EXPORTS[format].suffix
    return Path(f"{runs[0]}{suffix}") if suffix else folder / runs[0]


def _place(paths: Sequence[str], out: Path) -> str:
    path = paths[0] if len(paths) == 1 else str(out)
    return f"the folder {path}" if Path(path).is_dir() else path


@app.command()
def reindex(as_json: Json = False) -> None:
    """Rebuild the search index from the stored runs."""
    count = with_engine(lambda engine: engine.rebuild_index())
    print_result({"runs": count}, as_json, lambda: f"{counted(count, 'run')} indexed")


def step_document(step: Step) -> dict[str, Any]:
    """Return a step as the stable command line prints it."""
    return {
        "index": step.index,
        "url": step.url,
        "title": step.title,
        "reason": step.reason,
        "action": {"kind": step.action.kind, "args": step.action.args} if step.action else None,
        "target": {"role": step.target.role, "name": step.target.name} if step.target else None,
        "words": step.words,
        "executed": step.executed,
        "error": step.error,
        "error_class": step.error_class.value,
        "tips": list(step.tips),
    }


def run_document(detail: RunDetail) -> dict[str, Any]:
    """Return a run as the stable command line prints it."""
    run = json_data(detail.run)
    return {
        **{key: value for key, value in run.items() if key != "final"},
        "needs": detail.run.needs,
        "risk": detail.risk.value,
        "suspect_step": detail.risk.suspect_step,
        "flags": json_data(detail.flags),
        "verdicts": json_data(detail.verdicts),
        "tips": list(detail.tips),
        "uses": json_data(detail.uses),
        "steps": [step_document(step) for step in detail.steps],
        "final": step_document(detail.run.final) if detail.run.final else None,
    }


def _run_table(rows: Sequence[RunRow]) -> str:
    """Return the list as text; columns that few workspaces have are left out where they are empty."""
    heads = ("risk", "site", "task", "score", "steps", "ended", "run", "flags", "goal", "reason", "teaches")
    cells = [_run_row(row) for row in rows]
    shown = [
        at
        for at, head in enumerate(heads)
        if head not in ("task", "reason", "teaches") or any(row[at] for row in cells)
    ]
    return table([[row[at] for at in shown] for row in cells], [heads[at] for at in shown], widest=48)


def _run_row(row: RunRow) -> tuple[object, ...]:
    score = "-" if row.score is None else f"{row.score:.2f}"
    return (
        f"{row.risk:.2f}" if row.looked_at else "-",
        row.site,
        row.task_id,
        score,
        row.steps,
        outcome_label(row.outcome),
        row.id,
        ", ".join(row.flags),
        row.intent,
        row.needs,
        row.teaches,
    )


def _expected_lines(outcome: ExpectedOutcome | None) -> list[str]:
    """Describe what a run should have come to; nothing where no suite knows its task."""
    if outcome is None:
        return []
    if outcome.hidden:
        return [f"expected: hidden, the suite {outcome.suite} is blind"]
    lines = [f"expected: {text}" for text in outcome.expected] or [
        "expected: the suite has no reference answer"
    ]
    if outcome.score is None:
        return lines
    score = outcome.score
    lines.append(f"{score.verdict.value} by the rules {score.dialect.value}: {score.why}")
    for check in score.checks:
        found = f"; found {check.found}" if check.found else ""
        told = "undecided" if check.score is None else f"{check.score:g}"
        lines.append(
            f"  {told} {check.evaluator}: {check.expected}{found}{f'; {check.why}' if check.why else ''}"
        )
    return lines


def _run_text(detail: RunDetail) -> str:
    run = detail.run
    score = "not scored" if run.score is None else f"score {run.score:.2f}"
    lines = [f"note: {note}" for note in run.notes]
    lines += [
        f"{run.site} · {run.suite} {run.task_id} · {run.intent}",
        f"{score}, {outcome_label(run.outcome)}, {counted(run.step_count, 'step')}, risk {detail.risk.value:.2f}",
        *([f"ended by hand by {run.ended_by}"] if run.ended_by else []),
        *([versions] if (versions := version_words(run.prompts, run.actions)) else []),
    ]
    flagged = {flag.step: flag.message for flag in reversed(detail.flags)}
    page = ""
    for step in detail.steps:
        if step.url != page:
            page = step.url
            lines.append(f"  at {page or 'an unknown address'}")
        mark = ">" if step.index == detail.risk.suspect_step else " "
        lines.append(f"{mark} {step.index:3d}  {step.words}")
        if step.error:
            lines.append(f"       {step.error_class.value} error: {step.error.splitlines()[0]}")
        if step.index in flagged:
            lines.append(f"       ! {flagged[step.index]}")
    lines += [f"tip {use.tip}: {use.words}" for use in detail.uses]
    if run.needs:
        lines.append(f"gave up: {run.needs}")
    elif run.answer:
        lines.append(f"answer: {run.answer}")
    return "\n".join(lines)
