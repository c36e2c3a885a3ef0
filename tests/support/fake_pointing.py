"""Pointing at the pages of the fake runs: a few elements, or as many as wanted."""

from __future__ import annotations

from dataclasses import replace

from app.engine.api.live_api import PointTarget
from app.engine.core.events import ActionPlanned, EventBus
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.supervision import LiveRow, PlannedAction, RunState
from app.errors import Conflict, UsageError

CLICKED = ("click('{0}')", "hover('{0}')", "dblclick('{0}')")
TYPED = ("fill('{0}', '{{text}}')", "fill('{0}', '{{text}}', True)", "press('{0}', 'Enter')", *CLICKED)
CHOSEN = ("select_option('{0}', 'Small')", "select_option('{0}', 'Large')", *CLICKED)


def target(number: int, role: str, name: str, box: tuple[float, float, float, float]) -> PointTarget:
    """Return an element with the calls that fit its role."""
    calls = {"textbox": TYPED, "combobox": CHOSEN}.get(role, CLICKED)
    return PointTarget(
        number=number, role=role, name=name, box=box, calls=tuple(one.format(number) for one in calls)
    )


FEW = (
    target(3, "link", "Home", (20.0, 10.0, 60.0, 20.0)),
    target(4, "link", "Stock", (100.0, 10.0, 60.0, 20.0)),
    target(6, "link", "Stocking fillers", (180.0, 10.0, 120.0, 20.0)),
    target(9, "combobox", "Size", (64.0, 300.0, 200.0, 40.0)),
    target(10, "textbox", "Coupon", (64.0, 500.0, 300.0, 40.0)),
    target(12, "button", "Place order", (64.0, 640.0, 256.0, 80.0)),
    target(14, "link", "Imprint", (20.0, 2400.0, 60.0, 20.0)),
)
"""Elements of every fake page; the last one is out of sight."""


def many(count: int = 300) -> tuple[PointTarget, ...]:
    """Return a dense page: small links side by side in lines."""
    return tuple(
        target(number, "link", f"Item {number}", (10.0 + number % 20 * 62.0, 20.0 + number // 20 * 50.0, 54.0, 16.0))
        for number in range(count)
    )  # fmt: skip


class FakePointing:
    """The pointing part of ``FakeEngine``; ``point_error`` is what the engine refuses with."""

    bus: EventBus
    calls: list[tuple[str, tuple[object, ...]]]
    rows: dict[str, LiveRow]
    targets: tuple[PointTarget, ...] = FEW
    point_error = ""

    async def point_targets(self, run: str) -> list[PointTarget]:
        self.calls.append(("point_targets", (run,)))
        state = self.rows[run].state
        if self.point_error:
            raise Conflict(self.point_error)
        if state not in (RunState.PAUSED, RunState.WAITING):
            raise Conflict("the run is not held: pause it to choose an element")
        return list(self.targets)

    async def edit_planned(
        self, run: str, call: str, reason: str = "", step: int = -1, instead_of: str = ""
    ) -> PlannedAction:
        self.calls.append(("edit_planned", (run, call, reason, step, instead_of)))
        if "99" in call:
            raise UsageError("there is no element 99")
        planned = PlannedAction(
            run=run, step=self.rows[run].step, words="click link 'Stock'", call=call, risk=RiskClass.READS,
            element=4, box=(100.0, 10.0, 60.0, 20.0), url=self.rows[run].url,
        )  # fmt: skip
        self.bus.publish(ActionPlanned(next=planned))
        return planned

    def move_targets(self, down: float) -> None:
        """Move every element: the page has changed."""
        self.targets = tuple(
            replace(one, box=(one.box[0], one.box[1] + down, *one.box[2:])) for one in self.targets
        )
