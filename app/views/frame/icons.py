"""Icons of the Material Design set, drawn from its font in the current colours.

Importing the set costs 170 ms, so an icon stays blank until the font is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QIcon, QIconEngine, QPainter, QPixmap


class IconFont:
    """The set's font and its table of names, once loaded."""

    def __init__(self) -> None:
        self._font: QFont | None = None
        self._chars: dict[str, str] = {}

    def load(self) -> bool:
        """Load the font; returns True the first time."""
        if self._font is not None:
            return False
        import qtawesome

        self._font = qtawesome.font("mdi6", 16)
        return True

    def glyph(self, name: str) -> tuple[QFont, str] | None:
        """Return the font and the character of an icon; ``None`` before loading."""
        if self._font is None:
            return None
        if name not in self._chars:
            import qtawesome

            self._chars[name] = cast("str", qtawesome.charmap(f"mdi6.{name}"))
        return self._font, self._chars[name]


class RoleIcon(QIconEngine):
    """An icon that looks up its colour whenever it is painted, so a change of theme needs no new icon."""

    def __init__(
        self, font: IconFont, name: str, color: Callable[[], QColor], disabled: Callable[[], QColor]
    ) -> None:
        super().__init__()
        self._font, self._name, self._color, self._disabled = font, name, color, disabled

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Draw the character at the rectangle's size."""
        found = self._font.glyph(self._name)
        if found is None:
            return
        font, char = QFont(found[0]), found[1]
        font.setPixelSize(max(1, min(rect.width(), rect.height())))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        painter.setFont(font)
        painter.setPen(self._disabled() if mode is QIcon.Mode.Disabled else self._color())
        if mode is QIcon.Mode.Disabled:
            painter.setOpacity(0.6)
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, char)
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Draw the icon on a transparent ground."""
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap

    def clone(self) -> QIconEngine:
        """A copy, for Qt."""
        return RoleIcon(self._font, self._name, self._color, self._disabled)
