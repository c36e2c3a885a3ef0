"""The left column: suites over evaluations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QPushButton, QStackedWidget, QWidget

from app.models.evaluate.evaluate_model import EvaluateModel, EvaluatePage
from app.views.evaluate.rows import LIST, evaluation_row, suite_row
from app.views.widgets import Splitter
from app.views.widgets.build import ground, hbox, text_label, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.rows import RowContent, RowList

if TYPE_CHECKING:
    from PySide6.QtWidgets import QLabel

    from app.models.common.commands import CommandCenter
    from app.models.common.object_list import ObjectList
    from app.views.frame.theme import Theme

Flag = QItemSelectionModel.SelectionFlag


class ChoiceList(RowList):
    """A list whose current row is open.  ``picked(key)``: the person chose a row, or came back to it."""

    picked = Signal(str)

    def __init__(
        self,
        theme: Theme,
        describe: Callable[[Any], RowContent],
        name: str,
        model: ObjectList[Any],
        key: Callable[[Any], str],
    ) -> None:
        super().__init__(theme, describe, name, LIST)
        self._items, self._key_of = model, key
        self._is_marking = False
        self.setModel(model)
        self.setUniformItemSizes(True)
        self.selectionModel().currentChanged.connect(self._on_current)
        self.clicked.connect(self._on_current)
        self.activated.connect(self._on_current)

    def show_row(self, row: int) -> None:
        """Mark a row without opening it; -1 marks none."""
        self._is_marking = True
        if row >= 0:
            index = self._items.index(row)
            self.selectionModel().setCurrentIndex(index, Flag.ClearAndSelect)
            self.scrollTo(index)
        else:
            self.selectionModel().clear()
        self._is_marking = False

    def step(self, offset: int) -> None:
        count = self._items.rowCount()
        if count:
            row = max(0, min(self.currentIndex().row() + offset, count - 1))
            self.setCurrentIndex(self._items.index(row))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Mark the first row when the list has none, so that keys have a place to begin."""
        super().focusInEvent(event)
        if event.reason() is not Qt.FocusReason.MouseFocusReason and not self.currentIndex().isValid():
            self.step(0)

    def _on_current(self, index: QModelIndex, _before: QModelIndex | None = None) -> None:
        if index.isValid() and not self._is_marking:
            value = self._items.at(index.row())
            if value is not None:
                self.picked.emit(self._key_of(value))


class ListsPane(QWidget):
    """Two lists with their headings and the link that adds to each."""

    def __init__(self, model: EvaluateModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        ground(self)
        self.suites = ChoiceList(theme, suite_row, self.tr("Suites"), model.suites.list, lambda row: row.name)
        self.evaluations = ChoiceList(
            theme, evaluation_row, self.tr("Evaluations"), model.list, lambda row: row.folder
        )
        self.add, self.new = command_link(center, "suite.add"), command_link(center, "evaluate.new")
        self._no_suites = self._remark(self.tr("No suites yet."))
        self._no_evaluations = self._remark(self.tr("No evaluations yet."))
        self._suite_face, self._evaluation_face = QStackedWidget(), QStackedWidget()
        for face, *widgets in (
            (self._suite_face, self.suites, self._no_suites),
            (self._evaluation_face, self.evaluations, self._no_evaluations),
        ):
            for widget in widgets:
                face.addWidget(widget)
        self.rows = Splitter(Qt.Orientation.Vertical, (220, 0))
        self.rows.addWidget(self._part(self.tr("Suites"), self.add, self._suite_face))
        self.rows.addWidget(self._part(self.tr("Evaluations"), self.new, self._evaluation_face))
        vbox(self.rows, parent=self)
        self.suites.picked.connect(model.open_suite)
        self.evaluations.picked.connect(model.open_evaluation)
        model.changed.connect(self._show)
        model.current_changed.connect(self._mark)
        for items in (model.list, model.suites.list):
            items.modelReset.connect(self._mark)
            items.rowsInserted.connect(self._mark)
        center.keys_changed.connect(self._dress)
        self._dress()
        self._show()

    def take_focus(self) -> None:
        """Focus the list whose row is open."""
        is_suite = self._model.page is EvaluatePage.SUITE
        chosen = self.suites if is_suite or not self._model.list.rows else self.evaluations
        (chosen if chosen.isVisibleTo(self) else self).setFocus(Qt.FocusReason.OtherFocusReason)

    def _remark(self, text: str) -> QLabel:
        """Return the words for an empty list; what to do stands large in the middle."""
        label = text_label(text, "muted", wrap=True)
        label.setAlignment(Qt.AlignmentFlag.AlignTop)
        label.setContentsMargins(12, 4, 8, 4)
        return label

    def _part(self, title: str, link: QPushButton, face: QWidget) -> QWidget:
        heading: QLabel = text_label(title, "heading")
        part = QWidget()
        vbox(hbox((heading, 1), link, margins=(12, 8, 8, 4)), (face, 1), parent=part, spacing=0)
        part.setMinimumHeight(self._theme.px(90))
        return part

    def _show(self) -> None:
        model = self._model
        held = self.suites.hasFocus() or self.evaluations.hasFocus()
        no_suites = model.suites.is_loaded and not model.suites.list.rows
        self._suite_face.setCurrentIndex(1 if no_suites else 0)
        self._evaluation_face.setCurrentIndex(1 if model.is_loaded and not model.list.rows else 0)
        if held and not (self.suites.isVisible() and self.evaluations.isVisible()):
            self.take_focus()

    def _mark(self, *_change: object) -> None:
        model = self._model
        is_suite = model.page is EvaluatePage.SUITE
        self.suites.show_row(model.suites.list.row_of(model.suites.current) if is_suite else -1)
        self.evaluations.show_row(-1 if is_suite else model.list.row_of(model.current))

    def _dress(self) -> None:
        show_command(self.add, self._center, "suite.add", self.tr("Add"))
        show_command(self.new, self._center, "evaluate.new", self.tr("New"))
