"""Shows notifications: on the desktop, else by the tray, else in the window; keeps the badges; opens the run."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QMenu, QSystemTrayIcon

from app.models.common.desktop_notifications import DesktopNotification, DesktopNotifications
from app.models.common.notifications import Urgency

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.common.notifications import Notification, NotificationModel
    from app.models.common.tasks import Tasks
    from app.views.frame.main_window import MainWindow
    from app.views.frame.theme import Theme

MODES = ("desktop", "window", "off")
_BADGE = re.compile(r"^\(\d+\) ")
_ICONS = {
    Urgency.BLOCKED: QSystemTrayIcon.MessageIcon.Warning,
    Urgency.FLAGGED: QSystemTrayIcon.MessageIcon.Warning,
    Urgency.FAILED: QSystemTrayIcon.MessageIcon.Critical,
    Urgency.DONE: QSystemTrayIcon.MessageIcon.Information,
}
ICON_PIXELS = 64
MAX_TOAST = 160
"""Characters of a notification in the window; it is about one run of many, and must not cover them."""
NOTE_SECONDS = 12.0
"""How long one stays there; the wall and the notes of the desktop keep what it says."""


class Notifier(QObject):
    """Shows and follows notifications; ``calls.opened`` carries the run to open."""

    def __init__(
        self, calls: NotificationModel, window: MainWindow, tasks: Tasks, center: CommandCenter, theme: Theme
    ) -> None:
        super().__init__(window)
        self._calls, self._window, self._center, self._theme = calls, window, center, theme
        self.mode = "desktop"
        self.desktop = DesktopNotifications(tasks, self)
        self.tray: QSystemTrayIcon | None = None
        self._shown: dict[str, tuple[str, ...]] = {}
        self._latest: Notification | None = None
        self._other: dict[str, Callable[[], None]] = {}
        self._latest_other = ""
        """Notes that are not about runs, and the key of the newest thing told if it is one of them."""
        self._said = ""
        self.desktop.followed.connect(self._follow)
        self.desktop.lost.connect(self._not_on_the_desktop)
        calls.called.connect(self._show)
        calls.settled.connect(self._settled)
        calls.waiting_changed.connect(self._badge)
        calls.quiet.changed.connect(self._quiet)
        window.windowTitleChanged.connect(self._title)
        window.installEventFilter(self)
        center.bind("go.call", self.open_latest, lambda: bool(self._latest_other or self._next_run()))
        center.bind("live.quiet", calls.quiet.toggle)
        calls.set_active(window.isActiveWindow())
        self._badge(len(calls.waiting))

    # ------------------------------------------------------------ how
    def set_mode(self, mode: str) -> None:
        """Set the channel: ``desktop``, ``window`` alone, or ``off`` (badges only)."""
        self.mode = mode if mode in MODES else "desktop"
        self._calls.enabled = self.mode != "off"

    def show_tray(self) -> None:
        """Show the tray icon, if the desktop has a tray."""
        if self.tray is None and QSystemTrayIcon.isSystemTrayAvailable():
            self.use_tray(QSystemTrayIcon(self))

    def use_tray(self, tray: QSystemTrayIcon) -> None:
        """Use this tray icon, with the badge and a menu."""
        self.tray = tray
        menu = QMenu(self._window)
        menu.addAction(self._center.action("go.call"))
        menu.addAction(self._center.action("live.quiet"))
        menu.addAction(self.tr("Show the window"), self._come_to_the_front)
        tray.setContextMenu(menu)
        tray.activated.connect(self._on_tray)
        tray.messageClicked.connect(self.open_latest)
        self._badge(len(self._calls.waiting))
        tray.show()

    def open_latest(self) -> None:
        """Open what was notified last, or else a run that waits."""
        if self._latest_other:
            self._follow(self._latest_other)
            return
        run = self._next_run()
        if run:
            self._open(run)

    def show_note(
        self, note: DesktopNotification, follow: Callable[[], None], *, is_failure: bool = False
    ) -> None:
        """Show a note that is about no run; a click or the key of the next alert follows it."""
        self._other[note.key], self._latest_other = follow, note.key
        self._center.refresh()
        if self.mode == "desktop":
            self.desktop.show(note)
        else:
            self._note_in_the_window(note, is_failure=is_failure)

    # ------------------------------------------------------------ calls
    def _show(self, call: Notification) -> None:
        self._latest, self._latest_other = call, ""
        note = self._note(call)
        self._shown[note.key] = call.runs
        self._center.refresh()
        if self.mode == "desktop":
            self.desktop.show(note)
        else:
            self._in_the_window(call)

    def _note(self, call: Notification) -> DesktopNotification:
        title, body = self._calls.words_of(call)
        key = call.run if len(call.runs) == 1 else f"{len(call.runs)} runs"
        return DesktopNotification(
            key=key, title=title, body=body, urgency=int(call.weight > Urgency.FLAGGED)
        )

    def _not_on_the_desktop(self, note: DesktopNotification) -> None:
        if note.key in self._other:
            self._note_in_the_window(note, is_failure=bool(note.urgency))
            return
        call = self._latest
        if call is None or self._note(call) != note:
            return  # a newer one is under way
        if self.tray is not None and self.tray.isVisible() and self.tray.supportsMessages():
            self.tray.showMessage(note.title, note.body, _ICONS[call.weight])
        else:
            self._in_the_window(call)

    def _in_the_window(self, call: Notification) -> None:
        title, body = self._calls.words_of(call)
        first = body.partition("\n")[0]
        words = f"{title} · {first}" if len(call.runs) == 1 else title
        words = words if len(words) <= MAX_TOAST else f"{words[: MAX_TOAST - 1].rstrip()}…"
        kind = "fail" if call.weight is Urgency.FAILED else ""
        keys = self._center.keys("go.call")
        look = self.tr("Open  {0}").format(keys) if keys else self.tr("Open")
        self._said = words
        self._window.toast.say(words, look, lambda: self._open(call.run), kind=kind, seconds=NOTE_SECONDS)

    def _note_in_the_window(self, note: DesktopNotification, *, is_failure: bool) -> None:
        words = f"{note.title} · {note.body.partition(chr(10))[0]}"
        keys = self._center.keys("go.call")
        look = self.tr("Open  {0}").format(keys) if keys else self.tr("Open")
        self._window.toast.say(words, look, lambda: self._follow(note.key), kind="fail" if is_failure else "")

    def _settled(self, run: str) -> None:
        for key, runs in list(self._shown.items()):
            left = tuple(one for one in runs if one != run)
            if left:
                self._shown[key] = left
            else:
                del self._shown[key]
                self.desktop.withdraw(key)
                if self._said and self._window.toast.text == self._said:
                    self._window.toast.hide()
        self._center.refresh()

    # ------------------------------------------------------------ the way to the run
    def _next_run(self) -> str:
        waiting = self._calls.waiting
        latest = self._latest
        if latest is not None and (latest.run in waiting or not waiting):
            return latest.run
        return waiting[0] if waiting else ""

    def _follow(self, key: str) -> None:
        if key in self._other:
            follow = self._other.pop(key)
            self._latest_other = self._latest_other if self._latest_other != key else ""
            self._come_to_the_front()
            follow()
            self._center.refresh()
            return
        runs = self._shown.pop(key, ())
        waiting = [run for run in runs if run in self._calls.waiting]
        self._open(next(iter(waiting or runs), self._next_run()))

    def _open(self, run: str) -> None:
        self._latest = None
        self._come_to_the_front()
        if run:
            self._calls.open(run)

    def _come_to_the_front(self) -> None:
        window = self._window
        if window.isMinimized():
            window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.show()
        window.raise_()
        window.activateWindow()

    def _on_tray(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason in (
            QSystemTrayIcon.ActivationReason.Trigger,
            QSystemTrayIcon.ActivationReason.DoubleClick,
        ):
            self._come_to_the_front()
            self.open_latest()

    # ------------------------------------------------------------ badges
    def _badge(self, count: int) -> None:
        self._title(self._window.windowTitle())
        self._window.rail.show_count("live", count)
        if self.tray is not None:
            self.tray.setIcon(badged(self._window.windowIcon(), count, self._theme))
            words = self.tr("{0} runs need you").format(count) if count else self.tr("No run needs you")
            self.tray.setToolTip(f"Sitelore: {words}")
        self._center.refresh()

    def _title(self, title: str) -> None:
        """Put the count before the window's title."""
        count, bare = len(self._calls.waiting), _BADGE.sub("", title)
        wanted = f"({count}) {bare}" if count else bare
        if wanted != title:
            self._window.setWindowTitle(wanted)

    def _quiet(self, words: str) -> None:
        self._center.set_title("live.quiet", self.tr("End quiet mode") if words else "")
        self._window.say(words or self.tr("Notifications on"))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the window's focus: a run is only watched while the window is active."""
        if event.type() is QEvent.Type.ActivationChange:
            self._calls.set_active(self._window.isActiveWindow())
        return super().eventFilter(watched, event)


def badged(icon: QIcon, count: int, theme: Theme) -> QIcon:
    """Return the icon with a number on it, "9+" from ten on; unchanged for 0."""
    picture = QPixmap(ICON_PIXELS, ICON_PIXELS)
    picture.fill(QColor(0, 0, 0, 0))
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    icon.paint(painter, picture.rect())
    if count > 0:
        place = QRectF(ICON_PIXELS * 0.36, ICON_PIXELS * 0.36, ICON_PIXELS * 0.64, ICON_PIXELS * 0.64)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("fail"))
        painter.drawEllipse(place)
        font = QApplication.font()
        font.setPixelSize(round(place.height() * (0.72 if count < 10 else 0.52)))
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(theme.color("raised"))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, str(count) if count < 10 else "9+")
    painter.end()
    return QIcon(picture)
