"""The status of a tip as a small widget: its shape and its word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.views.knowledge.tip_rows import STATUS_ROLE, draw_status

if TYPE_CHECKING:
    from app.views.frame.theme import Theme


class StatusLabel(QWidget):
    """The shape and the word of a status."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._status = theme, "draft"
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_status(self, status: str) -> None:
        """Show a status."""
        self._status = status
        self.setAccessibleName(self.tr("Status: {0}").format(status))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """The sign and the word."""
        metrics = QFontMetrics(self._theme.font(bold=True))
        return QSize(metrics.horizontalAdvance(self._status) + self._theme.px(20), metrics.height() + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw both in the status's colour."""
        theme, px = self._theme, self._theme.px
        painter = QPainter(self)
        color = theme.color(STATUS_ROLE[self._status])
        sign = QRectF(1, self.height() / 2 - px(5), px(11), px(11))
        draw_status(painter, sign, self._status, color)
        painter.setFont(theme.font(bold=True))
        painter.setPen(color)
        room = self.rect().adjusted(px(17), 0, 0, 0)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self._status)
        painter.end()
