"""Atomic file writes."""

from __future__ import annotations

import errno
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from kb.errors import BadFile
from kb.reading import refuse_odd

_LEFT_OVER_AFTER = 3600.0
"""Seconds after which a temporary file counts as the remains of a killed process."""


def place(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write ``content`` to a temporary file, flush it to the disk, then rename it; raises ``BadFile``.

    A reader sees the old file or the new one; a killed process leaves at most a hidden ``.part`` file, which the next
    one removes.
    """
    if path.exists():
        refuse_odd(path)  # a device or a pipe would be replaced by a file
    try:
        _clear_left_overs(path)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(mode)
            rename(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _explain(error, path) from error


def rename(old: Path, new: Path) -> None:
    """Rename a file over another durably."""
    if os.name == "nt" and new.exists():
        new.chmod(0o666)  # Windows replaces no read-only file
    old.replace(new)
    if os.name != "nt":
        folder = os.open(new.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _clear_left_overs(path: Path) -> None:
    prefix = f".{path.name}."
    for other in path.parent.iterdir():
        if other.name.startswith(prefix) and other.name.endswith(".part"):
            with suppress(OSError):
                if time.time() - other.stat().st_mtime > _LEFT_OVER_AFTER:
                    other.unlink()


def _explain(error: OSError, path: Path) -> BadFile:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return BadFile(f"{path}: the disk is full; nothing was written, free some space and try again")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return BadFile(f"{path}: its folder is not writable; choose another one")
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return BadFile(f"{path}: there is no folder {path.parent}; create it or choose another one")
    return BadFile(f"{path}: can't be written: {error.strerror or error}")
