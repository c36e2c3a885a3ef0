"""The window's frame: rail, top bar, perspectives, status bar; menus, overlays, messages.

It opens empty; ``attach`` and ``add_perspective`` fill it when the engine and the views are ready.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, cast

from PySide6.QtCore import QEvent, QRect, QSettings, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPaintEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QMainWindow,
    QMenu,
    QMenuBar,
    QStackedWidget,
    QWidget,
)

from app.models.common.command import OWNERS, PERSPECTIVES
from app.models.common.commands import MENUS, PLACE_TITLES, CommandCenter
from app.views.frame.banner import Banner
from app.views.frame.navigation_rail import NavigationRail
from app.views.frame.status_bar import StatusBar
from app.views.frame.theme import Theme
from app.views.frame.top_bar import TopBar
from app.views.frame.welcome import DropTarget, Welcome
from app.views.widgets.build import hbox, vbox
from app.views.widgets.desktop import show_in_folder
from app.views.widgets.focus_ring import FocusRing
from app.views.widgets.overlay import Overlay
from app.views.widgets.splitter import Splitter
from app.views.widgets.toast import Toast

if TYPE_CHECKING:
    from app.models.common.jobs import JobList
    from app.models.common.model_setup import ModelSetup
    from app.models.common.search import SearchModel
    from app.models.common.settings_form import SettingsForm
    from app.models.common.workspace import WorkspaceModel


MIN_SIZE = QSize(960, 600)
DEFAULT_SIZE = QSize(1280, 800)
UNDO_OFFER_SECONDS = 1.5
"""Seconds after a message in which a change reported by the history still adds an Undo button to it."""


class PerspectiveView(Protocol):
    """The frame's interface to a perspective, which is a ``QWidget`` too."""

    @property
    def place(self) -> str:
        """Its name in the command table."""
        ...

    def save_layout(self) -> dict[str, Any]:
        """Splitters and columns, as JSON."""
        ...

    def restore_layout(self, layout: dict[str, Any]) -> None: ...

    def focus_first(self) -> None: ...


