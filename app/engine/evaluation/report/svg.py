"""Pieces of a plot as SVG: texts are escaped and short, colours are classes of the page's style sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from app.engine.evaluation.report.safe_text import elided

WIDTH = 940


def svg(title: str, words: str, height: float, parts: Sequence[str]) -> str:
    """Return a plot; ``words`` say what it shows to who does not see it."""
    label = escape(elided(f"{title}. {words}", 4000), quote=True)
    return (
        f'<svg class="plot" role="img" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}"'
        f' aria-label="{label}"><title>{escape(elided(title, 200))}</title>{"".join(parts)}</svg>'
    )


def svg_text(x: float, y: float, words: str, kind: str = "") -> str:
    """Return a text of a plot; ``kind`` are its classes."""
    of = f' class="{kind.strip()}"' if kind.strip() else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{of}>{escape(elided(words, 80))}</text>'


def svg_line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    """Return a straight line of a plot."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def round_step(width: float) -> float:
    """Return a round distance of marks of which 4 to 8 fill a width."""
    rough = width / 8
    size = 10.0 ** math.floor(math.log10(rough))
    return next(size * factor for factor in (1, 2, 5, 10, 20) if size * factor >= rough)


def round_limits(low: float, high: float) -> tuple[float, float, float]:
    """Return round ends of an axis of shares, and the distance of its marks."""
    step = round_step(max(0.02, high - low))
    bottom, top = max(0.0, math.floor(low / step) * step), math.ceil(high / step - 1e-9) * step
    return bottom, max(top, bottom + step), step


def is_known(*values: float) -> bool:
    """Return whether all values are numbers that can be drawn."""
    return all(math.isfinite(value) for value in values)
