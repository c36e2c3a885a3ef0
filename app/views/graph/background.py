"""The cached drawing of the map: a shift redraws only the newly visible strips, a new picture only its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, QRectF, QSize
from PySide6.QtGui import QPainter, QPixmap

if TYPE_CHECKING:
    from app.views.graph.camera import Camera
    from app.views.graph.painter import MapPainter


class Background:
    """A pixmap of the view, and its outdated parts."""

    def __init__(self) -> None:
        self._picture = QPixmap()
        self._key: tuple[object, ...] = ()
        self._at = (0, 0)
        self._spoiled: list[QRect] = []
        self._version = 0

    def forget(self) -> None:
        """Mark everything as outdated."""
        self._version += 1

    def invalidate_part(self, box: QRect) -> None:
        """Mark a part as outdated; ``box`` is in pixels from the camera's origin."""
        self._spoiled.append(box)

    def refresh(self, camera: Camera, painter: MapPainter, size: QSize, ratio: float) -> QPixmap:
        """Return the drawing of the visible part, for a view of this size and density."""
        device = size * ratio
        key = (device.width(), device.height(), ratio, camera.scale, self._version)
        right, down = camera.left - self._at[0], camera.top - self._at[1]
        whole = QRect(QPoint(), size)
        parts = [box.translated(camera.left, camera.top) & whole for box in self._spoiled]
        self._spoiled.clear()
        if key != self._key or not _is_whole(right * ratio) or not _is_whole(down * ratio):
            if self._picture.size() != device:
                self._picture = QPixmap(device)
                self._picture.setDevicePixelRatio(ratio)
            parts = [whole]
        elif right or down:
            self._picture.scroll(round(right * ratio), round(down * ratio), QRect(QPoint(), device))
            parts += strips(whole, right, down)
        self._key, self._at = key, (camera.left, camera.top)
        if parts:
            brush = QPainter(self._picture)
            for part in parts:
                painter.paint(brush, camera, QRectF(part))
            brush.end()
        return self._picture


def strips(whole: QRect, right: int, down: int) -> list[QRect]:
    """Return the parts of a view that become visible when its picture moves by so many pixels."""
    kept = whole & whole.translated(right, down)
    if kept.isEmpty():
        return [whole]
    found: list[QRect] = []
    if right:
        left = whole.left() if right > 0 else kept.right() + 1
        found.append(QRect(left, whole.top(), whole.width() - kept.width(), whole.height()))
    if down:
        top = whole.top() if down > 0 else kept.bottom() + 1
        found.append(QRect(kept.left(), top, kept.width(), whole.height() - kept.height()))
    return found


def _is_whole(pixels: float) -> bool:
    return float(pixels).is_integer()
