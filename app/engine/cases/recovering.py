"""Finds the runs that a crashed process left, and resumes those that were active."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from app.engine.cases.core import Core
from app.engine.cases.run_reading import close_broken_off
from app.engine.errors import SiteloreError
from app.engine.hand_back import end_said
from app.engine.run_api import RunRequest
from app.engine.store.desk_state import LiveNote
from app.engine.store.tasks import read_task
from app.engine.store.walls import living_elsewhere
from app.engine.store.workspace import Workspace
from app.engine.supervision import LiveRow, PersonRequest, RequestState, RunState, Stage
from app.engine.trajectory import Outcome

log = logging.getLogger(__name__)

WENT = frozenset({RunState.QUEUED, RunState.STARTING, RunState.RUNNING, RunState.MENDING})
"""States in which nobody had to act."""

Put = Callable[[LiveRow, RunRequest], None]
Resume = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A run left by its process: its row as it will be shown, its request, and whether it was active.

    ``went`` is also true where the decision it waited for has been made since.
    """

    row: LiveRow
    request: RunRequest
    went: bool


async def recover(core: Core, put: Put, resume: Resume, *, automatically: bool) -> list[LiveRow]:
    """Show the runs that a crashed process left, and resume those that were active.

    A run that had begun is ``BROKEN_OFF``, with its open requests; one that had not is still ``QUEUED``.  Runs of
    other living processes are left alone; ended runs are dropped, and their requests closed.

    Args:
        put: adds a run to the live runs.
        resume: starts to resume (or start) a run that was added, and returns.
        automatically: the engine restarted under a living window: active runs are resumed.  Else a person decides.
    """
    left = await core.on_store(runs_left, core.workspace)
    for one in left:
        put(one.row, one.request)
    for one in left:
        if not (automatically and one.went):
            continue
        try:
            await resume(one.row.run)
        except SiteloreError as error:
            log.warning("run %s could not be resumed: %s", one.row.run, error)
    return [one.row for one in left]


def runs_left(workspace: Workspace) -> list[Left]:
    """Return the runs that were alive when their process died, oldest first; store thread only."""
    left: list[Left] = []
    elsewhere = {note.run for note in living_elsewhere(workspace)}
    for note in workspace.desk.live():
        if note.run in elsewhere:
            continue
        try:
            found = _left(workspace, note)
        except SiteloreError as error:
            log.warning("run %s can't be shown among the live runs: %s", note.run, error)
            continue
        if found is not None:
            left.append(found)
    try:
        workspace.wall.claim(one.row.run for one in left)
    except SiteloreError as error:
        log.warning("the live runs could not be registered: %s", error)
    return left


def _left(workspace: Workspace, note: LiveNote) -> Left | None:
    request = note.request
    if workspace.runs.has(note.run):
        head, steps = workspace.runs.load(note.run)
        if note.state is RunState.ENDED or head.outcome not in (Outcome.RUNNING, Outcome.INTERRUPTED):
            return _ended(workspace, note)
        request = read_task(workspace.runs.folder(note.run))
        return _broken_off(workspace, note, request, len(steps))
    if request is None or note.state not in (RunState.QUEUED, RunState.STARTING):
        return _ended(workspace, note)
    row = replace(_at_rest(note.row), state=RunState.QUEUED)
    return Left(row=row, request=request, went=True)


def _broken_off(workspace: Workspace, note: LiveNote, request: RunRequest, steps: int) -> Left | None:
    asked = workspace.desk.requests(note.run)
    needs = [one for one in asked if one.state is RequestState.OPEN]
    hints = sum(not hint.taken_at for hint in workspace.desk.hints(note.run))
    if (end := end_said(workspace.desk.deeds(note.run))) is not None:
        close_broken_off(workspace, note.run, end)  # its process died before it was closed
        return _ended(workspace, note)
    row = replace(
        _at_rest(note.row),
        state=RunState.BROKEN_OFF,
        step=steps,
        needs=tuple(sorted(needs, key=_weight, reverse=True)),
        hints=hints,
        why=_why(note),
    )
    decided = note.state is RunState.WAITING and bool(asked) and not needs
    return Left(row=row, request=request, went=note.state in WENT or decided)


def _ended(workspace: Workspace, note: LiveNote) -> None:
    """Drop a run that can't be resumed: close its requests and delete its snapshot."""
    for request in workspace.desk.requests(note.run):
        workspace.desk.void_request(request.id, "the run is over")
    workspace.desk.drop_live(note.run)


def _at_rest(row: LiveRow) -> LiveRow:
    return replace(row, stage=Stage.IDLE, stage_since=0.0, needs=(), why="", outcome="")


def _why(note: LiveNote) -> str:
    if note.state is RunState.BROKEN_OFF:
        return note.row.why
    if note.state in WENT:
        return "the program ended in the middle of the run"
    was = "it was taken over" if note.state is RunState.TAKEN_OVER else f"it was {note.state.value}"
    return f"{was} when the program ended"


def _weight(request: PersonRequest) -> int:
    return list(type(request.need)).index(request.need)
