"""Notes about scheduled work: only where something changed or could not be done, and not in quiet hours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.core.schedule_words import result_words, task_words

if TYPE_CHECKING:
    from app.engine.core.events import ScheduleChanged
    from app.engine.core.schedule import ScheduleResult
    from app.models.common.engine_client import EngineEvents
    from app.models.common.notifications import NotificationModel

CANCELLED = "cancelled"
"""The failure of work that a person cancelled, who need not be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleNote:
    """A note: ``result`` is what a click leads to, ``None`` for several."""

    title: str
    body: str
    is_failure: bool = False
    result: ScheduleResult | None = None

    @property
    def key(self) -> str:
        """Newer notes of the same entry replace the older."""
        return f"schedule {self.result.schedule if self.result is not None else ''}"


class ScheduleNotes(QObject):
    """``wanted`` carries a ``ScheduleNote`` to show."""

    wanted = Signal(object)

    def __init__(self, client: EngineEvents, calls: NotificationModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._calls = calls
        self._held_back: list[ScheduleResult] = []
        self._failures: dict[str, str] = {}
        client.schedule_changed.connect(self._on_changed)
        calls.quiet.changed.connect(self._on_quiet)

    def _on_changed(self, event: ScheduleChanged) -> None:
        result = event.result
        if result is None or not self._is_news(result) or not self._calls.enabled:
            return
        if self._calls.quiet.is_on:
            self._held_back.append(result)
        else:
            self.wanted.emit(self._note([result]))

    def _is_news(self, result: ScheduleResult) -> bool:
        """Whether it is worth a note: a change, or a failure that is another one than the time before."""
        before = self._failures.get(result.schedule, "")
        self._failures[result.schedule] = result.error
        if result.changes or result.suspects:
            return True
        return bool(result.error) and result.error not in (before, CANCELLED)

    def _on_quiet(self, words: str) -> None:
        """After quiet hours, send one note for all."""
        if not words and self._held_back:
            held, self._held_back = self._held_back, []
            self.wanted.emit(self._note(held))

    def _note(self, results: list[ScheduleResult]) -> ScheduleNote:
        if len(results) > 1:
            lines = [f"{one.site}: {result_words(one)[0]}" for one in results]
            title = self.tr("Scheduled work: {0} results").format(len(results))
            return ScheduleNote(
                title=title, body="\n".join(lines), is_failure=any(one.error for one in results)
            )
        [result] = results
        return ScheduleNote(
            title=f"{result.site}: {task_words(result.task)}",
            body="\n".join(result_words(result)),
            is_failure=bool(result.error),
            result=result,
        )
