"""Small signs painted beside text: severities, errors, scores.  Each has a shape of its own, never only a colour."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

if TYPE_CHECKING:
    from app.views.frame.theme import Theme

SEVERITY_ROLE = {"error": "fail", "warning": "warn", "hint": "muted"}
TROUBLE_ROLE = {"hard": "fail", "soft": "warn", "harness": "live"}
CHANGE_ROLE = {"added": "ok", "removed": "fail", "changed": "warn"}


Sign = Callable[[QPainter, QRectF, "Theme"], None]
"""Paints a small sign into a box."""


def severity_sign(severity: str) -> Sign:
    return lambda painter, box, theme: draw_severity(
        painter, box, severity, theme.color(SEVERITY_ROLE[severity])
    )


def trouble_sign(trouble: str) -> Sign:
    return lambda painter, box, theme: draw_trouble(painter, box, trouble, theme.color(TROUBLE_ROLE[trouble]))


def score_sign(level: str, role: str) -> Sign:
    return lambda painter, box, theme: draw_score(painter, box, level, theme.color(role))


def tick_sign(role: str, *, crossed: bool = False) -> Sign:
    def draw(painter: QPainter, box: QRectF, theme: Theme) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color(role), 1.8))
        if crossed:
            painter.drawLine(box.topLeft(), box.bottomRight())
            painter.drawLine(box.topRight(), box.bottomLeft())
        else:
            draw_tick(painter, box)

    return draw


def diamond_sign(role: str) -> Sign:
    def draw(painter: QPainter, box: QRectF, theme: Theme) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color(role))
        x, y = box.center().x(), box.center().y()
        corners = [
            QPointF(x, box.top()),
            QPointF(box.right(), y),
            QPointF(x, box.bottom()),
            QPointF(box.left(), y),
        ]
        painter.drawPolygon(QPolygonF(corners))

    return draw


def icon_sign(name: str, role: str) -> Sign:
    return lambda painter, box, theme: theme.icon(name, role).paint(painter, box.toRect())


def key_sign(key: str) -> Sign:
    return lambda painter, box, theme: draw_key(
        painter, box, key, theme.font("secondary"), theme.color("edge"), theme.color("muted")
    )


def draw_severity(painter: QPainter, box: QRectF, severity: str, color: QColor) -> None:
    """A filled disc for an error, a filled triangle for a warning, a ring for a hint."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if severity == "error":
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(box)
    elif severity == "warning":
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        top = QPointF(box.center().x(), box.top())
        painter.drawPolygon(QPolygonF([top, box.bottomRight(), box.bottomLeft()]))
    else:
        painter.setPen(QPen(color, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(box.adjusted(1, 1, -1, -1))
    painter.restore()


def draw_trouble(painter: QPainter, box: QRectF, trouble: str, color: QColor) -> None:
    """A cross for an action that was not done, a wave for a soft error, brackets for unreadable output."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    inner = box.adjusted(1, 1, -1, -1)
    if trouble == "hard":
        painter.drawLine(inner.topLeft(), inner.bottomRight())
        painter.drawLine(inner.topRight(), inner.bottomLeft())
    elif trouble == "soft":
        middle, step = inner.center().y(), inner.width() / 4
        points = [QPointF(inner.left() + step * n, middle + (-2 if n % 2 else 2)) for n in range(5)]
        painter.drawPolyline(points)
    else:
        third = inner.width() / 3
        for edge, inward in ((inner.left(), third), (inner.right(), -third)):
            painter.drawPolyline(
                [
                    QPointF(edge + inward, inner.top()),
                    QPointF(edge, inner.top()),
                    QPointF(edge, inner.bottom()),
                    QPointF(edge + inward, inner.bottom()),
                ]
            )
    painter.restore()


def draw_hand(painter: QPainter, box: QRectF, color: QColor) -> None:
    """A head over shoulders: a person did it."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    head = box.height() * 0.48
    painter.drawEllipse(QRectF(box.center().x() - head / 2, box.top(), head, head))
    shoulders = QRectF(box.left(), box.top() + box.height() * 0.55, box.width(), box.height() * 0.9)
    painter.drawChord(shoulders, 0, 180 * 16)
    painter.restore()


def draw_operator_action(painter: QPainter, box: QRectF, color: QColor) -> None:
    """A triangle at the upper edge: somebody intervened here."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    low = QPointF(box.center().x(), box.bottom())
    painter.drawPolygon(QPolygonF([box.topLeft(), box.topRight(), low]))
    painter.restore()


def draw_score(painter: QPainter, box: QRectF, level: str, color: QColor) -> None:
    """A cross for failed, a half disc for partial, a tick for passed, a dash for not scored."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    inner = box.adjusted(1, 1, -1, -1)
    if level == "fail":
        painter.drawLine(inner.topLeft(), inner.bottomRight())
        painter.drawLine(inner.topRight(), inner.bottomLeft())
    elif level == "warn":
        painter.setPen(QPen(color, 1.4))
        painter.drawEllipse(inner)
        painter.setBrush(color)
        painter.drawChord(inner, 90 * 16, 180 * 16)
    elif level == "ok":
        draw_tick(painter, inner)
    else:
        painter.drawLine(
            QPointF(inner.left(), inner.center().y()), QPointF(inner.right(), inner.center().y())
        )
    painter.restore()


def draw_tick(painter: QPainter, box: QRectF) -> None:
    """A tick with the painter's pen."""
    painter.drawPolyline(
        [
            QPointF(box.left(), box.center().y()),
            QPointF(box.left() + box.width() * 0.38, box.bottom() - 0.5),
            QPointF(box.right(), box.top() + 0.5),
        ]
    )


def draw_key(painter: QPainter, box: QRectF, key: str, font: QFont, line: QColor, text: QColor) -> None:
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(line, 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box, 3, 3)
    painter.setFont(font)
    painter.setPen(text)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, key)
    painter.restore()


def elided(
    metrics: QFontMetrics, text: str, width: float, *, middle: bool = False, joined: bool = False
) -> str:
    """Return the text on one line, elided to this width: at the end for prose, in the middle for addresses."""
    mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
    return metrics.elidedText(on_one_line(text, joined=joined), mode, max(int(width), 0))


def on_one_line(text: str, *, joined: bool = False) -> str:
    """Return the text with single spaces; a ``joined`` piece of a text keeps those at its ends."""
    text = re.sub(r"\s+", " ", text)
    return text if joined else text.strip()


def paint_ground(painter: QPainter, option: QStyleOptionViewItem, theme: Theme) -> None:
    """Paint a row's background: selected (with a bar at its edge, so that colour is not alone), hovered, or plain."""
    state, box = option.state, option.rect
    if state & QStyle.StateFlag.State_Selected:
        painter.fillRect(box, theme.color("selected"))
        bar = theme.px(3)
        left = box.left() if option.direction == Qt.LayoutDirection.LeftToRight else box.right() - bar + 1
        painter.fillRect(left, box.top(), bar, box.height(), theme.color("accent"))
    elif state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(box, theme.color("hover"))
    if state & QStyle.StateFlag.State_HasFocus and not state & QStyle.StateFlag.State_Selected:
        painter.setPen(QPen(theme.color("accent"), 1))
        painter.drawRect(box.adjusted(0, 0, -1, -1))
