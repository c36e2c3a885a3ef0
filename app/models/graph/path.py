"""The path between two states: planned by the engine, drawn on the map, navigated step by step in the live
browser.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.models.common.object_list import ObjectList

if TYPE_CHECKING:
    from app.engine.api.graph_api import Journey, PathPlan
    from app.engine.core.transition import ReplayVerdictKind
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

SIGNS = {
    "": "·",
    "exact": "✓",
    "same template": "≈",
    "drifted": "~",
    "wrong": "✕",
    "blocked": "⊘",
    "error": "!",
}
"""The sign beside a verdict's colour."""
ROLES = {
    "": "muted",
    "exact": "ok",
    "same template": "ok",
    "drifted": "warn",
    "wrong": "fail",
    "blocked": "fail",
    "error": "fail",
}


class PathState(StrEnum):
    """State of the path pane."""

    NONE = "none"
    CHOOSING = "choosing"  # a start is set, the end has to be chosen
    ASKING = "asking"
    READY = "ready"
    NO_WAY = "no path"
    GOING = "going"
    ARRIVED = "arrived"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class PathStep:
    """One step: its action, the states it connects, and how the page reached compared (``verdict`` or "")."""

    number: int
    action: str
    from_title: str
    to_title: str
    to: str
    seconds: float
    verdict: str = ""
    why: str = ""
    tier: str = ""


class PathSteps(ObjectList[PathStep]):
    """The steps of a path, in order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda step: step.number, parent)

    def words(self, value: PathStep) -> str:
        """``2. click link 'Orders', to Orders: exact``."""
        verdict = f": {value.verdict}" if value.verdict else ""
        why = f", {value.why}" if value.why else ""
        return self.tr("{0}. {1}, to {2}").format(value.number, value.action, value.to_title) + verdict + why

    def tip(self, value: PathStep) -> str:
        found = self.tr("found by {0}").format(value.tier) if value.tier else ""
        took = self.tr("about {0:.1f} s").format(value.seconds)
        return "\n".join(
            part for part in (value.from_title, value.action, value.to_title, value.why, found, took) if part
        )


class PathModel(QObject):
    """Start, end and plan of a path, and the result of navigating it.

    Signals:
        changed: state, ends, plan or verdicts changed.
        arrived(node): the live browser has reached this state.
    """

    changed = Signal()
    arrived = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.steps = PathSteps(self)
        self.state = PathState.NONE
        self.site = self.start = self.to = self.error = ""
        self.start_title = self.to_title = ""
        self.live = ""
        """The state the live browser stands at, "" when it is closed or nobody knows."""
        self.plan: PathPlan | None = None
        self.journey: Journey | None = None

    @property
    def is_shown(self) -> bool:
        return self.state is not PathState.NONE

    @property
    def nodes(self) -> tuple[str, ...]:
        return self.plan.nodes if self.plan is not None else ()

    # ------------------------------------------------------------ ends
    def begin(self, site: str, start: str, title: str) -> None:
        """Start a path here ("" for the home page); its end is chosen next."""
        self._clear()
        self.site, self.start, self.start_title = site, start, title
        self.state = PathState.CHOOSING
        self.changed.emit()

    def ask(self, site: str, to: str, title: str, start: str = "", start_title: str = "") -> None:
        """Plan the path; the current plan stays until the answer is there."""
        self.site, self.start, self.to = site, start, to
        self.start_title, self.to_title = start_title, title
        self.state, self.error, self.journey = PathState.ASKING, "", None
        self.changed.emit()
        self._tasks.start(
            self._client.api.graph_path(site, to, start), self._planned, self._on_no_path, key="map-path"
        )

    def clear(self) -> None:
        self._tasks.cancel("map-path")
        self._clear()
        self.changed.emit()

    # ------------------------------------------------------------ going
    def go(self, site: str, to: str, title: str, *, fresh: bool = False) -> None:
        """Navigate in the live browser: from its page, or with ``fresh`` in a new one from the home page."""
        if self.state is PathState.GOING:
            return
        self.site, self.to, self.to_title = site, to, title
        self.state, self.error, self.journey = PathState.GOING, "", None
        self.changed.emit()
        self._tasks.start(
            self._client.api.graph_navigate(site, to, _has_screen(), fresh),
            self._on_navigated,
            self._stopped,
            key="map-go",
        )

    def close_browser(self) -> None:
        site = self.site

        def closed(_done: None) -> None:
            self.live = ""
            self.changed.emit()

        self._tasks.start(self._client.api.close_browser(site), closed)

    # ------------------------------------------------------------ answers
    def _planned(self, plan: PathPlan) -> None:
        self.plan, self.state = plan, PathState.READY
        self.steps.replace(steps_of(plan))
        self.changed.emit()

    def _on_no_path(self, error: Exception) -> None:
        self.plan, self.state, self.error = None, PathState.NO_WAY, str(error)
        self.steps.replace([])
        self.changed.emit()

    def _on_navigated(self, journey: Journey) -> None:
        self.plan, self.journey = journey.plan, journey
        self.start_title = journey.plan.titles[0] if journey.plan.titles else ""
        self.start = journey.plan.nodes[0] if journey.plan.nodes else ""
        self.steps.replace(steps_of(journey.plan, journey))
        self.state = PathState.ARRIVED if journey.arrived else PathState.STOPPED
        self.error, self.live = journey.why, self.to if journey.arrived else ""
        self.changed.emit()
        if journey.arrived:
            self.arrived.emit(self.to)

    def _stopped(self, error: Exception) -> None:
        self.state, self.error, self.live = PathState.STOPPED, str(error), ""
        self.changed.emit()

    def _clear(self) -> None:
        self.state, self.plan, self.journey = PathState.NONE, None, None
        self.start = self.to = self.error = self.start_title = self.to_title = ""
        self.steps.replace([])


def _has_screen() -> bool:
    return QGuiApplication.platformName() not in ("offscreen", "minimal", "vnc")


def steps_of(plan: PathPlan, journey: Journey | None = None) -> list[PathStep]:
    """Return the steps of a plan, with the verdicts of those that were navigated."""
    steps: list[PathStep] = []
    for at, transition in enumerate(plan.transitions):
        to = at + 1
        step = PathStep(
            number=to,
            action=transition.words,
            from_title=plan.titles[at] if at < len(plan.titles) else "",
            to_title=plan.titles[to] if to < len(plan.titles) else "",
            to=plan.nodes[to] if to < len(plan.nodes) else "",
            seconds=transition.seconds,
        )
        if journey is not None and at < len(journey.arrivals):
            arrival = journey.arrivals[at]
            kind: ReplayVerdictKind = arrival.kind
            step = replace(
                step,
                verdict=kind.value,
                why=arrival.why,
                tier=arrival.tier.value if arrival.tier is not None else "",
                seconds=arrival.seconds,
            )
        steps.append(step)
    return steps
