"""Paints the paths of two runs over the map: solid for the left, dashed for the right, and where they part."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen

from app.models.common.translate import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QColor

    from app.models.graph.model import MapModel
    from app.views.frame.theme import Theme
    from app.views.graph.camera import Camera


class StatePainter(Protocol):
    """Draws around states, and between them."""

    def outline(self, camera: Camera, number: int) -> QRectF: ...
    def arrow(
        self, painter: QPainter, camera: Camera, one: int, other: int, pen: QPen, color: QColor, head: float
    ) -> None: ...


ROLES = ("live", "accent")
STYLES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine)
WIDTHS = (7.0, 3.0)
"""The left run is drawn wider and first, so that both show on a link that they share."""


def paint_run_paths(
    painter: QPainter, camera: Camera, overlay: StatePainter, model: MapModel, theme: Theme
) -> None:
    """Draw an arrow for each move, and a ring around each state of a run."""
    paths, graph = model.run_paths, model.graph
    if paths.site != graph.site:
        return
    for path, role, style, width in zip(paths.paths, ROLES, STYLES, WIDTHS, strict=False):
        color = theme.color(role)
        numbers = [graph.number[node] for node in path if node in graph.number]
        for one, other in pairwise(numbers):
            overlay.arrow(painter, camera, one, other, QPen(color, width, style), color, 14)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color, width / 2, style))
        for number in set(numbers):
            painter.drawRoundedRect(
                overlay.outline(camera, number).adjusted(-width, -width, width, width), 5, 5
            )


def paint_parting(
    painter: QPainter, camera: Camera, overlay: StatePainter, model: MapModel, theme: Theme
) -> None:
    """Name the state at which the runs part."""
    paths, graph = model.run_paths, model.graph
    if paths.site != graph.site or paths.parting not in graph.number:
        return
    box = overlay.outline(camera, graph.number[paths.parting]).adjusted(-10, -10, 10, 10)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.color("warn"), 3))
    painter.drawRoundedRect(box, 6, 6)
    font = theme.font("secondary", bold=True)
    metrics, words = QFontMetrics(font), tr("they part here")
    tab = QRectF(0, 0, metrics.horizontalAdvance(words) + 12, metrics.height() + 4)
    tab.moveBottomLeft(QPointF(box.left(), box.top() - 2))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("warn"))
    painter.drawRoundedRect(tab, 4, 4)
    painter.setFont(font)
    painter.setPen(theme.color("raised"))
    painter.drawText(tab, Qt.AlignmentFlag.AlignCenter, words)


def paint_run_words(painter: QPainter, model: MapModel, theme: Theme) -> None:
    """Say which line is which run, in the upper left corner under the depths."""
    paths = model.run_paths
    if paths.site != model.graph.site or not paths.words:
        return
    px, font = theme.px, theme.font("secondary")
    metrics, words = QFontMetrics(font), (*paths.words, tr("Esc clears the paths"))
    high = metrics.lineSpacing() + px(3)
    wide = max(metrics.horizontalAdvance(one) for one in words) + px(56)
    card = QRectF(px(12), px(34), wide, high * len(words) + px(10))
    painter.setPen(QPen(theme.color("line"), 1))
    painter.setBrush(theme.color("raised"))
    painter.drawRoundedRect(card, 5, 5)
    painter.setFont(font)
    signs = [*zip(ROLES, STYLES, WIDTHS, strict=True)][: len(paths.runs)]
    for row, text in enumerate(words):
        top = card.top() + px(5) + row * high
        if row < len(signs):
            role, style, width = signs[row]
            painter.setPen(QPen(theme.color(role), min(width, 4), style))
            painter.drawLine(
                QPointF(card.left() + px(10), top + high / 2), QPointF(card.left() + px(38), top + high / 2)
            )
        painter.setPen(theme.color("muted" if row == len(words) - 1 else "text"))
        box = QRectF(card.left() + px(46), top, wide - px(50), high)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
