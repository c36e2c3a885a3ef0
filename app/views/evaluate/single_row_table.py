"""A table with one current row, which stays current while rows come, go and are sorted; and buttons that filter it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QButtonGroup, QToolButton, QWidget

from app.models.evaluate.figures import count_words
from app.views.widgets.build import styled
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.tables import CellOf, ColumnTable

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.common.object_table import ObjectTable
    from app.views.frame.theme import Theme

Flag = QItemSelectionModel.SelectionFlag


class SingleRowTable(ColumnTable):
    """Signals:

    picked(key): the person went to another row.  opened(key): Enter or a double click on it.
    """

    picked = Signal(str)
    opened = Signal(str)

    def __init__(
        self,
        model: ObjectTable[Any],
        theme: Theme,
        cell: CellOf,
        name: str,
        *,
        widths: Mapping[str, int],
        least: int,
        shrinking: Iterable[str],
    ) -> None:
        super().__init__(
            model, theme, cell, widths=widths, least=least, shrinking=tuple(shrinking), resizable=True
        )
        self._rows = model
        self._key: Hashable = None
        self._is_marking = False
        self.setAccessibleName(name)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.horizontalHeader().sectionClicked.connect(self._on_header)
        self.horizontalHeader().setSortIndicatorShown(bool(model.sorted_by))
        self.selectionModel().currentRowChanged.connect(self._on_current)
        self.activated.connect(self._on_activated)
        model.modelAboutToBeReset.connect(self._begin_marking)
        model.modelReset.connect(self._mark)

    @property
    def key(self) -> Hashable:
        """The key of the current row."""
        return self._key

    def show_key(self, key: Hashable) -> None:
        """Make a row current without saying so; a key without a row leaves no row current."""
        if key != self._key or self._row != self.currentIndex().row():
            self._key = key
            self._mark()

    def step(self, offset: int) -> None:
        count = self._rows.rowCount()
        if count:
            row = self._row
            self._go(max(0, min(row + offset, count - 1)) if row >= 0 else 0)

    def sort_next(self) -> None:
        keys = [column.key for column in self.columns]
        here = keys.index(self._rows.sorted_by) if self._rows.sorted_by else -1
        self._sort((here + 1) % len(keys), Qt.SortOrder.AscendingOrder)

    def turn_sort(self) -> None:
        if self._rows.sorted_by:
            turned = Qt.SortOrder.AscendingOrder if self._rows.descending else Qt.SortOrder.DescendingOrder
            self._sort(self._rows.column_of(self._rows.sorted_by), turned)

    @property
    def _row(self) -> int:
        return self._rows.row_of(self._key) if self._key is not None else -1

    def _go(self, row: int) -> None:
        index = self._rows.index(row, 0)
        self.selectionModel().setCurrentIndex(index, Flag.ClearAndSelect | Flag.Rows)
        self.scrollTo(index)

    def _sort(self, column: int, order: Qt.SortOrder) -> None:
        self._rows.sort(column, order)
        self.horizontalHeader().setSortIndicatorShown(True)
        self.show_sort()
        if self._row >= 0:
            self.scrollTo(self._rows.index(self._row, 0))

    def _on_header(self, column: int) -> None:
        same = self.columns[column].key == self._rows.sorted_by
        turned = same and not self._rows.descending
        self._sort(column, Qt.SortOrder.DescendingOrder if turned else Qt.SortOrder.AscendingOrder)

    def _on_current(self, index: QModelIndex, _before: QModelIndex) -> None:
        if self._is_marking or not index.isValid():
            return
        value = self._rows.at(index.row())
        if value is not None:
            self._key = self._rows.key(value)
            self.picked.emit(str(self._key))

    def _on_activated(self, index: QModelIndex) -> None:
        value = self._rows.at(index.row())
        if value is not None:
            self.opened.emit(str(self._rows.key(value)))

    def _begin_marking(self) -> None:
        self._is_marking = True

    def _mark(self) -> None:
        self._is_marking = True
        row = self._row
        if row >= 0:
            self._go(row)
        else:
            self.selectionModel().clear()
        self._is_marking = False


class FilterChips(QWidget):
    """Buttons of which one is pressed: which rows are shown, with the number of each kind.

    Args:
        titles: words by value; "" is all of them.
        commands: command of each value, for the key in its tooltip; empty where there is none.
    """

    def __init__(
        self,
        titles: Mapping[str, str],
        choose: Callable[[str], None],
        center: CommandCenter,
        commands: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._titles, self._center, self._commands = dict(titles), center, dict(commands or {})
        self.buttons: dict[str, QToolButton] = {}
        group = QButtonGroup(self)
        for value in titles:
            button = self.buttons[value] = styled(QToolButton(), "chip")
            button.setCheckable(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(partial(self._on_clicked, choose, value))
            group.addButton(button)
        FlowLayout(*self.buttons.values(), parent=self, gap=4)
        center.keys_changed.connect(self._dress)
        self._counts: dict[str, int] = {}
        self.show_counts({}, "")

    def show_counts(self, counts: Mapping[str, int], chosen: str) -> None:
        self._counts = dict(counts)
        for value, button in self.buttons.items():
            with QSignalBlocker(button):
                button.setChecked(value == chosen)
        self._dress()

    def _dress(self) -> None:
        for value, button in self.buttons.items():
            count, title = count_words(self._counts.get(value, 0)), self._titles[value]
            button.setText(f"{title} {count}")
            button.setAccessibleName(self.tr("{0}: {1}").format(title, count))
            command = self._commands.get(value)
            button.setToolTip(self._center.action(command).toolTip() if command else title)

    def _on_clicked(self, choose: Callable[[str], None], value: str, _checked: bool = False) -> None:
        choose(value)
