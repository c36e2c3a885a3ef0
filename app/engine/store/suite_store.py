"""The workspace's suites: ``suites/NAME.json``, one file a suite.

A file holds a small head (name, blind, hash, subsets) and the bytes that were added, unchanged: as text where they are
UTF-8, else in base64.  It is written whole and put in place at once.  A suite that was removed lies in
``suites/removed/``, from where undo brings it back.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import orjson

from app.engine.store.database import translated_errors
from app.engine.store.run_files import write_file
from app.errors import Conflict, NotFound, StoreError, UsageError
from kb.private import make_folder

SUITES_FOLDER = "suites"
FORMAT, VERSION = "sitelore-stored-suite", 1
_REMOVED = "removed"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")

FileState = tuple[int, int]
"""Time of change and size of a file: another one means another content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteHead:
    """The facts about a stored suite beside its tasks.

    Attributes:
        file: the name of the file it was added from, for its ending and for messages.
        sha256: of the bytes.  added_at: Unix seconds.
        subsets: named choices of its tasks, which may have stood in a file beside.
    """

    name: str
    file: str
    sha256: str
    blind: bool = False
    added_at: float = 0.0
    subsets: tuple[tuple[str, tuple[str, ...]], ...] = ()


def suite_name(text: str) -> str:
    """Return a suite's name.  Raises ``UsageError``: it names a file, and tips name tasks by it."""
    name = text.strip().lower()
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{text[:80]!r} can't be a suite's name",
            remedy="use letters a-z, digits, '-', '_' and '.', at most 63, a letter or digit first",
        )
    return name


class SuiteStore:
    """Reads and writes ``suites/``; what another process wrote is seen at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._heads: dict[str, tuple[FileState, SuiteHead]] = {}

    def names(self) -> list[str]:
        """Return the names of the suites."""
        if not self.folder.is_dir():
            return []
        return sorted(path.stem for path in self.folder.glob("*.json") if _NAME.fullmatch(path.stem))

    def heads(self) -> list[SuiteHead]:
        """Return the heads of the suites that can be read, by name."""
        found: list[SuiteHead] = []
        for name in self.names():
            try:
                found.append(self.head(name))
            except (NotFound, StoreError):
                continue
        return found

    def by_hash(self) -> dict[str, str]:
        """Return the names of the suites by the hash of their bytes."""
        return {head.sha256: head.name for head in self.heads()}

    def is_blind(self, sha256: str) -> bool:
        """Whether a suite of these bytes is here and hides its answers."""
        return any(head.blind and head.sha256 == sha256 for head in self.heads())

    def head(self, name: str) -> SuiteHead:
        """Return the head of a suite.

        Raises:
            NotFound: there is none.  StoreError: its file is damaged, or of a newer version.
        """
        state = self.state(name)
        kept = self._heads.get(name)
        if kept is None or kept[0] != state:
            kept = self._heads[name] = (state, self.read(name)[0])
        return kept[1]

    def state(self, name: str) -> FileState:
        """Return the state of a suite's file, by which what was read of it may be kept.  Raises ``NotFound``."""
        try:
            found = self._path(name).stat()
        except OSError as error:
            raise self._missing(name) from error
        return found.st_mtime_ns, found.st_size

    def read(self, name: str) -> tuple[SuiteHead, bytes]:
        """Return a suite's head and the bytes that were added.  Raises as ``head``."""
        path = self._path(name)
        if not path.exists():
            raise self._missing(name)
        with translated_errors(path):
            data = path.read_bytes()
        return _decoded(data, path)

    def add(self, head: SuiteHead, data: bytes) -> None:
        """Store a new suite.

        Raises:
            Conflict: there is one of this name.  StoreError: it can't be written.
        """
        if self._path(suite_name(head.name)).exists():
            raise Conflict(
                f"there is a suite '{head.name}' already; give this one another name, or remove that one"
            )
        self._write(head, data)

    def put_blind(self, name: str, blind: bool) -> None:
        """Hide the answers of a suite, or show them."""
        head, data = self.read(name)
        self._write(replace(head, blind=blind), data)

    def remove(self, name: str) -> str:
        """Put a suite aside; return the hash by which ``restore`` finds it."""
        path, head = self._path(name), self.head(name)
        with translated_errors(path):
            make_folder(self.folder / _REMOVED)
            path.replace(self._aside(name, head.sha256))
        return head.sha256

    def restore(self, name: str, sha256: str) -> None:
        """Bring back a suite that was put aside.

        Raises:
            Conflict: there is another one of this name by now.  NotFound: it is gone.
        """
        path, source = self._path(name), self._aside(name, sha256)
        if path.exists():
            raise Conflict(f"there is another suite '{name}' by now; remove that one first")
        if not source.exists():
            raise self._missing(name)
        with translated_errors(path):
            source.rename(path)

    def _aside(self, name: str, sha256: str) -> Path:
        return self.folder / _REMOVED / f"{name}-{re.sub(r'[^0-9a-f]', '', sha256)[:16]}.json"

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise self._missing(name)
        return self.folder / f"{name}.json"

    def _missing(self, name: str) -> NotFound:
        return NotFound(f"there is no suite {name[:80]!r}; 'sitelore suite list' names them")

    def _write(self, head: SuiteHead, data: bytes) -> None:
        path = self._path(head.name)
        draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
        with translated_errors(path):
            make_folder(self.folder)
            try:
                write_file(draft, _encoded(head, data))
                os.replace(draft, path)  # noqa: PTH105 as one call
            finally:
                draft.unlink(missing_ok=True)


def _encoded(head: SuiteHead, data: bytes) -> bytes:
    try:
        encoding, content = "utf-8", data.decode()
    except UnicodeDecodeError:
        encoding, content = "base64", base64.b64encode(data).decode()
    document = {
        "format": FORMAT,
        "version": VERSION,
        **{name: getattr(head, name) for name in SuiteHead.__slots__ if name != "subsets"},
        "subsets": dict(head.subsets),
        "encoding": encoding,
        "content": content,
    }
    return orjson.dumps(document) + b"\n"


def _decoded(data: bytes, path: Path) -> tuple[SuiteHead, bytes]:
    try:
        document: Any = orjson.loads(data)
        if document["format"] != FORMAT:
            raise ValueError("it is another kind of file")
        version = document["version"]
        newer = not isinstance(version, int) or version > VERSION
    except (ValueError, KeyError, TypeError) as error:
        raise _broken(path) from error
    if newer:
        raise StoreError(
            f"{path}: the suite is of version {version}, this program reads up to {VERSION}; use a newer Sitelore"
        )
    try:
        text = cast("str", document["content"])
        content = base64.b64decode(text, validate=True) if document["encoding"] == "base64" else text.encode()
        head = SuiteHead(
            name=path.stem,
            file=str(document["file"]),
            sha256=str(document["sha256"]),
            blind=bool(document["blind"]),
            added_at=float(document["added_at"]),
            subsets=tuple(
                (str(name), tuple(map(str, ids))) for name, ids in document.get("subsets", {}).items()
            ),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _broken(path) from error
    if hashlib.sha256(content).hexdigest() != head.sha256:
        raise _broken(path)
    return head, content


def _broken(path: Path) -> StoreError:
    return StoreError(f"{path}: the suite is damaged; remove the file and add the suite again")
