"""The command palette: type, see the shortcut, press Enter."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QListView,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.models.common.commands import CommandCenter
from app.models.common.palette import ID_ROLE, KEYS_ROLE, PLACE_ROLE, USABLE_ROLE, PaletteModel
from app.views.frame.theme import Theme
from app.views.widgets.keycap import draw_keys, paint_selected
from app.views.widgets.overlay import Overlay
from app.views.widgets.picker import Picker

Index = QModelIndex | QPersistentModelIndex


class CommandDelegate(QStyledItemDelegate):
    """Icon, title, the place where it is another one, shortcuts at the right."""

    def __init__(self, theme: Theme, center: CommandCenter, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._center = theme, center

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """One line with air."""
        return QSize(200, self._theme.px(30))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one command; a disabled one is muted."""
        theme, px = self._theme, self._theme.px
        rect = QRect(option.rect)
        if option.state & QStyle.StateFlag.State_Selected:
            paint_selected(painter, theme, rect)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        inner = rect.adjusted(px(12), 0, -px(12), 0)
        usable = bool(index.data(USABLE_ROLE))
        command = self._center.command(str(index.data(ID_ROLE)))
        icon = QRect(inner.left(), inner.center().y() - px(8), px(16), px(16))
        if command.icon:
            theme.icon(command.icon, "muted").paint(painter, icon)
        taken = draw_keys(painter, theme, inner, str(index.data(KEYS_ROLE)))
        text = inner.adjusted(px(26), 0, -taken - px(8), 0)
        painter.setFont(theme.font())
        painter.setPen(theme.color("text" if usable else "muted"))
        title = str(index.data(Qt.ItemDataRole.DisplayRole))
        metrics = QFontMetrics(theme.font())
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(text, flags, metrics.elidedText(title, Qt.TextElideMode.ElideRight, text.width()))
        place = str(index.data(PLACE_ROLE))
        if place:
            painter.setFont(theme.font("secondary"))
            painter.setPen(theme.color("muted"))
            after = text.adjusted(metrics.horizontalAdvance(title) + px(10), 0, 0, 0)
            if after.width() > px(60):
                painter.drawText(after, flags, place)


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
        self.picker = Picker(self.line, self.list, self.model, CommandDelegate(theme, center, self.list))
        self._nothing = QLabel(self.tr("No matching command."))
        self._nothing.setProperty("kind", "muted")
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
        """The line to type into."""
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
