"""Errors the program expects, each with a sentence a person can act on.

SiteloreError            anything below; the command line prints it and exits with ``exit_code``
|- InputError            a file or folder that was passed in is bad (exit 3)
|- UsageError            a request that makes no sense: nothing to look for, an unknown word (exit 2)
|- NotFound              a run, tip, flag or job of that name is not here (exit 1)
|- Conflict              the thing changed under the caller, or another process holds it (exit 1)
`- StoreError            the workspace can't be read or written: full disk, read-only, newer version (exit 3)
   `- DamagedIndex       its search index is broken, and can be rebuilt from the rest (exit 3)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_UNDECODED = re.compile("[\udc80-\udcff]")
"""Bytes of a file name that are not UTF-8, as Python keeps them in a string."""


def printable(text: str) -> str:
    """Return a text that can be stored, printed and sent as JSON: undecodable bytes of a name become hex."""
    if text.isascii():
        return text
    shown = _UNDECODED.sub(lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02x}", text)
    return shown.encode("utf-8", "backslashreplace").decode()


class SiteloreError(Exception):
    """An expected failure; ``str()`` of it says what, where and what to do."""

    exit_code = 1


class InputError(SiteloreError):
    """Bad input from outside: says what is wrong, in which file, and the remedy."""

    exit_code = 3

    def __init__(self, what: str, *, path: str = "", remedy: str = "") -> None:
        self.what, self.path, self.remedy = what, printable(path), remedy
        super().__init__(": ".join(p for p in (self.path, what) if p) + (f" ({remedy})" if remedy else ""))


class UsageError(SiteloreError):
    """A request that makes no sense; says what to give instead."""

    exit_code = 2

    def __init__(self, what: str, *, remedy: str = "") -> None:
        super().__init__(what + (f" ({remedy})" if remedy else ""))


class NotFound(SiteloreError):
    """The named thing is not in this workspace."""


class Conflict(SiteloreError):
    """Someone else changed or holds the thing to be changed."""


class StoreError(SiteloreError):
    """The workspace can't be read or written."""

    exit_code = 3


class DamagedIndex(StoreError):
    """The search index is broken; nothing that can't be rebuilt is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathError:
    """A file or folder that could not be read, and the reason; its name is ``printable``."""

    path: str
    error: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", printable(self.path))
        object.__setattr__(self, "error", printable(self.error))
