"""Folders for what a process needs only while it lives, and their removal after a process that was killed.

The platform's temporary folder is shared: only folders of this user that carry our lock file are ever removed, and only
once nobody holds the lock any more.
"""

from __future__ import annotations

import logging
import os
import shutil
import stat
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from app.engine.store.locks import FileLock

log = logging.getLogger(__name__)

PREFIX = "sitelore-tmp-"
LOCK = "owner.lock"
LONGEST = 40
"""Bytes of a base folder's path: Chromium puts a socket of some 45 bytes into it, and a socket's address holds 107."""
HALF_REMOVED = 3600.0
"""Seconds after which a folder without a lock is no longer one that is being made."""


class Scratch:
    """An owner-only folder that goes with its process; use it with ``with``.

    Attributes:
        path: the folder.
    """

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.path, self._lock = path, lock

    @classmethod
    def make(cls, base: Path | None = None) -> Self:
        """Make a folder in ``base`` (the temporary folder) after removing those whose process is gone; blocks."""
        base = base or short_temp()
        sweep(base)
        while True:
            path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
            lock = FileLock(path / LOCK)
            with suppress(FileNotFoundError):  # another process took it for a dead one's in between
                if lock.take():
                    return cls(path, lock)

    def remove(self) -> None:
        """Remove the folder with all that is in it; blocks.  What can't be removed is left to a later ``sweep``."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()  # Windows removes no file that is open
        shutil.rmtree(self.path, ignore_errors=True)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def short_temp() -> Path:
    """The temporary folder; ``/tmp`` where its path is too long for the sockets that are put there."""
    found = Path(tempfile.gettempdir())
    short = Path("/tmp")
    if sys.platform != "win32" and len(os.fsencode(found)) > LONGEST and os.access(short, os.W_OK):
        return short
    return found


def sweep(base: Path | None = None) -> int:
    """Remove the folders of processes that are gone; their number.  Those of other users are left alone."""
    removed = 0
    base = base or short_temp()
    with suppress(OSError):
        for path in base.glob(f"{PREFIX}*"):
            if _is_ours(path) and _is_abandoned(path):
                shutil.rmtree(path, ignore_errors=True)
                removed += not path.exists()
    if removed:
        log.info("removed %d temporary folders of processes that are gone", removed)
    return removed


def _is_ours(path: Path) -> bool:
    """A real folder of this user: in a shared folder anybody can use our names."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and (sys.platform == "win32" or found.st_uid == os.getuid())


def _is_abandoned(path: Path) -> bool:
    """Nobody holds its lock.  A folder without one is being made or removed, or its removal was cut short long ago."""
    lock = FileLock(path / LOCK)
    try:
        if not lock.path.is_file():
            return time.time() - path.stat().st_mtime > HALF_REMOVED
        return lock.take()
    except OSError:
        return False
    finally:
        lock.release()
