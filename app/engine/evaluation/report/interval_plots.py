"""Points with their intervals, drawn: differences by site and type (a forest plot), and rates of arms.

A point is a triangle that shows up or down, and coloured, only where its interval leaves out zero; else a circle
without colour.  The numbers also stand in a table on the page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from app.engine.api.evaluation_api import DifferenceRow, RateRow
from app.engine.evaluation.report.cells import MINUS, cell_text
from app.engine.evaluation.report.readings import Reading, reading_of
from app.engine.evaluation.report.safe_text import elided
from app.engine.evaluation.report.svg import (
    WIDTH,
    is_known,
    round_limits,
    round_step,
    svg,
    svg_line,
    svg_text,
)

_COUNT, _RIGHT, _READING, _ROW, _TOP = 250, 680, WIDTH - 84, 24, 44
_NAMES = {"site": "By site", "type": "By type of task"}


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalMark:
    """A line of an interval plot; a line without ``templates`` is a heading."""

    label: str
    templates: int = 0
    value: float = 0.0
    low: float = 0.0
    high: float = 0.0
    reading: Reading | None = None
    words: str = ""
    strong: bool = False


@dataclass(frozen=True, slots=True)
class _Scale:
    """The horizontal axis in shares: from ``low`` to ``high``, marked at each ``step``."""

    low: float
    high: float
    step: float

    def x(self, value: float) -> float:
        inside = min(self.high, max(self.low, value))
        return _COUNT + (inside - self.low) / (self.high - self.low) * (_RIGHT - _COUNT)

    def ticks(self) -> list[float]:
        first, last = math.ceil(self.low / self.step - 1e-9), math.floor(self.high / self.step + 1e-9)
        return [number * self.step for number in range(first, last + 1)]


def forest_plot(rows: Sequence[DifferenceRow], margin: float, *, early: bool = False) -> str:
    """Return the differences of one pair of arms, in all and by site and type; "" for none."""
    if not rows:
        return ""
    marks = list[IntervalMark]()
    family = ""
    for row in rows:
        kind, _, name = row.group.partition(" ")
        kind = kind if kind in _NAMES or row.group == "all" else "other"
        if kind != family and kind != "all":
            family = kind
            marks.append(IntervalMark(label=_NAMES.get(kind, "As a check")))
        reading = reading_of(row.low, row.high, row.templates, early=early)
        marks.append(
            IntervalMark(
                label="All tasks" if row.group == "all" else name if kind in _NAMES else row.group,
                templates=row.templates,
                value=row.difference,
                low=row.low,
                high=row.high,
                reading=reading,
                words=f"{cell_text(row.difference, 'points')} ({cell_text((row.low, row.high), 'ranges')})",
                strong=row.group == "all",
            )
        )
    title = f"Difference of {rows[0].arm} to {rows[0].against}, in percentage points"
    return _interval_plot(title, marks, _scale(marks, zero=True), margin=margin)


def rates_plot(rows: Sequence[RateRow]) -> str:
    """Return the success rates of arms with their intervals by template; "" for none."""
    marks = [
        IntervalMark(
            label=row.name,
            templates=row.templates,
            value=row.mean,
            low=row.low,
            high=row.high,
            words=f"{cell_text(row.mean, 'share')} % ({cell_text((row.low, row.high), 'shares')})",
        )
        for row in rows
        if row.tasks and is_known(row.mean, row.low, row.high)
    ]
    return _interval_plot("Success rate of each arm, in per cent", marks, _scale(marks)) if marks else ""


def _interval_plot(
    title: str, marks: Sequence[IntervalMark], scale: _Scale, margin: float | None = None
) -> str:
    bottom = _TOP + _ROW * len(marks)
    height = bottom + 26
    parts = list[str]()
    if margin is not None:
        left, right = scale.x(-margin), scale.x(margin)
        parts.append(
            f'<rect class="margin" x="{left:.1f}" y="{_TOP}" width="{right - left:.1f}" height="{bottom - _TOP}"/>'
        )
    signed = margin is not None
    for tick in scale.ticks():
        x, zero = scale.x(tick), signed and abs(tick) < 1e-9
        parts.append(svg_line("zero" if zero else "grid", x, _TOP, x, bottom))
        parts.append(svg_text(x, bottom + 17, _tick(tick, signed=signed), "middle tick"))
    for x, words, place in (
        (_COUNT - 14, "templates", "end tick"),
        (_RIGHT + 14, "difference and 95 % interval" if signed else "rate and 95 % interval", "tick"),
    ):
        parts.append(svg_text(x, _TOP - 8, words, place))
    if signed:
        parts.append(svg_text(scale.x(0) - 10, 14, "← worse", "end tick"))
        parts.append(svg_text(scale.x(0) + 10, 14, "better →", "tick"))
    for at, mark in enumerate(marks):
        parts += _mark(mark, scale, _TOP + _ROW * at + _ROW / 2)
    return svg(title, _words(marks), height, parts)


def _mark(mark: IntervalMark, scale: _Scale, y: float) -> list[str]:
    name = "strong" if mark.strong else "heading" if not mark.templates else ""
    if not mark.templates:
        return [svg_text(4, y + 5, mark.label, name)]
    parts = [svg_text(4 if mark.strong else 14, y + 4, elided(mark.label, 24), name)]
    parts.append(svg_text(_COUNT - 14, y + 4, f"{mark.templates:,}", "end"))
    if not is_known(mark.value, mark.low, mark.high):
        return [*parts, svg_text(_RIGHT + 14, y + 4, "no figure", "tick")]
    kind = mark.reading if mark.reading in ("better", "worse") else "unclear"
    low, high, x = scale.x(mark.low), scale.x(mark.high), scale.x(mark.value)
    top, bottom = y - 4, y + 4
    parts.append(
        f'<path class="interval {kind}" d="M{low:.1f} {top}V{bottom}M{low:.1f} {y}H{high:.1f}'
        f'M{high:.1f} {top}V{bottom}"/>'
    )
    parts.append(f'<path class="point {kind}" d="{_shape(kind, x, y, 6.5 if mark.strong else 5)}"/>')
    parts.append(svg_text(_RIGHT + 14, y + 4, mark.words, name))
    if mark.reading:
        sign = {"better": "▲ ", "worse": "▼ "}.get(mark.reading, "○ ")
        parts.append(svg_text(_READING, y + 4, sign + mark.reading, f"{kind} {name}"))
    return parts


def _shape(kind: str, x: float, y: float, size: float) -> str:
    if kind == "better":
        return f"M{x:.1f} {y - size:.1f}L{x + size:.1f} {y + size * 0.8:.1f}H{x - size:.1f}Z"
    if kind == "worse":
        return f"M{x:.1f} {y + size:.1f}L{x + size:.1f} {y - size * 0.8:.1f}H{x - size:.1f}Z"
    r = size * 0.85
    return f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {-2 * r:.1f} 0Z"


def _scale(marks: Sequence[IntervalMark], *, zero: bool = False) -> _Scale:
    ends = [
        end for mark in marks if mark.templates for end in (mark.low, mark.high, mark.value) if is_known(end)
    ]
    if not zero:
        return _Scale(*round_limits(min(ends), max(ends)))
    most = max([0.02, *(abs(end) for end in ends)])
    step = round_step(2 * most)
    most = math.ceil(most / step - 1e-9) * step
    return _Scale(-most, most, step)


def _tick(value: float, *, signed: bool) -> str:
    if not signed:
        return f"{100 * value:.6g} %"
    return "0" if abs(value) < 1e-9 else f"{100 * value:+.6g}".replace("-", MINUS)


def _words(marks: Sequence[IntervalMark]) -> str:
    return "; ".join(
        f"{mark.label}, {mark.templates} templates: {mark.words}{f', {mark.reading}' if mark.reading else ''}"
        for mark in marks
        if mark.templates
    )
