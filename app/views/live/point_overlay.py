"""Frames and numbers of a page's elements on its picture: legible over any page, thinned out where it is crowded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen

from app.views.live.page_overlay import INK, PAPER, PageGeometry

if TYPE_CHECKING:
    from app.engine.api.live_api import PointTarget
    from app.models.live.pointing_model import PointingModel
    from app.views.frame.theme import Theme

NEAR = 70
"""Pixels at 100 % around the pointer in which numbers come first."""
CELL = 48
"""Pixels of a cell of the grid in which placed numbers are looked up."""
DOT = 2.0
"""Radius in pixels of the dot in place of a number that has no room."""

Placed = dict[int, QRectF]


class PointOverlay:
    """Draws a ``PointingModel``; ``pointer`` is where the mouse is in the widget, ``None`` elsewhere."""

    def __init__(self, model: PointingModel, theme: Theme) -> None:
        self._model, self._theme = model, theme
        self.pointer: QPointF | None = None
        self.placed: Placed = {}
        """Numbers that were drawn, with their places in the widget."""

    def paint(self, painter: QPainter, geometry: PageGeometry) -> None:
        """Draw the frames, then the numbers over them."""
        model = self._model
        if not model.is_active or not model.targets:
            self.placed = {}
            return
        boxes = [(one, geometry.box(one.box)) for one in model.targets]
        seen = [(one, box) for one, box in boxes if box.intersects(geometry.rect)]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(geometry.rect)
        for one, box in seen:
            if self._is_framed(one):
                self._frame(painter, box, strong=one.number == model.hovered)
        if model.shows_numbers:
            self._numbers(painter, geometry, seen)
        painter.restore()

    def _is_framed(self, one: PointTarget) -> bool:
        model = self._model
        fits = model.matches is not None and one.number in model.matches
        return one.number == model.hovered or fits

    def _frame(self, painter: QPainter, box: QRectF, *, strong: bool) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for color, width in ((QColor(PAPER), 3.4 if strong else 2.6), (QColor(INK), 1.6 if strong else 1.0)):
            painter.setPen(QPen(color, width))
            painter.drawRoundedRect(box.adjusted(-1, -1, 1, 1), 3, 3)

    def _numbers(
        self, painter: QPainter, geometry: PageGeometry, seen: Sequence[tuple[PointTarget, QRectF]]
    ) -> None:
        model, theme = self._model, self._theme
        font = theme.font("secondary", bold=True)
        metrics = QFontMetrics(font)
        high = metrics.ascent() + theme.px(2)
        shown = [
            (one.number, box, QSizeF(metrics.horizontalAdvance(str(one.number)) + theme.px(6), high))
            for one, box in seen
        ]
        first = [number for number in (model.chosen, model.hovered) if number is not None]
        near = self._near(seen)
        self.placed = place_numbers(shown, geometry.rect, [*first, *near])
        painter.setFont(font)
        lit = {*first, *(model.matches or ())}
        for number, box, _ in shown:
            place = self.placed.get(number)
            if place is None:
                painter.setPen(QPen(QColor(PAPER), 1))
                painter.setBrush(QColor(INK))
                painter.drawEllipse(box.topLeft() + QPointF(DOT, DOT), DOT, DOT)
                continue
            painter.setPen(QPen(QColor(PAPER), 1))
            painter.setBrush(theme.color("accent") if number in lit else QColor(INK))
            painter.drawRoundedRect(place, 3, 3)
            painter.setPen(theme.color("on_accent") if number in lit else QColor(PAPER))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, str(number))

    def _near(self, seen: Sequence[tuple[PointTarget, QRectF]]) -> list[int]:
        """Return the numbers near the pointer, the nearest first."""
        at, reach = self.pointer, self._theme.px(NEAR)
        if at is None:
            return []
        far = [(_distance(box, at), one.number) for one, box in seen]
        return [number for distance, number in sorted(far) if distance <= reach]


def place_numbers(
    shown: Sequence[tuple[int, QRectF, QSizeF]], room: QRectF, first: Iterable[int] = ()
) -> Placed:
    """Return a place for each number that has room without lying on another one.

    A number stands at a corner of its element; those of ``first`` choose before the others, whose order decides.

    Args:
        shown: number, box of the element, size of the number.
    """
    order = {number: place for place, number in enumerate(first)}
    placed: Placed = {}
    cells: defaultdict[tuple[int, int], list[QRectF]] = defaultdict(list)
    for number, box, size in sorted(shown, key=lambda one: order.get(one[0], len(order))):
        for corner in _corners(box, size):
            place = QRectF(corner, size)
            place.moveLeft(max(min(place.left(), room.right() - size.width()), room.left()))
            place.moveTop(max(min(place.top(), room.bottom() - size.height()), room.top()))
            around = _cells(place)
            if any(place.intersects(other) for cell in around for other in cells[cell]):
                continue
            placed[number] = place
            for cell in around:
                cells[cell].append(place)
            break
    return placed


def _corners(box: QRectF, size: QSizeF) -> tuple[QPointF, ...]:
    """Return places of a number: on the upper left corner, then beside it, then at the other corners."""
    width, high = size.width(), size.height()
    return (
        QPointF(box.left() - width / 2, box.top() - high / 2),
        QPointF(box.left() - width, box.center().y() - high / 2),
        QPointF(box.left(), box.top() - high),
        QPointF(box.right() - width / 2, box.top() - high / 2),
        QPointF(box.right(), box.center().y() - high / 2),
        QPointF(box.left(), box.bottom()),
    )


def _cells(place: QRectF) -> list[tuple[int, int]]:
    columns = range(int(place.left() // CELL), int(place.right() // CELL) + 1)
    rows = range(int(place.top() // CELL), int(place.bottom() // CELL) + 1)
    return [(column, row) for column in columns for row in rows]


def _distance(box: QRectF, at: QPointF) -> float:
    """Return the distance of a point from a box, 0 inside."""
    right = max(box.left() - at.x(), 0.0, at.x() - box.right())
    down = max(box.top() - at.y(), 0.0, at.y() - box.bottom())
    return max(right, down)
