"""Signs of the Map's panels: status of an element, verdict of a rule.  Shape first, colour second."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app.views.widgets.signs import draw_tick

STATUS_ROLE = {"tried": "ok", "waiting": "live", "failed": "fail", "skipped": "muted", "": "muted"}
VERDICT_ROLE = {"block": "fail", "ask": "warn", "allow": "ok", "": "muted"}
TRANSITION_ROLE = {"ok": "ok", "warn": "warn", "fail": "fail", "": "muted"}
STAGE_ROLE = {
    "": "muted",
    "starting": "live",
    "running": "live",
    "paused": "warn",
    "done": "ok",
    "stopped": "muted",
    "interrupted": "warn",
    "failed": "fail",
}


def draw_status(painter: QPainter, box: QRectF, status: str, color: QColor) -> None:
    """Draw a tick (tried), clock (waiting), cross (failed), struck ring (skipped) or dot (unknown)."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inner = box.adjusted(1, 1, -1, -1)
    match status:
        case "tried":
            draw_tick(painter, inner)
        case "failed":
            painter.drawLine(inner.topLeft(), inner.bottomRight())
            painter.drawLine(inner.topRight(), inner.bottomLeft())
        case "waiting":
            middle = inner.center()
            painter.drawEllipse(inner)
            painter.drawLine(middle, QPointF(middle.x(), inner.top() + 1.5))
            painter.drawLine(middle, QPointF(inner.right() - 2, middle.y()))
        case "skipped":
            painter.drawEllipse(inner)
            reach = inner.width() * 0.35
            middle = inner.center()
            painter.drawLine(middle + QPointF(-reach, reach), middle + QPointF(reach, -reach))
        case _:
            painter.setBrush(color)
            painter.drawEllipse(inner.center(), 1.5, 1.5)
    painter.restore()


def draw_verdict(painter: QPainter, box: QRectF, verdict: str, color: QColor, under: QColor) -> None:
    """Draw a disc with a bar (stopped), triangle with a dot (asked about), tick (allowed) or ring (unknown)."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    if verdict == "block":
        painter.drawEllipse(box)
        bar = QRectF(0, 0, box.width() * 0.6, max(box.height() * 0.2, 1.5))
        bar.moveCenter(box.center())
        painter.fillRect(bar, under)
    elif verdict == "ask":
        painter.drawPolygon(
            QPolygonF([QPointF(box.center().x(), box.top()), box.bottomRight(), box.bottomLeft()])
        )
        painter.setBrush(under)
        painter.drawEllipse(QPointF(box.center().x(), box.bottom() - box.height() * 0.3), 1.4, 1.4)
    elif verdict == "allow":
        painter.setPen(QPen(color, 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        draw_tick(painter, box.adjusted(1, 1, -1, -1))
    else:
        painter.setPen(QPen(color, 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(box.adjusted(1.5, 1.5, -1.5, -1.5))
    painter.restore()


def draw_stage(painter: QPainter, box: QRectF, stage: str, color: QColor) -> None:
    """Draw a filled triangle (running), two bars (paused, interrupted), a square (stopped), a tick, a cross, a
    ring.
    """
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    inner = box.adjusted(1, 1, -1, -1)
    if stage in ("running", "starting"):
        painter.drawPolygon(
            QPolygonF([inner.topLeft(), QPointF(inner.right(), inner.center().y()), inner.bottomLeft()])
        )
    elif stage in ("paused", "interrupted"):
        third = inner.width() / 3
        painter.drawRect(QRectF(inner.left(), inner.top(), third, inner.height()))
        painter.drawRect(QRectF(inner.right() - third, inner.top(), third, inner.height()))
    elif stage == "stopped":
        painter.drawRect(inner)
    else:
        draw_status(painter, box, {"done": "tried", "failed": "failed"}.get(stage, ""), color)
    painter.restore()
