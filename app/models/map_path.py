"""The way between two states: planned by the engine, drawn on the map, gone in the live browser step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.models.object_list import ObjectList

if TYPE_CHECKING:
    from app.engine.graph_api import Journey, PathPlan
    from app.engine.transition import ArrivalKind
    from app.models.engine_client import EngineEvents
    from app.models.tasks import Tasks

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
    """What the list of steps shows."""

    NONE = "none"
    CHOOSING = "choosing"  # a start was set, the other end is to be chosen
    ASKING = "asking"
    READY = "ready"
    NO_WAY = "no way"
    GOING = "going"
    ARRIVED = "arrived"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class PathStep:
    """One step: what is done on which page, where it leads, and how the page reached compared (``verdict`` or "")."""

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
    """The steps of a way, in order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda step: step.number, parent)

    def words(self, value: PathStep) -> str:
        """``2. click link 'Orders', to Orders: exact``."""
        verdict = f": {value.verdict}" if value.verdict else ""
        why = f", {value.why}" if value.why else ""
        return self.tr("{0}. {1}, to {2}").format(value.number, value.action, value.to_title) + verdict + why

    def tip(self, value: PathStep) -> str:
        """The whole of a step."""
        found = self.tr("found by {0}").format(value.tier) if value.tier else ""
        took = self.tr("about {0:.1f} s").format(value.seconds)
        return "\n".join(
            part for part in (value.from_title, value.action, value.to_title, value.why, found, took) if part
        )


class MapPath(QObject):
    """Start and end of a way, its plan, and what came of going it.

    Signals:
        changed: state, ends, plan or verdicts changed.
        arrived(node): the live browser stands at this state now.
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
        """Whether there is anything to list."""
        return self.state is not PathState.NONE

    @property
    def nodes(self) -> tuple[str, ...]:
        """The states passed, in order."""
        return self.plan.nodes if self.plan is not None else ()

    def verdict_at(self, node: str) -> str:
        """How the page reached compared at a state of the way, "" before it was gone."""
        return next((step.verdict for step in self.steps.rows if step.to == node), "")

    # ------------------------------------------------------------ ends
    def begin(self, site: str, start: str, title: str) -> None:
        """Start here ("" is the home page); the end is chosen next."""
        self._forget()
        self.site, self.start, self.start_title = site, start, title
        self.state = PathState.CHOOSING
        self.changed.emit()

    def ask(self, site: str, to: str, title: str, start: str = "", start_title: str = "") -> None:
        """Plan the way; the plan shown stays until the answer is there."""
        self.site, self.start, self.to = site, start, to
        self.start_title, self.to_title = start_title, title
        self.state, self.error, self.journey = PathState.ASKING, "", None
        self.changed.emit()
        self._tasks.start(
            self._client.api.graph_path(site, to, start), self._planned, self._no_way, key="map-path"
        )

    def clear(self) -> None:
        """No way is shown."""
        self._tasks.cancel("map-path")
        self._forget()
        self.changed.emit()

    # ------------------------------------------------------------ going
    def go(self, site: str, to: str, title: str, *, fresh: bool = False) -> None:
        """Be taken there in the live browser: from where it is, or with ``fresh`` in a new one from the home page."""
        if self.state is PathState.GOING:
            return
        self.site, self.to, self.to_title = site, to, title
        self.state, self.error, self.journey = PathState.GOING, "", None
        self.changed.emit()
        self._tasks.start(
            self._client.api.graph_go(site, to, _has_screen(), fresh), self._went, self._stopped, key="map-go"
        )

    def close_browser(self) -> None:
        """Let the live browser go."""
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

    def _no_way(self, error: Exception) -> None:
        self.plan, self.state, self.error = None, PathState.NO_WAY, str(error)
        self.steps.replace([])
        self.changed.emit()

    def _went(self, journey: Journey) -> None:
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

    def _forget(self) -> None:
        self.state, self.plan, self.journey = PathState.NONE, None, None
        self.start = self.to = self.error = self.start_title = self.to_title = ""
        self.steps.replace([])


def _has_screen() -> bool:
    """Whether a browser can be shown beside this window."""
    return QGuiApplication.platformName() not in ("offscreen", "minimal", "vnc")


def steps_of(plan: PathPlan, journey: Journey | None = None) -> list[PathStep]:
    """The steps of a plan, with the verdict of each that was gone."""
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
            kind: ArrivalKind = arrival.kind
            step = replace(
                step,
                verdict=kind.value,
                why=arrival.why,
                tier=arrival.tier.value if arrival.tier is not None else "",
                seconds=arrival.seconds,
            )
        steps.append(step)
    return steps
