"""``sitelore review verdicts``: files of verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.common import Json, counted, full_path, print_note, print_result, with_engine
from app.engine.api.review_api import VERDICT_FORMATS, VerdictImport

verdicts_app = typer.Typer(help="Verdicts as files: jsonl, csv, agentrewardbench.", no_args_is_help=True)
_FORMATS = ", ".join(VERDICT_FORMATS)


@verdicts_app.command("export")
def export(
    out: Annotated[Path, typer.Argument(help="The file to write; an older one is replaced.")],
    format: Annotated[str, typer.Option(help=f"One of {_FORMATS}.")] = "jsonl",
    as_json: Json = False,
) -> None:
    """Write all verdicts in force, whoever gave them.

    Nothing is withheld, so annotators whose second look is to be blind should not read the file.
    """
    count = with_engine(lambda engine: engine.export_verdicts(full_path(out), format))
    print_result(
        {"verdicts": count, "path": full_path(out)}, as_json, lambda: f"{counted(count, 'verdict')} in {out}"
    )


@verdicts_app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A file of verdicts.")],
    format: Annotated[str, typer.Option(help=f"One of {_FORMATS} (default: by content).")] = "",
    author: Annotated[str, typer.Option(help="Author of the rows that name none (default: you).")] = "",
    as_json: Json = False,
) -> None:
    """Add the verdicts of a file, all or none; one undo takes them back.

    A run is found by its id, else by suite and task. Rows that can't be used are listed; the rest is added.
    """
    told: VerdictImport = with_engine(lambda engine: engine.import_verdicts(full_path(file), format, author))
    print_result(told, as_json, lambda: f"{counted(told.added, 'verdict')} added, {told.known} known already")
    if not as_json:
        for sentence in (*told.unmatched, *told.failed):
            print_note(f"left out: {sentence}")


def add_verdict_commands(app: typer.Typer) -> None:
    """Add the commands to ``sitelore review``."""
    app.add_typer(verdicts_app, name="verdicts")
