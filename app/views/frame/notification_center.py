"""Notifications put together: models, desktop notes and badges, the policy editor, and the question before
quitting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.models.common.notification_settings import NotificationSettings
from app.models.common.notifications import NotificationModel
from app.models.live.intervention_policy import InterventionPolicyModel
from app.views.frame.notifier import Notifier
from app.views.frame.quit_confirmation import QuitConfirmation
from app.views.live.policy_pane import PolicyPane

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineClient, LocalClient
    from app.models.common.settings_form import SettingsForm
    from app.models.common.tasks import Tasks
    from app.models.live.model import LiveModel
    from app.views.frame.main_window import MainWindow
    from app.views.live.view import LiveView


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

    def _look(self, _where: object = None) -> None:
        """Report the run that is open large while Live is shown."""
        self.calls.look_at(self._live.run if self._window.center.place == "live" else "")

    def _open(self, run: str) -> None:
        self._window.go("live")
        self._live.open(run)
