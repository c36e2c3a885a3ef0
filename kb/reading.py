"""Opens untrusted files: regular ones only, of bounded size, and never blocking.

Opening a pipe waits for its writer, a device or a socket for its other end, so a file is checked before it is opened
and once more by its handle, in case it was replaced meanwhile.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from kb.errors import BadFile

LINK = "a symbolic link; links are not followed"
_KINDS = (
    (stat.S_ISDIR, "this is a folder, a file was expected"),
    (stat.S_ISFIFO, "not a regular file but a named pipe"),
    (stat.S_ISSOCK, "not a regular file but a socket"),
    (stat.S_ISCHR, "not a regular file but a device"),
    (stat.S_ISBLK, "not a regular file but a device"),
)
_BESIDE = ("-wal", "-shm", "-journal")
"""Files that SQLite opens with a database."""


class Unreadable(BadFile):
    """A file that can't be read; ``why`` is the reason without its path."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.why = why


def refuse_odd(path: Path, *, follow: bool = True) -> os.stat_result:
    """Raise ``Unreadable`` unless there is a regular file; return its ``stat``."""
    try:
        about = path.stat(follow_symlinks=follow)
    except OSError as error:
        raise Unreadable(path, f"can't be read: {error.strerror or error}") from error
    _refuse_kind(path, about)
    return about


def refuse_odd_database(path: Path) -> None:
    """Raise ``Unreadable`` if a database, or a file SQLite opens beside it, exists and is no regular file."""
    for name in (path, *(path.with_name(path.name + suffix) for suffix in _BESIDE)):
        if name.exists():
            refuse_odd(name)


def read_bytes(path: Path, limit: int, *, follow: bool = True) -> bytes:
    """Read a regular file; raises ``Unreadable`` for anything else and for more than ``limit`` bytes.

    Without ``follow`` a symbolic link is refused.
    """
    refuse_odd(path, follow=follow)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    flags |= 0 if follow else getattr(os, "O_NOFOLLOW", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb", buffering=0) as file:
            about = os.fstat(file.fileno())
            _refuse_kind(path, about)
            if about.st_size > limit:
                raise Unreadable(path, f"larger than {limit // 2**20:,} MB, too large for this kind of file")
            return file.readall()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Unreadable(path, LINK) from error
        raise Unreadable(path, f"can't be read: {error.strerror or error}") from error


def _refuse_kind(path: Path, about: os.stat_result) -> None:
    if stat.S_ISLNK(about.st_mode):
        raise Unreadable(path, LINK)
    if not stat.S_ISREG(about.st_mode):
        why = next((words for is_kind, words in _KINDS if is_kind(about.st_mode)), "not a regular file")
        raise Unreadable(path, why)
