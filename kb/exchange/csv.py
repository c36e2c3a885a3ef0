r"""CSV for spreadsheets: one tip a row under a row of column names.

Every cell is quoted.  A cell that a spreadsheet would run as a formula is prefixed with an apostrophe, and so is a
part of a cell that would be one if another character separated the cells; reading removes the apostrophes. Items of a
list are separated by ``;``; one within an item is written ``\;``, a backslash ``\\``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from kb.errors import BadFile, BadTip
from kb.exchange.parsed import ParsedTip, Parser, draft_from
from kb.procedure import procedure_to_json
from kb.record import anchor_to_json, to_json
from kb.tip import Provenance, TipDraft

COLUMNS = (
    "site",
    "kind",
    "host",
    "path",
    "query",
    "text",
    "when",
    "do",
    "before",
    "why",
    "keywords",
    "taint",
    "run",
    "step",
    "screenshot",
    "author",
    "detector",
    "verdict",
    "procedure",
    "anchor",
    "tags",
)

_LISTS = ("query", "keywords", "taint", "tags")
_STARTS = "[=+\\-@＝＋－＠]"
_PARTS = r"[;\t\r\n][\s\"]*"
_FORMULA = re.compile(rf"\A(?='*[\t\r\n])|(\A|{_PARTS})(?='*{_STARTS})")
_GUARDED = re.compile(rf"\A'(?='*[\t\r\n])|(\A|{_PARTS})'(?='*{_STARTS})")
"""If ``;`` or a tab separates the cells, the quotes around a whole cell protect none of its parts."""
_ITEM = re.compile(r"(?:[^;\\]|\\.|\\\Z)+", re.DOTALL)
_ESCAPED = re.compile(r"\\([;\\])")


def parse(text: str, site: str) -> Parser:
    """Parse a draft from each row; columns may be in any order, unknown ones are ignored."""
    for line, row in rows(text, needs="text"):
        try:
            fields = {
                name: _items(row.get(name, "")) if name in _LISTS else row.get(name) for name in COLUMNS
            }
            scope = {"scope": row["scope"]} if row.get("scope") else {}
            yield ParsedTip(line, replace(draft_from({**fields, **scope}, site), provenance=_provenance(row)))
        except BadTip as error:
            yield ParsedTip(line, error=str(error))


def rows(text: str, needs: str) -> Iterable[tuple[int, dict[str, str]]]:
    """Rows as mappings from column name in lower case to cell, with the line each ends on.

    Raises ``BadFile`` if the column ``needs`` is missing.
    """
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header = next(reader, list[str]())
    names = [name.strip().lower() for name in header]
    if needs not in names:
        raise BadFile(
            f"its first row names no column {needs!r} (it has: {', '.join(names)[:200] or 'nothing'})"
        )
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                cells = [_GUARDED.sub(r"\1", cell) for cell in row]
                yield reader.line_num, dict(zip(names, cells, strict=False))
    except csv.Error as error:
        raise BadFile(f"line {reader.line_num}: {error}") from error


def serialise(tips: Iterable[TipDraft]) -> str:
    """Serialise the rows, without repetitions."""
    return write_rows(COLUMNS, dict.fromkeys(map(_cells, tips)))


def write_rows(columns: Iterable[str], table: Iterable[Iterable[str]]) -> str:
    """Return a table as CSV, no cell of which a spreadsheet runs as a formula."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(columns)
    writer.writerows([_FORMULA.sub(r"\1'", cell) for cell in row] for row in table)
    return text.getvalue()


def _cells(tip: TipDraft) -> tuple[str, ...]:
    origin = tip.provenance
    return (
        tip.site,
        tip.kind.value,
        tip.scope.host,
        tip.scope.path,
        _list(tip.scope.query),
        tip.text,
        tip.when,
        tip.do,
        tip.before,
        tip.why,
        _list(tip.keywords),
        _list(tip.taint),
        origin.run,
        "" if origin.step is None else str(origin.step),
        origin.screenshot,
        origin.author,
        origin.detector,
        origin.verdict,
        to_json(procedure_to_json(tip.procedure)) if tip.procedure is not None else "",
        to_json(anchor_to_json(tip.anchor)) if tip.anchor is not None else "",
        _list(tip.tags),
    )


def _list(items: Iterable[str]) -> str:
    return "; ".join(item.replace("\\", "\\\\").replace(";", "\\;") for item in items)


def _items(cell: str) -> list[str]:
    return [_ESCAPED.sub(r"\1", item.strip()) for item in _ITEM.findall(cell) if item.strip()]


def _provenance(row: Mapping[str, str]) -> Provenance:
    step = row.get("step", "").strip()
    if step and not re.fullmatch(r"\d{1,9}", step, re.ASCII):
        raise BadTip(f"step must be a whole number, not {step[:40]!r}")
    texts = ("run", "screenshot", "author", "detector", "verdict")
    return Provenance(**{name: row.get(name, "") for name in texts}, step=int(step) if step else None)
