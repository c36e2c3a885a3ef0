"""The live runs of a window and the operations on the current one: what the parts of Live share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.models.common.translate import tr
from app.models.live.delayed_actions import DelayedStops
from app.models.live.input_guard import InputGuard
from app.models.live.open_run import OpenRunModel
from app.models.live.run_list import RunList, can_resume

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from app.engine.api.engine_api import EngineApi
    from app.engine.core.supervision import LiveRow, PlannedAction
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks


class LiveRuns(QObject):
    """Signals:

    changed: the list as a whole: loaded, connection lost, number of runs or of runs in a state.
    opened(run): the run shown large, "" for the grid of all runs.
    notice(text): something was done.
    """

    changed = Signal()
    opened = Signal(str)
    notice = Signal(str)

    def __init__(
        self, client: EngineEvents, tasks: Tasks, parent: QObject | None, clock: Callable[[], float]
    ) -> None:
        super().__init__(parent)
        self.client, self.tasks = client, tasks
        self.hands = InputGuard(clock, self)
        self.list = RunList(self, clock, lambda: self.hands.is_busy)
        self.delayed_stops = DelayedStops(client, tasks, self.hands, self.list.name_of, self)
        self.open_run = OpenRunModel(
            client, tasks, self.list, self.hands, self.delayed_stops, lambda: self.next, self
        )
        """The models of the panels beside the open run's page."""
        self.is_loaded = False
        self.error = ""
        self.lost = ""
        """Why the engine is not there, "" while it is."""
        self.run: str = ""
        """The run that is large, "" on the wall."""
        self.current: str = ""
        """The run that keys and the bar's buttons are about."""

    @property
    def api(self) -> EngineApi:
        return self.client.api

    def row_of(self, run: str) -> LiveRow | None:
        return self.list.at(self.list.row_of(run))

    @property
    def row(self) -> LiveRow | None:
        """The current run."""
        return self.row_of(self.current)

    @property
    def next(self) -> PlannedAction | None:
        """The open run's next action, planned or waiting for approval."""
        return None

    def open(self, run: str) -> None:
        """Show a run large."""
        raise NotImplementedError

    def close(self) -> None:
        """Return to the grid."""
        raise NotImplementedError

    # ------------------------------------------------------------ operations on the current run
    def pause(self) -> None:
        self._do(self.api.pause_run)

    def resume(self) -> None:
        self._do(self.api.continue_run)

    def toggle_pause(self) -> None:
        row = self.row
        if row is not None:
            self.resume() if can_resume(row) else self.pause()

    def step(self) -> None:
        """Do one step, then pause."""
        self._do(self.api.step_run)

    def stop(self) -> None:
        """End the run in its present state; can be undone for a few seconds."""
        row = self.row
        if row is not None and (not self.run or self.open_run.requests.may_decide()):
            self.delayed_stops.stop(row)

    def dismiss(self) -> None:
        """Remove an ended run from the list; its neighbour becomes the current run."""
        self._do(self.api.dismiss_run)

    def pause_all(self) -> None:
        def on_count(count: int) -> None:
            self.notice.emit(tr("{0} runs paused").format(count) if count != 1 else tr("1 run paused"))

        self.tasks.start(self.api.pause_all(), on_count)

    def _do(
        self, work: Callable[[str], Coroutine[Any, Any, Any]], then: Callable[[Any], None] | None = None
    ) -> None:
        if self.current:
            self.tasks.start(work(self.current), then)
