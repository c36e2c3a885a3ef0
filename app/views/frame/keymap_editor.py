"""The shortcut editor: press a key, see its conflicts, or restore the default."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QKeySequenceEdit,
    QLineEdit,
    QPushButton,
    QTableView,
    QWidget,
)

from app.models.common.commands import CommandCenter
from app.models.common.key_table import KeyTable
from app.views.frame.theme import Theme
from app.views.widgets.build import Gap, hbox, restyle, text_label, vbox
from app.views.widgets.overlay import Overlay


class KeymapEditor(Overlay):
    """A table of all commands; below it a field that records a shortcut for the chosen one."""

    def __init__(self, center: CommandCenter, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, QSize(760, 600))
        self._center = center
        self.table = KeyTable(center, self)
        title = text_label(self.tr("Keyboard shortcuts"), "title")
        self.filter = QLineEdit()
        self.filter.setPlaceholderText(self.tr("Filter by word or shortcut"))
        self.filter.setAccessibleName(self.tr("Filter the commands"))
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self.table.filter)
        self.view = QTableView()
        self.view.setModel(self.table)
        self.view.setAccessibleName(self.tr("Commands and their shortcuts"))
        self.view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.view.setShowGrid(False)
        self.view.setTabKeyNavigation(False)
        self.view.verticalHeader().hide()
        self.view.verticalHeader().setDefaultSectionSize(theme.px(26))
        header = self.view.horizontalHeader()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.ResizeToContents)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.view.selectionModel().currentRowChanged.connect(self._show)
        self.keys = QKeySequenceEdit()
        self.keys.setMaximumSequenceLength(2)
        self.keys.setAccessibleName(self.tr("Press the new shortcut"))
        self.keys.keySequenceChanged.connect(self._check)
        self._what, self._trouble = text_label(kind="heading"), text_label(kind="muted", wrap=True)
        self._set = self._button(self.tr("Set shortcut"), self._take, primary=True)
        self._none = self._button(self.tr("No shortcut"), self._clear)
        self._reset = self._button(self.tr("Reset"), self._default)
        all_default = self._button(self.tr("Reset all"), self._all_default)
        head = hbox((title, 1), (self.filter, 1))
        line = hbox((self.keys, 1), self._set, self._none, self._reset, Gap(16), all_default)
        foot = vbox(self._what, line, self._trouble, spacing=6)
        self.body.setContentsMargins(16, 14, 16, 14)
        self.body.setSpacing(10)
        self.body.addLayout(head)
        self.body.addWidget(self.view, 1)
        self.body.addLayout(foot)

    def prepare(self) -> None:
        """Show all commands and choose the first."""
        self.filter.clear()
        self.table.filter("")
        self.view.verticalHeader().setDefaultSectionSize(self._theme.px(26))
        self.view.selectRow(0)
        self._show()

    def first(self) -> QWidget:
        return self.filter

    @property
    def trouble(self) -> str:
        """The message about the recorded key."""
        return self._trouble.text()

    def choose(self, command: str) -> None:
        row = self.table.row_of(command)
        if row >= 0:
            self.view.selectRow(row)

    def _button(self, text: str, slot: object, *, primary: bool = False) -> QPushButton:
        button = QPushButton(text)
        if primary:
            button.setProperty("kind", "primary")
        button.clicked.connect(slot)
        return button

    def _current(self) -> str:
        return self.table.command(self.view.currentIndex().row())

    def _show(self) -> None:
        command = self._current()
        self._what.setText(self._center.title(command) if command else self.tr("Choose a command"))
        keys = self._center.keymap.keys(command) if command else ()
        self.keys.setKeySequence(QKeySequence(keys[0]) if keys else QKeySequence())
        self._reset.setEnabled(bool(command) and self._center.keymap.is_changed(command))
        self._none.setEnabled(bool(keys))
        self._check()

    def _pressed(self) -> str:
        return self.keys.keySequence().toString(QKeySequence.SequenceFormat.PortableText)

    def _check(self) -> None:
        command, pressed = self._current(), self._pressed()
        current = self._center.keymap.keys(command) if command else ()
        found = self._center.keymap.conflicts(command, [pressed]) if command and pressed else []
        if found:
            names = ", ".join(f"'{self._center.title(other)}'" for other in found)
            self._say(self.tr("Already used by {0}. Change that shortcut first.").format(names), "warn")
        elif len(current) > 1:
            self._say(
                self.tr("Also: {0}").format(self.table.readable_keys(command).partition(", ")[2]), "muted"
            )
        else:
            self._say(
                self.tr("Press the new shortcut in the field. Two keys in sequence make a chord."), "muted"
            )
        self._set.setEnabled(bool(command and pressed and not found and pressed not in current[:1]))

    def _say(self, text: str, kind: str) -> None:
        self._trouble.setText(text)
        restyle(self._trouble, kind=kind)

    def _take(self) -> None:
        command, pressed = self._current(), self._pressed()
        if command and pressed and not self._center.remap(command, [pressed]):
            self._show()

    def _clear(self) -> None:
        if command := self._current():
            self._center.remap(command, [])
            self._show()

    def _default(self) -> None:
        if command := self._current():
            self._center.reset_keys(command)
            self._show()

    def _all_default(self) -> None:
        self._center.reset_keys()
        self._show()
