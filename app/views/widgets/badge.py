"""A word on a tinted background: a status, a severity, a count."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.views.frame.theme import Theme


class Badge(QWidget):
    """A word with a colour, so that the colour is never alone.

    ``role`` is one of the tinted roles (accent, ok, warn, fail, live) or ``muted``.
    """

    def __init__(self, text: str, role: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text, self._role, self._theme = text, role, theme
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(text)
        theme.changed.connect(self._restyle)

    def set(self, text: str, role: str) -> None:
        self.text, self._role = text, role
        self.setAccessibleName(text)
        self._restyle()

    def sizeHint(self) -> QSize:
        metrics = self._metrics()
        return QSize(
            metrics.horizontalAdvance(self.text) + self._theme.px(14), metrics.height() + self._theme.px(4)
        )

    def minimumSizeHint(self) -> QSize:
        """Never elided."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        draw_badge(painter, self._theme, self.rect().adjusted(0, 0, -1, -1), self.text, self._role)
        painter.end()

    def _metrics(self) -> QFontMetrics:
        return QFontMetrics(self._theme.font("secondary", bold=True))

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()


def draw_badge(painter: QPainter, theme: Theme, rect: QRect, text: str, role: str) -> None:
    """Paint a badge for a delegate: fill ``rect`` with the role's tint and write the word into it."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(theme.color("line"))
    painter.setBrush(theme.color("surface" if role in ("muted", "text") else f"tint_{role}"))
    radius = min(rect.height() / 2, theme.px(9))
    painter.drawRoundedRect(rect, radius, radius)
    painter.setFont(theme.font("secondary", bold=True))
    painter.setPen(theme.color(role))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
    painter.restore()
