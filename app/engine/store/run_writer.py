"""Writes runs step by step, so that a kill at any moment loses no more than the step in flight.

An active run is a run folder like any other from the start (outcome ``running``).  A step is one line in
``steps.jsonl``; the contents it names are on the disk before the line is, and the line before ``append`` returns.
The process that works on a run holds ``runs/.live/<id>.lock``, which the system releases when it dies; a run whose
lock file nobody holds is closed as interrupted, and can be resumed.
"""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.store.blob_store import pack_blobs
from app.engine.store.database import translated_errors
from app.engine.store.locks import FileLock
from app.engine.store.run_files import (
    RUN_FILE,
    STEPS_FILE,
    append_atomically,
    decode_run,
    decode_steps,
    encode_run,
    encode_steps,
    sync_folder,
    validate_run_id,
    write_file,
)
from app.errors import Conflict, InputError, NotFound, SiteloreError, StoreError
from kb.private import make_folder, own_file

if TYPE_CHECKING:
    from app.engine.store.workspace import Workspace

log = logging.getLogger(__name__)

LIVE_FOLDER = ".live"
"""Folder of the locks, beside the run folders."""

_TRIES, _PAUSE = 10, 0.02

RESUMABLE = frozenset({Outcome.RUNNING, Outcome.INTERRUPTED, Outcome.CRASHED})
"""Outcomes of runs that can be resumed: neither finished by the agent nor stopped by a person."""

INTERRUPTED_REASON = "the program ended in the middle of the run"


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
    def begin(cls, workspace: Workspace, run: Run, beside: Mapping[str, bytes] | None = None) -> RunWriter:
        """Create a run without steps and lock it; ``beside`` are its further files.

        Raises:
            Conflict: the id exists.  StoreError: the disk is full or can't be written.
        """
        lock = _take_lock(workspace, run.id)
        try:
            head = replace(run, outcome=Outcome.RUNNING, step_count=0, final=None)
            if not workspace.runs.add(head, (), {}, beside):
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
        lock = _take_lock(workspace, run)
        try:
            folder = workspace.runs.folder(run)
            drop_partial_line(folder)
            head, steps = workspace.runs.load(run)
            if head.outcome not in RESUMABLE:
                raise Conflict(f"run {run} has ended ({head.outcome.value}); it can't be resumed")
            head = replace(
                head, outcome=Outcome.RUNNING, error="", answer=None, final=None, step_count=len(steps)
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
            _delete_lock(self._lock)


def is_live(runs: Path, run: str) -> bool:
    """Return whether a process works on the run."""
    path = _lock_path(runs, run)
    if not path.exists():
        return False
    with FileLock(path) as lock:
        return not lock.take()


@dataclass(frozen=True, slots=True)
class CrashedRun:
    """A run whose process died, locked until it is indexed."""

    id: str
    lock: FileLock

    def let_go(self) -> None:
        """Release it: the index is up to date."""
        _delete_lock(self.lock)


def close_crashed(runs: Path) -> list[CrashedRun]:
    """Close runs whose process died as interrupted; return those, and the ones that died while they ended.

    An unreadable run stays as it is: opening it says why.
    """
    dead: list[CrashedRun] = []
    for path in sorted((runs / LIVE_FOLDER).glob("*.lock")):
        lock = FileLock(path)
        with translated_errors(path):
            if not lock.take():
                continue
        try:
            _close_as_interrupted(runs / path.stem)
            dead.append(CrashedRun(path.stem, lock))
        except (InputError, StoreError) as error:
            log.warning("run %s could not be closed: %s", path.stem, error)
            lock.release()
    return dead


def drop_partial_line(folder: Path) -> int:
    """Remove a last line that was cut off; return its bytes.

    Raises:
        StoreError: the file can't be read or written.
    """
    path = folder / STEPS_FILE
    with translated_errors(path), path.open("r+b") as file:
        data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            file.truncate(whole)
            os.fsync(file.fileno())
    return len(data) - whole


def replace_run_file(folder: Path, run: Run) -> None:
    """Replace ``run.json``, whole or not at all.

    Raises:
        StoreError: the disk is full or can't be written.
    """
    draft = folder / f".{RUN_FILE}.{uuid.uuid4().hex[:8]}"
    with translated_errors(folder):
        try:
            write_file(draft, encode_run(run))
            draft.replace(folder / RUN_FILE)
        except BaseException:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise
        sync_folder(folder)


def _close_as_interrupted(folder: Path) -> None:
    if not (folder / RUN_FILE).exists():
        return
    with translated_errors(folder):
        head = decode_run((folder / RUN_FILE).read_bytes(), folder / RUN_FILE)
    if head.outcome is not Outcome.RUNNING:
        return
    drop_partial_line(folder)
    with translated_errors(folder):
        steps, _ = decode_steps((folder / STEPS_FILE).read_bytes(), folder / STEPS_FILE)
    replace_run_file(
        folder, replace(head, outcome=Outcome.INTERRUPTED, error=INTERRUPTED_REASON, step_count=len(steps))
    )


def _take_lock(workspace: Workspace, run: str) -> FileLock:
    """Take the lock of a run.

    Raises:
        Conflict: another process holds it.
    """
    path = _lock_path(workspace.runs.path, validate_run_id(run))
    lock = FileLock(path)
    with translated_errors(path):
        make_folder(path.parent)
        for _ in range(_TRIES):
            if lock.take():
                return lock
            time.sleep(_PAUSE)  # it may only be a workspace that opens and looks whether the run is dead
    raise Conflict(f"another process is working on run {run}; wait for it, or stop it")


def _delete_lock(lock: FileLock) -> None:
    """Delete the lock file while it is held (Windows: once it is released): the run is over."""
    with suppress(OSError):
        lock.path.unlink(missing_ok=True)
    lock.release()
    with suppress(OSError):
        if os.name == "nt":
            lock.path.unlink(missing_ok=True)


def _lock_path(runs: Path, run: str) -> Path:
    return runs / LIVE_FOLDER / f"{run}.lock"
