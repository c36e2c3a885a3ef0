"""Asks before quitting while runs are active, by a banner that does not block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.common.notifications import NotificationModel
    from app.views.frame.main_window import MainWindow


class QuitConfirmation(QObject):
    """Asks once; quitting again while the question is open means yes."""

    def __init__(self, calls: NotificationModel, window: MainWindow, center: CommandCenter) -> None:
        super().__init__(window)
        self._calls, self._window, self._center = calls, window, center
        self._question = self._former = ""
        self._pausing = False
        self._before: QWidget | None = None
        window.may_leave = self._may_leave

    @property
    def is_asking(self) -> bool:
        """Whether the question is shown."""
        return bool(self._question) and self._window.banner.text == self._question

    def _may_leave(self) -> bool:
        going = self._calls.going
        if not going or self._pausing:
            return True
        if self.is_asking:
            self._pause_and_quit()
            return False
        self._former = self._window.banner.text
        self._question = (
            self.tr("{0} runs are active. Pause them and quit? You can resume them later.").format(going)
            if going > 1
            else self.tr("A run is active. Pause it and quit? You can resume it later.")
        )
        focused = QApplication.focusWidget()
        self._before = focused if focused is not None and focused.window() is self._window else None
        keys = self._center.keys("app.quit")
        yes = self.tr("Pause and quit  {0}").format(keys) if keys else self.tr("Pause and quit")
        self._window.banner.ask(self._question, yes, self._pause_and_quit, self.tr("Stay  Esc"), self._stay)
        return False

    def _pause_and_quit(self) -> None:
        self._question, self._pausing = "", True
        self._window.banner.tell(self.tr("Pausing the runs…"))
        self._calls.pause_all(self._window.leave)

    def _stay(self) -> None:
        self._question = ""
        self._window.banner.tell(self._former)
        if self._before is not None and self._before.isVisible():
            self._before.setFocus()
        self._before = None
