"""Actions that are sent a few seconds after the request, so that they can be undone until then.

Only the window delays them: a window that dies meanwhile has sent nothing, and the run still waits for a person.
The command line (``sitelore live decide``) decides at once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

if TYPE_CHECKING:
    from app.models.common.tasks import Tasks

log = logging.getLogger(__name__)

UNDO_SECONDS = 5.0
"""How long an action can be undone."""
TOO_LATE_SECONDS = 2.0
"""An undo this soon after an action was sent was meant for that action, and undoes nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayedAction:
    """Attributes:

    key: the run it acts on; one pending action each.
    label: for the undo message, as in ``end 'Buy one Gadget' · run 3``.
    send: does it.  sent: called when done.  failed: called with the error.  undone: called after undo.
    about: id of the request it decides, "" for none.
    """

    key: str
    label: str
    send: Callable[[], Coroutine[Any, Any, Any]]
    sent: Callable[[Any], None]
    failed: Callable[[Exception], None]
    undone: Callable[[], None] = lambda: None
    about: str = ""
    at: float = 0.0


class DelayedActions(QObject):
    """The window's pending actions, the newest last.

    Signals:
        changed: an action was added, sent, undone or cancelled.
    """

    changed = Signal()

    def __init__(
        self, tasks: Tasks, clock: Callable[[], float] = time.monotonic, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._tasks, self._clock = tasks, clock
        self._held: dict[str, DelayedAction] = {}
        self._sent, self._sent_at = "", float("-inf")
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.look)

    @property
    def newest(self) -> DelayedAction | None:
        """The action that undo would cancel."""
        return next(reversed(self._held.values()), None)

    @property
    def too_late(self) -> str:
        """Label of an action that was sent a moment ago, "" for none."""
        return self._sent if self._clock() - self._sent_at < TOO_LATE_SECONDS else ""

    def get(self, key: str) -> DelayedAction | None:
        """Return the pending action of a key."""
        return self._held.get(key)

    def hold(self, action: DelayedAction) -> None:
        """Schedule an action; ignored while one with the same key is pending."""
        if action.key not in self._held:
            self._held[action.key] = action
            self._arm()
            self.changed.emit()

    def take_back(self) -> str:
        """Undo the newest action and return its label, "" where none is pending."""
        action = self.newest
        if action is None:
            return ""
        self.drop(action.key)
        action.undone()
        return action.label

    def drop(self, key: str) -> bool:
        """Cancel an action silently, because its subject is gone.  False where none is pending."""
        if self._held.pop(key, None) is None:
            return False
        self._arm()
        self.changed.emit()
        return True

    def look(self) -> None:
        """Send every action whose time is up."""
        now = self._clock()
        due = [action for action in self._held.values() if now - action.at >= UNDO_SECONDS]
        for action in due:
            del self._held[action.key]
            self._sent, self._sent_at = action.label, now
        self._arm()
        if due:
            self.changed.emit()
        for action in due:
            self._tasks.start(action.send(), action.sent, action.failed)

    async def finish(self) -> None:
        """Send all pending actions before the window closes, each within ``UNDO_SECONDS``."""
        held, self._held = list(self._held.values()), {}
        self._timer.stop()
        for action in held:
            try:
                async with asyncio.timeout(UNDO_SECONDS):
                    await action.send()
            except Exception:
                log.exception("not done before the window closed: %s", action.label)

    def _arm(self) -> None:
        first = next(iter(self._held.values()), None)
        if first is None:
            self._timer.stop()
        else:
            left = first.at + UNDO_SECONDS - self._clock()
            self._timer.start(max(round(left * 1000), 1))
