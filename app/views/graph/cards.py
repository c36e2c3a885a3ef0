"""A state as a card at large scale: picture, name and badges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QFont, QFontMetrics, QPainter, QPen

from app.models.graph.map_graph import StateMark
from app.models.graph.state_titles import path_of
from app.views.graph.camera import CELL
from app.views.graph.marks import draw_flag

if TYPE_CHECKING:
    from PySide6.QtGui import QImage

    from app.models.graph.model import NodeRow
    from app.views.frame.theme import Theme

CARD = (208.0, 130.0)
"""Size of a card's picture in pixels at scale 1 and 100 % text size."""
TITLED = 0.5
"""Cards show the name from this scale on, the address from ``ADDRESSED`` on."""
ADDRESSED = 0.8
PLAIN = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop


@dataclass(frozen=True, slots=True)
class CardLook:
    """Sizes of all cards at one scale, computed once a scale."""

    picture: tuple[float, float]
    title: QFont
    small: QFont
    titled: bool
    addressed: bool

    @classmethod
    def at(cls, theme: Theme, scale: float) -> CardLook:
        zoom = theme.zoom * scale
        title, small = theme.font("base"), theme.font("secondary")
        title.setPixelSize(max(min(round(13 * zoom), theme.px(16)), theme.px(11)))
        small.setPixelSize(max(min(round(11 * zoom), theme.px(13)), theme.px(10)))
        return cls((CARD[0] * zoom, CARD[1] * zoom), title, small, scale >= TITLED, scale >= ADDRESSED)

    def box(self, at: QPointF, cell: tuple[float, float]) -> QRectF:
        """Return the picture's rectangle for a state at this middle."""
        wide, high = self.picture
        below = (cell[1] - high) * 0.32 if self.titled else 0.0
        return QRectF(at.x() - wide / 2, at.y() - high / 2 - below, wide, high)


def draw_card(
    painter: QPainter,
    theme: Theme,
    look: CardLook,
    box: QRectF,
    row: NodeRow,
    name: str,
    marks: int,
    image: QImage | None,
) -> None:
    """Draw a state; ``box`` is the picture's rectangle, the name goes below."""
    painter.fillRect(box, theme.color("raised"))
    if image is not None:
        painter.drawImage(box, image)
    else:
        _draw_blank(painter, theme, look, box, row)
    if marks & StateMark.GONE:
        painter.fillRect(box, QBrush(theme.color("muted"), Qt.BrushStyle.BDiagPattern))
    _draw_frame(painter, theme, box, row, marks)
    _draw_badges(painter, theme, look, box, row, marks)
    if look.titled:
        _draw_name(painter, theme, look, box, row, name, marks)


def _draw_blank(painter: QPainter, theme: Theme, look: CardLook, box: QRectF, row: NodeRow) -> None:
    """Draw the path in place of a missing picture."""
    if box.width() < 90:
        return
    painter.setFont(look.small)
    painter.setPen(theme.color("muted"))
    text = QFontMetrics(look.small).elidedText(
        path_of(row.url), Qt.TextElideMode.ElideMiddle, int(box.width()) - 8
    )
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def _draw_frame(painter: QPainter, theme: Theme, box: QRectF, row: NodeRow, marks: int) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if marks & StateMark.FAILED:
        painter.setPen(QPen(theme.color("fail"), 2))
        painter.drawRect(box.adjusted(-3.5, -3.5, 3.5, 3.5))
    if marks & StateMark.UNTIPPED:
        painter.drawRect(box.adjusted(2.5, 2.5, -2.5, -2.5))
    pen = QPen(theme.color("edge"), 1)
    if marks & StateMark.GONE or row.direct is False:
        pen = QPen(theme.color("muted"), 1, Qt.PenStyle.DashLine)
    painter.setPen(pen)
    painter.drawRect(box)


def _draw_badges(
    painter: QPainter, theme: Theme, look: CardLook, box: QRectF, row: NodeRow, marks: int
) -> None:
    left = box.left() + 3
    if box.width() >= 84:
        metrics = QFontMetrics(look.small)
        for text, role in _badges(row, marks):
            wide = metrics.horizontalAdvance(text) + 10
            badge = QRectF(left, box.bottom() - metrics.height() - 4, wide, metrics.height() + 1)
            if badge.right() > box.right() - 2:
                break
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("raised"))
            painter.drawRoundedRect(badge, 4, 4)
            painter.setFont(look.small)
            painter.setPen(theme.color(role))
            painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, text)
            left = badge.right() + 3
    if marks & (StateMark.TIPS | StateMark.SUSPECT):
        high = min(max(box.height() * 0.3, 10.0), 22.0)
        foot = QPointF(box.right() - high * 0.45, box.top() + high * 0.62)
        draw_flag(painter, theme, foot, high, suspect=bool(marks & StateMark.SUSPECT))


def _badges(row: NodeRow, marks: int) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []
    if marks & StateMark.FAILED:
        told.append((f"{row.failures} failed{', no tip' if marks & StateMark.UNTIPPED else ''}", "fail"))
    if marks & StateMark.GONE:
        told.append(("gone", "muted"))
    if marks & StateMark.BARRED:
        told.append((row.challenge.value, "live"))
    if row.pages > 1:
        told.append((f"{row.pages} pages", "muted"))
    return told


def _draw_name(
    painter: QPainter, theme: Theme, look: CardLook, box: QRectF, row: NodeRow, name: str, marks: int
) -> None:
    metrics = QFontMetrics(look.title)
    wide = box.width() * CELL[0] / CARD[0] * 0.97
    line = QRectF(box.center().x() - wide / 2, box.bottom() + 8, wide, metrics.height())
    painter.setFont(look.title)
    painter.setPen(theme.color("muted" if marks & StateMark.GONE else "text"))
    _write(painter, theme, line, metrics.elidedText(name[:90], Qt.TextElideMode.ElideRight, int(wide)))
    if look.addressed:
        metrics = QFontMetrics(look.small)
        line = QRectF(line.left(), line.bottom(), wide, metrics.height())
        painter.setFont(look.small)
        painter.setPen(theme.color("muted"))
        where = "no address of its own" if row.direct is False else path_of(row.url)
        _write(painter, theme, line, metrics.elidedText(where, Qt.TextElideMode.ElideMiddle, int(wide)))


def _write(painter: QPainter, theme: Theme, line: QRectF, text: str) -> None:
    """Write text on a filled ground, so that links do not run through it."""
    under = painter.boundingRect(line, PLAIN, text)
    painter.fillRect(under, theme.color("surface"))
    painter.drawText(line, PLAIN, text)
