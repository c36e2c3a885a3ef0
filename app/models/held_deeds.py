"""Deeds that are done a few seconds after they were asked for, so that they can be taken back until then.

The window alone holds them back: what is asked for is sent only when its time is up.  A window that dies meanwhile has
sent nothing, and the run still waits for a person.  The terminal (``sitelore live decide``) decides at once.
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
    from app.models.tasks import Tasks

log = logging.getLogger(__name__)

UNDO_SECONDS = 5.0
"""How long a deed can be taken back."""
LATE_SECONDS = 2.0
"""An undo so soon after a deed was sent was meant for it, and takes back nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldDeed:
    """Attributes:

    key: what it is done to, a run; one deed each.
    label: what undo would take back, as in ``end 'Buy one Gadget' · run 3``.
    send: does it.  sent: it was done.  failed: why it was not.  taken_back: it will not be done.
    about: the request it decides, "" for none.
    """

    key: str
    label: str
    send: Callable[[], Coroutine[Any, Any, Any]]
    sent: Callable[[Any], None]
    failed: Callable[[Exception], None]
    taken_back: Callable[[], None] = lambda: None
    about: str = ""
    at: float = 0.0


class HeldDeeds(QObject):
    """The window's deeds that wait, the newest last.

    Signals:
        changed: another one waits, or one was sent, taken back or given up.
    """

    changed = Signal()

    def __init__(
        self, tasks: Tasks, clock: Callable[[], float] = time.monotonic, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._tasks, self._clock = tasks, clock
        self._held: dict[str, HeldDeed] = {}
        self._sent, self._sent_at = "", float("-inf")
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.look)

    @property
    def newest(self) -> HeldDeed | None:
        """The one that undo takes back."""
        return next(reversed(self._held.values()), None)

    @property
    def too_late(self) -> str:
        """The label of what was sent a moment ago, "" for nothing."""
        return self._sent if self._clock() - self._sent_at < LATE_SECONDS else ""

    def get(self, key: str) -> HeldDeed | None:
        """What waits to be done to this."""
        return self._held.get(key)

    def hold(self, deed: HeldDeed) -> None:
        """Do it when its time is up; nothing happens while another one waits for the same key."""
        if deed.key not in self._held:
            self._held[deed.key] = deed
            self._arm()
            self.changed.emit()

    def take_back(self) -> str:
        """Take the newest back; its label, "" where none waits."""
        deed = self.newest
        if deed is None:
            return ""
        self.drop(deed.key)
        deed.taken_back()
        return deed.label

    def drop(self, key: str) -> bool:
        """Give one up without a word: what it was about is gone.  False where none waits."""
        if self._held.pop(key, None) is None:
            return False
        self._arm()
        self.changed.emit()
        return True

    def look(self) -> None:
        """Send what has waited long enough."""
        now = self._clock()
        due = [deed for deed in self._held.values() if now - deed.at >= UNDO_SECONDS]
        for deed in due:
            del self._held[deed.key]
            self._sent, self._sent_at = deed.label, now
        self._arm()
        if due:
            self.changed.emit()
        for deed in due:
            self._tasks.start(deed.send(), deed.sent, deed.failed)

    async def finish(self) -> None:
        """The window closes in good order: send all that waits now, and wait for it a moment."""
        held, self._held = list(self._held.values()), {}
        self._timer.stop()
        for deed in held:
            try:
                async with asyncio.timeout(UNDO_SECONDS):
                    await deed.send()
            except Exception:
                log.exception("not done before the window closed: %s", deed.label)

    def _arm(self) -> None:
        first = next(iter(self._held.values()), None)
        if first is None:
            self._timer.stop()
        else:
            left = first.at + UNDO_SECONDS - self._clock()
            self._timer.start(max(round(left * 1000), 1))
