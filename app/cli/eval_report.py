"""``sitelore eval report``: the report of evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.common import Json, full_path, print_note, print_result, with_engine
from app.engine.api.evaluation_api import ReportFiles


def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders of evaluations of one suite.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the report (default: 'report' in the folder of the evaluation)."),
    ] = None,
    margin: Annotated[
        float, typer.Option(min=0.0, max=0.99, help="Difference below which arms are the same, as a share.")
    ] = 0.02,
    as_json: Json = False,
) -> None:
    """Write a report: one page that needs no network, tables as CSV and LaTeX, everything as JSON."""
    where = [full_path(folder) for folder in folders]
    files: ReportFiles = with_engine(lambda engine: engine.write_report(where, full_path(out), margin))
    print_result(files, as_json, lambda: report_text(files))
    for note in files.notes:
        print_note(note)
    if not files.html:
        raise typer.Exit(1)


def report_text(files: ReportFiles) -> str:
    """Name the files of a report in lines."""
    tables = str(Path(files.csv[0]).parent) if files.csv else ""
    lines = [
        files.html,
        files.json,
        files.latex,
        f"{tables} ({len(files.csv)} tables as CSV)" if tables else "",
    ]
    return "\n".join(line for line in lines if line)
