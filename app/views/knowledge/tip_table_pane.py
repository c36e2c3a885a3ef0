"""The table of tips with its filter line, and an empty state for everything else."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, Qt
from PySide6.QtWidgets import QMenu, QStackedWidget, QWidget

from app.models.knowledge.knowledge_model import KnowledgeState
from app.models.knowledge.tip_table import COLUMNS
from app.views.knowledge.tip_rows import tip_cell
from app.views.widgets import EmptyState
from app.views.widgets.build import ground, hbox, text_label, vbox
from app.views.widgets.filter_line import FilterLine
from app.views.widgets.tables import ColumnTable

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.knowledge.knowledge_model import KnowledgeModel
    from app.views.frame.theme import Theme

WIDTHS = {
    "site": 102,
    "kind": 88,
    "status": 86,
    "lint": 104,
    "scope": 138,
    "tested": 150,
    "followed": 80,
    "uplift": 148,
    "votes": 64,
    "revision": 42,
    "changed": 88,
}
"""Widths at 100 % text size; the text takes the rest."""
MIN_TEXT = 200
"""Width of the text column below which less important columns give way."""
SHRINKING = ("revision", "scope", "kind", "changed", "lint", "votes", "followed", "uplift", "tested")
KEPT = ("site", "text")
"""Columns that are never hidden."""

Flag = QItemSelectionModel.SelectionFlag


class TipTablePane(QWidget):
    """Heading, count, filter line, table."""

    def __init__(self, model: KnowledgeModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center = model, center
        ground(self)
        self.count, self.chosen = text_label(kind="secondary"), text_label(kind="secondary")
        self.filter = FilterLine(
            "",
            self.tr("Filter: site:gitlab  status:draft  tested:broke  votes:>0  words"),
            self.tr("Filter of the tips"),
            self.take_focus,
        )
        self.table = ColumnTable(
            model.table,
            theme,
            tip_cell,
            widths=WIDTHS,
            least=MIN_TEXT,
            shrinking=SHRINKING,
            resizable=True,
        )
        self.table.setAccessibleName(self.tr("Tips"))
        self._stack = QStackedWidget()
        self._faces: dict[KnowledgeState, QWidget] = {KnowledgeState.READY: self.table}
        self._add_faces()
        self._lay_out()
        self._marking = False
        header = self.table.horizontalHeader()
        header.sectionClicked.connect(self._on_header)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self.choose_columns)
        self.filter.textChanged.connect(model.set_filter)
        self.table.selectionModel().selectionChanged.connect(self._on_selection)
        self.table.selectionModel().currentChanged.connect(self._on_selection)
        model.table.modelAboutToBeReset.connect(self._begin_marking)
        model.table.modelReset.connect(self._mark)
        model.changed.connect(self._show)
        model.current_changed.connect(self._on_current)
        model.selection_changed.connect(self._show_chosen)
        center.keys_changed.connect(self._dress)
        self._dress()
        self.show_sort()
        self._show()

    # ------------------------------------------------------------ what the view asks
    def focus_filter(self) -> None:
        """Focus the filter line and select its text."""
        self.filter.take_focus()

    def take_focus(self) -> None:
        """Focus the table, now or once it is filled."""
        shown = self._stack.currentWidget() is self.table
        (self.table if shown else self).setFocus(Qt.FocusReason.OtherFocusReason)

    def leave_filter(self) -> bool:
        """Go back one level from the filter line: clear it first, then leave it.  False when not in it."""
        return self.filter.leave()

    def clear_selection(self) -> bool:
        """Reduce a multiple selection to the current tip.  False when only one is selected."""
        if len(self._model.selected) < 2:
            return False
        self._go(self._model.current, Flag.ClearAndSelect)
        return True

    def step(self, offset: int, *, extend: bool = False) -> None:
        """Go to the tip so many rows on; ``extend`` adds it to the selection."""
        self._go(self._model.neighbour(offset), Flag.Select if extend else Flag.ClearAndSelect)

    def sort_next(self) -> None:
        here = COLUMNS.index(self._model.table.sorted_by)
        self._sort((here + 1) % len(COLUMNS), Qt.SortOrder.AscendingOrder)

    def turn_sort(self) -> None:
        table = self._model.table
        order = Qt.SortOrder.AscendingOrder if table.descending else Qt.SortOrder.DescendingOrder
        self._sort(COLUMNS.index(table.sorted_by), order)

    def show_sort(self) -> None:
        """Show the model's sort column in the header."""
        self.table.show_sort()

    def choose_columns(self, *_at: object) -> None:
        """Open the list of columns; those with a mark are shown where there is room."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setAccessibleName(self.tr("Columns of the table"))
        for column in self._model.table.columns:
            if column.key not in KEPT:
                action = menu.addAction(column.title, partial(self._turn_column, column.key))
                action.setCheckable(True)
                action.setChecked(column.key not in self.table.hidden)
        menu.setActiveAction(menu.actions()[0])
        header = self.table.horizontalHeader()
        menu.popup(header.mapToGlobal(header.rect().bottomLeft()))

    def save(self) -> dict[str, Any]:
        return {"widths": self.table.widths, "hidden": sorted(self.table.hidden)}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore widths and hidden columns, of those that are known."""
        widths = cast("dict[str, Any]", state.get("widths") or {})
        known = {name: width for name, width in widths.items() if name in WIDTHS and isinstance(width, int)}
        self.table.widths = {**WIDTHS, **known}
        given = state.get("hidden")
        names = set(cast("list[object]", given)) if isinstance(given, list) else set[object]()
        self.table.hidden = {name for name in COLUMNS if name in names and name not in KEPT}
        self.table.fit()

    # ------------------------------------------------------------ inside
    def _add_faces(self) -> None:
        center = self._center
        self._faces[KnowledgeState.NO_TIPS] = EmptyState(
            self.tr("No tips yet"),
            self.tr("Write the first one from a failed run in Review, or import a file of tips."),
            "kb.import",
            center,
        )
        self._faces[KnowledgeState.NO_MATCH] = EmptyState(
            self.tr("No matching tips"),
            self.tr("Change the filter, or clear it to see every tip."),
            "knowledge.filter",
            center,
        )
        self._faces[KnowledgeState.LOADING] = EmptyState(
            self.tr("Loading the tips…"), self.tr("Reading the knowledge base."), "", center
        )
        self.error = text_label(kind="fail", wrap=True)
        self.error.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.error.setMargin(16)
        self.error.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._faces[KnowledgeState.ERROR] = self.error
        for face in self._faces.values():
            self._stack.addWidget(face)

    def _lay_out(self) -> None:
        title = text_label(self.tr("Knowledge"), "heading")
        head = hbox(title, (self.filter, 1), self.chosen, self.count, margins=(10, 8, 8, 8), spacing=8)
        vbox(head, (self._stack, 1), parent=self, spacing=0)

    def _turn_column(self, name: str) -> None:
        self.table.hidden ^= {name}
        self.table.fit()

    def _go(self, tip: str, flag: QItemSelectionModel.SelectionFlag) -> None:
        row = self._model.table.row_of(tip)
        if row >= 0:
            index = self._model.table.index(row, 0)
            self.table.selectionModel().setCurrentIndex(index, flag | Flag.Rows)
            self.table.scrollTo(index)

    def _sort(self, column: int, order: Qt.SortOrder) -> None:
        self._model.table.sort(column, order)
        self.show_sort()
        self._go_to_current()

    def _on_header(self, column: int) -> None:
        table = self._model.table
        same = COLUMNS[column] == table.sorted_by
        turned = same and not table.descending
        self._sort(column, Qt.SortOrder.DescendingOrder if turned else Qt.SortOrder.AscendingOrder)

    def _on_selection(self, *_changed: object) -> None:
        if self._marking:
            return
        table, current = self._model.table, self.table.currentIndex()
        rows = (index.row() for index in self.table.selectionModel().selectedRows())
        tips = [tip.id for row in rows if (tip := table.at(row)) is not None]
        tip = table.at(current.row()) if current.isValid() else None
        self._model.select(tips, tip.id if tip is not None else self._model.current)

    def _begin_marking(self) -> None:
        self._marking = True

    def _on_current(self, _tip: str) -> None:
        self._mark()
        self._go_to_current()

    def _go_to_current(self) -> None:
        row = self._model.table.row_of(self._model.current)
        if row >= 0:
            self.table.scrollTo(self._model.table.index(row, 0))

    def _mark(self) -> None:
        """Select what the model has selected, after another filter or when a tip was opened from elsewhere."""
        self._marking = True
        table, selection = self._model.table, QItemSelection()
        last = len(COLUMNS) - 1
        for tip in self._model.selected or (self._model.current,):
            row = table.row_of(tip)
            if row >= 0:
                selection.select(table.index(row, 0), table.index(row, last))
        chosen = self.table.selectionModel()
        chosen.select(selection, Flag.ClearAndSelect)
        row = table.row_of(self._model.current)
        chosen.setCurrentIndex(table.index(row, 0) if row >= 0 else QModelIndex(), Flag.NoUpdate)
        self._marking = False

    def _show(self) -> None:
        model = self._model
        held = self.hasFocus() or self.table.hasFocus()
        self._stack.setCurrentWidget(self._faces[model.state])
        if held:
            self.take_focus()
        self.error.setText(self.tr("The tips can't be loaded: {0}").format(model.error))
        self.count.setText(model.counts_text)
        shown, total = model.table.rowCount(), model.table.total
        self.count.setAccessibleName(self.tr("{0} of {1} tips shown").format(shown, total))
        self.filter.show_words(model.table.text)
        self._show_chosen()

    def _show_chosen(self) -> None:
        many = len(self._model.selected)
        self.chosen.setText(self.tr("{0} selected ·").format(many) if many > 1 else "")
        self.chosen.setVisible(many > 1)

    def _dress(self) -> None:
        self.filter.setToolTip(
            self.tr(
                "site:gitlab  status:draft,suspect  kind:policy  lint:error  and words of the text ({0})\n"
                "tested:holds, stopped, broke, unreached or none\n"
                "votes:>0  followed:none  numbers with >, <, >=, <= or none"
            ).format(self._center.keys("knowledge.filter"))
        )
        self.table.setToolTip("")
