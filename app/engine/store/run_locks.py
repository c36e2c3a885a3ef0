"""Locks of active runs, and the closing of those whose process died."""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from app.engine.core.trajectory import Outcome, Run
from app.engine.store.database import translated_errors
from app.engine.store.locks import FileLock
from app.engine.store.run_files import (
    RUN_FILE,
    STEPS_FILE,
    decode_run,
    decode_steps,
    encode_run,
    sync_folder,
    validate_run_id,
    write_file,
)
from app.errors import Conflict, InputError, StoreError
from kb.private import make_folder, own_file

log = logging.getLogger(__name__)

LIVE_FOLDER = ".live"
"""Folder of the locks, beside the run folders."""

INTERRUPTED_REASON = "the program ended in the middle of the run"


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


def take_lock(runs: Path, run: str) -> FileLock:
    """Take the lock of a run.

    Raises:
        Conflict: another process holds it.
    """
    path = _lock_path(runs, validate_run_id(run))
    lock = FileLock(path)
    with translated_errors(path):
        make_folder(path.parent)
        if lock.take_soon():
            return lock
    raise Conflict(f"another process is working on run {run}; wait for it, or stop it")


def _lock_path(runs: Path, run: str) -> Path:
    return runs / LIVE_FOLDER / f"{run}.lock"


class RunRegistry:
    """Tells which process a queued run belongs to: it has no folder yet that its process could lock.

    A living process holds ``folder/<process>.wall``; ``<process>.runs`` beside it lists its runs.  When nobody holds
    the first, any process may take the runs of the second.

    A batch has a lock of its own, ``<batch>.batch``, which is taken before anything of it is read or resumed: two
    processes can't both find it left and take it over.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: FileLock | None = None
        self._batches: dict[str, FileLock] = {}

    def claim_batch(self, batch: str) -> bool:
        """Make a batch ours for the life of this process; return ``False`` where a living process has it.

        Raises:
            StoreError: the folder can't be written.
        """
        if batch in self._batches:
            return True
        lock = FileLock(self._batch_path(batch))
        with translated_errors(self._folder):
            make_folder(self._folder)
            if not lock.take_soon():
                return False
        try:
            self.claim([batch])
        except BaseException:
            lock.delete()
            raise
        self._batches[batch] = lock
        return True

    def give_up_batch(self, batch: str) -> None:
        """Let another process take over a batch of ours."""
        if (lock := self._batches.pop(batch, None)) is not None:
            lock.delete()

    def has_other_owner(self, batch: str) -> bool:
        """Whether another living process has a batch."""
        path = self._batch_path(batch)
        if batch in self._batches or not path.exists():
            return False
        with translated_errors(path), FileLock(path) as lock:
            return not lock.take()

    def claim(self, runs: Iterable[str]) -> None:
        """Register runs as ours for the life of this process.  Raises ``StoreError`` where that can't be written."""
        with translated_errors(self._folder):
            make_folder(self._folder)
            if self._lock is None:
                lock = FileLock(self._folder / f"{uuid.uuid4().hex}.wall")
                if not lock.take_soon():
                    raise StoreError("the folder of live runs can't be locked")
                self._lock = lock
            with own_file(self._lock.path.with_suffix(".runs")).open("a", encoding="utf-8") as file:
                file.writelines(f"{run}\n" for run in runs)

    def runs_of_others(self) -> set[str]:
        """Return the runs of other living processes."""
        found: set[str] = set()
        for path in self._folder.glob("*.wall"):
            if self._lock is not None and path == self._lock.path:
                continue
            beside = path.with_suffix(".runs")
            with suppress(OSError):
                lock = FileLock(path)
                if lock.take():
                    _delete(lock)
                else:
                    found.update(beside.read_text("utf-8").split())
        return found

    def close(self) -> None:
        """Give up all runs and batches."""
        for batch in list(self._batches):
            self.give_up_batch(batch)
        if self._lock is not None:
            _delete(self._lock)
            self._lock = None

    def _batch_path(self, batch: str) -> Path:
        return self._folder / f"{validate_run_id(batch)}.batch"


def _delete(lock: FileLock) -> None:
    with suppress(OSError):
        lock.path.with_suffix(".runs").unlink(missing_ok=True)
    lock.delete()
