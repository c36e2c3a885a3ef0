"""Success over the number of tips, drawn: one line with and one without interaction graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.engine.api.evaluation_api import RateRow
from app.engine.core.evaluation.episode import Arm
from app.engine.evaluation.report.cells import cell_text
from app.engine.evaluation.report.svg import WIDTH, is_known, round_limits, svg, svg_line, svg_text

MIN_SIZES = 3
"""Sizes of the knowledge base that make a curve: two points are none."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, WIDTH - 210, 20, 270
_TICK_GAP = 40.0

Axis = Callable[[float], float]


def sizes_of(rated: Sequence[tuple[RateRow, Arm]]) -> int:
    """Return how many numbers of tips there are."""
    return len({arm.tips for _, arm in rated})


def learning_plot(rated: Sequence[tuple[RateRow, Arm]]) -> str:
    """Return the plot; "" where there are fewer than three sizes."""
    rated = [(rate, arm) for rate, arm in rated if rate.tasks and is_known(rate.mean, rate.low, rate.high)]
    if sizes_of(rated) < MIN_SIZES:
        return ""
    most = max(arm.tips for _, arm in rated)
    low, high, step = round_limits(min(rate.low for rate, _ in rated), max(rate.high for rate, _ in rated))

    def x(tips: float) -> float:
        return _LEFT + tips / most * (_RIGHT - _LEFT)

    def y(value: float) -> float:
        return _BOTTOM - (value - low) / (high - low) * (_BOTTOM - _TOP)

    parts = list[str]()
    for number in range(round((high - low) / step) + 1):
        value = low + number * step
        parts.append(svg_line("grid", _LEFT, y(value), _RIGHT, y(value)))
        parts.append(svg_text(_LEFT - 12, y(value) + 4, f"{100 * value:.4g} %", "end tick"))
    last = float("-inf")
    for tips in sorted({arm.tips for _, arm in rated}):
        if x(tips) - last >= _TICK_GAP:
            last = x(tips)
            parts.append(svg_text(last, _BOTTOM + 18, f"{tips:,}", "middle tick"))
    parts.append(svg_text((_LEFT + _RIGHT) / 2, _BOTTOM + 38, "tips in the knowledge base", "middle tick"))
    for maps in (False, True):
        series = sorted((arm.tips, rate.mean, rate.low, rate.high) for rate, arm in rated if arm.maps == maps)
        parts += _series(series, maps, x, y)
    words = "; ".join(
        f"{arm.tips} tips{' with interaction graphs' if arm.maps else ''}: {cell_text(rate.mean, 'share')} %"
        f" ({cell_text((rate.low, rate.high), 'shares')})"
        for rate, arm in rated
    )
    return svg("Success over the number of tips", words, _BOTTOM + 48, parts)


def _series(points: Sequence[tuple[int, float, float, float]], maps: bool, x: Axis, y: Axis) -> list[str]:
    if not points:
        return []
    kind, cap, shift = ("with-maps", 4, 3) if maps else ("without-maps", 4, 0)
    places = [(x(tips) + shift, y(mean)) for tips, mean, _, _ in points]
    line = "L".join(f"{at:.1f} {height:.1f}" for at, height in places)
    parts = [f'<path class="curve {kind}" d="M{line}"/>']
    for (_, _, low, high), (at, height) in zip(points, places, strict=True):
        top, bottom = y(high), y(low)
        parts.append(
            f'<path class="interval {kind}" d="M{at - cap:.1f} {top:.1f}h{2 * cap}m{-cap} 0V{bottom:.1f}'
            f'm{-cap} 0h{2 * cap}"/>'
        )
        parts.append(
            f'<rect class="point {kind}" x="{at - 5:.1f}" y="{height - 5:.1f}" width="10" height="10"/>'
            if maps
            else f'<circle class="point {kind}" cx="{at:.1f}" cy="{height:.1f}" r="5"/>'
        )
    words = "■ with interaction graphs" if maps else "● without interaction graphs"
    return [*parts, svg_text(places[-1][0] + 16, places[-1][1] + 4, words, kind)]
