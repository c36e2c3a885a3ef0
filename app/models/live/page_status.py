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
    question = row.needs[0].question if row.needs else row.why
    match row.state:
        case RunState.QUEUED:
            return PageStatus(
                is_now=False,
                placeholder=tr("Queued: starts when another run ends, is paused or waits for you."),
            )
        case RunState.STARTING:
            return PageStatus(placeholder=tr("The browser is starting."))
        case RunState.RUNNING:
            return PageStatus(placeholder=tr("Loading the first picture…"))
        case RunState.PAUSED:
            says = question or tr("Paused until you resume it.")
            return PageStatus(says=says, placeholder=says)
        case RunState.WAITING:
            says = question or tr("Waiting for you.")
            return PageStatus(says=says, placeholder=says)
        case RunState.TAKEN_OVER:
            return PageStatus(placeholder=tr("Loading the picture…"))
        case RunState.RECOVERING:
            says = row.why or tr("Restarting the browser…")
        case RunState.INTERRUPTED:
            says = row.why or tr("The process ended; the run can be resumed.")
        case RunState.ENDED:
            says = row.why or tr("The run has ended.")
    return PageStatus(says=says, is_now=False, placeholder=says)
