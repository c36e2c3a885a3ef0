"""The files of a report, each placed whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from app.engine.api.evaluation_api import Comparison, ReportFiles
from app.engine.core.evaluation.episode import EvaluationJournal
from app.engine.evaluation.report import journal_tables, result_tables
from app.engine.evaluation.report.cells import ReportTable
from app.engine.evaluation.report.csv_tables import csv_bytes
from app.engine.evaluation.report.html_page import html_bytes
from app.engine.evaluation.report.json_document import FORMAT, json_bytes
from app.engine.evaluation.report.latex_tables import latex_bytes
from app.engine.evaluation.report.readings import verdict_sentences
from app.errors import Conflict, InputError
from kb.atomic import place
from kb.errors import KbError

HTML, LATEX, JSON, TABLES = "report.html", "report.tex", "report.json", "tables"
_MAX_OLD_BYTES = 512 * 1024 * 1024


def report_tables(comparison: Comparison, journals: Sequence[EvaluationJournal]) -> list[ReportTable]:
    """Return all tables of a report in their order; those without a row are left out."""
    heads = comparison.heads or tuple(journal.head for journal in journals)
    tables = [
        journal_tables.arms_table(heads),
        journal_tables.settings_table(heads),
        result_tables.rates_table(comparison),
        result_tables.differences_table(comparison),
        result_tables.pair_counts_table(comparison),
        result_tables.pairs_table(comparison),
        result_tables.learning_table(comparison),
        result_tables.credits_table(comparison),
        *result_tables.group_tables(comparison),
        journal_tables.outcomes_table(journals),
        result_tables.cost_table(comparison),
        result_tables.cost_differences_table(comparison),
        journal_tables.progress_table(journals),
        journal_tables.reasons_table(journals),
        journal_tables.episodes_table(journals),
    ]
    return [table for table in tables if table.rows]


def write_report_files(
    comparison: Comparison, journals: Sequence[EvaluationJournal], out: Path
) -> ReportFiles:
    """Write a report into a folder, which is made if need be; a report that is there is replaced.

    Without jinja2 there is no page; ``notes`` says so, and the other files are written.

    Raises:
        Conflict: a file that is no report's has the name of one of its files; nothing was written.
        InputError: the folder can't be written.
    """
    tables = report_tables(comparison, journals)
    contents: dict[str, bytes] = {f"{TABLES}/{table.name}.csv": csv_bytes(table) for table in tables}
    contents[LATEX] = latex_bytes(tables, verdict_sentences(comparison))
    notes = list[str]()
    try:
        contents[HTML] = html_bytes(comparison, journals)
    except InputError as error:
        notes.append(f"{error}; the other files of the report are written")
    old = _old_files(out)
    for name in (JSON, *contents):
        if name not in old and _is_there(out / name):
            raise Conflict(
                f"{out / name} is no file of a report and would be replaced; choose another folder"
            )
    try:
        (out / TABLES).mkdir(parents=True, exist_ok=True)
        # the list of files comes first: whatever a killed process leaves is then known as the report's
        place(out / JSON, json_bytes(comparison, journals, sorted({JSON, *contents})))
        for name, content in contents.items():
            place(out / name, content)
        for name in old - contents.keys() - {JSON}:
            (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"the report can't be written: {error.strerror or error}",
            path=str(out),
            remedy="choose another folder",
        ) from error
    except KbError as error:
        raise InputError(str(error)) from error
    return ReportFiles(
        html=str(out / HTML) if HTML in contents else "",
        csv=tuple(str(out / name) for name in contents if name.endswith(".csv")),
        latex=str(out / LATEX),
        json=str(out / JSON),
        notes=tuple(notes),
    )


def _is_there(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _old_files(out: Path) -> frozenset[str]:
    """Return the names of the files of the report in a folder; only names that a report can have."""
    path = out / JSON
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_OLD_BYTES:
            return frozenset()
        found: Any = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return frozenset()
    document = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    names: Any = document.get("files")
    if document.get("format") != FORMAT or not isinstance(names, list):
        return frozenset()
    mine = {JSON, LATEX, HTML}
    return frozenset(
        name
        for name in cast("list[Any]", names)
        if isinstance(name, str) and (name in mine or _is_table(name)) and not (out / name).is_symlink()
    )


def _is_table(name: str) -> bool:
    folder, mark, file = name.partition("/")
    stem = file.removesuffix(".csv")
    return (
        folder == TABLES
        and bool(mark)
        and stem != file
        and stem.replace("-", "").isalnum()
        and stem.isascii()
    )
