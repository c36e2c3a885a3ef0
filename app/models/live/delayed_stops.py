"""Ending a run with undo: pause it at once, end it a few seconds later."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.models.common.translate import tr
from app.models.live.delayed_actions import DelayedAction, DelayedActions
from app.models.live.run_list import is_active, is_ended

if TYPE_CHECKING:
    from app.engine.core.supervision import LiveRow
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks
    from app.models.live.input_guard import InputGuard


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
        """Whether the end of this run is pending."""
        return self.held.get(run) is not None

    def stop(self, row: LiveRow) -> None:
        """End a run in its present state."""
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
