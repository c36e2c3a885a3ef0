"""Tells which process a queued run belongs to: it has no folder yet that its process could lock.

A living process holds ``runs/.live/<process>.wall``; ``<process>.runs`` beside it lists its runs.  When nobody holds
the first, any process may take the runs of the second.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from app.engine.store.database import translated_errors
from app.engine.store.locks import FileLock
from app.errors import StoreError
from kb.private import make_folder, own_file


class RunRegistry:
    """The runs of this process and of others; ``folder`` holds their files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: FileLock | None = None

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
        """Give up all runs."""
        if self._lock is not None:
            _delete(self._lock)
            self._lock = None


def _delete(lock: FileLock) -> None:
    with suppress(OSError):
        lock.path.with_suffix(".runs").unlink(missing_ok=True)
    lock.delete()
