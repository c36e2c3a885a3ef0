"""The manifest beside a frozen file: a description, and everything the file itself may not hold.

It states the hash of the file's bytes, and of itself, so that a changed bit in either is detected.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from kb import atomic
from kb.errors import BadFile
from kb.reading import Unreadable, read_bytes

SUFFIX = ".manifest.json"
_SELF = "manifest_sha256"
_LIMIT = 256 * 2**20


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest as read; ``problem`` says why it can't be trusted, "" if it can."""

    data: dict[str, Any] = field(default_factory=dict[str, Any])
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether it exists and is unchanged."""
        return not self.problem

    @property
    def file_sha256(self) -> str:
        """The hash of the frozen file it belongs to."""
        return self._text("file", "sha256")

    @property
    def encoder_id(self) -> str:
        """The encoder of the knowledge base it was frozen from, "" for none."""
        return self._text("encoder", "id")

    def _text(self, part: str, name: str) -> str:
        inner = self.data.get(part)
        return str(cast("dict[str, Any]", inner).get(name, "")) if isinstance(inner, dict) else ""


def manifest_path(path: Path) -> Path:
    """Path of a frozen file's manifest."""
    return path.with_name(path.name + SUFFIX)


def waiting_path(path: Path) -> Path:
    """Path of a manifest until the frozen file has its final name."""
    return path.with_name(f".{path.name}{SUFFIX}.new")


def to_bytes(data: dict[str, Any]) -> bytes:
    """The manifest's text in canonical form, including its own hash."""
    plain = {name: value for name, value in data.items() if name != _SELF}
    return _dump({**plain, _SELF: hashlib.sha256(_dump(plain)).hexdigest()})


def read_manifest(path: Path) -> Manifest:
    """Read the manifest of the frozen file ``path``.

    A freeze that was killed between its two renames has left a new file and its manifest still waiting: if the
    waiting one is of exactly this file, it is the manifest.
    """
    found = _read(manifest_path(path))
    waiting = waiting_path(path)
    if waiting.exists() and (other := _read(waiting)).ok:
        content = hashlib.sha256(read_bytes(path, _LIMIT * 4)).hexdigest()
        if other.file_sha256 == content and found.file_sha256 != content:
            with suppress(OSError):  # a read-only folder: it stays waiting
                atomic.rename(waiting, manifest_path(path))
            return other
    return found


def _read(path: Path) -> Manifest:
    if not path.exists():
        return Manifest(problem=f"the manifest {path.name} is missing")
    edited = Manifest(problem=f"the manifest {path.name} was changed since it was written")
    try:
        raw = read_bytes(path, _LIMIT)
        data = json.loads(raw)
    except Unreadable as error:
        return Manifest(problem=f"the manifest {path.name} can't be read: {error.why}")
    except (BadFile, ValueError, RecursionError):
        return edited
    if not isinstance(data, dict):
        return edited
    manifest = Manifest(cast("dict[str, Any]", data))
    # Serialising it again must give the same bytes: that detects a changed blank as well.
    return manifest if to_bytes(manifest.data) == raw else edited


def _dump(data: dict[str, Any]) -> bytes:
    return (json.dumps(data, ensure_ascii=False, sort_keys=True, indent=1) + "\n").encode("utf-8")
