"""A tile of the run grid: page, task, state, need, and the newest flag."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen, QRegion, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.models.common.object_list import OBJECT_ROLE
from app.models.live.run_list import (
    clock_words,
    display_state,
    flag_words,
    is_queued,
    page_status,
    status_line,
    step_words,
)
from app.models.live.wall_figures import is_near_limit, spent_words
from app.models.live.wall_list import GroupHeading
from app.views.live.paint_cache import PaintCache
from app.views.live.state_marks import EMPHASIZED, draw_state, state_role
from app.views.widgets.keycap import draw_keys, keys_width
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
HEAD, PAD, HEADING = 32, 10, 34
SHAPE = 10 / 16
"""Aspect ratio of a page's picture, height to width."""
COMPACT = 232
"""Tiles narrower than this have two lines of text instead of five; pixels at 100 % text size."""


class TileDelegate(QStyledItemDelegate):
    """Paints runs in cells of ``cell`` pixels, which include the gap between tiles, and headings in a line of their
    own.

    Attributes:
        line_width: of a heading, in pixels.
        dirty: the part of the view that is being painted; what lies outside is skipped.
    """

    def __init__(self, model: LiveModel, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._model, self._theme = model, theme
        self.cell, self.line_width = QSize(280, 300), 280
        self.dirty: QRegion | None = None
        self._parts = PaintCache(theme)
        """Texts and signs: writing them is most of the work."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        if isinstance(index.data(OBJECT_ROLE), GroupHeading):
            return QSize(self.line_width, self.heading_height())
        return self.cell

    def heading_height(self) -> int:
        return self._theme.px(HEADING)

    def height_for(self, width: int) -> int:
        gap = self._theme.px(GAP)
        return round((width - gap) * SHAPE) + self._text_height(width) + gap + self._theme.px(HEAD)

    def picture_size(self) -> QSize:
        """Size of a page's picture on a tile; its foot may be cropped."""
        width = self.cell.width() - self._theme.px(GAP)
        return QSize(width, round(width * SHAPE))

    def parts(self, item: QRect) -> tuple[QRect, QRect, QRect]:
        """Return where a tile shows its head, its picture and its words."""
        px, half = self._theme.px, self._theme.px(GAP) // 2
        card = QRect(item.topLeft(), self.cell).adjusted(half, half, -half, -half)
        head = QRect(card.left() + px(PAD), card.top(), card.width() - 2 * px(PAD), px(HEAD))
        high = card.height() - px(HEAD) - self._text_height(self.cell.width())
        picture = QRect(card.left(), head.bottom() + 1, card.width(), high)
        top = picture.bottom() + 1 + px(8)
        return head, picture, QRect(head.left(), top, head.width(), card.bottom() - top)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: LiveRow | GroupHeading | None = index.data(OBJECT_ROLE)
        if row is None or not self._is_dirty(option.rect):
            return
        painter.save()
        painter.setLayoutDirection(option.direction)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if isinstance(row, GroupHeading):
            paint_heading(painter, option, self._theme, row)
        else:
            self._paint_tile(painter, option, row)
        painter.restore()

    def _paint_tile(self, painter: QPainter, option: QStyleOptionViewItem, row: LiveRow) -> None:
        half = self._theme.px(GAP) // 2
        card = QRect(option.rect.topLeft(), self.cell).adjusted(half, half, -half, -half)
        head, picture, words = self.parts(option.rect)
        self._paint_card(painter, option, card)
        if self._is_dirty(head):
            self._parts.paint(painter, "head", head, row, self._paint_head)
            self._paint_clock(painter, head, row)
        if self._is_dirty(picture):
            self._paint_page(painter, picture, row)
            self._paint_progress(painter, picture, row)
        if self._is_dirty(words):
            self._parts.paint(painter, "words", words, row, self._paint_words)
        self._paint_edge(painter, option, card, row)

    def _is_dirty(self, box: QRect) -> bool:
        return self.dirty is None or self.dirty.intersects(box)

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
        """The state and the run's number."""
        theme, px = self._theme, self._theme.px
        number = str(self._model.list.numbers.of(row.run))
        taken = draw_keys(painter, theme, box, number)
        room = box.width() - taken - px(8)
        if self._is_timed(row):
            room -= QFontMetrics(theme.font("secondary")).horizontalAdvance("0:00:00") + px(8)
        draw_state(painter, theme, box.left(), box.center().y() + 1, room, row)

    def _paint_clock(self, painter: QPainter, box: QRect, row: LiveRow) -> None:
        theme = self._theme
        if self._is_timed(row):
            number = keys_width(theme, str(self._model.list.numbers.of(row.run)))
            painter.setFont(theme.font("secondary"))
            painter.setPen(theme.color("muted"))
            clock = clock_words(self._model.list.elapsed(row))
            painter.drawText(box.adjusted(0, 0, -number - theme.px(8), 0), RIGHT, clock)

    def _is_timed(self, row: LiveRow) -> bool:
        return not is_queued(row) and not self._is_compact(self.cell.width())

    def _paint_page(self, painter: QPainter, box: QRect, row: LiveRow) -> None:
        theme = self._theme
        painter.fillRect(box, theme.color("surface"))
        found = self._model.frames.get(row.run)
        if found is None:
            self._parts.paint(painter, "page", box, row, self._paint_no_page)
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
        """Without a picture, write why, and the address."""
        theme, px = self._theme, self._theme.px
        font = theme.font("secondary")
        metrics = QFontMetrics(font)
        inner = box.adjusted(px(PAD), px(4), -px(PAD), -px(4))
        sign, lines = px(26), [row.url or row.start_url]
        if not row.needs:  # a need stands below the picture
            lines.append(page_status(row).placeholder)
        lines = [line for line in dict.fromkeys(lines) if line]
        high = sign + px(6) + len(lines) * metrics.lineSpacing()
        top = inner.top() + max((inner.height() - high) // 2, 0)
        icon = "timer-sand" if is_queued(row) else "web"
        theme.icon(icon, "muted").paint(painter, QRect(inner.center().x() - sign // 2, top, sign, sign))
        painter.setFont(font)
        painter.setPen(theme.color("muted"))
        top += sign + px(6)
        for number, line in enumerate(lines):
            shown = elided(metrics, line, inner.width(), middle=not number and "/" in line)
            place = QRect(inner.left(), top + number * metrics.lineSpacing(), inner.width(), metrics.height())
            if place.bottom() <= inner.bottom():
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, shown)

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

    def _is_compact(self, width: int) -> bool:
        return width < self._theme.px(COMPACT)

    def _text_height(self, width: int) -> int:
        title = QFontMetrics(self._theme.font(bold=True)).height()
        titles, lines = (1, 1) if self._is_compact(width) else (2, 3)
        return titles * title + lines * self._line() + self._theme.px(8 + 4 + PAD)

    def _paint_words(self, painter: QPainter, box: QRect, row: LiveRow) -> None:
        theme, px = self._theme, self._theme.px
        title, small, compact = (
            theme.font(bold=True),
            theme.font("secondary"),
            self._is_compact(self.cell.width()),
        )
        titles = 1 if compact else 2
        high = titles * QFontMetrics(title).height()
        painter.setPen(theme.color("text"))
        paint_lines(painter, title, QRect(box.left(), box.top(), box.width(), high), row.intent, titles)
        top, line = box.top() + high + px(4), self._line()
        metrics = QFontMetrics(small)
        painter.setFont(small)
        first, second, third = (QRect(box.left(), top + n * line, box.width(), line) for n in range(3))
        if compact:
            if not row.needs and self._paint_spent(painter, first, row) != first.width():
                return
            second = first
        else:
            room = self._paint_spent(painter, first, row)
            where = " · ".join(part for part in (step_words(row), row.site, row.policy) if part)
            painter.setPen(theme.color("muted"))
            painter.drawText(QRect(first.left(), top, room, line), LEFT, elided(metrics, where, room))
        said = status_line(row)
        painter.setPen(theme.color("warn" if row.needs else "text"))
        painter.drawText(second, LEFT, elided(metrics, said, second.width()))
        if not compact:
            self._paint_last_line(painter, third, row, "" if said == row.words else row.words)

    def _paint_spent(self, painter: QPainter, box: QRect, row: LiveRow) -> int:
        """Write money and tokens at the right end, with a sign near the limit; return the width left of them."""
        theme, px, words, near = self._theme, self._theme.px, spent_words(row), is_near_limit(row)
        if not words:
            return box.width()
        metrics = QFontMetrics(theme.font("secondary"))
        sign = px(13) if near else 0
        share = 1.0 if self._is_compact(self.cell.width()) else 0.6
        words = elided(metrics, words, round(box.width() * share) - sign)
        width = metrics.horizontalAdvance(words)
        painter.setPen(theme.color("warn" if near else "muted"))
        painter.drawText(box, RIGHT, words)
        if near:
            place = QRectF(box.right() - width - sign, box.center().y() - px(4), px(9), px(9))
            draw_severity(painter, place, "warning", theme.color("warn"))
        return box.width() - width - sign - px(8)

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


def paint_heading(painter: QPainter, option: QStyleOptionViewItem, theme: Theme, row: GroupHeading) -> None:
    """A group's title, its counts and sums; a chevron tells whether it is collapsed."""
    px, box = theme.px, option.rect.adjusted(theme.px(6), theme.px(5), -theme.px(6), -theme.px(3))
    selected = bool(option.state & QStyle.StateFlag.State_Selected)
    hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
    painter.setPen(QPen(theme.color("accent"), 1.5) if selected else QPen(Qt.PenStyle.NoPen))
    painter.setBrush(theme.color("hover" if hovered or selected else "surface"))
    painter.drawRoundedRect(QRectF(box), 6, 6)
    side = px(16)
    icon = QRect(box.left() + px(4), box.center().y() - side // 2, side, side)
    theme.icon("chevron-right" if row.folded else "chevron-down", "muted").paint(painter, icon)
    left = icon.right() + px(6)
    for text, font, role in (
        (row.title, theme.font(bold=True), "text"),
        (row.counts, theme.font("secondary"), "muted"),
        (row.spent, theme.font("secondary"), "muted"),
    ):
        room = box.right() - px(8) - left
        metrics = QFontMetrics(font)
        shown = elided(metrics, text, room if font.weight() != QFont.Weight.DemiBold else room // 2)
        painter.setFont(font)
        painter.setPen(theme.color(role))
        painter.drawText(QRect(left, box.top(), max(room, 0), box.height()), LEFT, shown)
        left += metrics.horizontalAdvance(shown) + px(14)


def paint_lines(painter: QPainter, font: QFont, box: QRect, text: str, lines: int) -> None:
    """Write text on up to ``lines`` lines, the last one elided; uses the painter's pen."""
    layout = QTextLayout(" ".join(text.split())[:400], font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    metrics = QFontMetrics(font)
    layout.beginLayout()
    painter.setFont(font)
    for number in range(lines):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(box.width())
        start = line.textStart()
        part = layout.text()[start : start + line.textLength()]
        if number == lines - 1:
            part = metrics.elidedText(layout.text()[start:], Qt.TextElideMode.ElideRight, box.width())
        place = QRect(box.left(), box.top() + number * metrics.height(), box.width(), metrics.height())
        painter.drawText(place, LEFT, part.strip())
    layout.endLayout()
