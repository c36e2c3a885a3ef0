"""The legend of the step strip's signs, in a popup."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from app.models.common.step_list import ERROR_WORDS
from app.views.widgets.build import text_label
from app.views.widgets.signs import draw_hand, draw_operator_action, severity_sign, trouble_sign

if TYPE_CHECKING:
    from app.views.frame.theme import Theme

Draw = Callable[[QPainter, QRectF, "Theme"], None]


class _SignBox(QWidget):
    """One sign, as the strip draws it."""

    def __init__(self, draw: Draw, theme: Theme) -> None:
        super().__init__()
        self._draw, self._theme = draw, theme
        self.setFixedSize(theme.px(18), theme.px(16))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, size = QPainter(self), self._theme.px(9)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(0, 0, size, size)
        box.moveCenter(QRectF(self.rect()).center())
        self._draw(painter, box, self._theme)
        painter.end()


class StripLegend(QFrame):
    """The meaning of each sign under a step's number."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("kind", "overlay")
        self.setAccessibleName(self.tr("Signs of the steps"))
        self._theme = theme
        words = [str(word) for word in ERROR_WORDS.values()]
        self.rows: tuple[tuple[Draw, str], ...] = (
            (_underline, self.tr("suspect: where the evidence of the failure begins; the run opens here")),
            (trouble_sign("hard"), words[0]),
            (trouble_sign("soft"), words[1]),
            (trouble_sign("harness"), words[2]),
            (severity_sign("error"), self.tr("flag of a detector: error")),
            (severity_sign("warning"), self.tr("flag of a detector: warning")),
            (severity_sign("hint"), self.tr("flag of a detector: hint")),
            (lambda p, box, t: draw_hand(p, box, t.color("live")), self.tr("done by a person (upper left)")),
            (
                lambda p, box, t: draw_operator_action(p, box, t.color("live")),
                self.tr("an intervention during the run (upper right)"),
            ),
        )
        grid = QGridLayout(self)
        grid.setContentsMargins(12, 10, 14, 12)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(3)
        grid.addWidget(text_label(self.tr("Signs of the steps"), "heading"), 0, 0, 1, 2)
        for row, (draw, text) in enumerate(self.rows, 1):
            grid.addWidget(_SignBox(draw, theme), row, 0, Qt.AlignmentFlag.AlignCenter)
            grid.addWidget(text_label(text), row, 1)
        grid.addWidget(
            text_label(self.tr("A muted number: asked for, never executed."), "muted"), len(self.rows) + 1, 1
        )

    def open_at(self, anchor: QWidget) -> None:
        """Open below this widget, inside the screen."""
        self.adjustSize()
        corner = anchor.mapToGlobal(anchor.rect().bottomRight())
        self.move(max(corner.x() - self.width(), 0), corner.y() + 4)
        self.show()
        self.setFocus()


def _underline(painter: QPainter, box: QRectF, theme: Theme) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("accent"))
    painter.drawRoundedRect(QRectF(box.left(), box.bottom() - theme.px(2), box.width(), theme.px(2)), 1, 1)
