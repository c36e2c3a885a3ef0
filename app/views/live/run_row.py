"""A run as two lines of a narrow list: sign and task; state, step and need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.models.common.object_list import OBJECT_ROLE
from app.models.live.run_list import clock_words, flag_words, is_queued, need_words, state_words
from app.views.live.state_marks import draw_sign, state_role
from app.views.widgets.signs import elided, paint_ground

if TYPE_CHECKING:
    from app.engine.core.supervision import LiveRow
    from app.models.live.model import LiveModel
    from app.views.frame.theme import Theme

Index = QModelIndex | QPersistentModelIndex
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter

ROW = 44
"""Height of a row in pixels."""


class RunRowDelegate(QStyledItemDelegate):
    """Paints ``LiveRow``s in rows of ``ROW`` pixels."""

    def __init__(self, model: LiveModel, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._model, self._theme = model, theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(160, self._theme.px(ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: LiveRow | None = index.data(OBJECT_ROLE)
        if row is None:
            return
        px = self._theme.px
        painter.save()
        paint_ground(painter, option, self._theme)
        box = option.rect.adjusted(px(10), px(4), -px(10), -px(4))
        side = px(16)
        draw_sign(painter, self._theme, QRect(box.left(), box.top() + px(2), side, side), row)
        words = box.adjusted(side + px(8), 0, 0, 0)
        half = words.height() // 2
        self._paint_top(painter, QRect(words.left(), words.top(), words.width(), half), row)
        self._paint_low(painter, QRect(words.left(), words.top() + half, words.width(), half), row)
        painter.setPen(QPen(self._theme.color("line"), 1))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        painter.restore()

    def _paint_top(self, painter: QPainter, box: QRect, row: LiveRow) -> None:
        theme, px = self._theme, self._theme.px
        font, small = theme.font(), theme.font("secondary")
        number = str(self._model.list.numbers.of(row.run))
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        painter.drawText(box, RIGHT, number)
        room = box.width() - QFontMetrics(small).horizontalAdvance(number) - px(8)
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        painter.drawText(box, LEFT, elided(QFontMetrics(font), row.intent, room))

    def _paint_low(self, painter: QPainter, box: QRect, row: LiveRow) -> None:
        theme, px = self._theme, self._theme.px
        small = theme.font("secondary")
        metrics = QFontMetrics(small)
        painter.setFont(small)
        clock = clock_words(self._model.list.elapsed(row)) if not is_queued(row) else ""
        painter.setPen(theme.color("muted"))
        painter.drawText(box, RIGHT, clock)
        room = box.width() - metrics.horizontalAdvance(clock) - px(8)
        state = elided(metrics, state_words(row), room)
        painter.setPen(theme.color(state_role(row)))
        painter.drawText(box, LEFT, state)
        used = metrics.horizontalAdvance(state) + px(6)
        if room - used > px(24):
            painter.setPen(theme.color("muted"))
            said = need_words(row) or flag_words(row) or row.words or row.why
            painter.drawText(box.adjusted(used, 0, 0, 0), LEFT, elided(metrics, said, room - used))
