"""The message over a live page, and whether its picture is current."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from app.engine.core.supervision import RunState

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
    instead: str = ""


def page_status(row: LiveRow | None, lost: str = "") -> PageStatus:
    """Return how the page of a run is shown; ``lost`` is the reason why the engine is unavailable."""
    if row is None:
        return PageStatus(is_now=False)
    if lost:
        return PageStatus(says=lost, is_now=False, instead=lost)
    question = row.needs[0].question if row.needs else row.why
    match row.state:
        case RunState.QUEUED:
            return PageStatus(
                is_now=False, instead=_tr("It begins when another run has ended, is held, or waits for you.")
            )
        case RunState.STARTING:
            return PageStatus(instead=_tr("The browser is starting."))
        case RunState.RUNNING:
            return PageStatus(instead=_tr("The first picture is on its way."))
        case RunState.PAUSED:
            says = question or _tr("Nothing is done until you go on.")
            return PageStatus(says=says, instead=says)
        case RunState.WAITING:
            says = question or _tr("It waits for you.")
            return PageStatus(says=says, instead=says)
        case RunState.TAKEN_OVER:
            return PageStatus(instead=_tr("The picture is on its way."))
        case RunState.RECOVERING:
            says = row.why or _tr("The browser is being brought back.")
        case RunState.INTERRUPTED:
            says = row.why or _tr("Its process ended; the run can be gone on with.")
        case RunState.ENDED:
            says = row.why or _tr("The run has ended.")
    return PageStatus(says=says, is_now=False, instead=says)


def _tr(text: str) -> str:
    return QCoreApplication.translate("live", text)
