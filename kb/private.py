"""Files and folders that nobody but their owner may read, whatever the umask; where the system knows such rights.

A umask only ever takes rights away, so what is made with these modes never has more.
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
    """Make a folder for its owner alone; the folders above it are made as usual."""
    if parents:
        path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=FOLDER, exist_ok=exist_ok)


def own_file(path: Path) -> Path:
    """The path of a file that is made for its owner alone, where there is none yet."""
    if not path.exists():
        path.touch(mode=FILE)
    return path


def is_open_to_others(path: Path) -> bool:
    """Whether anybody but the owner has rights on it."""
    return os.name == "posix" and bool(path.stat().st_mode & _OTHERS)


def tighten(paths: Iterable[Path]) -> None:
    """Take other people's rights from files and from folders with all that is in them; links are not followed.

    What belongs to somebody else, or vanishes meanwhile, stays as it is.
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
