"""The keyboard shortcuts of the current place, on one page."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.models.common.commands import ACTIVE_PLACES, PLACE_TITLES, CommandCenter
from app.models.common.keymap import readable_key
from app.views.frame.theme import Theme
from app.views.widgets.build import hbox, scroll_area, styled, text_label
from app.views.widgets.keycap import draw_keys
from app.views.widgets.overlay import Overlay

Group = tuple[str, list[tuple[str, list[str]]]]
"""A title, and command titles with their shortcuts."""

ROW, GAP, GUTTER = 21, 14, 36
"""Height of a line, space between groups, space between columns; pixels at 100 % text size."""


class CheatSheet(Overlay):
    """Rebuilt from the command table each time it opens, so that remapped shortcuts are right."""

    def __init__(self, center: CommandCenter, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, QSize(1160, 560))
        self._center = center
        self._title = text_label(kind="title")
        change = styled(QPushButton(self.tr("Customize shortcuts…")), "link")
        change.clicked.connect(self._change)
        head = hbox((self._title, 1), change, margins=(20, 14, 14, 8))
        self.page = KeyPage(theme)
        self._area = scroll_area(self.page, focus=Qt.FocusPolicy.StrongFocus, sideways=True)
        self._area.setAccessibleName(self.tr("Keyboard shortcuts"))
        self.body.addLayout(head)
        self.body.addWidget(self._area, 1)
        self.body.setContentsMargins(0, 0, 0, 10)

    def prepare(self) -> None:
        """Show the shortcuts that work here, group by group."""
        place = self._center.place
        self._title.setText(self.tr("Keys: {0}").format(PLACE_TITLES[place]))
        columns = 3 if self.panel.width() >= self._theme.px(980) else 2
        self.page.show_groups(self.groups(place), columns)

    def groups(self, place: str) -> list[Group]:
        """The groups shown: titles with (command title, its shortcuts) for every command with one here."""
        active = self._center.keymap.in_force(place)
        found: dict[str, list[tuple[str, list[str]]]] = {}
        for where in ACTIVE_PLACES[place]:
            for command in self._center.commands:
                keys = active.get(command.id, ())
                if command.place != where or not keys:
                    continue
                menu, _, part = command.menu.partition("/")
                group = PLACE_TITLES[where] if where != "everywhere" and not part else part or menu
                title = self.tr(command.title).removeprefix(f"{group}: ")
                found.setdefault(group or PLACE_TITLES[where], []).append(
                    (title, [readable_key(key) for key in keys])
                )
        return list(found.items())

    def first(self) -> QWidget:
        """The page itself, so that the arrow keys scroll it."""
        return self._area

    def _change(self) -> None:
        self.dismiss()
        self._center.trigger("app.keys")


class KeyPage(QWidget):
    """All lines painted by one widget: a hundred labels would take noticeably long to create."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "raised")
        self._theme = theme
        self._columns: list[list[Group]] = []

    def show_groups(self, groups: list[Group], count: int) -> None:
        """Lay the groups out in order over ``count`` columns of about the same height."""
        share = sum(len(lines) + 2 for _title, lines in groups) / count
        self._columns = [[] for _ in range(count)]
        filled = 0.0
        for title, lines in groups:
            middle = filled + (len(lines) + 2) / 2
            self._columns[min(int(middle / share), count - 1)].append((title, lines))
            filled += len(lines) + 2
        px = self._theme.px
        heights = [
            sum(px(ROW) * (len(lines) + 1) + px(GAP) for _t, lines in groups) for groups in self._columns
        ]
        self.setMinimumHeight(max(heights, default=0))
        read = [f"{name}: {' or '.join(keys)}" for _title, lines in groups for name, keys in lines]
        self.setAccessibleName(self.tr("Keyboard shortcuts"))
        self.setAccessibleDescription("; ".join(read))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Headings, titles, shortcuts."""
        painter, px = QPainter(self), self._theme.px
        painter.fillRect(event.rect(), self._theme.color("raised"))
        room = self.rect().adjusted(px(20), px(2), -px(16), 0)
        count = max(len(self._columns), 1)
        width = (room.width() - px(GUTTER) * (count - 1)) // count
        for number, groups in enumerate(self._columns):
            line = QRect(room.left() + number * (width + px(GUTTER)), room.top(), width, px(ROW))
            for title, lines in groups:
                self._paint_heading(painter, line, title)
                line.translate(0, px(ROW))
                for name, keys in lines:
                    self._paint_line(painter, line, name, keys[:2])
                    line.translate(0, px(ROW))
                line.translate(0, px(GAP))
        painter.end()

    def _paint_heading(self, painter: QPainter, line: QRect, title: str) -> None:
        painter.setFont(self._theme.font("secondary", bold=True))
        painter.setPen(self._theme.color("muted"))
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, title)

    def _paint_line(self, painter: QPainter, line: QRect, name: str, keys: list[str]) -> None:
        theme, left = self._theme, QRect(line)
        for key in reversed(keys):
            taken = draw_keys(painter, theme, left, key)
            left.setRight(left.right() - taken - theme.px(4))
        font = theme.font()
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        shown = QFontMetrics(font).elidedText(name, Qt.TextElideMode.ElideRight, left.width() - theme.px(4))
        painter.drawText(left, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
