"""The next action of the open run: a planned action that was not done yet and whose page is still open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.core.addresses import host_of, url_key
from app.engine.core.redaction import redact_url
from app.engine.core.supervision import Need, RunState, Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.engine.core.events import ActionEnded, ActionPlanned
    from app.engine.core.supervision import LiveRow, PlannedAction
    from app.models.common.engine_client import EngineEvents
    from app.models.live.frames import FrameStore

PLANNING_STATES = (RunState.RUNNING, RunState.PAUSED, RunState.WAITING)
"""States in which a planned action can be the next one."""
REPLANNING_STATES = (RunState.TAKEN_OVER, RunState.RECOVERING, RunState.INTERRUPTED, RunState.ENDED)
"""States after which the agent observes the page again and an earlier plan is void."""
NEEDS_BEFORE_PLANNING = frozenset({Need.WALL, Need.TROUBLE, Need.FLAG})
"""Needs that hold a run before it plans its next action, or after one was done."""


class NextActionModel(QObject):
    """``action`` is the last planned action, as long as it has still to be done.

    Signals:
        changed: ``action`` is another one, or none.
    """

    changed = Signal()

    def __init__(
        self,
        client: EngineEvents,
        row_of: Callable[[str], LiveRow | None],
        frames: FrameStore,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._row_of, self._frames = row_of, frames
        self._run = ""
        self._planned: PlannedAction | None = None
        self.action: PlannedAction | None = None
        client.action_planned.connect(self._on_planned)
        client.action_ended.connect(self._on_over)
        frames.arrived.connect(self.follow)

    def open(self, run: str) -> None:
        """Open another run, "" for none."""
        self._run, self._planned, self.action = run, None, None

    def take(self, planned: PlannedAction | None) -> None:
        """Take the action of a run that was loaded again."""
        self._planned = planned or self._planned
        self.follow(self._run)

    def follow(self, run: str) -> None:
        """Check the action again: the run's row or its page changed."""
        if run != self._run:
            return
        row, picture = self._row_of(run), self._frames.get(run)
        if row is not None and row.state in REPLANNING_STATES:
            self._planned = None
        action = still_next(self._planned, row, picture.url if picture is not None else "")
        if action != self.action:
            self.action = action
            self.changed.emit()

    def _on_planned(self, event: ActionPlanned) -> None:
        if event.next.run == self._run:
            self._planned = event.next
            self.follow(self._run)

    def _on_over(self, event: ActionEnded) -> None:
        if event.run == self._run:
            self._planned = None
            self.follow(self._run)


def still_next(planned: PlannedAction | None, row: LiveRow | None, shown: str) -> PlannedAction | None:
    """Return the planned action while it is still the next one.

    Args:
        shown: address of the page as it is now, "" where that is unknown.
    """
    if planned is None or row is None or planned.run != row.run or row.state not in PLANNING_STATES:
        return None
    if row.step > planned.step:
        return None
    if row.needs and all(need.need in NEEDS_BEFORE_PLANNING for need in row.needs):
        return None
    if shown and planned.url and not same_page(shown, planned.url):
        return None
    return planned


def same_page(one: str, other: str) -> bool:
    """Whether two addresses are the same page; session keys, tracking parameters and fragments are ignored."""
    left, right = redact_url(one), redact_url(other)
    return left == right or (host_of(left), url_key(left)) == (host_of(right), url_key(right))


def is_deciding(row: LiveRow | None) -> bool:
    return (
        row is not None
        and row.state is RunState.RUNNING
        and not row.needs
        and row.stage in (Stage.LOOKING, Stage.THINKING)
    )
