"""The window's session: collected from the window, kept in the workspace, saved each minute and at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

AUTOSAVE_SECONDS = 60
VERSION = 1


class SessionKeeper(QObject):
    """Saves the result of ``collect()`` whenever it differs from the last saved one.

    ``saved_changed`` carries True after a save, False when a save failed.
    """

    saved_changed = Signal(bool)

    def __init__(
        self,
        client: EngineEvents,
        tasks: Tasks,
        collect: Callable[[], dict[str, Any]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._collect = client, tasks, collect
        self._last: dict[str, Any] = {}
        self._timer = QTimer(self, interval=AUTOSAVE_SECONDS * 1000)
        self._timer.timeout.connect(self.save)

    async def load(self) -> dict[str, Any]:
        """Return the stored session, {} for none or one of a newer version, and start autosaving."""
        stored = await self._client.api.load_session()
        self._timer.start()
        if stored.get("version", VERSION) != VERSION:
            return {}
        self._last = stored
        return stored

    def save(self) -> None:
        session = self._now()
        if session != self._last:
            self._tasks.start(
                self._client.api.save_session(session),
                lambda _none: self._on_saved(session),
                lambda _error: self.saved_changed.emit(False),
                key="frame-session",
            )

    async def finish(self) -> None:
        """Save for the last time and wait for it."""
        self._timer.stop()
        self._tasks.cancel("frame-session")
        session = self._now()
        if session != self._last:
            await self._client.api.save_session(session)

    def _now(self) -> dict[str, Any]:
        return {"version": VERSION, **self._collect()}

    def _on_saved(self, session: dict[str, Any]) -> None:
        self._last = session
        self.saved_changed.emit(True)
