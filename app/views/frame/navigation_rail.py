"""The navigation rail: one button for each perspective."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QButtonGroup, QSizePolicy, QToolButton, QWidget

from app.models.common.commands import CommandCenter
from app.views.frame.theme import Theme
from app.views.widgets.build import vbox


class NavigationRail(QWidget):
    """Buttons with a word under the icon; the tooltip names the shortcut."""

    def __init__(self, center: CommandCenter, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("rail")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._center, self._theme = center, theme
        self._buttons: dict[str, QToolButton] = {}
        self._group = QButtonGroup(self)
        self._help = self._make("app.cheat_sheet", self.tr("Keys"), checkable=False)
        self._layout = vbox(1, self._help, parent=self, margins=(0, 8, 0, 8), spacing=4)
        theme.changed.connect(self._resize)
        center.keys_changed.connect(self._tell_keys)
        self._resize()

    def add(self, place: str, title: str) -> None:
        """Add the button of a perspective; its command is ``go.<place>``."""
        button = self._make(f"go.{place}", title, checkable=True)
        self._group.addButton(button)
        self._layout.insertWidget(len(self._buttons), button)
        self._buttons[place] = button
        self._resize()

    def show_place(self, place: str) -> None:
        if place in self._buttons:
            self._buttons[place].setChecked(True)

    def show_count(self, place: str, count: int) -> None:
        """Show beside a perspective's name how many things need a person there."""
        button = self._buttons.get(place)
        if button is not None:
            name = button.accessibleName().partition(",")[0]
            button.setText(f"{name} ({count})" if count else name)
            more = self.tr("{0} need you").format(count)
            button.setAccessibleName(f"{name}, {more}" if count else name)

    def _make(self, command: str, title: str, *, checkable: bool) -> QToolButton:
        button = QToolButton()
        button.setText(title)
        button.setIcon(self._theme.icon(self._center.command(command).icon, "muted"))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        button.setCheckable(checkable)
        button.setAccessibleName(title)
        button.setProperty("command", command)
        button.clicked.connect(lambda: self._center.trigger(command))
        button.setToolTip(self._center.action(command).toolTip())
        return button

    def _tell_keys(self) -> None:
        for button in (*self._buttons.values(), self._help):
            button.setToolTip(self._center.action(str(button.property("command"))).toolTip())

    def _resize(self) -> None:
        self.setFixedWidth(self._theme.px(80))
        for button in (*self._buttons.values(), self._help):
            button.setIconSize(QSize(self._theme.px(22), self._theme.px(22)))
