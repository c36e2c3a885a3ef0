"""The commands and their shortcuts as a table, for the shortcut editor."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QFont

from app.models.common.commands import PLACE_TITLES, Command, CommandCenter
from app.models.common.keymap import readable_key
from app.models.common.object_list import Index
from app.models.common.object_table import Column, ObjectTable


class KeyTable(ObjectTable[Command]):
    """Columns: command, shortcuts, place.  Changed shortcuts are bold."""

    def __init__(self, center: CommandCenter, parent: QObject | None = None) -> None:
        super().__init__(lambda command: command.id, parent)
        self._center = center
        self._wanted: list[str] = []
        self.columns = (
            Column(
                key="command", title=self.tr("Command"), cell=lambda command: center.plain_title(command.id)
            ),
            Column(key="keys", title=self.tr("Keys"), cell=lambda command: self.readable_keys(command.id)),
            Column(key="place", title=self.tr("Place"), cell=lambda command: PLACE_TITLES[command.place]),
        )
        self.load(center.commands)
        center.keys_changed.connect(self.repaint_column)

    def filter(self, text: str) -> None:
        """Show the commands whose title, place or shortcut contains every word of ``text``."""
        self._wanted = text.lower().split()
        self.filter_again()

    def matches(self, value: Command) -> bool:
        title, keys = self._center.title(value.id), self.readable_keys(value.id)
        text = f"{title} {PLACE_TITLES[value.place]} {keys}".lower()
        return all(word in text for word in self._wanted)

    def command(self, row: int) -> str:
        """The command's id in a row, "" outside."""
        command = self.at(row)
        return command.id if command is not None else ""

    def readable_keys(self, command: str) -> str:
        return ", ".join(readable_key(key) for key in self._center.keymap.keys(command))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Bold for changed shortcuts, else as in every table."""
        if role == Qt.ItemDataRole.FontRole and index.isValid() and index.column() == 1:
            font = QFont()
            font.setBold(self._center.keymap.is_changed(self.command(index.row())))
            return font
        return super().data(index, role)
