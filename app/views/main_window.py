"""The window's frame: rail, top bar, the perspective in the middle, status line; menus, overlays, messages.

It is shown empty at first; ``attach`` and ``add_perspective`` fill it when the engine and the views are there.
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
    QComboBox,
    QHBoxLayout,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.models.commands import CommandCenter
from app.views.banner import Banner
from app.views.menus import build_menus
from app.views.rail import Rail
from app.views.status import StatusBar
from app.views.theme import Theme
from app.views.top_bar import TopBar
from app.views.welcome import DropTarget, Welcome
from app.views.widgets.overlay import Overlay
from app.views.widgets.splitter import Splitter
from app.views.widgets.toast import Toast

if TYPE_CHECKING:
    from app.models.jobs import JobList
    from app.models.search import SearchModel
    from app.models.settings_form import SettingsForm
    from app.models.workspace import WorkspaceModel

SMALLEST = QSize(960, 600)
USUAL = QSize(1280, 800)
SAID_JUST_NOW = 1.5
"""Seconds after a message in which word of its deed still gives it an Undo button."""
RAIL_TITLES = {"review": "Review", "map": "Map", "live": "Live", "knowledge": "Knowledge"}


class Perspective(Protocol):
    """What the frame asks of a perspective; it is a ``QWidget`` too."""

    @property
    def place(self) -> str:
        """Its name in the command table."""
        ...

    def save_layout(self) -> dict[str, Any]:
        """Splitters and columns, as JSON."""
        ...

    def restore_layout(self, layout: dict[str, Any]) -> None:
        """Take them back."""
        ...

    def focus_first(self) -> None:
        """Give the keys to its list."""
        ...


class MainWindow(QMainWindow):
    """Signals:

    first_painted: the first picture is on the screen.
    quit_requested: the person wants to leave, and ``may_leave`` lets them; the window stays until ``close_for_good``.
    dropped: paths of files and folders let go over the window.
    """

    first_painted = Signal()
    quit_requested = Signal()

    def __init__(self, center: CommandCenter, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.center, self.theme = center, theme
        self._perspectives: dict[str, Perspective] = {}
        self._closing, self._painted = False, False
        self.may_leave: Callable[[], bool] = lambda: True
        """Asked before ``quit_requested``; whoever says no says why, and calls ``leave`` again."""
        self.workspace: WorkspaceModel | None = None
        self._said_at = 0.0
        self.setWindowTitle("Sitelore")
        self.setMinimumSize(SMALLEST)
        self.setAcceptDrops(True)
        self.rail, self.top, self.status = (
            Rail(center, theme),
            TopBar(center, theme),
            StatusBar(center, theme),
        )
        self.banner, self.stack = Banner(theme), QStackedWidget()
        self.welcome = Welcome(center, theme)
        self.stack.addWidget(self.welcome)
        self.frame = QWidget()
        self.frame.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.rail)
        middle.addWidget(self.stack, 1)
        layout = QVBoxLayout(self.frame)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.top)
        layout.addWidget(self.banner)
        layout.addLayout(middle, 1)
        layout.addWidget(self.status)
        self.setCentralWidget(self.frame)
        self.frame.setFocus()
        self.toast = Toast(self.frame)
        self.drop_target = DropTarget(theme, self.frame)
        self.menus = build_menus(self.top.menu_bar, center, theme)
        if sys.platform == "darwin":
            self.setMenuBar(self.top.menu_bar)
        self.addActions(center.actions())
        center.place_wanted.connect(self._go_for_command)

    # ------------------------------------------------------------ being filled
    def attach(
        self, workspace: WorkspaceModel, jobs: JobList, search: SearchModel, form: SettingsForm
    ) -> None:
        """Connect the frame to the engine's models and bind its commands."""
        from app.views.frame_commands import FrameCommands

        self.workspace = workspace
        self.status.bind(workspace)
        workspace.info_changed.connect(self._show_info)
        workspace.said.connect(self.say)
        workspace.history_changed.connect(self._offer_undo)
        workspace.host_said.connect(self.banner.tell)
        self.commands = FrameCommands(self, workspace, jobs, search, form)
        workspace.index_damaged.connect(self.commands.offer_rebuild)
        self.center.refresh()

    def add_perspective(self, view: QWidget) -> None:
        """Put a perspective behind its button in the rail."""
        perspective = cast("Perspective", view)
        place = perspective.place
        self._perspectives[place] = perspective
        self.stack.addWidget(view)
        self.rail.add(place, self.tr(RAIL_TITLES.get(place, place.title())))
        self.center.bind(f"go.{place}", lambda: self.go(place))

    # ------------------------------------------------------------ where the person is
    @property
    def place(self) -> str:
        """The perspective shown, "" before there is one."""
        current = self.stack.currentWidget()
        return next(
            (name for name, view in self._perspectives.items() if cast("QWidget", view) is current), ""
        )

    @property
    def places(self) -> list[str]:
        """Every perspective, in the rail's order."""
        return list(self._perspectives)

    def perspective(self, place: str) -> Perspective | None:
        """A perspective by its place."""
        return self._perspectives.get(place)

    def go(self, place: str) -> None:
        """Show a perspective and give it the keys."""
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
        """The columns of the perspective shown."""
        current = self.stack.currentWidget()
        found = current.findChildren(Splitter) if current is not None else []
        return next((one for one in found if one.orientation() is Qt.Orientation.Horizontal), None)

    def say(self, text: str, kind: str = "") -> None:
        """A passing message; it offers Undo when it is about a deed just done."""
        model = self.workspace
        if model is not None and model.deed_is_fresh and kind != "fail":
            self.toast.say(text, self.tr("Undo"), lambda: self.center.trigger("app.undo"), kind=kind)
        else:
            self.toast.say(text, kind=kind)
            self._said_at = 0.0 if kind == "fail" else time.monotonic()

    def _offer_undo(self) -> None:
        """The history says what a deed was a moment after the message about it: then it gets its button."""
        fresh = self.workspace is not None and self.workspace.deed_is_fresh
        if fresh and time.monotonic() - self._said_at < SAID_JUST_NOW and not self.toast.isHidden():
            self._said_at = 0.0
            self.say(self.toast.text)

    def complain(self, text: str) -> None:
        """A message about something that failed; it stays until it is closed."""
        self.say(text, "fail")

    # ------------------------------------------------------------ session
    def session(self) -> dict[str, Any]:
        """Perspective, layouts and keys, as JSON."""
        return {
            "perspective": self.place,
            "layouts": {name: view.save_layout() for name, view in self._perspectives.items()},
            "keys": self.center.keymap.changes,
        }

    def restore_session(self, session: dict[str, Any]) -> None:
        """Take a stored session; what does not fit any more is left out."""
        keys, layouts = session.get("keys"), session.get("layouts")
        if isinstance(keys, dict):
            self.center.load_keys(cast("dict[str, object]", keys))
        for name, view in self._perspectives.items():
            layout = cast("dict[str, Any]", layouts).get(name) if isinstance(layouts, dict) else None
            view.restore_layout(cast("dict[str, Any]", layout) if isinstance(layout, dict) else {})
        wanted = session.get("perspective")
        self.go(wanted if wanted in self._perspectives else next(iter(self._perspectives), ""))

    def restore_look(self, settings: QSettings) -> None:
        """Place, size, colours and text size of the last time; a window off every screen comes back."""
        self.theme.set_mode(str(settings.value("mode", self.theme.mode)))
        self.theme.set_zoom(_number(settings.value("zoom"), 1.0))
        geometry = settings.value("geometry")
        if geometry is None or not self.restoreGeometry(geometry):
            self.resize(USUAL)
        screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
        self.setGeometry(rescued(self.geometry(), screens, self.minimumSize()))

    def save_look(self, settings: QSettings) -> None:
        """Keep them."""
        settings.setValue("geometry", self.saveGeometry())
        settings.setValue("mode", self.theme.mode)
        settings.setValue("zoom", self.theme.zoom)

    # ------------------------------------------------------------ Qt
    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask to leave; the engine is told first, the window goes last."""
        if self._closing:
            event.accept()
            return
        event.ignore()
        self.leave()

    def leave(self) -> None:
        """The person wants to leave; a panel over the window would hide what is asked first."""
        self.close_overlays()
        if self.may_leave():
            self.quit_requested.emit()

    def close_for_good(self) -> None:
        """Everything is stored and stopped: go."""
        self._closing = True
        self.close()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Tell when the first picture is there."""
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.first_painted.emit)

    def event(self, event: QEvent) -> bool:
        """Space and Enter belong to the button that has the keys, before any command.

        While a panel lies over a place, no key reaches the commands of that place.
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

    def close_overlays(self) -> None:
        """Take away what lies over the place."""
        for overlay in self._overlays:
            overlay.dismiss()

    @property
    def _overlays(self) -> list[Overlay]:
        """Panels that lie over the place now."""
        found = self.frame.findChildren(Overlay, options=Qt.FindChildOption.FindDirectChildrenOnly)
        return [one for one in found if one.isVisible()]

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files and folders may be let go here."""
        if _paths(event):
            event.acceptProposedAction()
            self.drop_target.present()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Gone again."""
        self.drop_target.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        """Import what was let go."""
        self.drop_target.hide()
        paths = _paths(event)
        if paths and self.workspace is not None:
            event.acceptProposedAction()
            self.workspace.import_runs(paths)

    # ------------------------------------------------------------ inside
    def _go_for_command(self, place: str) -> None:
        self.go("review" if place == "composer" else place)

    def _show_info(self) -> None:
        if self.workspace is not None and self.workspace.info is not None:
            info = self.workspace.info
            self.setWindowTitle(f"{info.name} — Sitelore")
            self.top.show_workspace(info.name, info.path)


def rescued(window: QRect, screens: list[QRect], smallest: QSize) -> QRect:
    """``window`` if enough of it can be seen to be grabbed, else the same size on the first screen."""
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
