"""The operator's input to a page, sent to the engine in order, one call at a time.

During a call, mouse moves are merged into the newest one, so that a slow engine gets fewer of them instead of a queue
it can never empty.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.core.page_input import InputKind, PageInput

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

MAX_QUEUED = 2_000
"""Events queued for the engine; further ones are dropped until it answers."""


@dataclass(slots=True)
class _Batch:
    """Queued events for one run's page."""

    run: str
    inputs: list[PageInput] = field(default_factory=list[PageInput])


class PageInputModel(QObject):
    """Signals:

    refused(text): the engine refused input to the current page; the queue was cleared.
    """

    refused = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self._run = ""
        self._waiting: deque[_Batch] = deque()
        self._flying = 0

    @property
    def waiting(self) -> int:
        """Number of events not sent yet."""
        return sum(len(batch.inputs) for batch in self._waiting)

    def hold(self, run: str) -> None:
        """Direct input to this run's page, or to none; queued events still go to theirs."""
        self._run = run

    def put(self, *inputs: PageInput) -> None:
        if not self._run:
            return
        if not self._waiting or self._waiting[-1].run != self._run:
            self._waiting.append(_Batch(self._run))
        batch, room = self._waiting[-1].inputs, MAX_QUEUED - self.waiting
        for one in inputs:
            if batch and _can_merge(batch[-1], one):
                batch[-1] = one
            elif room > 0 or one.kind in (InputKind.RELEASE, InputKind.KEY_UP):
                batch.append(one)
                room -= 1
        self._send()

    def flush(self) -> None:
        """Send the queue now, behind the call under way, so that the next call finds it done."""
        while self._waiting:
            self._launch()

    def _send(self) -> None:
        if not self._flying and self._waiting:
            self._launch()

    def _launch(self) -> None:
        batch = self._waiting.popleft()
        if not batch.inputs:
            return
        self._flying += 1

        def failed(error: Exception) -> None:
            self._flying -= 1
            self._waiting.clear()
            if batch.run == self._run:  # else it was handed back while this was on its way
                self.refused.emit(str(error) or type(error).__name__)

        self._tasks.start(self._client.api.send_input(batch.run, tuple(batch.inputs)), self._sent, failed)

    def _sent(self, _nothing: object) -> None:
        self._flying -= 1
        self._send()


def _can_merge(before: PageInput, after: PageInput) -> bool:
    """Whether two moves with the same button held can become one."""
    return (
        before.kind is after.kind is InputKind.MOVE
        and before.button is after.button
        and before.modifiers == after.modifiers
    )
