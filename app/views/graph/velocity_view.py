"""Discovery velocity: states at each depth as bars, states per minute as a line, and both as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QLocale, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QHeaderView,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QTableView,
    QToolTip,
    QWidget,
)

from app.models.graph.velocity_plot import depth_words, ticks
from app.views.widgets import EmptyState
from app.views.widgets.build import Panel, hbox, styled, text_label, vbox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.engine.api.graph_api import DepthRow
    from app.models.common.commands import CommandCenter
    from app.models.graph.velocity_plot import VelocityPlotModel
    from app.views.frame.theme import Theme

MIN_BAR_WIDTH = 2.0
"""Width of a bar in pixels when there are very many depths."""


class VelocityChart(QWidget):
    """Bars on the left axis, a line with points on the right one, as in WebNavigator's figure 3."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._rows: Sequence[DepthRow] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(150)
        self.setAccessibleName(self.tr("States by depth and states per minute"))
        theme.changed.connect(self.update)

    def show_rows(self, rows: Sequence[DepthRow], summary: str) -> None:
        """Show these numbers; the summary is the accessible description."""
        self._rows = rows
        self.setAccessibleDescription(summary)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(420), self._theme.px(220))

    # ------------------------------------------------------------ geometry
    def plot(self) -> QRectF:
        px, metrics = self._theme.px, QFontMetrics(self._theme.font("secondary"))
        left = max((metrics.horizontalAdvance(text) for text in self._left_words()), default=0) + px(12)
        right = max((metrics.horizontalAdvance(text) for text in self._right_words()), default=0) + px(12)
        top, bottom = metrics.height() * 2 + px(10), metrics.height() * 2 + px(8)
        return QRectF(self.rect()).adjusted(left, top, -right, -bottom)

    def bar(self, number: int) -> QRectF:
        plot, slot = self.plot(), self._slot()
        width = max(slot * 0.56, MIN_BAR_WIDTH)
        height = plot.height() * self._rows[number].states / self._most_states()
        left = plot.left() + slot * (number + 0.5) - width / 2
        return QRectF(left, plot.bottom() - height, width, height)

    def point(self, number: int) -> QPointF:
        plot = self.plot()
        share = max(self._rows[number].velocity, 0.0) / self._most_velocity()
        return QPointF(plot.left() + self._slot() * (number + 0.5), plot.bottom() - plot.height() * share)

    def _slot(self) -> float:
        return self.plot().width() / max(len(self._rows), 1)

    def _state_ticks(self) -> list[float]:
        return ticks(max((row.states for row in self._rows), default=0), self._wanted(), whole=True)

    def _velocity_ticks(self) -> list[float]:
        return ticks(max((row.velocity for row in self._rows), default=0.0), self._wanted())

    def _wanted(self) -> int:
        """Number of axis steps that fit the height."""
        line = QFontMetrics(self._theme.font("secondary")).height()
        return max(1, min(4, int((self.height() - 4 * line) / (1.5 * line))))

    def _most_states(self) -> float:
        return self._state_ticks()[-1]

    def _most_velocity(self) -> float:
        return self._velocity_ticks()[-1]

    def _left_words(self) -> list[str]:
        return [QLocale().toString(round(value)) for value in self._state_ticks()]

    def _right_words(self) -> list[str]:
        return [
            f"{value:g}" if value < 1000 else QLocale().toString(round(value))
            for value in self._velocity_ticks()
        ]

    # ------------------------------------------------------------ painting
    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._rows:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # never mirrored
        painter.setFont(self._theme.font("secondary"))
        plot = self.plot()
        self._paint_axes(painter, plot)
        self._paint_bars(painter)
        self._paint_line(painter)
        self._paint_legend(painter, plot)
        painter.end()

    def _paint_axes(self, painter: QPainter, plot: QRectF) -> None:
        theme, px, metrics = self._theme, self._theme.px, painter.fontMetrics()
        high = metrics.height()
        for values, words, left in (
            (self._state_ticks(), self._left_words(), True),
            (self._velocity_ticks(), self._right_words(), False),
        ):
            for value, word in zip(values, words, strict=True):
                y = plot.bottom() - plot.height() * value / values[-1]
                if left:
                    painter.setPen(QPen(theme.color("line"), 1))
                    painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
                painter.setPen(theme.color("muted"))
                x = 0.0 if left else plot.right() + px(6)
                width = plot.left() - px(6) if left else self.width() - x
                align = Qt.AlignmentFlag.AlignRight if left else Qt.AlignmentFlag.AlignLeft
                painter.drawText(QRectF(x, y - high / 2, width, high), align, word)
        painter.setPen(QPen(theme.color("muted"), 1))
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())
        every = max(1, -(-metrics.horizontalAdvance("000") // max(int(self._slot()), 1)))
        for number, row in enumerate(self._rows):
            if number % every == 0:
                place = QRectF(plot.left() + self._slot() * number, plot.bottom() + px(3), self._slot(), high)
                painter.drawText(place, Qt.AlignmentFlag.AlignHCenter, str(row.depth))
        under = QRectF(plot.left(), plot.bottom() + high + px(4), plot.width(), high)
        painter.drawText(under, Qt.AlignmentFlag.AlignHCenter, self.tr("depth"))

    def _paint_bars(self, painter: QPainter) -> None:
        theme, metrics = self._theme, painter.fontMetrics()
        for number, row in enumerate(self._rows):
            bar = self.bar(number)
            painter.setPen(QPen(theme.color("live"), 1))
            painter.setBrush(self._bar_color())
            painter.drawRect(bar)
            word = QLocale().toString(row.states)
            if metrics.horizontalAdvance(word) <= self._slot():
                painter.setPen(theme.color("live"))
                place = QRectF(bar.center().x() - self._slot() / 2, bar.top() - metrics.height() - 1,
                               self._slot(), metrics.height())  # fmt: skip
                if not place.adjusted(0, -4, 0, 4).contains(self.point(number)):
                    painter.drawText(place, Qt.AlignmentFlag.AlignHCenter, word)

    def _bar_color(self) -> QColor:
        color = self._theme.color("live")
        color.setAlphaF(0.35)
        return color

    def _paint_line(self, painter: QPainter) -> None:
        theme = self._theme
        color = theme.color("warn")
        points = [self.point(number) for number in range(len(self._rows))]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color, 2))
        painter.drawPolyline(points)
        painter.setPen(QPen(theme.color("raised"), 1.5))
        painter.setBrush(color)
        for point in points:
            painter.drawEllipse(point, 4.5, 4.5)

    def _paint_legend(self, painter: QPainter, plot: QRectF) -> None:
        """Label bars and line, each over its own axis."""
        theme, px, high = self._theme, self._theme.px, painter.fontMetrics().height()
        painter.setPen(QPen(theme.color("live"), 1))
        painter.setBrush(self._bar_color())
        painter.drawRect(QRectF(px(4), px(3), px(10), high - px(4)))
        painter.drawText(
            QRectF(px(18), 0, self.width() / 2, high), Qt.AlignmentFlag.AlignLeft, self.tr("states known")
        )
        word = self.tr("states per minute")
        wide = painter.fontMetrics().horizontalAdvance(word)
        left = self.width() - wide - px(4)
        painter.setPen(theme.color("warn"))
        painter.drawText(QRectF(left, 0, wide + 2, high), Qt.AlignmentFlag.AlignLeft, word)
        middle = QPointF(left - px(12), high / 2)
        painter.setPen(QPen(theme.color("warn"), 2))
        painter.drawLine(middle - QPointF(px(8), 0), middle + QPointF(px(8), 0))
        painter.setBrush(theme.color("warn"))
        painter.drawEllipse(middle, 3.5, 3.5)

    def event(self, event: QEvent) -> bool:
        """Show a depth's numbers as a tooltip."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._rows:
            number = int((event.pos().x() - self.plot().left()) // max(self._slot(), 1))
            text = depth_words(self._rows[number]) if 0 <= number < len(self._rows) else ""
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)


class VelocityView(Panel):
    """Chart, summary and table of a site's last exploration.  ``closed``: it should be hidden."""

    closed = Signal()

    def __init__(self, model: VelocityPlotModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        self.setProperty("kind", "raised")
        self.setAccessibleName(self.tr("Discovery velocity"))
        self.chart, self.summary = VelocityChart(theme), text_label(kind="secondary", wrap=True)
        self.table = QTableView()
        self.table.setModel(model.table)
        self.table.setAccessibleName(self.tr("Discovery velocity by depth, as a table"))
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        self.table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.close_button = styled(QPushButton(), "link")
        self._lay_out()
        self.close_button.clicked.connect(self.closed)
        model.changed.connect(self._show)
        model.table.rowsInserted.connect(self._show)
        model.table.modelReset.connect(self._show)
        model.table.dataChanged.connect(self._show)
        theme.changed.connect(self._fit)
        self._show()

    def begin(self) -> None:
        self.table.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _lay_out(self) -> None:
        title = text_label(self.tr("Discovery velocity"), "heading")
        self.close_button.setText(self.tr("Close  Esc"))
        self.close_button.setAccessibleName(self.tr("Close the velocity chart"))
        head = hbox((title, 1), self.close_button, margins=(14, 8, 12, 4))
        self.summary.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        body = QWidget()
        vbox(
            (self.chart, 100), self.summary, (self.table, 60), parent=body, margins=(14, 4, 12, 12), spacing=8
        )
        self._empty = EmptyState("", "")
        self._face = QStackedWidget()
        self._face.addWidget(body)
        self._face.addWidget(self._empty)
        vbox(head, (self._face, 1), parent=self, spacing=0)

    def _show(self) -> None:
        model = self._model
        self._face.setCurrentIndex(0 if model.rows else 1)
        if model.error:
            self._empty.set(self.tr("There is nothing to plot"), model.error)
        elif model.is_loading:
            self._empty.set(self.tr("Counting…"), "")
        else:
            self._empty.set(
                self.tr("Not explored yet"),
                self.tr(
                    "The states found at each depth, and the velocity, appear here during an exploration."
                ),
            )
        self.chart.show_rows(model.rows, model.summary)
        self.summary.setText(model.summary)
        self._fit()

    def _fit(self) -> None:
        """Fit the table to its rows, up to seven; in a low place it scrolls."""
        row, head = self._theme.px(24), self.table.horizontalHeader().sizeHint().height() + 2
        self.table.verticalHeader().setDefaultSectionSize(row)
        shown = min(len(self._model.rows), 7)
        self.table.setMinimumHeight(row * min(shown, 2) + head)
        self.table.setMaximumHeight(row * shown + head)
