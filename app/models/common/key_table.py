"""The commands and their shortcuts as a table, for the shortcut editor."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont

from app.models.common.commands import PLACE_TITLES, Command, CommandCenter
from app.models.common.keymap import readable_key

Index = QModelIndex | QPersistentModelIndex


class KeyTable(QAbstractTableModel):
    """Columns: command, shortcuts, place.  Changed shortcuts are bold."""

    def __init__(self, center: CommandCenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._center = center
        self._rows = [command.id for command in center.commands]
        center.keys_changed.connect(self._keys_changed)

    def filter(self, text: str) -> None:
        """Show the commands whose title, place or shortcut contains every word of ``text``."""
        words = text.lower().split()
        self.beginResetModel()
        self._rows = [
            command.id
            for command in self._center.commands
            if all(word in self._words(command) for word in words)
        ]
        self.endResetModel()

    def command(self, row: int) -> str:
        """The command's id in a row, "" outside."""
        return self._rows[row] if 0 <= row < len(self._rows) else ""

    def row_of(self, command: str) -> int:
        """The command's row, -1 when it is filtered out."""
        return self._rows.index(command) if command in self._rows else -1

    def readable_keys(self, command: str) -> str:
        """All shortcuts of a command in readable form."""
        return ", ".join(readable_key(key) for key in self._center.keymap.keys(command))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 Qt's own signature
        """Number of commands that pass the filter."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 Qt's own signature
        """Command, shortcuts, place."""
        return 0 if parent.isValid() else 3

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Texts; bold for changed keys."""
        command = self.command(index.row()) if index.isValid() else ""
        if not command:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            place = self._center.command(command).place
            return (self._center.plain_title(command), self.readable_keys(command), PLACE_TITLES[place])[
                index.column()
            ]
        if (
            role == Qt.ItemDataRole.FontRole
            and index.column() == 1
            and self._center.keymap.is_changed(command)
        ):
            font = QFont()
            font.setBold(True)
            return font
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Column titles."""
        if role == Qt.ItemDataRole.DisplayRole and orientation is Qt.Orientation.Horizontal:
            return (self.tr("Command"), self.tr("Keys"), self.tr("Place"))[section]
        return None

    def _words(self, command: Command) -> str:
        title, keys = self._center.title(command.id), self.readable_keys(command.id)
        return f"{title} {PLACE_TITLES[command.place]} {keys}".lower()

    def _keys_changed(self) -> None:
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, 2))
