"""Temporary folders for the life of a process, and their removal after a process was killed.

The platform's temporary folder is shared: only folders of this user that contain our lock file are ever removed, and
only once nobody holds the lock.
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
MAX_BASE_PATH = 40
"""Bytes of a base folder's path: Chromium appends some 45 bytes for a socket, whose address holds 107."""
STALE_SECONDS = 3600.0
"""Seconds after which a folder without a lock file is no longer being made."""


class TempFolder:
    """An owner-only folder that is removed with its process; use it in a ``with``."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.path, self._lock = path, lock

    @classmethod
    def make(cls, base: Path | None = None) -> Self:
        """Create a folder in ``base`` (the temporary folder) after removing those of dead processes; blocks."""
        base = base or short_temp()
        remove_abandoned(base)
        while True:
            path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
            lock = FileLock(path / LOCK)
            with suppress(FileNotFoundError):  # another process took it for a dead one's in between
                if lock.take():
                    return cls(path, lock)

    def remove(self) -> None:
        """Remove the folder and its contents; blocks.  A later ``remove_abandoned`` removes what is left."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()  # Windows removes no file that is open
        shutil.rmtree(self.path, ignore_errors=True)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def short_temp() -> Path:
    """Return the temporary folder; ``/tmp`` where its path is too long for the sockets in it."""
    found = Path(tempfile.gettempdir())
    short = Path("/tmp")
    if sys.platform != "win32" and len(os.fsencode(found)) > MAX_BASE_PATH and os.access(short, os.W_OK):
        return short
    return found


def remove_abandoned(base: Path | None = None) -> int:
    """Remove this user's folders of dead processes; return how many."""
    removed = 0
    base = base or short_temp()
    with suppress(OSError):
        for path in base.glob(f"{PREFIX}*"):
            if _is_ours(path) and _is_abandoned(path):
                shutil.rmtree(path, ignore_errors=True)
                removed += not path.exists()
    if removed:
        log.info("removed %d temporary folders of dead processes", removed)
    return removed


def _is_ours(path: Path) -> bool:
    """Return whether it is a real folder of this user: in a shared folder anybody can use our names."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and (sys.platform == "win32" or found.st_uid == os.getuid())


def _is_abandoned(path: Path) -> bool:
    """Return whether nobody holds its lock.  Without a lock file it is being made or removed, or was left long
    ago.
    """
    lock = FileLock(path / LOCK)
    try:
        if not lock.path.is_file():
            return time.time() - path.stat().st_mtime > STALE_SECONDS
        return lock.take()
    except OSError:
        return False
    finally:
        lock.release()
