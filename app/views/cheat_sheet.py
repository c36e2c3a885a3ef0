"""The keys of the place you are in, on one page."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QWidget,
)

from app.models.commands import PLACE_TITLES, REACH, CommandCenter
from app.models.keymap import readable
from app.views.theme import Theme
from app.views.widgets.elided_label import ElidedLabel
from app.views.widgets.overlay import Overlay

Group = tuple[str, list[tuple[str, list[str]]]]
"""A title, and command titles with their keys as read."""


class CheatSheet(Overlay):
    """Made anew from the command table each time it opens, so that remapped keys are right."""

    def __init__(self, center: CommandCenter, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, QSize(1160, 560))
        self._center = center
        self._title = QLabel()
        self._title.setProperty("kind", "title")
        change = QPushButton(self.tr("Change keys…"))
        change.setProperty("kind", "link")
        change.clicked.connect(self._change)
        head = QHBoxLayout()
        head.setContentsMargins(20, 14, 14, 8)
        head.addWidget(self._title, 1)
        head.addWidget(change)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QScrollArea.Shape.NoFrame)
        self._area.setAccessibleName(self.tr("Keys of this place"))
        self.body.addLayout(head)
        self.body.addWidget(self._area, 1)
        self.body.setContentsMargins(0, 0, 0, 10)

    def prepare(self) -> None:
        """Lay out the keys that work here, group by group, in columns."""
        place = self._center.place
        self._title.setText(self.tr("Keys: {0}").format(PLACE_TITLES[place]))
        sheet = QWidget()
        sheet.setProperty("kind", "raised")
        columns = QHBoxLayout(sheet)
        columns.setContentsMargins(20, 4, 20, 8)
        columns.setSpacing(36)
        for groups in self._columns(self.groups(place)):
            columns.addLayout(self._column(groups), 1)
        self._area.setWidget(sheet)

    def groups(self, place: str) -> list[Group]:
        """What is shown: group titles with (command title, its keys as read) for every command with a key here."""
        active = self._center.keymap.in_force(place)
        found: dict[str, list[tuple[str, list[str]]]] = {}
        for where in REACH[place]:
            for command in self._center.commands:
                keys = active.get(command.id, ())
                if command.place == where and keys:
                    menu = command.menu.partition("/")[2] or command.menu
                    group = PLACE_TITLES[where] if where != "everywhere" else menu or PLACE_TITLES[where]
                    if where == "review" and "/" in command.menu:
                        group = menu
                    found.setdefault(group, []).append(
                        (short(self.tr(command.title), group), [readable(key) for key in keys])
                    )
        return list(found.items())

    def first(self) -> QWidget:
        """The page itself, so that the arrow keys scroll it."""
        return self._area

    def _columns(self, groups: list[Group]) -> list[list[Group]]:
        """The groups in order, over three columns of about the same height; over two where three are too narrow."""
        count = 3 if self.panel.width() >= self._theme.px(980) else 2
        share = sum(len(lines) + 2 for _title, lines in groups) / count
        columns: list[list[Group]] = [[] for _ in range(count)]
        filled = 0.0
        for title, lines in groups:
            middle = filled + (len(lines) + 2) / 2
            columns[min(int(middle / share), count - 1)].append((title, lines))
            filled += len(lines) + 2
        return columns

    def _column(self, groups: list[Group]) -> QGridLayout:
        grid, row = QGridLayout(), 0
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(0, 1)
        for title, lines in groups:
            heading = QLabel(title)
            heading.setProperty("kind", "section")
            grid.addWidget(heading, row, 0, 1, 2)
            for name, keys in lines:
                row += 1
                label = ElidedLabel(text=name)
                caps = QHBoxLayout()
                caps.setSpacing(4)
                caps.addStretch(1)
                for key in keys[:2]:
                    cap = QLabel(key)
                    cap.setProperty("kind", "key")
                    cap.setTextFormat(Qt.TextFormat.PlainText)
                    caps.addWidget(cap)
                grid.addWidget(label, row, 0)
                grid.addLayout(caps, row, 1)
            row += 1
            grid.setRowMinimumHeight(row, 10)
            row += 1
        grid.setRowStretch(row, 1)
        return grid

    def _change(self) -> None:
        self.dismiss()
        self._center.trigger("app.keys")


def short(title: str, group: str) -> str:
    """``Verdict: loop`` is ``loop`` under the heading ``Verdict``."""
    return title.removeprefix(f"{group}: ")
