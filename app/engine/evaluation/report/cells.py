"""Tables of the report, independent of the form they are written in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from app.engine.evaluation.report.safe_text import one_line

CellValue = str | int | float | tuple[float, float] | None
CellKind = Literal[
    "text",  # words of the program
    "foreign",  # words of a task, a page or a model: any language and length
    "hash",
    "count",
    "number",
    "share",  # in [0, 1], shown as per cent
    "points",  # a difference of shares, shown as percentage points
    "shares",  # interval of shares
    "ranges",  # interval of points
    "p",
    "seconds",
    "money",
]
NUMBERS = frozenset({"count", "number", "share", "points", "shares", "ranges", "p", "seconds", "money"})
MISSING = "–"
MINUS = "\u2212"


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """A column.

    Attributes:
        key: its name in CSV; of an interval ``low`` and ``high`` are appended.
        head: its head in print, with the unit.
    """

    key: str
    head: str
    kind: CellKind = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """A table.

    Attributes:
        name: unique; the stem of its CSV file and its anchor on the page.
        remark: how to read it, in one or two sentences.
        split_by: leading columns whose values split it into tables of their own in print.
        printed: whether it stands in print (page, LaTeX); a long list is for programs.
    """

    name: str
    title: str
    columns: tuple[ReportColumn, ...]
    rows: tuple[tuple[CellValue, ...], ...]
    remark: str = ""
    split_by: int = 0
    printed: bool = True

    def parts(self) -> list[tuple[tuple[str, ...], ReportTable]]:
        """Return the tables it is split into, each with the values that it is of."""
        if not self.split_by:
            return [((), self)]
        rows: dict[tuple[str, ...], list[tuple[CellValue, ...]]] = {}
        for row in self.rows:
            of = tuple(cell_text(row[at], self.columns[at].kind) for at in range(self.split_by))
            rows.setdefault(of, []).append(row[self.split_by :])
        return [
            (
                of,
                ReportTable(
                    name="-".join((self.name, str(number))),
                    title=self.title,
                    columns=self.columns[self.split_by :],
                    rows=tuple(part),
                    remark=self.remark,
                ),
            )
            for number, (of, part) in enumerate(rows.items(), 1)
        ]


def cell_text(value: CellValue, kind: CellKind) -> str:
    """Return a cell as people read it."""
    if value is None or value == "":
        return MISSING if kind in NUMBERS else ""
    if isinstance(value, str):
        return one_line(value)[:12] if kind == "hash" else one_line(value)
    if isinstance(value, tuple):
        low, high = value
        one = "points" if kind == "ranges" else "share"
        if not (math.isfinite(low) and math.isfinite(high)):
            return MISSING
        return f"{cell_text(low, one)} to {cell_text(high, one)}"
    if not math.isfinite(value):
        return MISSING
    return _number_text(value, kind)


def _number_text(value: float, kind: CellKind) -> str:
    match kind:
        case "share":
            return f"{100 * value:.1f}"
        case "points":
            return points_text(value)
        case "p":
            return "<0.001" if value < 0.001 else f"{value:.3f}"
        case "money":
            return f"{value:,.2f}"
        case "number" | "seconds":
            return signed(f"{value:,.1f}")
        case _:
            return signed(f"{value:,}" if isinstance(value, int) else f"{value:,.10g}")


def points_text(value: float) -> str:
    """Return a difference of shares in percentage points with its sign; zero has none."""
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else signed(text)


def signed(text: str) -> str:
    """Return a number whose minus is one, and not a hyphen."""
    text = "0" + text[2:] if text.startswith("-0") and not text.strip("-0.") else text
    return text.replace("-", MINUS)
