"""Writes runs step by step, so that a kill at any moment loses no more than the step in flight.

An active run is a run folder like any other from the start (outcome ``running``).  A step is one line in
``steps.jsonl``; the contents it names are on the disk before the line is, and the line before ``append`` returns.
The process that works on a run holds ``runs/.live/<id>.lock``, which the system releases when it dies; a run whose
lock file nobody holds is closed as interrupted, and can be resumed.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

import orjson

from app.engine.api.run_api import RunRequest
from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.store.blob_store import pack_blobs
from app.engine.store.database import translated_errors
from app.engine.store.locks import FileLock
from app.engine.store.run_files import (
    STEPS_FILE,
    append_atomically,
    encode_steps,
    type_adapter,
)
from app.engine.store.run_locks import (
    INTERRUPTED_REASON,
    drop_partial_line,
    replace_run_file,
    take_lock,
)
from app.engine.store.workspace import Workspace
from app.errors import Conflict, NotFound, SiteloreError, StoreError
from kb.private import own_file

log = logging.getLogger(__name__)

RESUMABLE = frozenset({Outcome.RUNNING, Outcome.INTERRUPTED, Outcome.CRASHED})
"""Outcomes of runs that can be resumed: neither finished by the agent nor stopped by a person."""


class RunWriter:
    """The exclusive writer of one active run; made by ``begin`` or ``resume``, ended by ``finish``.

    Use it on the workspace's store thread.  ``close`` without ``finish`` leaves the run interrupted, to be resumed.

    Attributes:
        run: its head as stored.  steps: the stored steps.
    """

    def __init__(self, workspace: Workspace, run: Run, steps: list[Step], lock: FileLock) -> None:
        self.run, self.steps = run, steps
        self.folder = workspace.runs.folder(run.id)
        self._workspace, self._lock = workspace, lock
        self._ended = False
        with translated_errors(self.folder):
            self._file = own_file(self.folder / STEPS_FILE).open("ab", buffering=0)

    @classmethod
    def begin(
        cls,
        workspace: Workspace,
        run: Run,
        beside: Mapping[str, bytes] | None = None,
        blobs: Mapping[str, bytes] | None = None,
    ) -> RunWriter:
        """Create a run without steps and lock it; ``beside`` are its further files, ``blobs`` contents it names.

        Raises:
            Conflict: the id exists.  StoreError: the disk is full or can't be written.
        """
        lock = take_lock(workspace.runs.path, run.id)
        try:
            head = replace(run, outcome=Outcome.RUNNING, step_count=0, final=None)
            if not workspace.runs.add(head, (), blobs or {}, beside):
                raise Conflict(f"run {run.id} exists already")
            live = cls(workspace, head, [], lock)
            workspace.index_run(run.id)
        except BaseException:
            lock.release()
            raise
        return live

    @classmethod
    def resume(cls, workspace: Workspace, run: str) -> RunWriter:
        """Lock a run whose process died, or whose browser was lost, to continue it.

        A line that the kill cut off is removed: that step never ended.

        Raises:
            NotFound: there is no such run.  Conflict: it has ended, or another process has it.
            StoreError: its files are damaged or can't be written.
        """
        if not workspace.runs.has(run):
            raise NotFound(f"no run {run[:120]!r} in this workspace")
        lock = take_lock(workspace.runs.path, run)
        try:
            folder = workspace.runs.folder(run)
            drop_partial_line(folder)
            head, steps = workspace.runs.load(run)
            if head.outcome not in RESUMABLE:
                raise Conflict(f"run {run} has ended ({head.outcome.value}); it can't be resumed")
            head = replace(
                head,
                outcome=Outcome.RUNNING,
                error="",
                answer=None,
                final=None,
                evidence="",
                step_count=len(steps),
            )
            replace_run_file(folder, head)
            live = cls(workspace, head, list(steps), lock)
            workspace.index_run(run)
        except BaseException:
            lock.release()
            raise
        return live

    def append(self, step: Step, blobs: Mapping[str, bytes] | None = None) -> None:
        """Store one step: the contents it names (by SHA-256), then its line; both are on the disk afterwards.

        Raises:
            Conflict: it is not the next step, or the run is over.
            StoreError: the disk is full or can't be written; then nothing was stored.
        """
        if self._ended:
            raise Conflict(f"run {self.run.id} is over; nothing can be added to it")
        if step.index != len(self.steps):
            raise Conflict(f"run {self.run.id}: step {len(self.steps)} is next, not step {step.index}")
        self._keep(blobs)
        with translated_errors(self.folder):
            append_atomically(self._file, encode_steps([step]))
        self.steps.append(step)
        try:
            self._workspace.index.add_step(self.run.id, step, self._workspace.site_of)
        except SiteloreError as error:  # the step is recorded; the index is brought in line when the run ends
            log.warning("step %d of run %s is not in the index yet: %s", step.index, self.run.id, error)

    def finish(self, run: Run, blobs: Mapping[str, bytes] | None = None) -> Run:
        """Store the end of the run and release it; ``blobs`` are the contents that its final page names.

        Raises:
            ValueError: it is another run, or still running.  StoreError: it can't be written.
        """
        if run.id != self.run.id or run.outcome is Outcome.RUNNING:
            raise ValueError(f"not the end of run {self.run.id}: {run.id}, {run.outcome.value}")
        if self._ended:
            raise Conflict(f"run {self.run.id} is over already")
        self._keep(blobs)
        self.run = replace(run, step_count=len(self.steps))
        replace_run_file(self.folder, self.run)
        self._let_go()
        return self.run

    def close(self, why: str = "") -> None:
        """Release the run; an unfinished one is closed as interrupted, for the reason given.

        Where that can't be written the lock file stays, and the next opening of the workspace closes the run.  May
        be called twice.

        Raises:
            StoreError: it can't be written.
        """
        if self._ended:
            return
        head = replace(
            self.run, outcome=Outcome.INTERRUPTED, error=why or INTERRUPTED_REASON, step_count=len(self.steps)
        )
        try:
            replace_run_file(self.folder, head)
        except BaseException:
            self._ended = True
            self._file.close()
            self._lock.release()
            raise
        self.run = head
        self._let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _keep(self, blobs: Mapping[str, bytes] | None) -> None:
        store = self._workspace.runs.blobs
        if blobs and (wanted := store.missing(blobs)):
            store.add(pack_blobs({digest: blobs[digest] for digest in wanted}))

    def _let_go(self) -> None:
        """Index the run, then release it: while the lock file exists, the next opening repairs the index."""
        self._ended = True
        self._file.close()
        try:
            self._workspace.index_run(self.run.id)
        except SiteloreError as error:
            log.warning("run %s is not in the index as it ended yet: %s", self.run.id, error)
            self._lock.release()
        else:
            self._lock.delete()


REQUEST_FILE = "task.json"
REQUEST_VERSION = 1


def request_file(request: RunRequest) -> dict[str, bytes]:
    """Return the request as a further file of the run (``LiveRun.begin``)."""
    return {
        REQUEST_FILE: orjson.dumps(
            {"version": REQUEST_VERSION, "request": request}, option=orjson.OPT_INDENT_2
        )
    }


def read_request(folder: Path) -> RunRequest:
    """Return the request of a run.

    Raises:
        NotFound: the run was not made here.  StoreError: its file is damaged or of a newer version.
    """
    from pydantic import ValidationError

    path = folder / REQUEST_FILE
    try:
        data = orjson.loads(path.read_bytes())
        if data["version"] > REQUEST_VERSION:
            raise StoreError(f"{path.name} of run {folder.name} is of a newer version; use a newer Sitelore")
        return type_adapter(RunRequest).validate_python(data["request"])
    except FileNotFoundError as error:
        raise NotFound(f"run {folder.name} can't be resumed: it was not made here") from error
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        raise StoreError(f"{path.name} of run {folder.name} is damaged; start the task again") from error
