"""Scheduled work in the window: the entries, the one in the form with its results, and what can be done with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.schedule_api import ScheduleRow
from app.engine.core.schedule import ScheduledTask, ScheduleResult
from app.engine.core.schedule_words import (
    day_words,
    last_words,
    plan_words,
    result_words,
    task_words,
    time_words,
)
from app.models.common.object_list import ObjectList
from app.models.common.schedule_form import ScheduleForm
from app.models.common.tasks import ignore
from app.models.common.translate import tr

if TYPE_CHECKING:
    from app.engine.api.graph_api import GraphRow
    from app.engine.api.site_api import SiteRow
    from app.engine.core.events import ScheduleChanged
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

__all__ = [
    "NEW",
    "ScheduleModel",
    "ScheduledTask",
    "day_words",
    "last_words",
    "plan_words",
    "result_words",
    "task_words",
    "time_words",
]

NEW = ""
"""The id of the entry that is not stored yet."""


class ScheduleList(ObjectList[ScheduleRow]):
    """The entries."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.schedule.id, parent)

    def words(self, value: ScheduleRow) -> str:
        """Return a row in one line."""
        entry = value.schedule
        last = tr("; last: {0}").format(last_words(value.results[0])) if value.results else ""
        return f"{task_words(entry.task)}, {entry.site}, {plan_words(entry)}{last}"


class ScheduleResultList(ObjectList[ScheduleResult]):
    """The newest results of an entry."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda result: (result.schedule, result.started_at, result.ended_at), parent)

    def words(self, value: ScheduleResult) -> str:
        """Return a result in one line."""
        return last_words(value)


class ScheduleModel(QObject):
    """Signals:

    changed: other rows, another entry in the form, or what was typed.
    arrived: the entries were read for the first time since the panel was opened.
    notice: a sentence about what was done.
    changes_wanted: a person wants to see what this ``ScheduleResult`` found.
    """

    changed = Signal()
    arrived = Signal()
    notice = Signal(str)
    changes_wanted = Signal(object)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.list, self.results = ScheduleList(self), ScheduleResultList(self)
        self.form = ScheduleForm(self)
        self.shown = NEW
        self.is_loaded = self.is_saving = False
        self._sorts = True
        client.schedule_changed.connect(self._on_changed)
        self.form.changed.connect(self.changed)

    @property
    def row(self) -> ScheduleRow | None:
        """The stored entry in the form."""
        return self.list.at(self.list.row_of(self.shown)) if self.shown else None

    @property
    def newest(self) -> ScheduleResult | None:
        """The newest result of the entry in the form."""
        row = self.row
        return row.results[0] if row is not None and row.results else None

    def open(self) -> None:
        """Read entries and sites, the next entry first; rows stay where they are until it is opened again."""
        self._sorts = True
        self.load()
        self._tasks.start(self._names(), self._take_names, ignore, key="schedule-sites")

    def load(self) -> None:
        """Read the entries; what was typed stays."""
        self._tasks.start(self._client.api.schedules(), self._take, key="schedule")

    def show(self, entry: str) -> None:
        """Show an entry, or the form of a new one."""
        if entry != self.shown or entry == NEW:
            self.shown = entry
            row = self.row
            self.form.show(row.schedule if row is not None else None)
            self._show_results()

    def begin(self, task: ScheduledTask, site: str) -> None:
        """Begin a new entry with this work on this site."""
        self.show(NEW)
        self.form.set("task", task.value)
        self.form.set("site", site)

    # ------------------------------------------------------------ what a person does
    def save(self) -> bool:
        """Store the form; return whether it could be sent."""
        if self.form.problems or self.is_saving:
            return False
        self.is_saving = True
        work = self._client.api.save_schedule(self.form.schedule)
        self._tasks.start(work, self._saved, self._failed)
        self.changed.emit()
        return True

    def discard(self) -> None:
        """Show the entry as it is stored."""
        row = self.row
        self.form.show(row.schedule if row is not None else None)

    def toggle(self) -> None:
        """Switch the entry on or off."""
        row = self.row
        if row is not None:
            entry = replace(row.schedule, is_on=not row.schedule.is_on, at=0.0)
            self._tasks.start(self._client.api.save_schedule(entry), None, self._failed)

    def remove(self) -> None:
        """Remove the entry; undo brings it back."""
        row = self.row
        if row is None:
            return
        words = f"{task_words(row.schedule.task)}, {row.schedule.site}"

        def removed(_none: None) -> None:
            self.notice.emit(tr("Removed: {0}").format(words))

        self._tasks.start(self._client.api.remove_schedule(row.schedule.id), removed, self._failed)

    def run_now(self) -> None:
        """Do the entry now; what changed arrives as a note, that nothing changed as a passing message."""
        row = self.row
        if row is None or row.is_active:
            return

        def done(result: ScheduleResult) -> None:
            if not (result.changes or result.suspects or result.error):
                self.notice.emit(f"{result.site}: {result_words(result)[0]}")

        self._tasks.start(self._client.api.run_schedule(row.schedule.id), done, self._failed)

    def open_changes(self, result: ScheduleResult | None = None) -> None:
        """Ask to see what a result found, by default the newest."""
        chosen = result or self.newest
        if chosen is not None:
            self.changes_wanted.emit(chosen)

    # ------------------------------------------------------------ answers
    async def _names(self) -> tuple[list[SiteRow], list[GraphRow]]:
        return await self._client.api.sites(), await self._client.api.graphs()

    def _take_names(self, found: tuple[list[SiteRow], list[GraphRow]]) -> None:
        sites, graphs = found
        self.form.mapped = {graph.site for graph in graphs if graph.home}
        self.form.named = {row.site.name for row in sites} | {graph.site for graph in graphs}
        self.form.changed.emit()

    def _take(self, rows: list[ScheduleRow]) -> None:
        is_first, self.is_loaded = self._sorts, True
        if not self._sorts:
            places = {row.schedule.id: place for place, row in enumerate(self.list.rows)}
            rows = sorted(rows, key=lambda row: places.get(row.schedule.id, len(places)))
        self._sorts = False
        self.list.merge(rows)
        row = self.row
        if row is None and self.form.before is not None:  # it was removed
            self.shown = NEW
            self.form.show(None)
        elif row is not None and not self._is_typing:
            self.form.show(row.schedule)
        if is_first and rows and self.shown == NEW and not self.form.is_changed:
            self.show(rows[0].schedule.id)
        self._show_results()
        self.changed.emit()
        if is_first:
            self.arrived.emit()

    @property
    def _is_typing(self) -> bool:
        return self.form.before is not None and self.form.is_changed

    def _show_results(self) -> None:
        row = self.row
        self.results.merge(row.results if row is not None else ())

    def _saved(self, row: ScheduleRow) -> None:
        self.is_saving = False
        self.shown = row.schedule.id
        self.form.show(row.schedule)
        self.notice.emit(
            tr("Scheduled: {0}, {1}, {2}").format(
                task_words(row.schedule.task), row.schedule.site, plan_words(row.schedule)
            )
        )
        self.load()

    def _failed(self, error: Exception) -> None:
        self.is_saving = False
        self.form.fail(error)

    def _on_changed(self, _event: ScheduleChanged) -> None:
        if self.is_loaded:
            self.load()
