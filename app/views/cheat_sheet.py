"""The keys of the place you are in, on one page."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.models.commands import PLACE_TITLES, REACH, CommandCenter
from app.models.keymap import readable
from app.views.theme import Theme
from app.views.widgets.overlay import Overlay


class CheatSheet(Overlay):
    """Made anew from the command table each time it opens, so that remapped keys are right."""

    def __init__(self, center: CommandCenter, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, QSize(940, 620))
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
        """Lay out the keys that work here, group by group, in two columns."""
        place = self._center.place
        self._title.setText(self.tr("Keys: {0}").format(PLACE_TITLES[place]))
        sheet = QWidget()
        sheet.setProperty("kind", "raised")
        columns = QHBoxLayout(sheet)
        columns.setContentsMargins(20, 4, 20, 8)
        columns.setSpacing(40)
        left, right = QVBoxLayout(), QVBoxLayout()
        groups = self.groups(place)
        heights = [len(lines) + 2 for _title, lines in groups]
        filled = 0
        for (title, lines), height in zip(groups, heights, strict=True):
            target = left if filled == 0 or filled + height / 2 <= sum(heights) / 2 else right
            target.addLayout(self._group(title, lines))
            target.addSpacing(12)
            filled += height
        for column in (left, right):
            column.addStretch(1)
            columns.addLayout(column, 1)
        self._area.setWidget(sheet)

    def groups(self, place: str) -> list[tuple[str, list[tuple[str, list[str]]]]]:
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
                        (self._center.title(command.id), [readable(key) for key in keys])
                    )
        return list(found.items())

    def first(self) -> QWidget:
        """The page itself, so that the arrow keys scroll it."""
        return self._area

    def _group(self, title: str, lines: list[tuple[str, list[str]]]) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(0, 1)
        heading = QLabel(title)
        heading.setProperty("kind", "section")
        grid.addWidget(heading, 0, 0, 1, 2)
        for row, (name, keys) in enumerate(lines, start=1):
            label = QLabel(name)
            label.setTextFormat(Qt.TextFormat.PlainText)
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
        return grid

    def _change(self) -> None:
        self.dismiss()
        self._center.trigger("app.keys")
