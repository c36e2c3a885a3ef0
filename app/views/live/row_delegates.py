"""Delegates for ledger, timeline and flags of the open run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.models.common.object_list import OBJECT_ROLE
from app.views.widgets.rows import two_lines
from app.views.widgets.signs import (
    SEVERITY_ROLE,
    TROUBLE_ROLE,
    draw_severity,
    draw_tick,
    draw_trouble,
    elided,
    paint_ground,
)

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.models.live.flags import LiveFlag
    from app.models.live.timeline import TimelineEntry
    from app.models.review.run_memory import MemoryLine
    from app.views.frame.theme import Theme

Index = QModelIndex | QPersistentModelIndex
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
TOP = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


PLAN_SIGNS = {
    "goal": ("◎", "accent"),
    "subgoal": ("▸", "accent"),
    "active": ("▸", "accent"),
    "open": ("○", "text"),
    "done": ("✓", "ok"),
    "pruned": ("✕", "muted"),
}
"""Sign and colour role of a plan line by its state or kind."""

KNOWN = 2_000
"""Number of texts whose line breaks are cached."""

MAX_ROW_LENGTH = 600
"""Characters of a text that can appear on two lines; pages produce texts of any length."""


class LiveRowDelegate(QStyledItemDelegate):
    """Shared by the rows of Live: a margin, a head line, text on up to two lines, mirrored for right-to-left."""

    margins = (12, 4, 10, 4)
    indent = 0

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._known: dict[tuple[str, bool, float], str] = {}
        self._lines = (0, 0)
        theme.changed.connect(self._measure)
        self._measure()

    def _measure(self) -> None:
        """Update the fonts and drop cached heights."""
        self._known.clear()
        fonts = self._theme.font(), self._theme.font("secondary")
        self._lines = QFontMetrics(fonts[0]).lineSpacing(), QFontMetrics(fonts[1]).lineSpacing()

    def room(self) -> float:
        """Width for a row's text, without a scroll bar, the same for measuring and painting."""
        view = self.parent()
        width = view.width() if isinstance(view, QListView) else 300
        left, _top, right, _bottom = self.margins
        return width - self._theme.px(left + right + self.indent + 10)

    def broken(self, text: str, *, bold: bool = False) -> str:
        """Return the text broken into one or two lines."""
        key = (text, bold, self.room())
        lines = self._known.get(key)
        if lines is None:  # breaking lines is the main cost of a long list
            if len(self._known) >= KNOWN:
                self._known.clear()
            lines = two_lines(QFontMetrics(self._theme.font(bold=bold)), text[:MAX_ROW_LENGTH], self.room())
            self._known[key] = lines
        return lines

    def high(self, *texts: str, small: int = 0) -> int:
        """Height of texts and a number of small lines."""
        lines = sum(self.broken(text).count("\n") + 1 for text in texts if text)
        plain, line = self._lines
        return lines * plain + small * line + self._theme.px(self.margins[1] + self.margins[3])

    def inner(self, option: QStyleOptionViewItem) -> QRectF:
        """Return the row without its margins and its indent."""
        left, top, right, bottom = (self._theme.px(one) for one in self.margins)
        box = QRectF(option.rect)
        inner = QRectF(
            box.left() + left, box.top() + top, box.width() - left - right, box.height() - top - bottom
        )
        return mirrored(option, inner.adjusted(self._theme.px(self.indent), 0, 0, 0))

    def write(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        box: QRectF,
        text: str,
        role: str,
        *,
        bold: bool = False,
    ) -> float:
        """Draw a text on its lines and return its height."""
        font = self._theme.font(bold=bold)
        lines = self.broken(text, bold=bold)
        painter.setFont(font)
        painter.setPen(self._theme.color(role))
        painter.drawText(box, aligned(option, TOP), lines)
        return QFontMetrics(font).lineSpacing() * (lines.count("\n") + 1)

    def write_small(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        box: QRectF,
        text: str,
        role: str,
        *,
        bold: bool = False,
    ) -> QRectF:
        """Draw one small line at the top of a box and return the rest of that line."""
        font = self._theme.font("secondary", bold=bold)
        metrics = QFontMetrics(font)
        line = QRectF(box.left(), box.top(), box.width(), metrics.lineSpacing())
        shown = elided(metrics, text[:MAX_ROW_LENGTH], line.width())
        painter.setFont(font)
        painter.setPen(self._theme.color(role))
        painter.drawText(line, aligned(option, LEFT), shown)
        taken = metrics.horizontalAdvance(shown) + (self._theme.px(8) if shown else 0)
        if option.direction == Qt.LayoutDirection.RightToLeft:
            return line.adjusted(0, 0, -taken, 0)
        return line.adjusted(taken, 0, 0, 0)


