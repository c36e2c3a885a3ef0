"""The top bar: program and workspace, menus, search, jobs."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAction, QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QMenuBar, QWidget

from app.models.common.commands import CommandCenter
from app.views.frame.jobs_bar import JobsButton
from app.views.frame.theme import Theme
from app.views.widgets.build import Gap, hbox, styled, text_label
from app.views.widgets.elided_label import ElidedLabel


class SearchField(QLineEdit):
    """The search field; ``entered`` when it gets the focus, ``left`` on Esc."""

    entered = Signal()
    left = Signal()

    def __init__(self, center: CommandCenter, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._center = center
        self.setProperty("kind", "quiet")
        self.setAccessibleName(self.tr("Search everything"))
        self.setClearButtonEnabled(True)
        self.addAction(
            QAction(theme.icon("magnify", "muted"), self.tr("Search"), self),
            QLineEdit.ActionPosition.LeadingPosition,
        )
        center.keys_changed.connect(self._tell_key)
        self._tell_key()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Begin a search with the old text selected."""
        super().focusInEvent(event)
        if event.reason() is not Qt.FocusReason.PopupFocusReason:
            self.entered.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Take Esc while it has the focus."""
        if (
            event.type() is QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
        ):
            event.accept()
            return True
        return super().event(event)

    def _tell_key(self) -> None:
        keys = self._center.keys("app.search")
        self.setPlaceholderText(
            self.tr("Search everything ({0})").format(keys) if keys else self.tr("Search everything")
        )


class TopBar(QWidget):
    """Name and workspace at the left, menus, then search and jobs at the right."""

    def __init__(self, center: CommandCenter, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("topBar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        name = text_label("Sitelore", "heading")
        self.workspace = styled(ElidedLabel(Qt.TextElideMode.ElideMiddle), "muted")
        self.menu_bar = QMenuBar()
        self.menu_bar.setNativeMenuBar(False)
        self.search = SearchField(center, theme)
        self.jobs = JobsButton(center, theme)
        hbox(
            name,
            self.workspace,
            Gap(12),
            (self.menu_bar, 0, Qt.AlignmentFlag.AlignVCenter),
            1,
            (self.search, 5),
            self.jobs,
            parent=self,
            margins=(12, 4, 8, 4),
            spacing=6,
        )
        theme.changed.connect(self._resize)
        self._resize()

    def show_workspace(self, name: str, path: str) -> None:
        self.workspace.setText(f"·  {name}")
        self.workspace.setToolTip(path)
        self._fit_workspace()

    def _resize(self) -> None:
        self.setFixedHeight(self._theme.px(40))
        self.search.setMaximumWidth(self._theme.px(420))
        self.search.setMinimumWidth(self._theme.px(100))
        self._fit_workspace()

    def _fit_workspace(self) -> None:
        wanted = self.workspace.sizeHint().width() + 4
        self.workspace.setFixedWidth(min(wanted, self._theme.px(200)))
