"""Overlay of a live page: pointer, target of the next action, frame of a takeover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QPolygonF

if TYPE_CHECKING:
    from app.views.frame.theme import Theme

MAX_TAB_WIDTH = 360
"""Largest width of a label at 100 % text; longer text is elided."""
INK, PAPER = "#10161B", "#FFFFFF"
"""Pointer colours, the same on every page and theme."""

_ARROW = ((0, 0), (0, 15), (3.6, 11.6), (6.2, 17.4), (8.6, 16.3), (6.1, 10.7), (11, 10.7))
"""The usual pointer shape, its tip at the origin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetBox:
    """The target of the next or the past action.

    Attributes:
        words: the action; ``tag`` a word beside it (a risk), "" for none.
        role: colour of both.
        box: (x, y, width, height) on the page, in the units of ``PageGeometry.page``; ``None`` without a place.
        point: where the pointer goes.
    """

    words: str
    tag: str = ""
    role: str = "accent"
    box: tuple[float, float, float, float] | None = None
    point: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageGeometry:
    """The picture's rectangle in the widget, and the page's size in its own units."""

    rect: QRectF
    page: tuple[float, float]

    def place(self, x: float, y: float) -> QPointF:
        """Convert a point of the page to the widget."""
        return QPointF(
            self.rect.left() + x * self.rect.width() / self.page[0],
            self.rect.top() + y * self.rect.height() / self.page[1],
        )

    def box(self, box: tuple[float, float, float, float]) -> QRectF:
        """Convert a box of the page to the widget."""
        return QRectF(self.place(box[0], box[1]), self.place(box[0] + box[2], box[1] + box[3]))

    def page_place(self, point: QPointF) -> tuple[float, float]:
        """Convert a point of the widget to the page, clamped to it."""
        x = (point.x() - self.rect.left()) * self.page[0] / max(self.rect.width(), 1e-6)
        y = (point.y() - self.rect.top()) * self.page[1] / max(self.rect.height(), 1e-6)
        return min(max(x, 0.0), self.page[0] - 1), min(max(y, 0.0), self.page[1] - 1)


def draw_target(painter: QPainter, theme: Theme, geometry: PageGeometry, target: TargetBox) -> QRectF:
    """Outline the element, with the action on a tab beside it; return the tab.

    What is out of sight is named at the nearest edge, what has no place at the lower left.
    """
    box = geometry.box(target.box) if target.box is not None else None
    seen = box is not None and box.intersects(geometry.rect)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setClipRect(geometry.rect)
    if seen and box is not None:
        _outline(painter, theme, box, target.role)
    if target.point is not None and (seen or box is None):
        _ring(painter, theme, geometry.place(*target.point), target.role)
    tab = _tab_place(theme, geometry, target, box)
    _tab(painter, theme, tab, target)
    painter.restore()
    return tab


def draw_pointer(painter: QPainter, theme: Theme, place: QPointF) -> None:
    size = 1.15 * theme.zoom
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(PAPER), 1.4))
    painter.setBrush(QColor(INK))
    painter.drawPolygon(QPolygonF([place + QPointF(x * size, y * size) for x, y in _ARROW]))
    painter.restore()


def draw_frame(painter: QPainter, theme: Theme, rect: QRectF, *, has_keys: bool) -> None:
    """Draw the takeover frame: solid while the page has the keyboard, else dashed."""
    width = theme.px(3)
    pen = QPen(theme.color("accent"), width)
    pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    if not has_keys:
        pen.setDashPattern([3, 2])
    painter.save()
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(rect.adjusted(-width / 2, -width / 2, width / 2, width / 2))
    painter.restore()


def draw_veil(painter: QPainter, theme: Theme, rect: QRectF) -> None:
    """Dim a picture that is not current."""
    veil = theme.color("surface")
    veil.setAlphaF(0.55)
    painter.fillRect(rect, veil)


def _outline(painter: QPainter, theme: Theme, box: QRectF, role: str) -> None:
    wide = QRectF(box.left() - 3, box.top() - 3, max(box.width(), 4) + 6, max(box.height(), 4) + 6)
    tint = theme.color(role)
    tint.setAlphaF(0.10)
    painter.setPen(QPen(theme.color("raised"), 5))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(wide, 4, 4)
    painter.setPen(QPen(theme.color(role), 2.4))
    painter.setBrush(tint)
    painter.drawRoundedRect(wide, 4, 4)


def _ring(painter: QPainter, theme: Theme, place: QPointF, role: str) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for pen in (QPen(theme.color("raised"), 4), QPen(theme.color(role), 2)):
        painter.setPen(pen)
        painter.drawEllipse(place, theme.px(7), theme.px(7))


def _tab_place(theme: Theme, geometry: PageGeometry, target: TargetBox, box: QRectF | None) -> QRectF:
    """Return a place above the element, else below it, always inside the picture."""
    px, rect = theme.px, geometry.rect
    words = QFontMetrics(theme.font(bold=True))
    small = QFontMetrics(theme.font("secondary", bold=True))
    tag = small.horizontalAdvance(target.tag) + px(18) if target.tag else 0
    width = min(words.horizontalAdvance(target.words) + px(18), px(MAX_TAB_WIDTH)) + tag
    tab = QRectF(0, 0, min(width, rect.width()), words.height() + px(8))
    if box is None:
        tab.moveBottomLeft(rect.bottomLeft() + QPointF(px(8), -px(8)))
    else:
        tab.moveBottomLeft(box.topLeft() + QPointF(-3, -px(4)))
        if tab.top() < rect.top():
            tab.moveTop(box.bottom() + px(4))
    tab.moveLeft(max(min(tab.left(), rect.right() - tab.width()), rect.left()))
    tab.moveTop(max(min(tab.top(), rect.bottom() - tab.height()), rect.top()))
    return tab


def _tab(painter: QPainter, theme: Theme, tab: QRectF, target: TargetBox) -> None:
    px = theme.px
    painter.setPen(QPen(theme.color(target.role), 1.4))
    painter.setBrush(theme.color("raised"))
    painter.drawRoundedRect(tab.adjusted(0.7, 0.7, -0.7, -0.7), 4, 4)
    inner = tab.adjusted(px(8), 0, -px(8), 0)
    if target.tag:
        font = theme.font("secondary", bold=True)
        wide = QFontMetrics(font).horizontalAdvance(target.tag) + px(10)
        badge = QRectF(inner.right() - wide + px(4), tab.top() + px(4), wide, tab.height() - px(8))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color(target.role))
        painter.drawRoundedRect(badge, 3, 3)
        painter.setFont(font)
        painter.setPen(theme.color("raised"))
        painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, target.tag)
        inner.setRight(badge.left() - px(6))
    font = theme.font(bold=True)
    painter.setFont(font)
    painter.setPen(theme.color("text"))
    room = max(round(inner.width()), 1)
    words = QFontMetrics(font).elidedText(target.words, Qt.TextElideMode.ElideRight, room)
    painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
