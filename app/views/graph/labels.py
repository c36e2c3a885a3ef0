"""Names of the most important states where dots leave room; the same at one scale wherever one looks.

In the atlas the names are of states with failures or tips, those without a tip first, and say how many there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from app.models.graph.map_graph import failure_count_words, is_untipped
from app.views.graph.marks import rings

if TYPE_CHECKING:
    from app.engine.api.graph_api import NodeRow
    from app.models.graph.map_graph import Ints, MapGraph, Mask
    from app.views.frame.theme import Theme
    from app.views.graph.camera import Camera

WIDE = 128.0
"""Largest width of a label in pixels at 100 % text size."""
MAX_CLEAR_DOTS, MAX_NAMED = 1_500, 250
"""Most important states: how many dots are never covered, and how many are considered for a name."""


class Labels:
    """Chooses the states to name at a scale: nearest to the home page first, then those with many links."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._graph: MapGraph | None = None
        self._order: list[int] = []
        self._scale = 0.0
        self.chosen: dict[int, tuple[str, int]] = {}
        """Text and width of each label at this scale, by state."""
        self.atlas = self._ordered_for_atlas = False

    def take(self, graph: MapGraph, shown: Mask) -> None:
        """Name states of this graph that match the filter."""
        same = (
            self._graph is graph and bool(shown.all()) and len(self._order) == min(len(graph), MAX_CLEAR_DOTS)
        )
        same = same and self._ordered_for_atlas == self.atlas
        self._graph, self._ordered_for_atlas = graph, self.atlas
        if same:
            return
        depths = np.fromiter((row.depth for row in graph.rows), np.int64, len(graph))
        bad = np.fromiter((_badness(row) if self.atlas else 0 for row in graph.rows), np.int64, len(graph))
        order = (
            np.lexsort((-graph.degrees, depths, -bad, ~shown))[:MAX_CLEAR_DOTS]
            if len(graph)
            else np.empty(0, np.int64)
        )
        self._order = [number for number in order.tolist() if shown[number]]
        self.forget()

    def forget(self) -> None:
        """Drop the cached choice."""
        self._scale = 0.0
        self.chosen = {}

    def paint(self, painter: QPainter, camera: Camera, inside: Ints) -> None:
        """Write the visible names under their dots."""
        if self._graph is None or not self.chosen:
            return
        font = self._theme.font("secondary")
        painter.setFont(font)
        high, down = QFontMetrics(font).height(), self._down(dot_radius(camera.scale))
        ground, ink = self._theme.color("surface"), self._theme.color("text")
        for number in cast("list[int]", inside.tolist()):
            if number in self.chosen:
                text, wide = self.chosen[number]
                x, y = self._graph.places[number]
                at = camera.point(float(x), float(y))
                box = QRectF(at.x() - wide / 2, at.y() + down, wide, high * (text.count("\n") + 1))
                painter.fillRect(box, ground)
                painter.setPen(ink)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def choose(self, camera: Camera) -> None:
        """Choose states whose name covers neither the dot of an important state nor another name."""
        if self._graph is None or self._scale == camera.scale:
            return
        self._scale, self.chosen = camera.scale, {}
        metrics, most = QFontMetrics(self._theme.font("secondary")), self._theme.px(WIDE)
        radius, cell = dot_radius(camera.scale), camera.cell
        taken = _OccupiedBoxes(most + 8.0, 2 * metrics.height() + 4.0)
        rows = self._graph.rows
        order = [number for number in self._order if not self.atlas or failure_count_words(rows[number])]
        middles = cast("list[tuple[float, float]]", (self._graph.places[order] * cell).tolist())
        for x, y in middles:
            taken.add(QRectF(x - radius, y - radius, 2 * radius, 2 * radius))
        for number, (x, y) in zip(order[:MAX_NAMED], middles, strict=False):
            row = rows[number]
            name = metrics.elidedText(self._graph.titles[number][:60], Qt.TextElideMode.ElideRight, most)
            counts = failure_count_words(row) if self.atlas else ""
            for text in (f"{name}\n{counts}", counts) if counts else (name,):
                lines = text.split("\n")
                wide = max(map(metrics.horizontalAdvance, lines)) + 6
                box = QRectF(x - wide / 2, y + self._down(radius), wide, metrics.height() * len(lines))
                if taken.is_free(box):
                    taken.add(box)
                    self.chosen[number] = (text, wide)
                    break

    def _down(self, radius: float) -> float:
        """Return how far below a dot's middle its label begins: in the atlas, below the rings."""
        return radius + 2 + (rings(radius) if self.atlas else 0)


def _badness(row: NodeRow) -> int:
    """Return how early a state is named in the atlas: by failures without a tip, failures, tips."""
    return 1_000_000 * (row.failures if is_untipped(row) else 0) + 1_000 * row.failures + row.tips


class _OccupiedBoxes:
    """Occupied boxes, indexed by the cells they touch."""

    def __init__(self, wide: float, high: float) -> None:
        self._wide, self._high = wide, high
        self._cells: dict[tuple[int, int], list[QRectF]] = {}

    def add(self, box: QRectF) -> None:
        for cell in self._touched(box):
            self._cells.setdefault(cell, []).append(box)

    def is_free(self, box: QRectF) -> bool:
        return not any(
            box.intersects(other) for cell in self._touched(box) for other in self._cells.get(cell, ())
        )

    def _touched(self, box: QRectF) -> list[tuple[int, int]]:
        columns = range(int(box.left() // self._wide), int(box.right() // self._wide) + 1)
        lines = range(int(box.top() // self._high), int(box.bottom() // self._high) + 1)
        return [(column, line) for column in columns for line in lines]


def dot_radius(scale: float) -> float:
    return min(max(46 * scale, 2.4), 9.0)
