"""Tables of the report as CSV (RFC 4180, UTF-8): numbers as they are, texts safe for spreadsheets."""

from __future__ import annotations

import csv
import io
import math
import re

from app.engine.evaluation.report.cells import CellValue, ReportTable
from app.engine.evaluation.report.safe_text import visible

_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Beginnings that a spreadsheet takes for a formula, in both widths."""


def csv_bytes(table: ReportTable) -> bytes:
    """Return a table as a CSV file; an interval has two columns, shares stay in [0, 1]."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    heads = list[str]()
    pairs = [column.kind in ("shares", "ranges") for column in table.columns]
    for column, pair in zip(table.columns, pairs, strict=True):
        heads += [f"{column.key}_low", f"{column.key}_high"] if pair else [csv_text(column.key)]
    writer.writerow(heads)
    for row in table.rows:
        cells = list[str]()
        for value, pair in zip(row, pairs, strict=True):
            if not pair:
                cells.append(_cell(value))
            else:
                cells += [_cell(end) for end in value] if isinstance(value, tuple) else ["", ""]
        writer.writerow(cells)
    return out.getvalue().encode("utf-8")


def _cell(value: CellValue) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return csv_text(value)
    if isinstance(value, float):
        return repr(round(value, 10) + 0.0) if math.isfinite(value) else ""
    return str(value)


_PLAIN_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?%?")


def csv_text(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: an apostrophe stands before what looks like one."""
    shown = visible(text)
    if shown[:1].isalnum() or _PLAIN_NUMBER.fullmatch(shown):
        return shown
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) or shown[:1] in ("\t", "\r", "\n") else shown
