"""Tables over an ``ObjectTable``: rows of one height, columns that share the width, cells painted from spans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyle, QStyleOptionViewItem, QTableView

from app.models.common.object_list import OBJECT_ROLE
from app.views.widgets.rows import Span, SpanDelegate, placed

if TYPE_CHECKING:
    from app.models.common.object_table import ObjectTable
    from app.views.frame.theme import Theme

Index = QModelIndex | QPersistentModelIndex
ROW = 26
"""Height of a row in pixels at 100 % text size."""
LEAST_COLUMN = 28
LEAST_STRETCH = 60

CellOf = Callable[[Any, str, str], Span]
"""Describes a cell by value, column and text."""


class CellDelegate(SpanDelegate):
    """Paints cells; the whole row shows as selected, with a bar at its beginning."""

    def __init__(self, theme: Theme, cell: CellOf, table: ColumnTable) -> None:
        super().__init__(theme, table)
        self._cell, self._columns = cell, table.columns

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(LEAST_STRETCH, self._theme.px(ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        value = index.data(OBJECT_ROLE)
        if value is None:
            return
        column, theme, px = self._columns[index.column()], self._theme, self._theme.px
        span = self._cell(value, column.key, str(index.data(Qt.ItemDataRole.DisplayRole) or ""))
        painter.save()
        self._paint_ground(painter, option, first=index.column() == 0)
        box = QRectF(option.rect).adjusted(px(8), 0, -px(7), 0)
        if column.numeric:
            box.setLeft(max(box.left(), box.right() - self.width_of(span)))
        self.paint_span(painter, option, box, span)
        painter.setPen(QPen(theme.color("line"), 1))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, *, first: bool) -> None:
        box, theme = QRectF(option.rect), self._theme
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.color("selected"))
            if first:
                bar = QRectF(box.left(), box.top(), theme.px(3), box.height())
                painter.fillRect(placed(option, bar), theme.color("accent"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, theme.color("hover"))


class ColumnTable(QTableView):
    """Rows of one height with multiple selection.

    Args:
        widths: of the columns, in pixels at 100 % text size; the one left out takes the rest.
        least: room for that one below which columns are hidden.
        shrinking: the columns hidden then, the first one first.
        resizable: the user may change the widths.
    """

    def __init__(
        self,
        model: ObjectTable[Any],
        theme: Theme,
        cell: CellOf,
        *,
        widths: Mapping[str, int],
        least: int,
        shrinking: Sequence[str],
        resizable: bool = False,
    ) -> None:
        super().__init__()
        self._table, self._theme = model, theme
        self._least, self._shrinking = least, tuple(shrinking)
        self.widths, self.columns = dict(widths), model.columns
        self.hidden: set[str] = set()
        """Columns that the user does not want; ``fit`` shows a change."""
        self._fitting = False
        self.setModel(model)
        self.setItemDelegate(CellDelegate(theme, cell, self))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        rows, columns = self.verticalHeader(), self.horizontalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        columns.setHighlightSections(False)
        columns.setSectionsClickable(True)
        columns.setSortIndicatorShown(True)
        columns.setMinimumSectionSize(LEAST_COLUMN)
        columns.setSectionResizeMode(
            QHeaderView.ResizeMode.Interactive if resizable else QHeaderView.ResizeMode.Fixed
        )
        columns.sectionResized.connect(self._on_resized)
        theme.changed.connect(self.fit)

    def fit(self) -> None:
        """Share the width; where it is short, less important columns are hidden."""
        px, room = self._theme.px, self.viewport().width()
        self.verticalHeader().setDefaultSectionSize(px(ROW))
        hidden = set(self.hidden)
        taken = sum(px(width) for name, width in self.widths.items() if name not in hidden)
        for name in self._shrinking:
            if room - taken >= px(self._least):
                break
            if name not in hidden:
                hidden.add(name)
                taken -= px(self.widths[name])
        self._fitting = True
        header = self.horizontalHeader()
        for number, column in enumerate(self.columns):
            header.setSectionHidden(number, column.key in hidden)
            if column.key not in hidden:
                width = self.widths.get(column.key)
                stretched = max(room - taken, px(LEAST_STRETCH))
                header.resizeSection(number, px(width) if width is not None else stretched)
        self._fitting = False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def show_sort(self) -> None:
        table = self._table
        order = Qt.SortOrder.DescendingOrder if table.descending else Qt.SortOrder.AscendingOrder
        self.horizontalHeader().setSortIndicator(table.column_of(table.sorted_by), order)

    def _on_resized(self, number: int, _old: int, new: int) -> None:
        key = self.columns[number].key
        if not self._fitting and key in self.widths:
            self.widths[key] = max(round(new / self._theme.zoom), LEAST_COLUMN)
            self.fit()
