"""Creates files and folders that only their owner may read, whatever the umask, on systems with such permissions.

A umask only removes permissions, so files created with these modes never have more.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

FOLDER, FILE = 0o700, 0o600
_OTHERS = 0o077


def make_folder(path: Path, *, parents: bool = False, exist_ok: bool = True) -> None:
    """Create a folder for its owner alone; parent folders are created as usual."""
    if parents:
        path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=FOLDER, exist_ok=exist_ok)


def own_file(path: Path) -> Path:
    """Create a file for its owner alone unless it exists, and return its path."""
    if not path.exists():
        path.touch(mode=FILE)
    return path


def is_open_to_others(path: Path) -> bool:
    """Whether anybody but the owner has permissions on it."""
    return os.name == "posix" and bool(path.stat().st_mode & _OTHERS)


def tighten(paths: Iterable[Path]) -> None:
    """Remove other people's permissions from files and from folders with their contents; links are not followed.

    Files that belong to somebody else, or vanish meanwhile, are left as they are.
    """
    if os.name != "posix":
        return
    for path in paths:
        _tighten(path)
        if path.is_dir() and not path.is_symlink():
            for folder, folders, files in os.walk(path):
                for name in (*folders, *files):
                    _tighten(Path(folder, name))


def _tighten(path: Path) -> None:
    with suppress(OSError):
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode) and mode & _OTHERS:
            path.chmod(stat.S_IMODE(mode) & ~_OTHERS)
