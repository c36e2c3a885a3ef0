"""The command palette: type, see the shortcut, press Enter."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QLineEdit,
    QListView,
    QStackedLayout,
    QWidget,
)

from app.models.common.commands import PLACE_TITLES, CommandCenter
from app.models.common.palette import PaletteModel
from app.views.frame.theme import Theme
from app.views.widgets.build import text_label
from app.views.widgets.keycap import draw_keys, keys_width
from app.views.widgets.overlay import Overlay
from app.views.widgets.picker import Picker
from app.views.widgets.rows import RowContent, RowDelegate, RowStyle, Span, line, plain, small
from app.views.widgets.signs import icon_sign

COMMAND = RowStyle(margins=(12, 0, 12, 0), gutter=26, height=30)


def command_row(center: CommandCenter, theme: Theme, name: str) -> RowContent:
    """Icon, title, the place where it is another one, shortcuts at the right; a disabled command is muted."""
    command, keys = center.command(name), center.keys(name)

    def draw(painter: QPainter, box: QRectF, theme: Theme) -> None:
        draw_keys(painter, theme, box.toRect(), keys)

    caps = Span(
        sign=draw,
        size=(keys_width(theme, keys) / theme.zoom, COMMAND.height),
    )
    icon = Span(sign=icon_sign(command.icon, "muted"), size=(16, 16)) if command.icon else None
    place = "" if center.reaches(name) else PLACE_TITLES[command.place]
    title = plain(center.title(name), "text" if center.action(name).isEnabled() else "muted")
    return RowContent(sign=icon, lines=(line(title, small(place), right=caps if keys else None),))


class PaletteView(Overlay):
    """Over the upper half of the window; Enter runs the chosen command, wherever it belongs."""

    def __init__(self, center: CommandCenter, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, QSize(620, 440), top=True)
        self._center = center
        self.model = PaletteModel(center, self)
        self.line = QLineEdit()
        self.line.setObjectName("overlayInput")
        self.line.setPlaceholderText(self.tr("What do you want to do?"))
        self.line.setAccessibleName(self.tr("Find a command"))
        self.list = QListView()
        self.list.setAccessibleName(self.tr("Commands"))
        describe = partial(command_row, center, theme)
        delegate = RowDelegate(theme, describe, COMMAND, self.list)
        self.picker = Picker(self.line, self.list, self.model, delegate)
        self._nothing = text_label(self.tr("No matching command."), "muted")
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        holder = QWidget()
        self._stack = QStackedLayout(holder)
        self._stack.addWidget(self.list)
        self._stack.addWidget(self._nothing)
        self.body.addWidget(self.line)
        self.body.addWidget(holder, 1)
        self.body.setContentsMargins(4, 4, 4, 8)
        self.line.textChanged.connect(self._ask)
        self.picker.chosen.connect(self._do)

    def prepare(self) -> None:
        """Start with the recent commands."""
        self._center.refresh()
        self.line.clear()
        self._ask("")

    def first(self) -> QWidget:
        return self.line

    def _ask(self, text: str) -> None:
        self.model.ask(text)
        self._stack.setCurrentIndex(0 if self.model.rowCount() else 1)

    def _do(self, row: int) -> None:
        command = self.model.command(row)
        if not command:
            return
        self.model.used(command)
        self.dismiss()
        self._center.trigger(command)
