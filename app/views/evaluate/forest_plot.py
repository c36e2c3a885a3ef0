"""A forest plot: for each group a square at the difference and a line over its interval; 0 is marked."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.models.evaluate.figures import (
    ALL,
    count_words,
    difference_words,
    group_title,
    interval,
    is_decided,
    p_words,
    points,
)

if TYPE_CHECKING:
    from app.engine.api.evaluation_api import DifferenceRow
    from app.views.frame.theme import Theme

ROW, GAP, AXIS = 22, 8, 24
"""Heights of a row, of the gap before another kind of group, and of the axis; pixels at 100 % text size."""
LABEL_SHARE = 0.3
"""Largest part of the width that the names of the groups take."""
LEAST_PLOT = 150
"""Room for the intervals below which their figures are left out; pixels at 100 % text size."""
MARGIN = 16


class ForestPlot(QWidget):
    """Keyboard: up and down choose a row, Enter shows its tasks.

    Signals:
        chosen(group): a row was activated.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._rows: Sequence[DifferenceRow] = ()
        self._early = False
        self._figures = (0, 0)
        """Widths of the differences and of their intervals; 0 where there is no room for these."""
        self.current = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Differences by site and type, as a plot"))
        theme.changed.connect(self._resize)

    def show_rows(self, rows: Sequence[DifferenceRow], *, early: bool) -> None:
        """Show these differences; ``early`` ones are never coloured."""
        if (tuple(rows), early) == (tuple(self._rows), self._early):
            return
        group = self.group
        self._rows, self._early = tuple(rows), early
        groups = [row.group for row in self._rows]
        self.current = groups.index(group) if group in groups else 0
        self._resize()
        self._describe()

    @property
    def group(self) -> str:
        """The group of the current row."""
        return self._rows[self.current].group if self.current < len(self._rows) else ""

    def step(self, offset: int) -> None:
        """Go to the row so many rows on."""
        if self._rows:
            self.current = max(0, min(self.current + offset, len(self._rows) - 1))
            self._describe()
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(420), self._top(len(self._rows)) + self._theme.px(AXIS))

    # ------------------------------------------------------------ geometry
    def row_box(self, number: int) -> QRectF:
        return QRectF(0, self._top(number), self.width(), self._theme.px(ROW))

    def _top(self, number: int) -> int:
        gaps = sum(
            _kind(one.group) != _kind(other.group)
            for one, other in zip(self._rows[:number], self._rows[1 : number + 1], strict=False)
        )
        return self._theme.px(4) + number * self._theme.px(ROW) + gaps * self._theme.px(GAP)

    def _plot(self) -> tuple[float, float]:
        """Left and right end of the axis."""
        px = self._theme.px
        plain, bold = QFontMetrics(self._theme.font()), QFontMetrics(self._theme.font(bold=True))
        names = max((bold.horizontalAdvance(group_title(row.group)) for row in self._rows), default=0)
        left = min(names, int(self.width() * LABEL_SHARE)) + px(MARGIN + 10)
        short = max((plain.horizontalAdvance(points(row.difference)) for row in self._rows), default=0)
        long = max((plain.horizontalAdvance(interval(row.low, row.high)) for row in self._rows), default=0)
        self._figures = (short + px(12), long + px(12))
        if self.width() - left - sum(self._figures) - px(MARGIN) < px(LEAST_PLOT):
            self._figures = (self._figures[0], 0)
        return left, max(left + px(40), self.width() - sum(self._figures) - px(MARGIN))

    def _range(self) -> tuple[int, int, int]:
        """Return the ends of the axis in points, and the distance of its ticks."""
        low = min((row.low for row in self._rows), default=-0.1) * 100
        high = max((row.high for row in self._rows), default=0.1) * 100
        low, high = max(min(low, -1.0), -100.0), min(max(high, 1.0), 100.0)
        step = next(size for size in (1, 2, 5, 10, 20, 25, 50) if (high - low) / size <= 7 or size == 50)
        return floor(low / step) * step, ceil(high / step) * step, step

    def _x(self, value: float) -> float:
        left, right = self._plot()
        low, high, _step = self._range()
        return left + (right - left) * (value * 100 - low) / (high - low)

    # ------------------------------------------------------------ painting
    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._rows:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # an axis is never mirrored
        self._paint_axis(painter)
        for number, row in enumerate(self._rows):
            self._paint_row(painter, number, row)
        painter.end()

    def _paint_axis(self, painter: QPainter) -> None:
        theme, px = self._theme, self._theme.px
        low, high, step = self._range()
        bottom = self._top(len(self._rows))
        painter.setFont(theme.font("secondary"))
        metrics = painter.fontMetrics()
        for tick in range(low, high + 1, step):
            x = self._x(tick / 100)
            painter.setPen(QPen(theme.color("muted" if tick == 0 else "line"), 1))
            painter.drawLine(QPointF(x, px(2)), QPointF(x, bottom + px(3)))
            painter.setPen(theme.color("muted"))
            word = f"+{tick}" if tick > 0 else str(tick).replace("-", "−")
            width = metrics.horizontalAdvance(word)
            painter.drawText(
                QRectF(x - width, bottom + px(4), 2 * width, metrics.height()),
                Qt.AlignmentFlag.AlignHCenter,
                word,
            )
        left, right = self._plot()
        short, long = self._figures
        if long:
            end = QRectF(right + short, bottom + px(4), long, metrics.height())
            painter.drawText(end, Qt.AlignmentFlag.AlignRight, self.tr("95 % interval"))
        place = QRectF(px(MARGIN), bottom + px(4), left - px(MARGIN + 10), metrics.height())
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft, self.tr("points"))

    def _paint_row(self, painter: QPainter, number: int, row: DifferenceRow) -> None:
        theme, px, box = self._theme, self._theme.px, self.row_box(number)
        if number == self.current and self.hasFocus():
            painter.fillRect(box, theme.color("selected"))
            painter.fillRect(QRectF(0, box.top(), px(3), box.height()), theme.color("accent"))
        left, right = self._plot()
        is_all = row.group == ALL
        painter.setFont(theme.font(bold=is_all))
        painter.setPen(theme.color("text"))
        name = QRectF(px(MARGIN), box.top(), left - px(MARGIN + 10), box.height())
        shown = painter.fontMetrics().elidedText(
            group_title(row.group), Qt.TextElideMode.ElideRight, int(name.width())
        )
        painter.drawText(name, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
        painter.setFont(theme.font())
        short, long = self._figures
        figures = QRectF(right, box.top(), short, box.height())
        painter.drawText(
            figures, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, points(row.difference)
        )
        if long:
            figures = QRectF(right + short, box.top(), long, box.height())
            painter.setPen(theme.color("muted"))
            painter.drawText(
                figures,
                Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
                interval(row.low, row.high),
            )
        self._paint_interval(painter, box, row)

    def _paint_interval(self, painter: QPainter, box: QRectF, row: DifferenceRow) -> None:
        theme, px = self._theme, self._theme.px
        decided = is_decided(row, early=self._early)
        color = theme.color(("ok" if row.low > 0 else "fail") if decided else "text")
        y, low, high = box.center().y(), self._x(max(row.low, -1.0)), self._x(min(row.high, 1.0))
        pen = QPen(color, 2 if row.group == ALL else 1.4)
        if self._early:
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.drawLine(QPointF(low, y), QPointF(high, y))
        painter.setPen(QPen(color, pen.widthF()))
        for end in (low, high):
            painter.drawLine(QPointF(end, y - px(3)), QPointF(end, y + px(3)))
        half = px(5 if row.group == ALL else 3.5)
        middle = QPointF(self._x(row.difference), y)
        painter.setBrush(color if decided else theme.color("raised"))
        painter.drawRect(QRectF(middle.x() - half, y - half, 2 * half, 2 * half))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    # ------------------------------------------------------------ keys and pointer
    def event(self, event: QEvent) -> bool:
        """Keep Enter from the commands of the place; show a row's figures as a tooltip."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter) and (
                event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
            ):
                event.accept()
                return True
        elif event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            number = self._row_at(event.pos().y())
            text = self._words(self._rows[number]) if number >= 0 else ""
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Down:
                self.step(1)
            case Qt.Key.Key_Up:
                self.step(-1)
            case Qt.Key.Key_Home:
                self.step(-len(self._rows))
            case Qt.Key.Key_End:
                self.step(len(self._rows))
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if self._rows:
                self.chosen.emit(self.group)
            case _:
                super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number = self._row_at(int(event.position().y()))
        if number >= 0:
            self.step(number - self.current)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._row_at(int(event.position().y())) >= 0:
            self.chosen.emit(self.group)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    # ------------------------------------------------------------ inside
    def _row_at(self, y: int) -> int:
        return next(
            (number for number in range(len(self._rows)) if self.row_box(number).contains(QPointF(1, y))), -1
        )

    def _words(self, row: DifferenceRow) -> str:
        text = difference_words(row)
        if (row.low > 0 or row.high < 0) and not is_decided(row, early=self._early):
            reason = (
                self.tr("not over yet")
                if self._early
                else self.tr("no difference after the correction over the groups: p {0}").format(
                    p_words(row.p_holm)
                )
            )
            text = f"{text}; {reason}"
        won = self.tr("{0} won, {1} lost, {2} both, {3} neither")
        return f"{text}\n{won.format(*map(count_words, (row.won, row.lost, row.both, row.neither)))}"

    def _describe(self) -> None:
        """Say the current row, then all of them, to a screen reader."""
        rows = [self._words(row).replace("\n", "; ") for row in self._rows]
        here = rows[self.current : self.current + 1]
        self.setAccessibleDescription("\n".join([*here, *(row for row in rows if row not in here)]))

    def _resize(self) -> None:
        self.setFixedHeight(self.sizeHint().height())
        self.updateGeometry()
        self.update()


def _kind(group: str) -> str:
    return group.partition(" ")[0]
