"""The operator's hints to a run: sent, delivered, and ready to become tips."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.core.supervision import Hint
from app.models.common.object_list import ReorderableList
from app.models.common.translate import tr
from app.models.live.requests import MAX_TEXT_LENGTH, too_long

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks


class HintList(ReorderableList[Hint]):
    """Hints in the order they were sent."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda hint: hint.id, parent)

    def words(self, value: Hint) -> str:
        """``waiting for the next step: use the search``."""
        return f"{hint_status(value)}: {value.text}"


def hint_status(hint: Hint) -> str:
    return tr("delivered") if hint.taken_at else tr("waiting for the next step")


class LiveHints(QObject):
    """Hints of one run.

    Signals:
        changed: the hints, an error, or whether one is being sent.
        sent(hint id): the engine has stored it; the field may be cleared.
    """

    changed = Signal()
    sent = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self._run = ""
        self.hints = HintList(self)
        self.error = ""
        self.is_sending = False

    @property
    def newest(self) -> Hint | None:
        return self.hints.at(len(self.hints.rows) - 1)

    def show(self, run: str, hints: Iterable[Hint]) -> None:
        """Show a run's hints: another run was opened, or this one was loaded again."""
        if run != self._run:
            self.error, self.is_sending = "", False
        self._run = run
        self.hints.arrange(sorted(hints, key=lambda hint: (hint.at, hint.id)))
        self.changed.emit()

    def take(self, hint: Hint) -> None:
        if hint.run != self._run:
            return
        rest = [one for one in self.hints.rows if one.id != hint.id]
        self.hints.arrange(sorted([*rest, hint], key=lambda one: (one.at, one.id)))
        self.changed.emit()

    def send(self, text: str) -> bool:
        """Send a hint; False when it is empty or too long (see ``error``), or another one is being sent."""
        said = text.strip()
        if self.is_sending or not self._run:
            return False
        self.error = "" if said else tr("Type a hint first.")
        if len(said) > MAX_TEXT_LENGTH:
            self.error = too_long(len(said))
        if self.error:
            self.changed.emit()
            return False
        self.is_sending = True
        self.changed.emit()
        run = self._run

        def came(hint: Hint) -> None:
            if run == self._run:
                self.is_sending = False
                self.take(hint)
                self.sent.emit(hint.id)

        def failed(error: Exception) -> None:
            if run == self._run:
                self.is_sending, self.error = False, str(error)
                self.changed.emit()

        self._tasks.start(self._client.api.send_hint(run, said), came, failed)
        return True
