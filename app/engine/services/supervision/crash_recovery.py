"""Finds the runs that a crashed process left, and resumes those that were active."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace

from app.engine.api.run_api import RunRequest
from app.engine.core.batch import BatchState
from app.engine.core.hand_back import ending_stated
from app.engine.core.supervision import LiveRow, RunState, Stage, open_requests
from app.engine.core.trajectory import Outcome
from app.engine.services.core import Core
from app.engine.services.run_reader import close_interrupted
from app.engine.store.run_writer import read_request
from app.engine.store.supervision.supervision_state import LiveRunSnapshot
from app.engine.store.workspace import Workspace
from app.errors import SiteloreError

log = logging.getLogger(__name__)

IN_PROGRESS = frozenset({RunState.QUEUED, RunState.STARTING, RunState.RUNNING, RunState.RECOVERING})
"""States in which nobody had to act."""

IsWanted = Callable[[LiveRunSnapshot], bool]
AddRow = Callable[[LiveRow, RunRequest], None]
Resume = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoverableRun:
    """A run left by its process: its row as it will be shown, its request, and whether it was active.

    ``went`` is also true where the decision it waited for has been made since, and false where its batch does not go
    on: it was paused, stopped, or out of budget.
    """

    row: LiveRow
    request: RunRequest
    went: bool


async def recover_runs(
    core: Core,
    put: AddRow,
    resume: Resume,
    wanted: IsWanted | None = None,
    *,
    ours: Collection[str] = (),
    automatically: bool,
) -> list[LiveRow]:
    """Show the runs that a crashed process left, and resume those that were active.

    A run that had begun is ``BROKEN_OFF``, with its open requests; one that had not is still ``QUEUED``.  Runs of
    other living processes are left alone; ended runs are dropped, and their requests closed.

    Args:
        put: adds a run to the live runs.
        ours: runs that are among them already.
        wanted: says by its snapshot whether a run is to be taken over; ``None`` for all.
        resume: starts to resume (or start) a run that was added, and returns.
        automatically: the engine restarted under a living window: active runs are resumed.  Else a person decides.
    """
    left = await core.on_store(recoverable_runs, core.workspace, ours, wanted)
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


def recoverable_runs(
    workspace: Workspace, ours: Collection[str] = (), wanted: IsWanted | None = None
) -> list[RecoverableRun]:
    """Take over the runs that were alive when their process died, oldest first; store thread only.

    The runs of a batch that another process has are left to that one.
    """
    left = left_runs(workspace, ours, wanted)
    try:
        workspace.run_registry.claim(one.row.run for one in left)
    except SiteloreError as error:
        log.warning("the live runs could not be registered: %s", error)
    return left


def left_runs(
    workspace: Workspace, ours: Collection[str] = (), wanted: IsWanted | None = None
) -> list[RecoverableRun]:
    """Return the runs that were alive when their process died, without taking them over; store thread only."""
    left: list[RecoverableRun] = []
    elsewhere = {note.run for note in workspace.runs_of_other_processes()}.union(ours)
    for note in workspace.supervision.snapshots():
        if note.run in elsewhere or (wanted is not None and not wanted(note)):
            continue
        try:
            if note.row.batch and workspace.run_registry.has_other_owner(note.row.batch):
                continue
            found = _recoverable(workspace, note)
        except SiteloreError as error:
            log.warning("run %s can't be shown among the live runs: %s", note.run, error)
            continue
        if found is not None:
            batch = note.row.batch
            goes_on = not batch or workspace.batches.state_of(batch) is BatchState.ACTIVE
            left.append(found if goes_on else replace(found, went=False))
    return left


def _recoverable(workspace: Workspace, note: LiveRunSnapshot) -> RecoverableRun | None:
    request = note.request
    if workspace.runs.has(note.run):
        head, steps = workspace.runs.load(note.run)
        if note.row.state is RunState.ENDED or head.outcome not in (Outcome.RUNNING, Outcome.INTERRUPTED):
            return _forget_ended(workspace, note)
        request = read_request(workspace.runs.folder(note.run))
        return _interrupted(workspace, note, request, len(steps))
    if request is None or note.row.state not in (RunState.QUEUED, RunState.STARTING):
        return _forget_ended(workspace, note)
    row = replace(_idle_row(note.row), state=RunState.QUEUED)
    return RecoverableRun(row=row, request=request, went=True)


def _interrupted(
    workspace: Workspace, note: LiveRunSnapshot, request: RunRequest, steps: int
) -> RecoverableRun | None:
    asked = workspace.supervision.requests(note.run)
    needs = open_requests(asked)
    hints = sum(not hint.taken_at for hint in workspace.supervision.hints(note.run))
    if (end := ending_stated(workspace.supervision.interventions(note.run))) is not None:
        close_interrupted(workspace, note.run, end)  # its process died before it was closed
        return _forget_ended(workspace, note)
    row = replace(
        _idle_row(note.row),
        state=RunState.INTERRUPTED,
        step=steps,
        needs=needs,
        hints=hints,
        why=_why(note),
    )
    decided = note.row.state is RunState.WAITING and bool(asked) and not needs
    return RecoverableRun(row=row, request=request, went=note.row.state in IN_PROGRESS or decided)


def _forget_ended(workspace: Workspace, note: LiveRunSnapshot) -> None:
    """Drop a run that can't be resumed: close its requests and delete its snapshot."""
    for request in workspace.supervision.requests(note.run):
        workspace.supervision.void_request(request.id, "the run is over")
    workspace.supervision.delete_snapshot(note.run)


def _idle_row(row: LiveRow) -> LiveRow:
    return replace(row, stage=Stage.IDLE, stage_since=0.0, needs=(), why="", outcome="")


def _why(note: LiveRunSnapshot) -> str:
    if note.row.state is RunState.INTERRUPTED:
        return note.row.why
    if note.row.state in IN_PROGRESS:
        return "the program ended in the middle of the run"
    was = "it was taken over" if note.row.state is RunState.TAKEN_OVER else f"it was {note.row.state.value}"
    return f"{was} when the program ended"
