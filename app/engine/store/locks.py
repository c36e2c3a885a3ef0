"""Advisory locks between processes; the system releases them when their holder dies."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

_SOON, _PAUSE = 0.2, 0.02


class FileLock:
    """An exclusive lock on a file; ``take`` never waits, ``take_soon`` waits, by default for 0.2 s at most."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    def take(self) -> bool:
        """Take the lock; return whether we have it."""
        while self._handle is None:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            if not _lock(handle):
                os.close(handle)
                return False
            if os.fstat(handle).st_nlink:
                self._handle = handle
            else:  # its holder took the file away while we opened it: a lock on that keeps nobody out
                os.close(handle)
        return True

    def take_soon(self, seconds: float = _SOON) -> bool:
        """Take the lock; return whether we have it after at most so many seconds.

        Who holds it may only be checking whether its owner is dead, which takes a moment.  Blocks: for worker threads.
        """
        until = time.monotonic() + seconds
        while not self.take():
            if time.monotonic() > until:
                return False
            time.sleep(_PAUSE)
        return True

    def release(self) -> None:
        """Release the lock."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def delete(self) -> None:
        """Delete the lock's file while the lock is held (on Windows once it is released)."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        self.release()
        if sys.platform == "win32":  # elsewhere the path may be another process's by now
            with suppress(OSError):
                self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
