"""The sets of actions: the list at the left, the actions of the chosen one with check marks at the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QLineEdit, QListView, QPushButton, QWidget

from app.views.widgets.build import hbox, restyle, styled, text_label, vbox
from app.views.widgets.rows import RowContent, RowList, RowStyle, line, plain, small

if TYPE_CHECKING:
    from app.engine.api.prompt_api import ActionSetRow
    from app.models.common.action_sets_model import ActionSetsModel
    from app.views.frame.theme import Theme

_LIST_WIDTH = 220


class ActionSetsPane(QWidget):
    """A built-in set can be copied, not changed."""

    def __init__(self, model: ActionSetsModel, theme: Theme) -> None:
        super().__init__()
        self._model, self._theme = model, theme
        self.list = RowList(
            theme, self._described, self.tr("Sets of actions"), RowStyle(margins=(14, 6, 8, 6))
        )
        self.list.setModel(model.list)
        self.name = QLineEdit()
        self.name.setAccessibleName(self.tr("Name of the set"))
        self.name.setPlaceholderText(self.tr("name of the new set"))
        self.choices = QListView()
        self.choices.setModel(model.actions)
        self.choices.setAccessibleName(self.tr("Actions; Space adds one to the set or takes it out"))
        self.choices.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.choices.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.words = text_label(kind="secondary", wrap=True)
        self.copy, self.remove, self.save = QPushButton(), QPushButton(), QPushButton()
        for button, text, name, slot in (
            (
                self.copy,
                self.tr("Copy to a new set"),
                self.tr("Begin a new set with these actions"),
                self._on_copy,
            ),
            (
                self.remove,
                self.tr("Remove set"),
                self.tr("Remove this set; undo brings it back"),
                model.remove,
            ),
            (self.save, self.tr("Save   Ctrl+Enter"), self.tr("Save the set of actions"), self._on_save),
        ):
            button.setText(text)
            button.setAccessibleName(name)
            button.clicked.connect(slot)
        styled(self.save, "primary")
        right = vbox(
            self.name, (self.choices, 1), self.words,
            hbox(self.copy, self.remove, 1, self.save, spacing=6), margins=(14, 10, 14, 12), spacing=6,
        )  # fmt: skip
        hbox(self.list, (right, 1), parent=self, spacing=0)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            shortcut = QShortcut(
                QKeySequence(keys), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut
            )
            shortcut.activated.connect(self._on_save)
        self.list.selectionModel().currentChanged.connect(self._on_row)
        self.name.textEdited.connect(model.set_name)
        model.changed.connect(self._show)
        theme.changed.connect(self._fit)
        self._fit()
        self._show()

    def _on_copy(self) -> None:
        self._model.copy()
        self.name.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_save(self) -> None:
        self._model.save()

    def _on_row(self, index: QModelIndex, _before: QModelIndex) -> None:
        row = self._model.list.at(index.row())
        if row is not None:
            self._model.show(row.name)

    def _show(self) -> None:
        model = self._model
        if self.name.text() != model.name:
            self.name.setText(model.name)
        self.name.setReadOnly(model.row is not None)
        wrong = bool(model.error) or (model.is_changed and bool(model.problem))
        restyle(self.words, kind="fail" if wrong else "secondary")
        self.words.setText(model.words)
        self.save.setEnabled(model.can_save)
        self.save.setVisible(not model.is_fixed)
        row = model.row
        self.remove.setVisible(row is not None and row.own)
        self.copy.setVisible(row is not None)
        place = model.list.index(model.list.row_of(model.shown), 0)
        if self.list.currentIndex() != place:
            with QSignalBlocker(self.list.selectionModel()):
                self.list.setCurrentIndex(place)
        self.list.viewport().update()

    def _described(self, row: ActionSetRow) -> RowContent:
        kind = small(self.tr("own"), "accent") if row.own else None
        costs = self.tr("{0} actions, about {1} tokens").format(len(row.calls), row.tokens)
        return RowContent(lines=(line(plain(row.name), right=kind), line(small(costs))))

    def _fit(self) -> None:
        self.list.setFixedWidth(self._theme.px(_LIST_WIDTH))