class MemoryDelegate(LiveRowDelegate):
    """A line of the ledger with details beside it; entries changed by the last step are marked as new."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line: MemoryLine | None = index.data(OBJECT_ROLE)
        return QSize(100, self.high(line.text if line is not None else "", small=1))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line: MemoryLine | None = index.data(OBJECT_ROLE)
        if line is None:
            return
        painter.save()
        paint_ground(painter, option, self._theme)
        if line.new:
            bar = QRectF(
                option.rect.left(), option.rect.top() + 1, self._theme.px(3), option.rect.height() - 2
            )
            painter.fillRect(mirrored(option, bar), self._theme.color("ok"))
        box = self.inner(option)
        rest = self.write_small(painter, option, box, line.role, "accent", bold=True)
        if line.new:
            rest = self.write_small(painter, option, rest, self.tr("new"), "ok", bold=True)
        self.write_small(painter, option, rest, line.more, "muted")
        self.write(painter, option, box.adjusted(0, rest.height(), 0, 0), line.text, "text")
        painter.restore()


class PlanDelegate(LiveRowDelegate):
    """A subgoal with the sign of its state; the active one stands out."""

    margins = (10, 2, 10, 2)
    indent = 18

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line: MemoryLine | None = index.data(OBJECT_ROLE)
        return QSize(100, self.high(line.text if line is not None else ""))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line: MemoryLine | None = index.data(OBJECT_ROLE)
        if line is None:
            return
        theme, px = self._theme, self._theme.px
        sign, role = PLAN_SIGNS.get(line.more or line.role, ("○", "muted"))
        painter.save()
        paint_ground(painter, option, theme)
        if line.new:
            bar = QRectF(option.rect.left(), option.rect.top() + 1, px(3), option.rect.height() - 2)
            painter.fillRect(mirrored(option, bar), theme.color("ok"))
        box = self.inner(option)
        place = QRectF(option.rect.left() + px(10), box.top(), px(16), self._lines[0])
        painter.setFont(theme.font(bold=True))
        painter.setPen(theme.color(role))
        painter.drawText(mirrored(option, place), aligned(option, LEFT), sign)
        self.write(painter, option, box, line.text, "text" if role != "muted" else "muted")
        painter.restore()


class TimelineDelegate(LiveRowDelegate):
    """A step with sign, reason and effect; an operator action between steps is set apart by a bar."""

    margins = (8, 4, 8, 4)
    indent = 24

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        moment: TimelineEntry | None = index.data(OBJECT_ROLE)
        if moment is None:
            return QSize(100, 20)
        if moment.deed:
            return QSize(100, self.high(moment.words, small=1))
        small = int(bool(moment.effect)) + int(bool(moment.why)) + int(bool(moment.flag))
        return QSize(100, self.high(moment.words, small=small))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        moment: TimelineEntry | None = index.data(OBJECT_ROLE)
        if moment is None:
            return
        painter.save()
        paint_ground(painter, option, self._theme)
        if moment.deed:
            self._paint_deed(painter, option, moment)
        else:
            self._paint_step(painter, option, moment)
        painter.restore()

    def _paint_deed(self, painter: QPainter, option: QStyleOptionViewItem, moment: TimelineEntry) -> None:
        theme, px = self._theme, self._theme.px
        box = self.inner(option)
        sign = QRectF(option.rect.left() + px(14), option.rect.top() + px(6), px(8), px(8))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("live"))
        painter.save()
        sign = mirrored(option, sign)
        painter.translate(sign.center())
        painter.rotate(45)
        painter.drawRect(QRectF(-px(3.5), -px(3.5), px(7), px(7)))
        painter.restore()
        rest = self.write_small(painter, option, box, moment.author, "live", bold=True)
        self.write_small(painter, option, rest, moment.deed, "muted")
        if moment.words:
            self.write(painter, option, box.adjusted(0, rest.height(), 0, 0), moment.words, "text")

    def _paint_step(self, painter: QPainter, option: QStyleOptionViewItem, moment: TimelineEntry) -> None:
        theme, px = self._theme, self._theme.px
        box = self.inner(option)
        number = QRectF(
            option.rect.left() + px(6), box.top(), px(24), QFontMetrics(theme.font()).lineSpacing()
        )
        painter.setFont(theme.font("secondary", bold=True))
        painter.setPen(theme.color("live" if moment.hand else "muted"))
        painter.drawText(mirrored(option, number), aligned(option, LEFT), str(moment.step))
        taken = self.write(painter, option, box, moment.words, "text")
        low = box.adjusted(0, taken, 0, 0)
        if moment.effect:
            low = self._line(painter, option, low, moment.effect, moment.trouble)
        if moment.why:
            rest = self.write_small(painter, option, low, moment.why, "muted")
            low = low.adjusted(0, rest.height(), 0, 0)
        if moment.flag:
            self._flag(painter, option, low, moment)

    def _line(
        self, painter: QPainter, option: QStyleOptionViewItem, box: QRectF, effect: str, trouble: str
    ) -> QRectF:
        theme, px = self._theme, self._theme.px
        text = box
        if trouble:
            sign = QRectF(box.left(), box.top() + px(3), px(9), px(9))
            draw_trouble(painter, side(option, box, sign), trouble, theme.color(TROUBLE_ROLE[trouble]))
            text = indented(option, box, px(14))
        role = TROUBLE_ROLE[trouble] if trouble else "muted"
        rest = self.write_small(painter, option, text, effect, role)
        return box.adjusted(0, rest.height(), 0, 0)

    def _flag(
        self, painter: QPainter, option: QStyleOptionViewItem, box: QRectF, moment: TimelineEntry
    ) -> None:
        theme, px = self._theme, self._theme.px
        role = SEVERITY_ROLE[moment.severity]
        sign = QRectF(box.left(), box.top() + px(3), px(9), px(9))
        draw_severity(painter, side(option, box, sign), moment.severity, theme.color(role))
        self.write_small(painter, option, indented(option, box, px(14)), moment.flag, role)


class LiveFlagDelegate(LiveRowDelegate):
    """Severity, message, origin, and the verdict as a tick or a cross with its label."""

    indent = 18

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        flag: LiveFlag | None = index.data(OBJECT_ROLE)
        return QSize(100, self.high(flag.message if flag is not None else "", small=1))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        flag: LiveFlag | None = index.data(OBJECT_ROLE)
        if flag is None:
            return
        theme, px = self._theme, self._theme.px
        painter.save()
        paint_ground(painter, option, theme)
        box = self.inner(option)
        sign = QRectF(option.rect.left() + px(12), box.top() + px(3), px(10), px(10))
        draw_severity(
            painter, mirrored(option, sign), flag.severity, theme.color(SEVERITY_ROLE[flag.severity])
        )
        taken = self.write(painter, option, box, flag.message, "muted" if flag.right is False else "text")
        rest = self.write_small(painter, option, box.adjusted(0, taken, 0, 0), flag.origin, "muted")
        if flag.right is not None:
            role = "ok" if flag.right else "fail"
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.color(role), 1.8))
            mark = side(option, rest, QRectF(rest.left(), rest.center().y() - px(4), px(9), px(8)))
            if flag.right:
                draw_tick(painter, mark)
            else:
                painter.drawLine(mark.topLeft(), mark.bottomRight())
                painter.drawLine(mark.topRight(), mark.bottomLeft())
            self.write_small(painter, option, indented(option, rest, px(14)), flag.verdict, role, bold=True)
        painter.restore()


def mirrored(option: QStyleOptionViewItem, box: QRectF) -> QRectF:
    """Return a box of the row, mirrored for right-to-left."""
    return side(option, QRectF(option.rect), box)


def side(option: QStyleOptionViewItem, within: QRectF, box: QRectF) -> QRectF:
    """Return a box placed from the left of ``within``, from its right for right-to-left."""
    if option.direction == Qt.LayoutDirection.LeftToRight:
        return box
    return QRectF(within.right() - (box.right() - within.left()), box.top(), box.width(), box.height())


def indented(option: QStyleOptionViewItem, box: QRectF, by: float) -> QRectF:
    """Return the box without so much of its leading edge."""
    if option.direction == Qt.LayoutDirection.LeftToRight:
        return box.adjusted(by, 0, 0, 0)
    return box.adjusted(0, 0, -by, 0)


def aligned(option: QStyleOptionViewItem, side_of: Qt.AlignmentFlag) -> Qt.AlignmentFlag:
    """Return the alignment for the reading direction."""
    return QStyle.visualAlignment(option.direction, side_of)
