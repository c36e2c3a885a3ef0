"""The elements of a live page, for a person to choose the target of an action by pointing at it."""

from __future__ import annotations

import time
from typing import Any

from pydantic import TypeAdapter

from app.engine.api.live_api import PointTarget
from app.engine.core.actions.fitting_calls import fitting_calls
from app.engine.core.element_identity import matching_elements
from app.engine.core.labels import state_label
from app.engine.core.page_state import PageCapture
from app.engine.core.supervision import (
    DecisionKind,
    OperatorAction,
    OperatorDecision,
    PlannedAction,
    RunState,
)
from app.engine.services.core import Core
from app.engine.services.supervision.approvals import ApprovalService
from app.engine.services.supervision.fleet import Fleet
from app.engine.services.supervision.remote_replies import answer_command, command_text, reply_to
from app.engine.services.supervision.supervised_run import SupervisedRun
from app.errors import Conflict

MAX_TARGETS = 2_000
"""Elements of one page that can be pointed at."""
MAX_NAME_LENGTH = 200

TARGETS_COMMAND, EDIT_COMMAND = "point targets", "edit planned"
"""Names of the commands by which another process asks for them, or for an edit."""

_TARGETS, _PLANNED = TypeAdapter(list[PointTarget]), TypeAdapter(PlannedAction)


class PointingService:
    """Reads the targets on the page of a held run, and replaces the planned action of a paused one."""

    def __init__(self, core: Core, approvals: ApprovalService, fleet: Fleet) -> None:
        self._core, self._approvals, self._fleet = core, approvals, fleet
        fleet.remote_handlers[TARGETS_COMMAND] = self._reply_targets
        fleet.remote_handlers[EDIT_COMMAND] = self._reply_edit

    async def point_targets(self, run: str) -> list[PointTarget]:
        """Return the elements of a held run's page as its next action would name them.

        The numbers are those of the capture that the pending decision was made on, and so those that an edit of it is
        read by; the boxes are those of now.  What the page no longer has, or has twice now, is left out, and so is what
        came since, which has no number yet.  Without a pending decision they are the numbers of the next capture.

        Raises:
            NotFound: no such run.
            Conflict: it is not held, the operator has its page, the page is busy, or the run moved on meanwhile.
        """
        there = await self._elsewhere(run, TARGETS_COMMAND)
        if there is not None:
            return _TARGETS.validate_python(there)
        found = self._held(run)
        control, held, mark = found.control, found.control.decided_on, found.control.page_mark
        now = await found.page.peek()
        if found.control is not control or control.decided_on is not held or control.page_mark != mark:
            raise Conflict("the run has moved on; look again")
        return await self._core.on_worker(targets_on, held or now, now)

    async def edit_planned(
        self, run: str, call: str, reason: str = "", step: int = -1, instead_of: str = ""
    ) -> PlannedAction:
        """Replace the planned action of a paused run; the run stays paused, and asks before it does what it would
        ask about at any time.

        Args:
            step, instead_of: step and call of the planned action that the new one was chosen for; numbers of elements
                hold for that one alone.  -1 and "" for whichever it is.

        Raises:
            NotFound: no such run.  UsageError: not a call, or one that names an element that is not on the page.
            Conflict: the run is not paused before an action, or before another one.
        """
        asked = {"call": call, "reason": reason, "step": str(step), "instead_of": instead_of}
        there = await self._elsewhere(run, EDIT_COMMAND, **asked)
        if there is not None:
            return _PLANNED.validate_python(there)
        found = self._held(run)
        replan = found.control.replan
        if found.control.state is not RunState.PAUSED or replan is None:
            raise Conflict("the run is not paused before an action; pause it, or edit its request")
        _check_unchanged(found.next, step, instead_of)
        decision = OperatorDecision(
            kind=DecisionKind.EDIT, call=call, text=reason, author=self._core.author, at=time.time()
        )
        planned = replan(decision)
        words = f"{call} ({reason})" if reason else call
        await self._approvals.note(run, planned.step, OperatorAction.EDITED, words)
        return planned

    # ------------------------------------------------------------ inside

    def _held(self, run: str) -> SupervisedRun:
        found = self._fleet.get(run)
        if found.page.taken_over or found.row.state is RunState.TAKEN_OVER:
            raise Conflict("you have control of the page; hand it back first")
        held = found.control.state.held or found.control.needs  # a request is announced a moment before
        if not held or not found.is_active:
            raise Conflict(
                f"the run is not held ({state_label(found.snapshot())}): pause it to choose an element"
            )
        return found

    async def _elsewhere(self, run: str, what: str, **asked: object) -> Any:
        """Have the process that has the run do it; ``None`` where that is this one, or none.

        Raises:
            Conflict: it refused, or does not answer.
        """
        text = command_text(**asked)
        if not await self._fleet.forward_if_remote(run, what, text):
            return None
        return await reply_to(self._core, run, what, text, who="the process that works on the run")

    async def _reply_targets(self, run: str, text: str) -> None:
        async def done(_asked: dict[str, Any]) -> object:
            return _TARGETS.dump_python(await self.point_targets(run), mode="json")

        await answer_command(self._core, text, done)

    async def _reply_edit(self, run: str, text: str) -> None:
        async def done(asked: dict[str, Any]) -> object:
            planned = await self.edit_planned(
                run,
                asked.get("call", ""),
                asked.get("reason", ""),
                int(asked.get("step", -1)),
                asked.get("instead_of", ""),
            )
            return _PLANNED.dump_python(planned, mode="json")

        await answer_command(self._core, text, done)


def _check_unchanged(planned: PlannedAction | None, step: int, call: str) -> None:
    """Check that an edit is of the action it was chosen for; -1 and "" stand for any.  Raises ``Conflict``."""
    if step < 0 and not call:
        return
    if planned is None or step not in (-1, planned.step) or call not in ("", planned.call):
        now = f", {planned.call} in step {planned.step}" if planned is not None else ""
        raise Conflict(f"the run is before another action now{now}; look at it and choose again")


def targets_on(held: PageCapture, now: PageCapture) -> list[PointTarget]:
    """Return the elements of ``held`` by its numbers, with the boxes they have in ``now``, in document order."""
    there = matching_elements(held, now)
    found: list[PointTarget] = []
    for element in held.elements:
        seen = there.get(element.index)
        if seen is None or seen.rect is None or not seen.visible or seen.rect[2] <= 0 or seen.rect[3] <= 0:
            continue
        name = element.name or element.label or element.text
        found.append(
            PointTarget(
                number=element.index,
                role=element.role,
                name=name[:MAX_NAME_LENGTH],
                box=seen.rect,
                calls=fitting_calls(element),
            )
        )
        if len(found) == MAX_TARGETS:
            break
    return found
