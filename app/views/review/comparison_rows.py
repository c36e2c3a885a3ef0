"""Rows of two runs side by side: an action of each, and between them how they compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyleOptionViewItem

from app.models.common.object_list import OBJECT_ROLE
from app.models.common.translate import tr
from app.models.review.comparison_rows import (
    LEFT,
    RIGHT,
    ComparedRow,
    RowKind,
    kind_words,
    short_kind_words,
)
from app.views.widgets.rows import LEFT as LEFT_MIDDLE
from app.views.widgets.rows import (
    MAX_CHARACTERS,
    Span,
    SpanDelegate,
    aligned,
    placed,
    plain,
    small,
    two_lines,
)
from app.views.widgets.signs import paint_ground

if TYPE_CHECKING:
    from app.models.review.run_comparison import ComparisonModel
    from app.views.frame.theme import Theme

Index = QModelIndex | QPersistentModelIndex
ROW, BETWEEN, NARROW = 40, 136, 84
"""Height of a row, and width of the words between the runs, whole or short; pixels at 100 % text size."""
MOST_BETWEEN = 0.23
"""Largest part of the width for the whole words between."""

SIGNS = {RowKind.SAME: "=", RowKind.DIFFERENT: "≠", RowKind.ONLY_LEFT: "◂", RowKind.ONLY_RIGHT: "▸"}
ROLES = {
    RowKind.SAME: "muted",
    RowKind.DIFFERENT: "warn",
    RowKind.ONLY_LEFT: "text",
    RowKind.ONLY_RIGHT: "text",
}


class ComparedRowDelegate(SpanDelegate):
    """Step, action and page of both sides; between them sign and word, and where they part a flag of words."""

    def __init__(self, theme: Theme, model: ComparisonModel, view: QListView) -> None:
        super().__init__(theme, view)
        self._model = model

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, self._theme.px(ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: ComparedRow | None = index.data(OBJECT_ROLE)
        if row is None:
            return
        painter.save()
        theme, px, edge = self._theme, self._theme.px, QRectF(option.rect)
        paint_ground(painter, option, theme)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if row.parts and not selected:
            painter.fillRect(edge, theme.color("tint_warn"))
        if row.parts:
            painter.fillRect(QRectF(edge.left(), edge.top(), edge.width(), px(2)), theme.color("warn"))
        is_narrow = px(BETWEEN) > edge.width() * MOST_BETWEEN
        between = px(NARROW if is_narrow else BETWEEN)
        half = (edge.width() - between) / 2
        left = QRectF(edge.left(), edge.top(), half, edge.height())
        right = QRectF(edge.right() - half, edge.top(), half, edge.height())
        for side, box in ((LEFT, left), (RIGHT, right)):
            self._paint_side(painter, option, box, row, side, selected=selected, is_narrow=is_narrow)
        middle = QRectF(left.right(), edge.top(), between, edge.height())
        self._paint_between(painter, option, middle, row, is_narrow=is_narrow)
        painter.setPen(QPen(theme.color("line"), 1))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        painter.restore()

    def _paint_side(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        box: QRectF,
        row: ComparedRow,
        side: int,
        *,
        selected: bool,
        is_narrow: bool,
    ) -> None:
        """Draw one run's step; in a narrow window the action takes the page's line too."""
        px, number = self._theme.px, row.step(side)
        words, page = (row.right_words, row.right_page) if side == RIGHT else (row.left_words, row.left_page)
        if number < 0:
            painter.fillRect(
                placed(option, box.adjusted(px(6), px(4), -px(6), -px(5))), self._theme.color("surface")
            )
            return
        if selected and side == self._model.side:  # the side that Enter opens
            frame = placed(option, box.adjusted(px(3), px(3), -px(3), -px(4)))
            painter.setPen(QPen(self._theme.color("accent"), 1.4))
            painter.drawRoundedRect(frame, 4, 4)
        inner = box.adjusted(px(9), px(3), -px(7), -px(4))
        high = inner.height() / 2
        upper = QRectF(inner.left(), inner.top(), inner.width(), high)
        taken = self.paint_span(painter, option, upper, plain(str(number), "muted", least="00"))
        upper.setLeft(upper.left() + taken + px(7))
        if is_narrow:
            font = self._theme.font("secondary", bold=row.parts)
            painter.setFont(font)
            painter.setPen(self._theme.color("text"))
            room = upper.adjusted(0, 0, 0, high)
            text = two_lines(QFontMetrics(font), words[:MAX_CHARACTERS], room.width())
            painter.drawText(placed(option, room), aligned(option, LEFT_MIDDLE), text)
            return
        self.paint_span(painter, option, upper, plain(words, bold=row.parts))
        lower = QRectF(upper.left(), inner.top() + high, upper.width(), high)
        self.paint_span(painter, option, lower, small(page))

    def _paint_between(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        box: QRectF,
        row: ComparedRow,
        *,
        is_narrow: bool,
    ) -> None:
        px, role = self._theme.px, ROLES[row.kind]
        words = short_kind_words(row.kind) if is_narrow else kind_words(row.kind)
        lines = [small(f"{SIGNS[row.kind]} {words}", role, bold=row.kind is not RowKind.SAME)]
        if row.parts:
            says = tr("parting") if is_narrow else tr("they part here")
            lines.insert(0, small(says, "warn", bold=True))
        high = QFontMetrics(self._theme.font("secondary")).lineSpacing()
        top = box.center().y() - high * len(lines) / 2
        for span in lines:
            self._paint_centred(
                painter, option, QRectF(box.left() + px(4), top, box.width() - px(8), high), span
            )
            top += high

    def _paint_centred(
        self, painter: QPainter, option: QStyleOptionViewItem, box: QRectF, span: Span
    ) -> None:
        free = max(box.width() - self.width_of(span), 0.0)
        self.paint_span(painter, option, box.adjusted(free / 2, 0, 0, 0), span)


class ComparedRowView(QListView):
    """The rows; the current one is the model's."""

    def __init__(self, theme: Theme, model: ComparisonModel) -> None:
        super().__init__()
        self._model = model
        self._marking = False
        self.setModel(model.rows)
        self.setItemDelegate(ComparedRowDelegate(theme, model, self))
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setAccessibleName(tr("Steps of both runs"))
        self.selectionModel().currentChanged.connect(self._on_current)
        model.row_changed.connect(self.mark)
        theme.changed.connect(self.doItemsLayout)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the current row in sight."""
        super().resizeEvent(event)
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())

    def mark(self) -> None:
        """Select the model's row, with some rows above it in sight."""
        index = self._model.rows.index(self._model.row)
        if not index.isValid():
            return
        self._marking = True
        far = not self.viewport().rect().contains(self.visualRect(index))
        self.setCurrentIndex(index)
        if far:
            self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)
        self._marking = False
        self.viewport().update()

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if current.isValid() and not self._marking:
            self._model.show_row(current.row())
