"""Parts of runs as they were painted last, so that rows that only change places are not written again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPixmap

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.engine.core.supervision import LiveRow
    from app.views.frame.theme import Theme

MAX_PARTS = 600
"""Parts that are kept."""


class PaintCache:
    """Draws a part of a run from the picture made of it when its row or its size changed."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._parts: dict[tuple[str, str], tuple[LiveRow, tuple[object, ...], QPixmap]] = {}
        theme.changed.connect(self._parts.clear)

    def paint(
        self,
        painter: QPainter,
        part: str,
        box: QRect,
        row: LiveRow,
        draw: Callable[[QPainter, QRect, LiveRow], None],
        look: object = None,
    ) -> None:
        """Draw ``part`` in ``box``; ``draw`` is called where ``look``, the size or the row is another.

        Args:
            draw: is given a painter, a box of the same size at the origin, and the row.
        """
        ratio = painter.device().devicePixelRatioF()
        now = (box.size(), ratio, painter.layoutDirection(), self._theme.has_icons, look)
        held = self._parts.get((row.run, part))
        if held is None or held[0] is not row or held[1] != now:
            made = QPixmap(box.size() * ratio)
            made.setDevicePixelRatio(ratio)
            made.fill(Qt.GlobalColor.transparent)
            inner = QPainter(made)
            inner.setLayoutDirection(painter.layoutDirection())
            inner.setRenderHints(painter.renderHints())
            draw(inner, QRect(0, 0, box.width(), box.height()), row)
            inner.end()
            if len(self._parts) >= MAX_PARTS:
                self._parts.clear()
            held = self._parts[row.run, part] = (row, now, made)
        painter.drawPixmap(box.topLeft(), held[2])
