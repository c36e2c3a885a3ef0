"""Draws keys as key caps, and the selected row of a picker."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from app.views.frame.theme import Theme


def draw_keys(painter: QPainter, theme: Theme, rect: QRect, keys: str) -> int:
    """Draw ``G then R`` at the right end of ``rect``; returns the width taken, in pixels."""
    if not keys:
        return 0
    font = theme.font("secondary")
    metrics, pad = QFontMetrics(font), theme.px(6)
    right = rect.right()
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(font)
    for number, part in enumerate(reversed(keys.split(" then "))):
        if number:
            width = metrics.horizontalAdvance("then") + pad
            painter.setPen(theme.color("muted"))
            painter.drawText(
                QRect(right - width, rect.top(), width, rect.height()), Qt.AlignmentFlag.AlignCenter, "then"
            )
            right -= width + theme.px(2)
        width = max(metrics.horizontalAdvance(part) + 2 * pad, metrics.height() + theme.px(4))
        height = metrics.height() + theme.px(4)
        cap = QRect(right - width, rect.center().y() - height // 2, width, height)
        painter.setPen(theme.color("line"))
        painter.setBrush(theme.color("surface"))
        painter.drawRoundedRect(cap, 4, 4)
        painter.setPen(theme.color("muted"))
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, part)
        right -= width + theme.px(2)
    painter.restore()
    return rect.right() - right


def keys_width(theme: Theme, keys: str) -> int:
    """The width in pixels that ``draw_keys`` takes."""
    metrics, pad = QFontMetrics(theme.font("secondary")), theme.px(6)
    parts = keys.split(" then ") if keys else []
    caps = sum(
        max(metrics.horizontalAdvance(part) + 2 * pad, metrics.height() + theme.px(4)) + theme.px(2)
        for part in parts
    )
    return caps + max(len(parts) - 1, 0) * (metrics.horizontalAdvance("then") + pad + theme.px(2))
