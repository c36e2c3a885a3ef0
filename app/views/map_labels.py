"""Names of the states that matter most, where dots leave room for them; the same at one scale wherever one looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter

if TYPE_CHECKING:
    from app.models.map_graph import Ints, MapGraph, Mask
    from app.views.map_camera import Camera
    from app.views.theme import Theme

WIDE = 128.0
"""Most pixels of a label at 100 % text size."""
MOST = 600
"""States considered for a label, the most important first."""


class Labels:
    """Chooses who is named at a scale: nearer to the home page first, then those with many links."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._graph: MapGraph | None = None
        self._order: list[int] = []
        self._scale = 0.0
        self._chosen: set[int] = set()

    def take(self, graph: MapGraph, shown: Mask) -> None:
        """Name states of this graph, of those that the filter leaves."""
        self._graph = graph
        depths = np.fromiter((row.depth for row in graph.rows), np.int64, len(graph))
        order = np.lexsort((-graph.degrees, depths, ~shown))[:MOST] if len(graph) else np.empty(0, np.int64)
        self._order = [number for number in order.tolist() if shown[number]]
        self.forget()

    def forget(self) -> None:
        """Choose anew."""
        self._scale = 0.0

    def paint(self, painter: QPainter, camera: Camera, inside: Ints) -> None:
        """Write the names of those that are in sight under their dots."""
        if self._graph is None:
            return
        if self._scale != camera.scale:
            self._choose(camera)
        font = self._theme.font("secondary")
        metrics, wide = QFontMetrics(font), self._theme.px(WIDE)
        painter.setFont(font)
        for number in cast("list[int]", inside.tolist()):
            if number in self._chosen:
                row = self._graph.rows[number]
                x, y = self._graph.places[number]
                at = camera.point(float(x), float(y))
                text = metrics.elidedText((row.title or row.url)[:60], Qt.TextElideMode.ElideRight, wide)
                self._write(
                    painter, metrics, text, at.x(), at.y() + min(max(46 * camera.scale, 2.4), 9.0) + 2
                )

    def _write(self, painter: QPainter, metrics: QFontMetrics, text: str, x: float, top: float) -> None:
        box = QRectF(0, 0, metrics.horizontalAdvance(text) + 6, metrics.height())
        box.moveTopLeft(QRectF(x - box.width() / 2, top, 0, 0).topLeft())
        ground = self._theme.color("surface")
        ground.setAlpha(205)
        painter.fillRect(box, ground)
        painter.setPen(self._theme.color("text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _choose(self, camera: Camera) -> None:
        assert self._graph is not None
        self._scale, self._chosen = camera.scale, set()
        metrics = QFontMetrics(QFont(self._theme.font("secondary")))
        wide, high = self._theme.px(WIDE) + 8, metrics.height() + 4
        cell, taken = camera.cell, set[tuple[int, int]]()
        for number in self._order:
            x, y = self._graph.places[number]
            column, line = int(x * cell[0] // wide), int(y * cell[1] // high)
            near = {(column + a, line + b) for a in (-1, 0, 1) for b in (-1, 0, 1)}
            if not near & taken:
                taken.add((column, line))
                self._chosen.add(number)
