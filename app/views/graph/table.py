"""The table of states below the map, with the same selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, Qt, Signal

from app.models.graph.node_table import COLUMNS, NUMBERS
from app.views.graph.node_rows import node_cell
from app.views.widgets.tables import ColumnTable

if TYPE_CHECKING:
    from app.models.graph.model import MapModel
    from app.views.frame.theme import Theme

WIDTHS = {"url": 190, "depth": 52, "outgoing": 44, "incoming": 44, "elements": 68, "waiting": 62, "runs": 48,
          "failures": 52, "tips": 44, "seen": 86}  # fmt: skip
"""Widths at 100 % text size; the title takes the rest."""
MIN_TITLE_WIDTH = 190
SHRINKING = ("seen", "elements", "waiting", "incoming", "url")
"""Columns hidden where the width is short, the first one first."""
Flag = QItemSelectionModel.SelectionFlag


class NodeTable(ColumnTable):
    """The states of the site; the selection is shared with the map.

    ``node_opened(node)``: a double click on a row.
    """

    node_opened = Signal(str)

    def __init__(self, model: MapModel, theme: Theme) -> None:
        super().__init__(
            model.table, theme, node_cell, widths=WIDTHS, least=MIN_TITLE_WIDTH, shrinking=SHRINKING
        )
        self._map = model
        self._marking = False
        self.setAccessibleName(self.tr("States of the site"))
        self.horizontalHeader().sectionClicked.connect(self._on_header)
        self.selectionModel().selectionChanged.connect(self._on_selection)
        self.selectionModel().currentChanged.connect(self._on_selection)
        self.doubleClicked.connect(self._on_double)
        model.table.modelAboutToBeReset.connect(self._begin)
        model.table.modelReset.connect(self.mark)
        model.node_changed.connect(self._on_node)
        model.selection_changed.connect(self.mark)
        self.show_sort()

    def mark(self) -> None:
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
