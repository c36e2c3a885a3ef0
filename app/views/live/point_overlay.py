"""Frames and numbers of a page's elements on its picture: legible over any page, thinned out where it is crowded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QPixmap

from app.views.live.page_overlay import INK, PAPER, PageGeometry

if TYPE_CHECKING:
    from app.engine.api.live_api import PointTarget
    from app.models.live.pointing_model import PointingModel
    from app.views.frame.theme import Theme

NEAR = 70
"""Pixels at 100 % around the pointer in which numbers come first."""
STEP = 12
"""Pixels the pointer moves before the numbers around it are placed anew."""
CELL = 48
"""Pixels of a cell of the grid in which placed numbers are looked up."""
DOT = 2.0
"""Radius in pixels of the dot in place of a number that has no room."""

CROWDED, GAP = 0.06, (26.0, 10.0)
"""Share of the picture that numbers may cover before they keep this distance (across, down) from each other."""

Placed = dict[int, QRectF]
Cell = tuple[int, int]
Corners = tuple[float, float, float, float]
"""Left, top, right and bottom."""


class PointOverlay:
    """Draws a ``PointingModel``; ``pointer`` is where the mouse is in the widget, ``None`` elsewhere."""

    def __init__(self, model: PointingModel, theme: Theme) -> None:
        self._model, self._theme = model, theme
        self.pointer: QPointF | None = None
        self.placed: Placed = {}
        """Numbers that were drawn, with their places in the widget."""
        self._drawn: QPixmap | None = None
        self._drawn_for: tuple[object, ...] = ()

    def paint(self, painter: QPainter, geometry: PageGeometry) -> None:
        """Draw the frames, then the numbers over them."""
        model = self._model
        if not model.is_active or not model.targets:
            self.placed, self._drawn, self._drawn_for = {}, None, ()
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
        else:
            self.placed, self._drawn = {}, None
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
        """Draw the numbers from a picture of them, which is made anew only where something about them changed."""
        model, theme, device = self._model, self._theme, painter.device()
        chosen = tuple(number for number in (model.chosen, model.hovered) if number is not None)
        matches = tuple(sorted(model.matches or ()))
        wanted = (*dict.fromkeys((*chosen, *matches, *self._near(seen))),)
        ratio = device.devicePixelRatio()
        state = (
            model.targets,
            geometry,
            wanted,
            chosen,
            matches,
            theme.zoom,
            theme.color("accent").rgb(),
            ratio,
        )
        if state != self._drawn_for or self._drawn is None:
            self._drawn_for = state
            self._drawn = QPixmap(geometry.rect.size().toSize() * ratio)
            self._drawn.setDevicePixelRatio(ratio)
            self._drawn.fill(Qt.GlobalColor.transparent)
            pen = QPainter(self._drawn)
            pen.setRenderHint(QPainter.RenderHint.Antialiasing)
            pen.translate(-geometry.rect.topLeft())
            self._draw_numbers(pen, geometry, seen, wanted, {*chosen, *matches})
            pen.end()
        painter.drawPixmap(geometry.rect.topLeft(), self._drawn)

    def _draw_numbers(
        self,
        painter: QPainter,
        geometry: PageGeometry,
        seen: Sequence[tuple[PointTarget, QRectF]],
        wanted: Sequence[int],
        lit: Set[int],
    ) -> None:
        theme = self._theme
        font = theme.font("secondary", bold=True)
        metrics = QFontMetrics(font)
        high = metrics.ascent() + theme.px(2)
        shown = [
            (one.number, box, QSizeF(metrics.horizontalAdvance(str(one.number)) + theme.px(4), high))
            for one, box in seen
        ]
        free = [box for one, box in seen if one.number in (self._model.chosen, self._model.hovered)]
        self.placed = place_numbers(shown, geometry.rect, wanted, free)
        ink, paper, accent, on_accent = (
            QColor(INK),
            QColor(PAPER),
            theme.color("accent"),
            theme.color("on_accent"),
        )
        painter.setFont(font)
        painter.setPen(QPen(paper, 1))
        painter.setBrush(ink)
        for number, box, _ in shown:
            if number not in self.placed:
                painter.drawEllipse(box.topLeft() + QPointF(DOT, DOT), DOT, DOT)
        for number, place in self.placed.items():
            painter.setPen(QPen(paper, 1))
            painter.setBrush(accent if number in lit else ink)
            painter.drawRoundedRect(place, 3, 3)
        for number, place in self.placed.items():
            painter.setPen(on_accent if number in lit else paper)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, str(number))

    def _near(self, seen: Sequence[tuple[PointTarget, QRectF]]) -> list[int]:
        """Return the numbers near the pointer, the nearest first."""
        at, reach = self.pointer, self._theme.px(NEAR)
        if at is None:
            return []
        at = QPointF(
            round(at.x() / STEP) * STEP, round(at.y() / STEP) * STEP
        )  # steady while it moves a little
        far = [(_distance(box, at), one.number) for one, box in seen]
        return [number for distance, number in sorted(far) if distance <= reach]


def place_numbers(
    shown: Sequence[tuple[int, QRectF, QSizeF]],
    room: QRectF,
    first: Iterable[int] = (),
    free: Iterable[QRectF] = (),
) -> Placed:
    """Return a place for each number that has room without lying on another one.

    A number stands beside a corner of its element; those of ``first`` choose before the others, whose order decides.
    On a crowded page the others keep a distance from each other, so that the page can be read between them.

    Args:
        shown: number, box of the element, size of the number.
        free: boxes on which no number may stand.
    """
    order = {number: place for place, number in enumerate(first)}
    covered = sum(size.width() * size.height() for _, _, size in shown)
    is_crowded = covered > CROWDED * room.width() * room.height()
    placed: Placed = {}
    cells: defaultdict[Cell, list[Corners]] = defaultdict(list)
    for taken in free:
        corners = (taken.left(), taken.top(), taken.right(), taken.bottom())
        for cell in _cells(corners):
            cells[cell].append(corners)
    for number, box, size in sorted(shown, key=lambda one: order.get(one[0], len(order))):
        width, high = size.width(), size.height()
        apart = GAP if is_crowded and number not in order else (0.0, 0.0)
        for x, y in _corners(box, size)[: 1 if any(apart) else None]:
            left = max(min(x, room.right() - width), room.left())
            top = max(min(y, room.bottom() - high), room.top())
            wide = (left - apart[0], top - apart[1], left + width + apart[0], top + high + apart[1])
            if any(_overlap(wide, other) for cell in _cells(wide) for other in cells[cell]):
                continue
            placed[number] = QRectF(left, top, width, high)
            own = (left, top, left + width, top + high)
            for cell in _cells(own):
                cells[cell].append(own)
            break
    return placed


def _corners(box: QRectF, size: QSizeF) -> tuple[tuple[float, float], ...]:
    """Return places of a number: left of the element, above it, then at its corners."""
    width, high = size.width(), size.height()
    left, top, right = box.left(), box.top(), box.right()
    middle = box.center().y() - high / 2
    upper = min(middle, top)
    return (
        (left - width - 1, upper),
        (left, top - high),
        (right, middle),
        (left - width / 2, top - high / 2),
        (right - width / 2, top - high / 2),
        (left, box.bottom()),
    )


def _overlap(one: Corners, other: Corners) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _cells(place: Corners) -> list[Cell]:
    columns = range(int(place[0] // CELL), int(place[2] // CELL) + 1)
    rows = range(int(place[1] // CELL), int(place[3] // CELL) + 1)
    return [(column, row) for column in columns for row in rows]


def _distance(box: QRectF, at: QPointF) -> float:
    """Return the distance of a point from a box, 0 inside."""
    right = max(box.left() - at.x(), 0.0, at.x() - box.right())
    down = max(box.top() - at.y(), 0.0, at.y() - box.bottom())
    return max(right, down)
