"""The overlay of the map: open state and its links, path, new states, depths."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen, QPolygonF

from app.models.graph.path import ROLES, SIGNS
from app.views.graph.batch_drawing import draw_lines
from app.views.graph.painter import CARDS_FROM
from app.views.graph.run_paths import paint_parting, paint_run_paths, paint_run_words

if TYPE_CHECKING:
    from PySide6.QtGui import QColor

    from app.models.graph.map_graph import Ints
    from app.models.graph.model import MapModel
    from app.views.frame.theme import Theme
    from app.views.graph.camera import Camera
    from app.views.graph.painter import MapPainter

MAX_LINKS = 300
"""Links drawn for the open state."""
MANY_LINKS = 60
"""More links than this are drawn as thin lines."""
HEAD = 9.0
"""Length of an arrow head in pixels."""


class MapOverlay:
    """Paints over the map; every list it draws is short."""

    def __init__(self, model: MapModel, painter: MapPainter, theme: Theme) -> None:
        self._model, self._below, self._theme = model, painter, theme
        self.hovered = -1
        self.focused = False

    def paint(self, painter: QPainter, camera: Camera) -> None:
        """Paint everything, bottom to top."""
        graph = self._model.graph
        if not len(graph):
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        number = graph.number.get(self._model.node, -1)
        if number >= 0:
            self._paint_links(painter, camera, number)
        self._paint_path(painter, camera)
        paint_run_paths(painter, camera, self, self._model, self._theme)
        for node in self._model.selected:
            if node in graph.number and node != self._model.node:
                self._paint_frame(painter, camera, graph.number[node], "accent", 2, dashed=True)
        if self.hovered >= 0 and self.hovered < len(graph):
            self._paint_frame(painter, camera, self.hovered, "muted", 1.5)
        if number >= 0:
            self._paint_frame(painter, camera, number, "accent", 3)
        self._paint_steps(painter, camera)
        paint_parting(painter, camera, self, self._model, self._theme)
        if camera.scale < CARDS_FROM:
            for named in {number, self.hovered if self.hovered < len(graph) else -1} - {-1}:
                self._paint_name(painter, camera, named)
        if self._model.path.live in graph.number:
            self._paint_live(painter, camera, graph.number[self._model.path.live])
        self._paint_depths(painter, camera)
        paint_run_words(painter, self._model, self._theme)

    def paint_new_state(self, painter: QPainter, camera: Camera, number: int, share: float) -> None:
        """Draw a ring that closes around a new state."""
        at = self._point(camera, number)
        radius = self._below.radius(camera.scale) + (1 - share) * 14
        color = self._theme.color("accent")
        color.setAlphaF(0.25 + 0.5 * (1 - share))
        painter.setPen(QPen(color, 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(at, radius, radius)

    # ------------------------------------------------------------ frames
    def outline(self, camera: Camera, number: int) -> QRectF:
        """Return the present box around a state."""
        if camera.scale >= CARDS_FROM:
            return self._below.card_box(camera, number)
        at, radius = self._point(camera, number), self._below.radius(camera.scale)
        return QRectF(at.x() - radius, at.y() - radius, 2 * radius, 2 * radius)

    def _paint_frame(
        self, painter: QPainter, camera: Camera, number: int, role: str, width: float, *, dashed: bool = False
    ) -> None:
        box = self.outline(camera, number)
        style = Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
        painter.setBrush(Qt.BrushStyle.NoBrush)
        out = 6.5 if camera.scale >= CARDS_FROM else 6.0
        painter.setPen(QPen(self._theme.color("surface"), width + 2))
        painter.drawRoundedRect(box.adjusted(-out, -out, out, out), 4, 4)
        painter.setPen(QPen(self._theme.color(role), width, style))
        painter.drawRoundedRect(box.adjusted(-out, -out, out, out), 4, 4)

    def _paint_live(self, painter: QPainter, camera: Camera, number: int) -> None:
        box, theme = self.outline(camera, number), self._theme
        word = "live"
        font = theme.font("secondary", bold=True)
        metrics = QFontMetrics(font)
        tab = QRectF(0, 0, metrics.horizontalAdvance(word) + 12, metrics.height() + 2)
        tab.moveBottomLeft(QPointF(box.left() - 6, box.top() - 8))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("live"))
        painter.drawRoundedRect(tab, 4, 4)
        painter.setFont(font)
        painter.setPen(theme.color("raised"))
        painter.drawText(tab, Qt.AlignmentFlag.AlignCenter, word)

    # ------------------------------------------------------------ links and path
    def _paint_links(self, painter: QPainter, camera: Camera, number: int) -> None:
        graph, shown = self._model.graph, self._model.shown
        leaves, comes = graph.edges_of(number)
        if not self._below.show_seen:
            leaves, comes = leaves[graph.tried[leaves]], comes[graph.tried[comes]]
        for edges, others, out in ((comes, graph.sources, False), (leaves, graph.targets, True)):
            ends = np.unique(others[edges])
            ends = ends[shown[ends] & (ends != number)][:MAX_LINKS]
            style = Qt.PenStyle.SolidLine if out else Qt.PenStyle.DashLine
            color = self._theme.color("accent" if out else "live")
            if len(ends) > MANY_LINKS:
                self._rays(painter, camera, number, ends, color)
                continue
            for end in ends.tolist():
                one, other = (number, end) if out else (end, number)
                self.arrow(painter, camera, one, other, QPen(color, 1.4, style), color)

    def _rays(self, painter: QPainter, camera: Camera, number: int, ends: Ints, color: QColor) -> None:
        """Draw very many links as thin lines, which do not hide the map."""
        lines = np.empty((len(ends), 4), np.int32)
        lines[:, :2] = np.rint(camera.pixels(self._model.graph.places[ends]))
        lines[:, 2:] = np.rint(camera.pixels(self._model.graph.places[[number]]))
        color.setAlpha(90)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(color, 1))
        draw_lines(painter, lines)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _paint_name(self, painter: QPainter, camera: Camera, number: int) -> None:
        """Write the name of a dot."""
        name, theme = self._model.graph.titles[number], self._theme
        x, y = self._model.graph.places[number]
        if not camera.sees(float(x), float(y), margin=0.0):
            return
        font = theme.font("base")
        metrics = QFontMetrics(font)
        text = metrics.elidedText(name[:90], Qt.TextElideMode.ElideRight, theme.px(260))
        box = QRectF(0, 0, metrics.horizontalAdvance(text) + 10, metrics.height() + 2)
        at = self._point(camera, number)
        box.moveCenter(QPointF(at.x(), at.y() + self._below.radius(camera.scale) + 10 + box.height() / 2))
        box.moveLeft(max(min(box.left(), camera.size.width() - box.width() - 2), 2))
        painter.setPen(QPen(theme.color("line"), 1))
        painter.setBrush(theme.color("raised"))
        painter.drawRoundedRect(box, 4, 4)
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_path(self, painter: QPainter, camera: Camera) -> None:
        path, graph = self._model.path, self._model.graph
        if path.site != graph.site:
            return
        numbers = [graph.number.get(node, -1) for node in path.nodes]
        color = self._theme.color("accent")
        for one, other in pairwise(numbers):
            if one >= 0 and other >= 0 and one != other:
                ground = QPen(self._theme.color("surface"), 8)
                self.arrow(painter, camera, one, other, ground, self._theme.color("surface"), 15)
                self.arrow(painter, camera, one, other, QPen(color, 4.5), color, 15)

    def _paint_steps(self, painter: QPainter, camera: Camera) -> None:
        """Draw numbers at the states of the path, and after navigation each verdict."""
        path, graph = self._model.path, self._model.graph
        if path.site != graph.site:
            return
        numbers = [graph.number.get(node, -1) for node in path.nodes]
        start = path.nodes[0] if path.nodes else path.start
        if start in graph.number:
            self._paint_step(painter, camera, graph.number[start], "0", "accent")
        for at, number in enumerate(numbers[1:], 1):
            step = path.steps.at(at - 1)
            verdict = step.verdict if step is not None else ""
            if number >= 0 and verdict:
                self._paint_step(painter, camera, number, f"{at} {SIGNS[verdict]}", ROLES[verdict])
            elif number >= 0:
                self._paint_step(painter, camera, number, str(at), "accent")

    def _paint_step(self, painter: QPainter, camera: Camera, number: int, text: str, role: str) -> None:
        """Draw the number of a step at the state it leads to."""
        box, theme = self.outline(camera, number), self._theme
        font = theme.font("secondary", bold=True)
        metrics = QFontMetrics(font)
        high = metrics.height() + 2
        badge = QRectF(0, 0, max(metrics.horizontalAdvance(text) + 10, high), high)
        badge.moveCenter(QPointF(box.left() - 4, box.top() - 4))
        painter.setPen(QPen(theme.color("surface"), 2))
        painter.setBrush(theme.color(role))
        painter.drawRoundedRect(badge, high / 2, high / 2)
        painter.setFont(font)
        painter.setPen(theme.color("on_accent") if role == "accent" else theme.color("raised"))
        painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, text)

    def arrow(
        self,
        painter: QPainter,
        camera: Camera,
        one: int,
        other: int,
        pen: QPen,
        color: QColor,
        head: float = HEAD,
    ) -> None:
        start, end = self._point(camera, one), self._point(camera, other)
        tip = _leave(self.outline(camera, other), end, start, 3.0)
        foot = _leave(self.outline(camera, one), start, end, 0.0)
        angle = math.atan2(tip.y() - foot.y(), tip.x() - foot.x())
        far = math.hypot(tip.x() - foot.x(), tip.y() - foot.y())
        if far < 4:
            return
        head = min(head, far * 0.6)
        neck = QPointF(tip.x() - head * 0.8 * math.cos(angle), tip.y() - head * 0.8 * math.sin(angle))
        painter.setPen(pen)
        painter.drawLine(foot, neck)
        wings = [
            QPointF(tip.x() - head * math.cos(angle + turn), tip.y() - head * math.sin(angle + turn))
            for turn in (0.42, -0.42)
        ]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawPolygon(QPolygonF([tip, *wings]))

    def _paint_depths(self, painter: QPainter, camera: Camera) -> None:
        """Label the depth bands at the upper edge."""
        theme = self._theme
        font = theme.font("secondary")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        end = -1e9
        for depth, (left, right) in self._model.graph.bands.items():
            one, other = camera.point(left - 0.5, 0).x(), camera.point(right + 0.5, 0).x()
            one, other = max(one, 0.0), min(other, float(camera.size.width()))
            text = f"depth {depth}"
            wide = metrics.horizontalAdvance(text) + 12
            if other - one < 12:
                continue
            box = QRectF((one + other) / 2 - wide / 2, 4, wide, metrics.height() + 2)
            if box.left() < end + 2 or box.right() > camera.size.width():
                continue
            end = box.right()
            ground = theme.color("surface")
            ground.setAlpha(225)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ground)
            painter.drawRoundedRect(box, 4, 4)
            painter.setPen(theme.color("muted"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _point(self, camera: Camera, number: int) -> QPointF:
        """Return the middle of a state's drawing."""
        if camera.scale >= CARDS_FROM:
            return self._below.card_box(camera, number).center()
        x, y = self._model.graph.places[number]
        return camera.point(float(x), float(y))


def _leave(box: QRectF, inside: QPointF, toward: QPointF, out: float) -> QPointF:
    """Return where the line from a box's middle towards a point leaves it, ``out`` pixels further on."""
    dx, dy = toward.x() - inside.x(), toward.y() - inside.y()
    far = math.hypot(dx, dy)
    if far < 1e-6:
        return inside
    scale = min(
        (box.width() / 2) / abs(dx) if abs(dx) > 1e-9 else math.inf,
        (box.height() / 2) / abs(dy) if abs(dy) > 1e-9 else math.inf,
        1.0,
    )
    scale = min(scale + out / far, 1.0)
    return QPointF(inside.x() + dx * scale, inside.y() + dy * scale)
