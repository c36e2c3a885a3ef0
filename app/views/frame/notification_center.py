"""Notifications put together: models, desktop notes and badges, the policy editor, and the question before
quitting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

from app.models.common.desktop_notifications import DesktopNotification
from app.models.common.notifications import NotificationModel, NotificationSettings
from app.models.live.batch_words import spent_words
from app.models.live.intervention_policy import InterventionPolicyModel
from app.views.frame.notifier import Notifier
from app.views.live.policy_pane import PolicyPane

if TYPE_CHECKING:
    from app.engine.core.batch import BatchRow
    from app.models.common.commands import CommandCenter
    from app.models.common.engine_client import EngineClient, LocalClient
    from app.models.common.settings_form import SettingsForm
    from app.models.common.tasks import Tasks
    from app.models.live.model import LiveModel
    from app.views.frame.main_window import MainWindow
    from app.views.live.view import LiveView


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


class NotificationCenter(QObject):
    """Its models exist from the start; ``attach`` puts the policy editor into Live."""

    def __init__(
        self,
        window: MainWindow,
        client: EngineClient | LocalClient,
        tasks: Tasks,
        live: LiveModel,
        form: SettingsForm,
    ) -> None:
        super().__init__(window)
        self._window, self._live = window, live
        self.calls = NotificationModel(client, tasks, self)
        self.policy = InterventionPolicyModel(client, tasks, self)
        self.settings = NotificationSettings(client, tasks, self.calls, form, self)
        self.notifier = Notifier(self.calls, window, tasks, window.center, window.theme)
        self.leaving = QuitConfirmation(self.calls, window, window.center)
        self.settings.notifications_changed.connect(self.notifier.set_mode)
        self.policy.saved.connect(self.calls.set_policy)
        self.policy.notice.connect(window.say)
        self.calls.opened.connect(self._open)
        live.opened.connect(self._look)
        live.batches.out_of_budget.connect(self._tell_out_of_budget)
        window.center.place_changed.connect(self._look)

    def attach(self, view: LiveView) -> None:
        """Add the policy editor to Live and bind its command."""
        center = self._window.center
        pane = PolicyPane(self.policy, center, self._window.theme)
        view.add_form(pane)
        center.bind("live.policy", lambda: view.open_form(pane))

    def start(self) -> None:
        """Load the live runs, the policy and the settings; show the tray icon."""
        self.settings.load()
        self.calls.start()
        self.notifier.show_tray()

    def _tell_out_of_budget(self, row: BatchRow) -> None:
        """Say that no further run of a batch is started; in quiet hours only its row says so."""
        if not self.calls.enabled or self.calls.quiet.is_on:
            return
        note = DesktopNotification(
            key=row.id,
            title=self.tr("Batch {0} is out of budget").format(row.name),
            body=self.tr("{0} of {1} done; {2}").format(row.ended, row.total, spent_words(row)),
        )
        self.notifier.show_note(note, lambda: self._open_batch(row.id))

    def _open_batch(self, batch: str) -> None:
        self._window.go("live")
        self._live.batches.open(batch)

    def _look(self, _where: object = None) -> None:
        """Report the run that is open large while Live is shown."""
        self.calls.look_at(self._live.run if self._window.center.place == "live" else "")

    def _open(self, run: str) -> None:
        self._window.go("live")
        self._live.open(run)
