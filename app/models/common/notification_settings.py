"""Applies the notification settings at start and after each save."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app import settings
from app.settings import Settings

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.notifications import NotificationModel
    from app.models.common.settings_form import SettingsForm
    from app.models.common.tasks import Tasks


class NotificationSettings(QObject):
    """Applies the settings to the notification model and to the engine, also after the engine was restarted.

    ``notifications_changed`` carries the chosen channel: ``desktop``, ``window`` or ``off``.
    """

    notifications_changed = Signal(str)

    def __init__(
        self,
        client: EngineEvents,
        tasks: Tasks,
        calls: NotificationModel,
        form: SettingsForm,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._calls = client, tasks, calls
        self._at_once = Settings().at_once
        form.saved.connect(self._on_saved)
        client.host_changed.connect(self._on_host)

    def load(self) -> None:
        """Read the effective settings (the file, overridden by the environment) on a worker thread."""
        self._tasks.start(asyncio.to_thread(settings.load), self._take, key="call-settings")

    def _on_saved(self, _values: dict[str, object]) -> None:
        self.load()

    def _take(self, found: Settings) -> None:
        self._calls.quiet.set_hours(found.quiet_hours)
        self.notifications_changed.emit(found.notifications)
        if found.at_once != self._at_once:
            self._at_once = found.at_once
            self._tell_the_engine()

    def _on_host(self, message: str) -> None:
        if not message and self._at_once != Settings().at_once:
            self._tell_the_engine()

    def _tell_the_engine(self) -> None:
        self._tasks.start(self._client.api.set_concurrency(self._at_once), key="call-at-once")
