"""The message over a live page, and whether its picture is current."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.engine.core.supervision import RunState
from app.models.common.translate import tr

if TYPE_CHECKING:
    from app.engine.core.supervision import LiveRow


@dataclass(frozen=True, slots=True, kw_only=True)
class PageStatus:
    """Attributes:

    says: a sentence for the operator, "" where the state's label says it all.
    is_now: whether the picture is current; else it is dimmed.
    instead: shown where there is no picture.
    """

    says: str = ""
    is_now: bool = True
    placeholder: str = ""


def page_status(row: LiveRow | None, lost: str = "") -> PageStatus:
    """Return how the page of a run is shown; ``lost`` is the reason why the engine is unavailable."""
    if row is None:
        return PageStatus(is_now=False)
    if lost:
        return PageStatus(says=lost, is_now=False, placeholder=lost)
    state = row.state
    waiting = {
        RunState.QUEUED: tr("Queued: starts when another run ends, is paused or waits for you."),
        RunState.STARTING: tr("The browser is starting."),
        RunState.RUNNING: tr("Loading the first picture…"),
        RunState.TAKEN_OVER: tr("Loading the picture…"),
    }
    if state in waiting:
        return PageStatus(is_now=state is not RunState.QUEUED, placeholder=waiting[state])
    default = {
        RunState.PAUSED: tr("Paused until you resume it."),
        RunState.WAITING: tr("Waiting for you."),
        RunState.RECOVERING: tr("Restarting the browser…"),
        RunState.INTERRUPTED: tr("The process ended; the run can be resumed."),
        RunState.ENDED: tr("The run has ended."),
    }[state]
    is_now = state in (RunState.PAUSED, RunState.WAITING)
    says = (row.needs[0].question if is_now and row.needs else row.why) or default
    return PageStatus(says=says, is_now=is_now, placeholder=says)