class MainWindow(QMainWindow):
    """Signals:

    first_painted: the window was painted for the first time.
    quit_requested: the user wants to quit, and ``may_leave`` allows it; the window stays until ``close_for_good``.
    dropped: paths of files and folders dropped on the window.
    """

    first_painted = Signal()
    quit_requested = Signal()

    def __init__(self, center: CommandCenter, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.center, self.theme = center, theme
        self._perspectives: dict[str, PerspectiveView] = {}
        self._closing, self._painted = False, False
        self.may_leave: Callable[[], bool] = lambda: True
        """Asked before ``quit_requested``; who refuses shows the reason, and calls ``leave`` again later."""
        self.workspace: WorkspaceModel | None = None
        self._said_at = 0.0
        self.setWindowTitle("Sitelore")
        self.setMinimumSize(MIN_SIZE)
        self.setAcceptDrops(True)
        self.rail, self.top, self.status = (
            NavigationRail(center, theme),
            TopBar(center, theme),
            StatusBar(center, theme),
        )
        self.banner, self.stack = Banner(theme), QStackedWidget()
        self.welcome = Welcome(center, theme)
        self.stack.addWidget(self.welcome)
        self.frame = QWidget()
        self.frame.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        middle = hbox(self.rail, (self.stack, 1), spacing=0)
        vbox(self.top, self.banner, (middle, 1), self.status, parent=self.frame, spacing=0)
        self.setCentralWidget(self.frame)
        self.frame.setFocus()
        self.toast = Toast(self.frame)
        self.drop_target = DropTarget(theme, self.frame)
        self.ring = FocusRing(theme, self)
        self.menus = build_menus(self.top.menu_bar, center, theme)
        if sys.platform == "darwin":
            self.setMenuBar(self.top.menu_bar)
        self.addActions(center.actions())
        center.place_wanted.connect(self._go_for_command)

    # ------------------------------------------------------------ setup
    def attach(
        self,
        workspace: WorkspaceModel,
        jobs: JobList,
        search: SearchModel,
        form: SettingsForm,
        setup: ModelSetup,
    ) -> None:
        """Connect the frame to the models and bind its commands."""
        from app.views.frame.frame_commands import FrameCommands

        self.workspace = workspace
        self.status.bind(workspace)
        workspace.info_changed.connect(self._show_info)
        workspace.said.connect(self.say)
        workspace.history_changed.connect(self._offer_undo)
        workspace.host_said.connect(self.banner.tell)
        self.commands = FrameCommands(self, workspace, jobs, search, form, setup)
        workspace.index_damaged.connect(self.commands.offer_rebuild)
        self.center.refresh()

    def add_perspective(self, view: QWidget) -> None:
        """Add a perspective and its button in the rail."""
        perspective = cast("PerspectiveView", view)
        place = perspective.place
        self._perspectives[place] = perspective
        self.stack.addWidget(view)
        self.rail.add(place, self.tr(PLACE_TITLES[place]))
        self.center.bind(f"go.{place}", lambda: self.go(place))

    # ------------------------------------------------------------ navigation
    @property
    def place(self) -> str:
        """The place of the perspective shown, "" before there is one."""
        current = self.stack.currentWidget()
        return next(
            (name for name, view in self._perspectives.items() if cast("QWidget", view) is current), ""
        )

    @property
    def places(self) -> list[str]:
        return list(self._perspectives)

    def perspective(self, place: str) -> PerspectiveView | None:
        return self._perspectives.get(place)

    def go(self, place: str) -> None:
        view = self._perspectives.get(place)
        if view is None:
            return
        self.close_overlays()
        self.stack.setCurrentWidget(cast("QWidget", view))
        self.rail.show_place(place)
        foot = getattr(view, "foot", None)
        self.toast.keep_clear(foot.height() + self.status.height() + 8 if isinstance(foot, QWidget) else 0)
        self.center.set_place(view.place)
        view.focus_first()

    def columns(self) -> Splitter | None:
        current = self.stack.currentWidget()
        found = current.findChildren(Splitter) if current is not None else []
        return next((one for one in found if one.orientation() is Qt.Orientation.Horizontal), None)

    def reset_layout(self) -> None:
        current = self.perspective(self.place)
        if current is not None:
            current.restore_layout({})
        columns = self.columns()
        if columns is not None:
            columns.reset()

    def say(self, text: str, kind: str = "") -> None:
        """Show a passing message; it offers Undo when it is about a change just made."""
        model = self.workspace
        if model is not None and model.can_offer_undo and kind != "fail":
            self.toast.say(text, self.tr("Undo"), lambda: self.center.trigger("app.undo"), kind=kind)
        else:
            self.toast.say(text, kind=kind)
            self._said_at = 0.0 if kind == "fail" else time.monotonic()

    def say_written(self, text: str, path: str) -> None:
        """Show a message about a file or folder that was written, with a button to see it."""
        self.toast.say(text, self.tr("Show in folder"), lambda: show_in_folder(path), kind="ok")

    def _offer_undo(self) -> None:
        """Add the Undo button when the history reports a change a moment after the message about it."""
        fresh = self.workspace is not None and self.workspace.can_offer_undo
        if fresh and time.monotonic() - self._said_at < UNDO_OFFER_SECONDS and not self.toast.isHidden():
            self._said_at = 0.0
            self.say(self.toast.text)

    def show_error(self, text: str) -> None:
        """Show an error message, which stays until it is closed."""
        self.say(text, "fail")

    # ------------------------------------------------------------ session
    def session(self) -> dict[str, Any]:
        """Perspective, layouts and shortcuts, as JSON."""
        return {
            "perspective": self.place,
            "layouts": {name: view.save_layout() for name, view in self._perspectives.items()},
            "keys": self.center.keymap.changes,
        }

    def restore_session(self, session: dict[str, Any]) -> None:
        """Restore a stored session; parts that no longer fit are left out."""
        keys, layouts = session.get("keys"), session.get("layouts")
        if isinstance(keys, dict):
            self.center.load_keys(cast("dict[str, object]", keys))
        for name, view in self._perspectives.items():
            layout = cast("dict[str, Any]", layouts).get(name) if isinstance(layouts, dict) else None
            view.restore_layout(cast("dict[str, Any]", layout) if isinstance(layout, dict) else {})
        wanted = session.get("perspective")
        self.go(wanted if wanted in self._perspectives else next(iter(self._perspectives), ""))

    def restore_appearance(self, settings: QSettings) -> None:
        """Restore position, size, colours and text size; a window off every screen is moved back."""
        self.theme.set_mode(str(settings.value("mode", self.theme.mode)))
        self.theme.set_zoom(_number(settings.value("zoom"), 1.0))
        geometry = settings.value("geometry")
        if geometry is None or not self.restoreGeometry(geometry):
            # Without a stored place the window manager chooses one that has room for the title bar.
            self.resize(DEFAULT_SIZE)
            return
        screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
        self.setGeometry(ensure_on_screen(self.geometry(), screens, self.minimumSize()))

    def save_appearance(self, settings: QSettings) -> None:
        """Store position, size, colours and text size."""
        settings.setValue("geometry", self.saveGeometry())
        settings.setValue("mode", self.theme.mode)
        settings.setValue("zoom", self.theme.zoom)

    # ------------------------------------------------------------ Qt
    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask before closing; the engine stops first, the window last."""
        if self._closing:
            event.accept()
            return
        event.ignore()
        self.leave()

    def leave(self) -> None:
        """Quit; closes the overlays, which would hide a question."""
        self.close_overlays()
        if self.may_leave():
            self.quit_requested.emit()

    def finish_closing(self) -> None:
        self._closing = True
        self.close()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Emit ``first_painted``."""
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.first_painted.emit)

    def event(self, event: QEvent) -> bool:
        """Give Space and Enter to the focused button before any command.

        While an overlay is open, no key reaches the commands of the place below.
        """
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            owner = self.focusWidget()
            keys = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if (
                event.key() in keys
                and event.modifiers() == Qt.KeyboardModifier.NoModifier
                and isinstance(owner, (QAbstractButton, QComboBox))
            ):
                event.accept()
                return True
            if self._overlays and self.center.is_of_place(QKeySequence(event.keyCombination())):
                event.accept()
                return True
        return super().event(event)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Surround the widget that Tab reached."""
        moved = super().focusNextPrevChild(next)
        if moved:
            self.ring.follow(QApplication.focusWidget())
        return moved

    def close_overlays(self) -> None:
        for overlay in self._overlays:
            overlay.dismiss()

    @property
    def _overlays(self) -> list[Overlay]:
        found = self.frame.findChildren(Overlay, options=Qt.FindChildOption.FindDirectChildrenOnly)
        return [one for one in found if one.isVisible()]

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _paths(event):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self.drop_target.present()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.drop_target.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self.drop_target.hide()
        paths = _paths(event)
        if paths and self.workspace is not None:
            event.setDropAction(Qt.DropAction.CopyAction)  # a file manager may propose to move them
            event.accept()
            self.workspace.import_paths(paths)

    # ------------------------------------------------------------ inside
    def _go_for_command(self, place: str) -> None:
        self.go(OWNERS.get(place, place))

    def _show_info(self) -> None:
        if self.workspace is not None and self.workspace.info is not None:
            info = self.workspace.info
            self.setWindowTitle(f"{info.name} — Sitelore")
            self.top.show_workspace(info.name, info.path)


def ensure_on_screen(window: QRect, screens: list[QRect], smallest: QSize) -> QRect:
    """Return ``window`` if enough of it is visible to be grabbed, else the same size on the first screen."""
    for screen in screens:
        seen = screen.intersected(window)
        if seen.width() >= 100 and seen.height() >= 60 and window.top() >= screen.top() - 8:
            return window
    if not screens:
        return window
    size = window.size().boundedTo(screens[0].size()).expandedTo(smallest)
    result = QRect(screens[0].topLeft(), size)
    result.moveCenter(screens[0].center())
    if not screens[0].contains(result):
        result.moveTopLeft(screens[0].topLeft())
    return result


def _paths(event: QDropEvent) -> list[str]:
    return [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]


def _number(value: object, otherwise: float) -> float:
    try:
        return float(str(value))
    except ValueError:
        return otherwise


BREAKS = {
    "app.jobs",
    "app.quit",
    "app.search",
    "app.keys",
    "tip.compose",
    "review.filter",
    "app.about",
    "kb.freeze",
    "map.next",
    "map.links",
    "map.merge",
    "map.verify",
    "live.next",
    "live.policy",
    "live.stop",
    "live.edit",
}
"""Commands that begin a new group in their menu."""


def build_menus(bar: QMenuBar, center: CommandCenter, theme: Theme) -> dict[str, QMenu]:
    """Fill ``bar``; returns the menus by path (``View/Colours``)."""
    menus: dict[str, QMenu] = {title: bar.addMenu(center.tr(title)) for title in MENUS}
    for command in center.commands:
        if not command.menu:
            continue
        menu = menus.get(command.menu)
        if menu is None:
            parent, _, title = command.menu.partition("/")
            menu = menus[command.menu] = menus[parent].addMenu(center.tr(title))
        action = center.action(command.id)
        if command.id in BREAKS and not menu.isEmpty():
            menu.addSeparator()
        if command.icon:
            action.setIcon(theme.icon(command.icon, "muted"))
        menu.addAction(action)
    for menu in menus.values():
        menu.setToolTipsVisible(False)
        menu.aboutToShow.connect(center.refresh)

    def show_only_here(place: str) -> None:
        """Show only the perspective's own menu."""
        for view in PERSPECTIVES:
            menus[view.title].menuAction().setVisible(place in view.places)

    center.place_changed.connect(show_only_here)
    show_only_here(center.place)
    return menus
