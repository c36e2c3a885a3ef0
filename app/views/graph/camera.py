"""The visible part of the map and its scale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import numpy as np
from PySide6.QtCore import (
    QAbstractAnimation,
    QEasingCurve,
    QObject,
    QPointF,
    QRectF,
    QSize,
    QVariantAnimation,
    Signal,
)

if TYPE_CHECKING:
    from app.models.graph.map_graph import Floats
    from app.views.frame.theme import Theme

CELL = (252.0, 206.0)
"""Size of one state's place in pixels at scale 1 and 100 % text size."""
MAX_ZOOM, MIN_ZOOM = 1.6, 0.004
MARGIN = 36.0
"""Pixels at both sides of the map when all of it is visible."""
HEAD, FOOT = 30.0, 26.0
"""Pixels over and under it: the depths stand there, and the names of the lowest states."""
MOVE_MS = 200


class Camera(QObject):
    """Converts places (columns and rows) to pixels: ``pixel = place * cell * scale + origin``, with a whole origin.

    Signals:
        moved: another part is visible.
        scaled: the scale changed.
    """

    moved = Signal()
    scaled = Signal()

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.scale = 1.0
        self.left, self.top = 0, 0
        self.size = QSize(1, 1)
        self.inset = 0
        """Pixels at the left edge that something lies over: what is shown whole stays clear of them."""
        self.is_fitted = False
        """The whole map is shown, and no hand has moved it since."""
        self._slide = QVariantAnimation(self)
        self._slide.setDuration(MOVE_MS)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._slide.setStartValue(0.0)
        self._slide.setEndValue(1.0)
        self._slide.valueChanged.connect(self._on_slide)
        self._from = self._to = (1.0, 0.0, 0.0)

    # ------------------------------------------------------------ asking
    @property
    def cell(self) -> tuple[float, float]:
        """Width and height of one place in pixels at the present scale."""
        zoom = self._theme.zoom
        return (CELL[0] * zoom * self.scale, CELL[1] * zoom * self.scale)

    @property
    def is_moving(self) -> bool:
        return self._slide.state() is QAbstractAnimation.State.Running

    @property
    def middle(self) -> tuple[float, float]:
        """The place at the middle of the view."""
        return self.place(QPointF(self.size.width() / 2, self.size.height() / 2))

    def pixels(self, places: Floats) -> Floats:
        return places * np.array(self.cell) + np.array((self.left, self.top), dtype=float)

    def point(self, x: float, y: float) -> QPointF:
        wide, high = self.cell
        return QPointF(x * wide + self.left, y * high + self.top)

    def place(self, point: QPointF) -> tuple[float, float]:
        wide, high = self.cell
        return ((point.x() - self.left) / wide, (point.y() - self.top) / high)

    def seen(self, rect: QRectF | None = None) -> tuple[float, float, float, float]:
        """Return left, top, right, bottom of the view (or a part of it) as places."""
        box = rect if rect is not None else QRectF(0, 0, self.size.width(), self.size.height())
        return (*self.place(box.topLeft()), *self.place(box.bottomRight()))

    def sees(self, x: float, y: float, margin: float = 0.5) -> bool:
        """Whether a place with its card is completely visible."""
        left, top, right, bottom = self.seen()
        return left + margin <= x <= right - margin and top + margin <= y <= bottom - margin

    # ------------------------------------------------------------ moving
    def pan(self, right: int, down: int) -> None:
        """Move the map by whole pixels."""
        self._slide.stop()
        self.is_fitted = False
        self.left += right
        self.top += down
        self.moved.emit()

    def zoom_at(self, factor: float, point: QPointF) -> None:
        """Zoom; the point keeps its place."""
        x, y = self.place(point)
        self._slide.stop()
        self.is_fitted = False
        self.scale = min(max(self.scale * factor, MIN_ZOOM), MAX_ZOOM)
        wide, high = self.cell
        self.left, self.top = round(point.x() - x * wide), round(point.y() - y * high)
        self.scaled.emit()
        self.moved.emit()

    def zoom_by(self, factor: float) -> None:
        """Zoom at the middle, animated."""
        goal = self._to if self.is_moving else (self.scale, *self.middle)
        self.go(min(max(goal[0] * factor, MIN_ZOOM), MAX_ZOOM), goal[1], goal[2])

    def fit(self, bounds: tuple[float, float, float, float], *, gently: bool = True) -> None:
        """Show all of this; a small map is not enlarged beyond scale 1."""
        left, top, right, bottom = bounds
        zoom = self._theme.zoom
        wide = (right - left + 1) * CELL[0] * zoom
        high = (bottom - top + 1) * CELL[1] * zoom
        inset = self.inset if self.inset < self.size.width() / 3 else 0
        over, under = HEAD * zoom, FOOT * zoom
        room = (
            max(self.size.width() - inset - 2 * MARGIN, 50),
            max(self.size.height() - over - under, 50),
        )
        scale = min(max(min(room[0] / wide, room[1] / high, 1.0), MIN_ZOOM), MAX_ZOOM)
        aside = inset / 2 / (CELL[0] * zoom * scale)
        above = (over - under) / 2 / (CELL[1] * zoom * scale)
        self.go(scale, (left + right) / 2 - aside, (top + bottom) / 2 - above, gently=gently)
        self.is_fitted = True

    def center_on(self, x: float, y: float, *, scale: float = 0.0) -> None:
        """Move a place into the middle, with at least this scale."""
        self.go(max(self.scale, min(scale, MAX_ZOOM)), x, y)

    def reveal(self, x: float, y: float) -> None:
        """Scroll a place into view with the smallest move."""
        left, top, right, bottom = self.seen()
        wide, high = (right - left) / 2, (bottom - top) / 2
        near = min(0.7, wide * 0.8), min(0.7, high * 0.8)
        middle_x, middle_y = (left + right) / 2, (top + bottom) / 2
        to_x = min(max(middle_x, x + near[0] - wide), x - near[0] + wide)
        to_y = min(max(middle_y, y + near[1] - high), y - near[1] + high)
        if (to_x, to_y) != (middle_x, middle_y):
            self.go(self.scale, to_x, to_y)

    def go(self, scale: float, x: float, y: float, *, gently: bool = True) -> None:
        """Show a place in the middle at a scale, animated where motion is allowed."""
        self._slide.stop()
        self.is_fitted = False
        self._from, self._to = (self.scale, *self.middle), (scale, x, y)
        if gently and self._theme.motion:
            self._slide.start()
            return
        self._stand(*self._to)

    def resize(self, size: QSize) -> None:
        """Set the view's size; the middle keeps its place."""
        middle = self.middle
        self.size = size
        self._stand(self.scale, *middle)

    # ------------------------------------------------------------ inside
    def _on_slide(self, value: object) -> None:
        share = cast("float", value)
        (a, ax, ay), (b, bx, by) = self._from, self._to
        scale = math.exp(math.log(a) + (math.log(b) - math.log(a)) * share)
        if abs(a - b) > 1e-9:  # move the place in proportion to the scale, or the picture swings
            share = (1 / a - 1 / scale) / (1 / a - 1 / b)
        self._stand(scale, ax + (bx - ax) * share, ay + (by - ay) * share)

    def _stand(self, scale: float, x: float, y: float) -> None:
        if scale != self.scale:
            self.scale = scale
            self.scaled.emit()
        wide, high = self.cell
        self.left = round(self.size.width() / 2 - x * wide)
        self.top = round(self.size.height() / 2 - y * high)
        self.moved.emit()
