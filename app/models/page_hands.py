"""A person's hands on a page: what they do goes to the engine in order, one call at a time.

While a call is under way moves of the mouse run together into the newest one, so a slow engine gets fewer of them
instead of a queue that it can never empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.page_input import InputKind, PageInput

if TYPE_CHECKING:
    from app.models.engine_client import EngineEvents
    from app.models.tasks import Tasks

MOST_WAITING = 2_000
"""Events that wait for the engine; beyond it no more is taken until it answers."""


class PageHands(QObject):
    """Signals:

    refused(words): the engine did not take what was done; nothing waits any more.
    """

    refused = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self._run = ""
        self._waiting: list[PageInput] = []
        self._flying = False

    @property
    def waiting(self) -> int:
        """Events that the engine has not been given yet."""
        return len(self._waiting)

    def hold(self, run: str) -> None:
        """The hands are on this run's page from now on; what waits for another one is dropped."""
        if run != self._run:
            self._run = run
            self._waiting.clear()

    def put(self, *inputs: PageInput) -> None:
        """Something was done."""
        if not self._run:
            return
        for one in inputs:
            if self._waiting and _runs_together(self._waiting[-1], one):
                self._waiting[-1] = one
            elif len(self._waiting) < MOST_WAITING:
                self._waiting.append(one)
        self._send()

    def let_go(self, keys: Iterable[PageInput]) -> None:
        """Keys that were still down come up: the page must not think that they are held for ever."""
        self.put(*keys)

    def _send(self) -> None:
        if self._flying or not self._waiting:
            return
        batch, self._waiting = tuple(self._waiting), []
        self._flying = True
        self._tasks.start(self._client.api.send_input(self._run, batch), self._sent, self._failed)

    def _sent(self, _nothing: object) -> None:
        self._flying = False
        self._send()

    def _failed(self, error: Exception) -> None:
        self._flying = False
        self._waiting.clear()
        self.refused.emit(str(error) or type(error).__name__)


def _runs_together(before: PageInput, after: PageInput) -> bool:
    """Two moves with the same button held: only where the pointer ended matters."""
    return (
        before.kind is after.kind is InputKind.MOVE
        and before.button is after.button
        and before.modifiers == after.modifiers
    )
