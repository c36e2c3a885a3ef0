"""The table of states below the map, with the same selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from app.models.common.object_list import OBJECT_ROLE
from app.models.graph.map_graph import marks_of
from app.models.graph.node_table import COLUMNS, NUMBERS, cell
from app.views.graph.marks import SHOWN, draw_dot
from app.views.widgets.signs import elided

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.models.common.object_list import Index
    from app.models.graph.model import MapModel, NodeRow
    from app.views.frame.theme import Theme

WIDTHS = {"url": 190, "depth": 52, "outgoing": 44, "incoming": 44, "elements": 68, "waiting": 52, "runs": 48,
          "failures": 52, "tips": 44, "seen": 86}  # fmt: skip
"""Widths at 100 % text size; the title takes the rest."""
MIN_TITLE_WIDTH = 190
GIVING = ("seen", "elements", "waiting", "incoming", "url")
"""Columns hidden where the width is short, the first one first."""
Flag = QItemSelectionModel.SelectionFlag


class NodeDelegate(QStyledItemDelegate):
    """A cell; the first one has the state's sign before its name."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: NodeRow | None = index.data(OBJECT_ROLE)
        if row is None:
            return
        theme, px, column = self._theme, self._theme.px, COLUMNS[index.column()]
        painter.save()
        self._paint_ground(painter, option, first=index.column() == 0)
        box = option.rect.adjusted(px(8), 0, -px(8), 0)
        font = theme.font("base" if column == "title" else "secondary")
        painter.setFont(font)
        painter.setPen(theme.color(_role(row, column)))
        side = Qt.AlignmentFlag.AlignVCenter | (
            Qt.AlignmentFlag.AlignRight if column in NUMBERS else Qt.AlignmentFlag.AlignLeft
        )
        if column == "title":
            middle = box.adjusted(px(6), 0, 0, 0).topLeft()
            middle.setY(box.center().y() + 1)
            draw_dot(painter, theme, middle.toPointF(), px(3.5), marks_of(row) & int(SHOWN))
            painter.setFont(font)
            painter.setPen(theme.color(_role(row, column)))
            box = box.adjusted(px(22), 0, 0, 0)
        text = elided(option.fontMetrics, cell(row, column), box.width(), middle=column == "url")
        painter.drawText(box, side, text)
        painter.setPen(QPen(theme.color("line"), 1))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, *, first: bool) -> None:
        """Tint selected rows and draw a bar at their beginning."""
        state, box, theme = option.state, option.rect, self._theme
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.color("selected"))
            if first:
                bar = QRect(box.left(), box.top(), theme.px(3), box.height())
                painter.fillRect(QStyle.visualRect(option.direction, box, bar), theme.color("accent"))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, theme.color("hover"))


class NodeTable(QTableView):
    """Rows of one height; the selection is shared with the map.

    ``node_opened(node)``: a double click on a row.
    """

    node_opened = Signal(str)

    def __init__(self, model: MapModel, theme: Theme) -> None:
        super().__init__()
        self._map, self._theme = model, theme
        self._marking = False
        self.setModel(model.table)
        self.setItemDelegate(NodeDelegate(theme, self))
        self.setAccessibleName(self.tr("States of the site"))
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
        columns.setMinimumSectionSize(28)
        columns.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        columns.sectionClicked.connect(self._on_header)
        self.selectionModel().selectionChanged.connect(self._on_selection)
        self.selectionModel().currentChanged.connect(self._on_selection)
        self.doubleClicked.connect(self._on_double)
        model.table.modelAboutToBeReset.connect(self._begin)
        model.table.modelReset.connect(self.mark)
        model.node_changed.connect(self._on_node)
        model.selection_changed.connect(self.mark)
        theme.changed.connect(self.fit)
        self.show_sort()

    def fit(self) -> None:
        """Share the width; where it is short, minor columns are hidden."""
        px, room = self._theme.px, self.viewport().width()
        self.verticalHeader().setDefaultSectionSize(px(26))
        hidden: set[str] = set()
        taken = sum(px(width) for width in WIDTHS.values())
        for name in GIVING:
            if room - taken >= px(MIN_TITLE_WIDTH):
                break
            hidden.add(name)
            taken -= px(WIDTHS[name])
        header = self.horizontalHeader()
        for column, name in enumerate(COLUMNS):
            header.setSectionHidden(column, name in hidden)
            if name not in hidden:
                header.resizeSection(
                    column, px(WIDTHS[name]) if name in WIDTHS else max(room - taken, px(80))
                )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def show_sort(self) -> None:
        """Show the sort column."""
        table = self._map.table
        order = Qt.SortOrder.DescendingOrder if table.descending else Qt.SortOrder.AscendingOrder
        self.horizontalHeader().setSortIndicator(COLUMNS.index(table.sorted_by), order)

    def mark(self) -> None:
        """Select the model's selection."""
        self._marking = True
        table, selection = self._map.table, QItemSelection()
        for node in self._map.selected or ((self._map.node,) if self._map.node else ()):
            row = table.row_of(node)
            if row >= 0:
                selection.select(table.index(row, 0), table.index(row, len(COLUMNS) - 1))
        chosen = self.selectionModel()
        chosen.select(selection, Flag.ClearAndSelect)
        row = table.row_of(self._map.node)
        chosen.setCurrentIndex(table.index(row, 0) if row >= 0 else QModelIndex(), Flag.NoUpdate)
        self._marking = False

    def _begin(self) -> None:
        self._marking = True

    def _on_node(self, node: str) -> None:
        if self._marking:
            return
        self.mark()
        row = self._map.table.row_of(node)
        if row >= 0:
            self.scrollTo(self._map.table.index(row, 0))

    def _on_selection(self, *_changed: object) -> None:
        if self._marking:
            return
        self._marking = True
        table, current = self._map.table, self.currentIndex()
        chosen = (table.at(index.row()) for index in self.selectionModel().selectedRows())
        nodes = [row.id for row in chosen if row is not None]
        here = table.at(current.row()) if current.isValid() else None
        self._map.choose(
            nodes, here.id if here is not None and here.id in nodes else (nodes[-1] if nodes else "")
        )
        self._marking = False

    def _on_double(self, index: QModelIndex) -> None:
        row = self._map.table.at(index.row())
        if row is not None:
            self.node_opened.emit(row.id)

    def _on_header(self, column: int) -> None:
        table = self._map.table
        same = COLUMNS[column] == table.sorted_by
        down = not table.descending if same else COLUMNS[column] in (*NUMBERS[1:], "seen")
        table.sort(column, Qt.SortOrder.DescendingOrder if down else Qt.SortOrder.AscendingOrder)
        self.show_sort()
        row = table.row_of(self._map.node)
        if row >= 0:
            self.scrollTo(table.index(row, 0))


def _role(row: NodeRow, column: str) -> str:
    if column == "failures" and row.failures:
        return "fail"
    if column == "tips" and row.tips:
        return "warn" if row.suspect_tips else "accent"
    if column == "title":
        return "muted" if row.gone else "text"
    return "muted"
