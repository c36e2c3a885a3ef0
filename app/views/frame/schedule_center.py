"""Scheduled work put together: its models, its notes, and the panel, which is made when it is first opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.models.common.desktop_notifications import DesktopNotification
from app.models.common.schedule_model import ScheduledTask, ScheduleModel
from app.models.common.schedule_notes import ScheduleNote, ScheduleNotes

if TYPE_CHECKING:
    from app.engine.core.schedule import ScheduleResult
    from app.models.common.engine_client import EngineClient, LocalClient
    from app.models.common.tasks import Tasks
    from app.views.frame.main_window import MainWindow
    from app.views.frame.notification_center import NotificationCenter
    from app.views.frame.schedule_panel import SchedulePanel


class ScheduleCenter(QObject):
    """Signals:

    map_wanted(site): what changed on this map is to be shown.
    tips_wanted(words): the tips that pass this filter are to be shown in Knowledge.
    """

    map_wanted = Signal(str)
    tips_wanted = Signal(str)

    def __init__(
        self,
        window: MainWindow,
        client: EngineClient | LocalClient,
        tasks: Tasks,
        center: NotificationCenter,
    ) -> None:
        super().__init__(window)
        self._window, self._notifier = window, center.notifier
        self.model = ScheduleModel(client, tasks, self)
        self.notes = ScheduleNotes(client, center.calls, self)
        self._panel: SchedulePanel | None = None
        self.notes.wanted.connect(self._show_note)
        self.model.notice.connect(window.say)
        self.model.changes_wanted.connect(self._open)
        window.center.bind("app.schedule", self.toggle)

    @property
    def panel(self) -> SchedulePanel:
        if self._panel is None:
            from app.views.frame.schedule_panel import SchedulePanel

            self._panel = SchedulePanel(self.model, self._window.theme, self._window.frame)
        return self._panel

    def toggle(self) -> None:
        """Open or close the panel."""
        self.panel.toggle()

    def begin_map(self, site: str) -> None:
        """Open the panel on a new entry that explores this site again."""
        self._begin(ScheduledTask.EXPLORE, site)

    def begin_tips(self, site: str) -> None:
        """Open the panel on a new entry that tests this site's tips."""
        self._begin(ScheduledTask.TEST_TIPS, site)

    def _begin(self, task: ScheduledTask, site: str) -> None:
        self.model.begin(task, site)
        self.panel.present()

    def _show_note(self, note: ScheduleNote) -> None:
        shown = DesktopNotification(
            key=note.key, title=note.title, body=note.body, urgency=int(note.is_failure)
        )
        self._notifier.show_note(shown, lambda: self._follow(note.result), is_failure=note.is_failure)

    def _follow(self, result: ScheduleResult | None) -> None:
        if result is not None and (result.changes or result.suspects):
            self._open(result)
        else:
            self.model.show(result.schedule if result is not None else "")
            self.panel.present()

    def _open(self, result: ScheduleResult) -> None:
        """Lead to the suspects in Knowledge, else to the map's changes, else to the site's tips."""
        self._window.close_overlays()
        site = f'"{result.site}"' if " " in result.site else result.site
        if result.suspects:
            self.tips_wanted.emit(f"site:{site} status:suspect")
        elif result.task is ScheduledTask.TEST_TIPS:
            self.tips_wanted.emit(f"site:{site}")
        else:
            self.map_wanted.emit(result.site)
