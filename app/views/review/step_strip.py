"""The steps of a run as a strip of cells: number, error, flag, and the suspect step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.models.common.object_list import OBJECT_ROLE
from app.views.widgets.signs import (
    SEVERITY_ROLE,
    TROUBLE_ROLE,
    draw_hand,
    draw_operator_action,
    draw_severity,
    draw_trouble,
)

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.models.common.step_list import StepListModel, StepMark
    from app.views.frame.theme import Theme

Index = QModelIndex | QPersistentModelIndex


class StepCellDelegate(QStyledItemDelegate):
    """A cell: the step's number over the signs of its error and its worst flag; the suspect is underlined.

    A small person marks a step done by hand, a small triangle an intervention.
    """

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(self._theme.px(28), self._theme.px(36))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        mark: StepMark | None = index.data(OBJECT_ROLE)
        if mark is None:
            return
        theme, px = self._theme, self._theme.px
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(option.rect).adjusted(px(1), px(2), -px(1), -px(2))
        if selected:
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.setBrush(theme.color("selected"))
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 4, 4)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("hover"))
            painter.drawRoundedRect(box, 4, 4)
        painter.setFont(theme.font("secondary", bold=selected or mark.suspect))
        painter.setPen(theme.color("text" if mark.executed else "muted"))
        top = QRectF(box.left(), box.top() + px(3), box.width(), px(13))
        painter.drawText(top, Qt.AlignmentFlag.AlignCenter, str(mark.index))
        self._paint_marks(painter, QRectF(box.left(), top.bottom() + px(1), box.width(), px(10)), mark)
        if mark.by_hand:
            draw_hand(
                painter, QRectF(box.left() + px(2), box.top() + px(2), px(7), px(8)), theme.color("live")
            )
        if mark.interventions:
            draw_operator_action(
                painter, QRectF(box.right() - px(8), box.top() + px(1), px(6), px(5)), theme.color("live")
            )
        if mark.suspect:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent"))
            width = px(12)
            painter.drawRoundedRect(
                QRectF(box.center().x() - width / 2, box.bottom() - px(4), width, px(2)), 1, 1
            )
        painter.restore()

    def _paint_marks(self, painter: QPainter, box: QRectF, mark: StepMark) -> None:
        theme, size, gap = self._theme, self._theme.px(8), self._theme.px(3)
        signs = int(bool(mark.trouble)) + int(bool(mark.severity))
        left = box.center().x() - (signs * size + (signs - 1) * gap) / 2
        top = box.center().y() - size / 2
        if mark.trouble:
            color = theme.color(TROUBLE_ROLE[mark.trouble])
            draw_trouble(painter, QRectF(left, top, size, size), mark.trouble, color)
            left += size + gap
        if mark.severity:
            color = theme.color(SEVERITY_ROLE[mark.severity])
            draw_severity(painter, QRectF(left, top, size, size), mark.severity, color)


class StepStrip(QListView):
    """All steps in one line; the current one stays visible."""

    step_wanted = Signal(int)

    def __init__(self, model: StepListModel, theme: Theme) -> None:
        super().__init__()
        self._steps, self._theme, self._marking = model, theme, False
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(False)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.setItemDelegate(StepCellDelegate(theme, self))
        self.setModel(model)
        self.setAccessibleName(self.tr("Steps of the run"))
        self.selectionModel().currentChanged.connect(self._on_current)
        theme.changed.connect(self._fit)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the current step in sight."""
        super().resizeEvent(event)
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex(), QAbstractItemView.ScrollHint.EnsureVisible)

    def mark(self, step: int) -> None:
        row = self._steps.row_of(step)
        if row < 0:
            return
        index = self._steps.index(row)
        self._marking = True
        self.setCurrentIndex(index)
        self._marking = False
        self.scrollTo(index, QAbstractItemView.ScrollHint.EnsureVisible)

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        mark = self._steps.at(current.row()) if current.isValid() else None
        if mark is not None and not self._marking:
            self.step_wanted.emit(mark.index)

    def _fit(self) -> None:
        self.setFixedHeight(self._theme.px(38))
        self.doItemsLayout()
