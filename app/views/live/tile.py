"""A tile of the run grid: page, task, state, need, and the newest flag."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.models.common.object_list import OBJECT_ROLE
from app.models.live.run_list import (
    clock_words,
    display_state,
    flag_words,
    is_queued,
    status_line,
    step_words,
)
from app.views.live.state_marks import EMPHASIZED, STATE_MARKS, draw_state, state_role
from app.views.widgets.keycap import draw_keys
from app.views.widgets.signs import SEVERITY_ROLE, draw_severity, elided

if TYPE_CHECKING:
    from app.engine.core.supervision import LiveRow
    from app.models.live.model import LiveModel
    from app.views.frame.theme import Theme

Index = QModelIndex | QPersistentModelIndex
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
GAP = 12
"""Pixels between tiles."""
HEAD, PAD = 32, 10
SHAPE = 10 / 16
"""Aspect ratio of a page's picture, height to width."""


class TileDelegate(QStyledItemDelegate):
    """Paints ``LiveRow``s in cells of ``cell`` pixels, which include the gap between tiles."""

    def __init__(self, model: LiveModel, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._model, self._theme = model, theme
        self.cell = QSize(280, 300)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return self.cell

    def height_for(self, width: int) -> int:
        return round((width - self._theme.px(GAP)) * SHAPE) + self._text_height() + self._theme.px(GAP + HEAD)

    def picture_size(self) -> QSize:
        """Size of a page's picture on a tile; its foot may be cropped."""
        width = self.cell.width() - self._theme.px(GAP)
        return QSize(width, round(width * SHAPE))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: LiveRow | None = index.data(OBJECT_ROLE)
        if row is None:
            return
        px, half = self._theme.px, self._theme.px(GAP) // 2
        card = QRect(option.rect.topLeft(), self.cell).adjusted(half, half, -half, -half)
        painter.save()
        painter.setLayoutDirection(option.direction)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        self._paint_card(painter, option, card)
        head = QRect(card.left() + px(PAD), card.top(), card.width() - 2 * px(PAD), px(HEAD))
        self._paint_head(painter, head, row)
        high = card.height() - px(HEAD) - self._text_height()
        picture = QRect(card.left(), head.bottom() + 1, card.width(), high)
        self._paint_page(painter, picture, row)
        self._paint_progress(painter, picture, row)
        top = picture.bottom() + 1 + px(8)
        self._paint_words(painter, QRect(head.left(), top, head.width(), card.bottom() - top), row)
        self._paint_edge(painter, option, card, row)
        painter.restore()

    # ------------------------------------------------------------ parts
    def _paint_card(self, painter: QPainter, option: QStyleOptionViewItem, card: QRect) -> None:
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("hover" if hovered else "raised"))
        painter.drawRoundedRect(QRectF(card), 8, 8)

    def _paint_edge(self, painter: QPainter, option: QStyleOptionViewItem, card: QRect, row: LiveRow) -> None:
        """A hair line, in the state's colour where a person is needed, twice as thick for the current run."""
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        loud = display_state(row) in EMPHASIZED
        role = "accent" if selected else state_role(row) if loud else "line"
        width = 2.5 if selected else 1.5 if loud else 1.0
        painter.setPen(QPen(self._theme.color(role), width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        inset = width / 2
        painter.drawRoundedRect(QRectF(card).adjusted(inset, inset, -inset, -inset), 8, 8)

    def _paint_head(self, painter: QPainter, box: QRect, row: LiveRow) -> None:
        theme, px = self._theme, self._theme.px
        middle = box.center().y() + 1
        number = str(self._model.list.numbers.of(row.run))
        taken = draw_keys(painter, theme, QRect(box.left(), box.top(), box.width(), box.height()), number)
        clock = clock_words(self._model.list.elapsed(row)) if not is_queued(row) else ""
        font = theme.font("secondary")
        painter.setFont(font)
        painter.setPen(theme.color("muted"))
        right = box.right() - taken - px(8)
        painter.drawText(QRect(box.left(), box.top(), right - box.left(), box.height()), RIGHT, clock)
        room = right - box.left() - QFontMetrics(font).horizontalAdvance(clock) - px(8)
        draw_state(painter, theme, box.left(), middle, room, row)

    def _paint_page(self, painter: QPainter, box: QRect, row: LiveRow) -> None:
        theme = self._theme
        painter.fillRect(box, theme.color("surface"))
        found = self._model.frames.get(row.run)
        if found is None:
            self._paint_no_page(painter, box, row)
            return
        whole = QSizeF(found.image.size()).scaled(
            QSizeF(self.picture_size()), Qt.AspectRatioMode.KeepAspectRatio
        )
        target = QRectF(QPointF(box.center().x() - whole.width() / 2, box.top()), whole)
        painter.save()
        painter.setClipRect(box)
        painter.setOpacity(1.0 if row.state.alive and not self._model.lost else 0.5)
        painter.drawImage(target, found.image)
        if found.pointer is not None and row.state.alive:
            self._paint_pointer(painter, target, found.page, found.pointer)
        painter.restore()

    def _paint_pointer(
        self, painter: QPainter, target: QRectF, page: tuple[int, int], point: tuple[float, float]
    ) -> None:
        place = QPointF(
            target.left() + point[0] / page[0] * target.width(),
            target.top() + point[1] / page[1] * target.height(),
        )
        if not target.contains(place):
            return
        painter.setPen(QPen(self._theme.color("raised"), 1.5))
        painter.setBrush(self._theme.color("live"))
        painter.drawEllipse(place, self._theme.px(4), self._theme.px(4))

    def _paint_no_page(self, painter: QPainter, box: QRect, row: LiveRow) -> None:
        """Without a picture, draw the state's sign, large and pale."""
        theme, px = self._theme, self._theme.px
        side = px(40)
        sign = QRect(box.center().x() - side // 2, box.center().y() - side // 2, side, side)
        painter.setOpacity(0.35)
        theme.icon(STATE_MARKS[display_state(row)][0], "muted").paint(painter, sign)
        painter.setOpacity(1.0)

    def _paint_progress(self, painter: QPainter, picture: QRect, row: LiveRow) -> None:
        """Draw the share of used steps as a line under the picture."""
        line = QRect(picture.left(), picture.bottom() - 1, picture.width(), 2)
        painter.fillRect(line, self._theme.color("line"))
        if row.max_steps:
            done = round(line.width() * min(row.step / row.max_steps, 1.0))
            painter.fillRect(
                QRect(line.left(), line.top(), done, 2),
                self._theme.color("live" if row.state.alive else "muted"),
            )

    # ------------------------------------------------------------ words
    def _line(self) -> int:
        return QFontMetrics(self._theme.font("secondary")).height() + self._theme.px(3)

    def _text_height(self) -> int:
        title = QFontMetrics(self._theme.font(bold=True)).height()
        return 2 * title + 3 * self._line() + self._theme.px(8 + 4 + PAD)

    def _paint_words(self, painter: QPainter, box: QRect, row: LiveRow) -> None:
        theme, px = self._theme, self._theme.px
        title = theme.font(bold=True)
        high = 2 * QFontMetrics(title).height()
        painter.setPen(theme.color("text"))
        paint_two_lines(painter, title, QRect(box.left(), box.top(), box.width(), high), row.intent)
        top, line = box.top() + high + px(4), self._line()
        small = theme.font("secondary")
        metrics = QFontMetrics(small)
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        where = " · ".join(part for part in (step_words(row), row.site, row.policy) if part)
        painter.drawText(QRect(box.left(), top, box.width(), line), LEFT, elided(metrics, where, box.width()))
        first, second = (QRect(box.left(), top + number * line, box.width(), line) for number in (1, 2))
        said = status_line(row)
        painter.setPen(theme.color("warn" if row.needs else "text"))
        painter.drawText(first, LEFT, elided(metrics, said, first.width()))
        self._paint_last_line(painter, second, row, "" if said == row.words else row.words)

    def _paint_last_line(self, painter: QPainter, box: QRect, row: LiveRow, words: str) -> None:
        """Write the newest flag, or else the last action."""
        theme, px, flag = self._theme, self._theme.px, row.last_flag
        metrics = QFontMetrics(theme.font("secondary"))
        if flag is None:
            painter.setPen(theme.color("muted"))
            painter.drawText(box, LEFT, elided(metrics, words, box.width()))
            return
        role = SEVERITY_ROLE[flag.severity.value]
        sign = QRectF(box.left(), box.center().y() - px(4), px(9), px(9))
        draw_severity(painter, sign, flag.severity.value, theme.color(role))
        painter.setPen(theme.color(role))
        inner = box.adjusted(px(14), 0, 0, 0)
        painter.drawText(inner, LEFT, elided(metrics, flag_words(row), inner.width()))


def paint_two_lines(painter: QPainter, font: QFont, box: QRect, text: str) -> None:
    """Write text on two lines, the second one elided; uses the painter's pen."""
    layout = QTextLayout(" ".join(text.split())[:400], font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    metrics = QFontMetrics(font)
    layout.beginLayout()
    painter.setFont(font)
    for number in range(2):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(box.width())
        start = line.textStart()
        part = layout.text()[start : start + line.textLength()]
        if number:
            part = metrics.elidedText(layout.text()[start:], Qt.TextElideMode.ElideRight, box.width())
        place = QRect(box.left(), box.top() + number * metrics.height(), box.width(), metrics.height())
        painter.drawText(place, LEFT, part.strip())
    layout.endLayout()
