"""The badge of a run's state: sign, label and colour, the same wherever a run is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from app.models.live.run_list import display_state, state_words
from app.views.widgets.signs import elided

if TYPE_CHECKING:
    from app.engine.core.supervision import LiveRow
    from app.views.frame.theme import Theme
    from app.views.widgets.signs import Sign

STATE_MARKS = {
    "needs": ("bell-ring", "warn"),
    "risky": ("alert", "fail"),
    "broken": ("lightning-bolt", "fail"),
    "yours": ("hand-back-right", "accent"),
    "mending": ("wrench", "warn"),
    "running": ("play", "live"),
    "starting": ("progress-clock", "live"),
    "paused": ("pause", "text"),
    "queued": ("timer-sand", "muted"),
    "done": ("check-bold", "ok"),
    "failed": ("close-circle", "fail"),
    "stopped": ("stop", "muted"),
}
"""Sign and role of each badge."""
EMPHASIZED = ("needs", "yours")
"""Filled badges: states that need the operator now."""


def state_role(row: LiveRow) -> str:
    return STATE_MARKS[display_state(row)][1]


def draw_state(painter: QPainter, theme: Theme, left: int, middle: int, room: int, row: LiveRow) -> int:
    """Draw a badge with sign and label from ``left``, centred on ``middle``; return its width."""
    face = display_state(row)
    sign, role = STATE_MARKS[face]
    px, font = theme.px, theme.font("secondary", bold=True)
    metrics, icon = QFontMetrics(font), px(12)
    word = elided(metrics, state_words(row), room - icon - px(20))
    width = metrics.horizontalAdvance(word) + icon + px(18)
    height = metrics.height() + px(4)
    box = QRect(left, middle - height // 2, width, height)
    is_loud = face in EMPHASIZED
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    if is_loud:
        painter.setBrush(theme.color(role))
    else:
        painter.setBrush(theme.color("hover" if role in ("muted", "text") else f"tint_{role}"))
    painter.drawRoundedRect(QRectF(box), height / 2, height / 2)
    ink = "raised" if is_loud else role
    theme.icon(sign, ink).paint(painter, QRect(box.left() + px(6), middle - icon // 2, icon, icon))
    painter.setFont(font)
    painter.setPen(theme.color(ink))
    inner = box.adjusted(icon + px(10), 0, 0, 0)
    painter.drawText(inner, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, word)
    painter.restore()
    return width


def draw_sign(painter: QPainter, theme: Theme, box: QRect, row: LiveRow) -> None:
    """Draw the sign alone, on a disc where the run needs a person."""
    face = display_state(row)
    sign, role = STATE_MARKS[face]
    if face in EMPHASIZED:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color(role))
        painter.drawEllipse(QRectF(box))
        painter.restore()
        inset = round(box.width() * 0.2)
        box, role = box.adjusted(inset, inset, -inset, -inset), "raised"
    theme.icon(sign, role).paint(painter, box)


def state_sign(row: LiveRow) -> Sign:
    """Return the sign of a run's state for a row."""
    return lambda painter, box, theme: draw_sign(painter, theme, box.toRect(), row)
