"""The signs of the map: a dot for a state, a ring for failures, a second one where they have no tip, a flag for tips,
hatching for gone states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPixmap, QPolygonF

from app.models.graph.map_graph import StateMark

if TYPE_CHECKING:
    from app.views.frame.theme import Theme

SHOWN = StateMark.FAILED | StateMark.TIPS | StateMark.SUSPECT | StateMark.GONE | StateMark.BARRED
"""The marks that change how a dot looks; as a number below ``PLAIN``."""
PLAIN = 32
SHADOW = PLAIN
"""Number of the sprite of a state that does not match the filter."""


def draw_dot(
    painter: QPainter, theme: Theme, at: QPointF, radius: float, marks: int, *, ring_alone: bool = False
) -> None:
    """Draw a state as a dot with its signs; ``radius`` is that of the dot alone.

    Failures have a second ring where there is no tip, unless ``ring_alone``.
    """
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    body = QRectF(at.x() - radius, at.y() - radius, 2 * radius, 2 * radius)
    ink = theme.color("muted")
    if marks & StateMark.GONE:
        painter.setBrush(QBrush(theme.color("raised")))
        painter.setPen(QPen(ink, 1.2, Qt.PenStyle.DotLine))
        painter.drawEllipse(body)
        painter.setBrush(QBrush(ink, Qt.BrushStyle.BDiagPattern))
        painter.drawEllipse(body)
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("live" if marks & StateMark.BARRED else "muted"))
        painter.drawRect(
            body.adjusted(0.3, 0.3, -0.3, -0.3)
        ) if marks & StateMark.BARRED else painter.drawEllipse(body)
    if marks & StateMark.FAILED:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("fail"), max(1.6, radius * 0.3)))
        out = max(2.2, radius * 0.45)
        painter.drawEllipse(body.adjusted(-out, -out, out, out))
        if not ring_alone and not marks & (StateMark.TIPS | StateMark.SUSPECT):
            out = rings(radius)
            painter.drawEllipse(body.adjusted(-out, -out, out, out))
    if marks & (StateMark.TIPS | StateMark.SUSPECT):
        foot = QPointF(at.x() + radius * 0.75, at.y() - radius * 0.3)
        draw_flag(painter, theme, foot, max(radius * 1.9, 7.0), suspect=bool(marks & StateMark.SUSPECT))
    painter.restore()


def rings(radius: float) -> float:
    """Return how far both rings of a failure without a tip reach beyond its dot."""
    return max(2.2, radius * 0.45) + max(2.6, radius * 0.5)


def draw_flag(painter: QPainter, theme: Theme, foot: QPointF, height: float, *, suspect: bool) -> None:
    """Draw a flag on its pole; hollow for a suspect tip."""
    color = theme.color("warn" if suspect else "accent")
    top = QPointF(foot.x(), foot.y() - height)
    cloth = QPolygonF(
        [
            top,
            QPointF(foot.x() + height * 0.62, top.y() + height * 0.27),
            QPointF(foot.x(), top.y() + height * 0.54),
        ]
    )
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, max(1.2, height * 0.11)))
    painter.drawLine(foot, top)
    painter.setBrush(theme.color("raised") if suspect else color)
    painter.drawPolygon(cloth)
    painter.restore()


class DotSprites:
    """All dots of one size on one pixmap, for batch drawing."""

    def __init__(self, theme: Theme, radius: float, ratio: float) -> None:
        self.radius = radius
        self.box = int(2 * (radius * 2.6 + 8))
        self.ratio = ratio
        side = self.side
        self.pixmap = QPixmap(side * (PLAIN + 1), side)
        self.pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(self.pixmap)
        painter.scale(ratio, ratio)
        for marks in range(PLAIN):
            at = QPointF(side / ratio * (marks + 0.5), side / ratio / 2)
            draw_dot(painter, theme, at, radius, marks)
        shadow = QColor(theme.color("line"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(shadow)
        painter.drawEllipse(
            QPointF(side / ratio * (SHADOW + 0.5), side / ratio / 2), radius * 0.8, radius * 0.8
        )
        painter.end()

    @property
    def side(self) -> int:
        """Size of one sprite on the sheet, in device pixels."""
        return round(self.box * self.ratio)
