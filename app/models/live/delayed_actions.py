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

from app.models.common.translate import tr
from app.models.live.run_list import is_active, is_ended

if TYPE_CHECKING:
    from app.engine.core.supervision import LiveRow
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from app.models.live.input_guard import InputGuard


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
        return next(reversed(self._held.values()), None)

    @property
    def too_late(self) -> str:
        """Label of an action that was sent a moment ago, "" for none."""
        return self._sent if self._clock() - self._sent_at < TOO_LATE_SECONDS else ""

    def get(self, key: str) -> DelayedAction | None:
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


class DelayedStops(QObject):
    """Pending ends by run, in ``held``; an active run is paused meanwhile, so that it does nothing more.

    Signals:
        changed: an end was requested, sent or cancelled.
        offered(text): an end was requested and can be undone.
        notice(text): a run was ended, or can no longer be.
    """

    changed = Signal()
    offered = Signal(str)
    notice = Signal(str)

    def __init__(
        self,
        client: EngineEvents,
        tasks: Tasks,
        hands: InputGuard,
        name_of: Callable[[str], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._command_of, self._name_of = client, tasks, hands.now, name_of
        self._paused: set[str] = set()
        self.held = DelayedActions(tasks, hands.now, self)
        self.held.changed.connect(self.changed)

    def holds(self, run: str) -> bool:
        return self.held.get(run) is not None

    def stop(self, row: LiveRow) -> None:
        self.hold(row.run, lambda: self._client.api.end_run(row.run))
        self.follow(row)

    def hold(
        self,
        run: str,
        send: Callable[[], Coroutine[Any, Any, Any]],
        *,
        about: str = "",
        sent: Callable[[Any], None] = lambda _answer: None,
        failed: Callable[[Exception], None] | None = None,
        undone: Callable[[], None] = lambda: None,
    ) -> None:
        """End a run by ``send`` after the undo period; only one end can be pending for a run."""
        if self.holds(run):
            return
        name = self._name_of(run)

        def done(answer: Any) -> None:
            self._paused.discard(run)
            sent(answer)
            if self.held.newest is None:  # else keep the message of the end that can still be undone
                self.notice.emit(tr("Ended: {0}").format(name))

        def not_done(error: Exception) -> None:
            self._paused.discard(run)
            (failed or self._tell)(error)

        def resume() -> None:
            if run in self._paused:
                self._paused.discard(run)
                self._tasks.start(self._client.api.continue_run(run))
            undone()

        self.held.hold(
            DelayedAction(
                key=run, label=tr("end of {0}").format(name), about=about, at=self._command_of(),
                send=send, sent=done, failed=not_done, undone=resume,
            )
        )  # fmt: skip
        self.offered.emit(tr("Ends in 5 seconds: {0}").format(name))

    def follow(self, row: LiveRow) -> None:
        """React to a run's new state: pause it while it is active, cancel the end of a run that has ended."""
        action = self.held.get(row.run)
        if action is None:
            return
        asked = {need.id for need in row.needs}
        if is_ended(row) or (action.about and action.about not in asked):
            self.forget(row.run)
        elif is_active(row) and row.run not in self._paused:
            self._paused.add(row.run)
            self._tasks.start(self._client.api.pause_run(row.run), failed=self._tell)

    def forget(self, run: str) -> None:
        """Cancel a pending end: the run ended, resumed or was dismissed meanwhile."""
        self._paused.discard(run)
        if self.held.drop(run):
            self.notice.emit(tr("Not ended: {0} has moved on").format(self._name_of(run)))

    def _tell(self, error: Exception) -> None:
        self._tasks.error.emit(str(error))
