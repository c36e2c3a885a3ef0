"""Files of a Playwright trace, within its zip file or in an unpacked folder; nothing is ever unpacked to disk.

A zip file is read by its table of contents: names are compared, never used as paths, and every read is bounded. Several
traces in one file (``test.trace`` of the test runner, ``0-trace.trace`` of its browser contexts) are one run.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

from app.engine.imports.source_files import natural_key
from app.errors import InputError
from kb import reading

MAX_ENTRIES = 200_000
MAX_DIRECTORY_BYTES = 32 * 2**20
"""Longest table of contents of a zip file that is read."""
MAX_EVENT_BYTES = 2 * 2**30
"""Bytes of events that are read of one run, unpacked."""
MAX_LINE_BYTES = 64 * 2**20
MAX_RATIO = 200
"""How many times longer than packed an entry, or all events together, may be, beyond ``SMALL_ENTRY``; real events pack
to a twentieth at best.
"""
SMALL_ENTRY = 8 * 2**20

_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_TRACE = re.compile(r"(?P<stem>[^/\\]+)\.trace", re.IGNORECASE)
_UNPACKED = re.compile(r"(?:\d+-)?trace|test", re.IGNORECASE)
_PART = re.compile(r"(?:-test|-recording\d+|-chunk\d+)+\Z")
_READ = 256 * 2**10


class TraceFiles(Protocol):
    """The files of one run: traces by the part of their name before ``.trace``, and the files they name."""

    @property
    def stems(self) -> list[str]:
        """The traces, the test runner's first."""
        ...

    def lines(self, name: str) -> Iterator[bytes]:
        """Yield a file's lines, none where it is not there; one that is too long is given as ``b""``."""
        ...

    def read(self, name: str, limit: int) -> bytes:
        """Return a file's bytes; none where it is not there, is longer, or can't be read."""
        ...


def is_zip(head: bytes) -> bool:
    """Whether a file's first bytes are those of a zip file."""
    return head.startswith(_ZIP_STARTS)


def folder_parts(names: list[str]) -> dict[str, list[str]]:
    """Return the runs among the names of an unpacked folder: their traces' stems, by the part of the folder.

    Traces named as within a zip file are one run, the part ""; others belong together by their name's beginning.
    """
    parts: dict[str, list[str]] = {}
    for name in names:
        found = _TRACE.fullmatch(name)
        if found is not None:
            stem = found["stem"]
            part = "" if _UNPACKED.fullmatch(stem) else _PART.sub("", stem)
            parts.setdefault(part, []).append(stem)
    return {part: _ordered(stems) for part, stems in parts.items()}


@contextmanager
def open_files(path: Path, part: str) -> Generator[TraceFiles]:
    """Open a trace's zip file or folder.

    Raises:
        InputError: it is damaged, encrypted, or beyond the bounds; one sentence says why.
    """
    if path.is_dir():
        yield _UnpackedFiles(path, part)
        return
    with _open_zip(path) as archive:
        files = _ZippedFiles(path, archive)
        files.refuse_bomb()
        yield files


def content_hash(path: Path, part: str) -> str:
    """Return a hash of a trace's content: of a zip file from its table of contents (names, checksums, lengths) alone.

    Raises:
        InputError: as ``open_files``.
    """
    digest = hashlib.sha256()
    if path.is_dir():
        files = _UnpackedFiles(path, part)
        for stem in files.stems:
            for kind in ("trace", "network"):
                digest.update(f"\0{stem}.{kind}\0".encode())
                for block in files.blocks(f"{stem}.{kind}"):
                    digest.update(block)
        return digest.hexdigest()
    with _open_zip(path) as archive:
        for entry in sorted(archive.infolist(), key=lambda entry: (entry.filename, entry.CRC)):
            name = entry.filename.encode("utf-8", "surrogatepass")
            digest.update(name + f"\0{entry.CRC:08x}\0{entry.file_size}\n".encode())
    return digest.hexdigest()


def trace_stems(path: Path) -> list[str]:
    """Return the traces in a zip file.

    Raises:
        InputError: as ``open_files``.
    """
    with _open_zip(path) as archive:
        return _ZippedFiles(path, archive).stems


def _ordered(stems: list[str]) -> list[str]:
    return sorted(stems, key=lambda stem: (stem != "test" and not stem.endswith("-test"), natural_key(stem)))


class _BoundedFile(io.FileIO):
    """A zip file of which no single read is longer than its longest allowed table of contents."""

    def read(self, size: int | None = -1, /) -> bytes:
        left = os.fstat(self.fileno()).st_size - self.tell()
        wanted = left if size is None or size < 0 else min(size, left)
        if wanted > MAX_DIRECTORY_BYTES:
            raise zipfile.BadZipFile("its table of contents is too long")
        return super().read(max(wanted, 0)) or b""


@contextmanager
def _open_zip(path: Path) -> Generator[zipfile.ZipFile]:
    archive = None
    try:
        reading.refuse_odd(path, follow=False)
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        handle = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))
        with _BoundedFile(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError("not a regular file", path=str(path))
            archive = zipfile.ZipFile(file)
            if len(archive.filelist) > MAX_ENTRIES:
                raise InputError(
                    f"its table of contents has more than {MAX_ENTRIES:,} entries", path=str(path)
                )
            yield archive
    except reading.Unreadable as error:
        raise InputError(error.why, path=str(path)) from error
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", path=str(path)) from error
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError) as error:
        raise InputError(
            "a zip file whose table of contents is cut off or damaged", path=str(path), remedy="copy it again"
        ) from error
    finally:
        if archive is not None:
            archive.close()


class _ZippedFiles:
    """The files in a zip file, by their names in its table of contents."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._path, self._archive = path, archive
        entries = {entry.filename: entry for entry in archive.infolist()}
        if not any(map(_TRACE.fullmatch, entries)):  # a folder that was packed by hand
            start = next((name.partition("/")[0] + "/" for name in entries if name.endswith(".trace")), "")
            entries = {
                name.removeprefix(start): one for name, one in entries.items() if name.startswith(start)
            }
        self._entries = entries
        self._left = MAX_EVENT_BYTES

    @property
    def stems(self) -> list[str]:
        return _ordered([found["stem"] for name in self._entries if (found := _TRACE.fullmatch(name))])

    def refuse_bomb(self) -> None:
        """Raise ``InputError`` where the files of events, each of them small, are too long for their packed size."""
        events = [one for name, one in self._entries.items() if name.endswith((".trace", ".network"))]
        length, packed = (sum(one.file_size for one in events), sum(one.compress_size for one in events))
        if length > SMALL_ENTRY and length / max(packed, 1) > MAX_RATIO:
            times = length // max(packed, 1)
            raise self._error(f"its events are {times:,} times as long as packed: a zip bomb")

    def lines(self, name: str) -> Iterator[bytes]:
        entry = self._entries.get(name)
        if entry is None:
            return
        self._refuse(entry)
        with self._archive.open(entry) as file:
            for block in _lines(file):
                self._left -= len(block) + 1
                if self._left < 0:
                    raise self._error(f"its events are longer than {MAX_EVENT_BYTES // 2**30} GB")
                yield block

    def read(self, name: str, limit: int) -> bytes:
        entry = self._entries.get(name)
        if entry is None or entry.file_size > limit or self._fault(entry):
            return b""
        try:
            with self._archive.open(entry) as file:
                data = file.read(limit + 1)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error):
            return b""
        return data if len(data) <= limit else b""

    def _refuse(self, entry: zipfile.ZipInfo) -> None:
        if fault := self._fault(entry):
            raise self._error(f"{_shown(entry.filename)} {fault}")

    def _fault(self, entry: zipfile.ZipInfo) -> str:
        if entry.flag_bits & 0x1:
            return "is encrypted"
        if entry.compress_type not in _METHODS:
            return "is compressed by a method that is not supported"
        packed = max(entry.compress_size, 1)
        if entry.file_size > SMALL_ENTRY and entry.file_size / packed > MAX_RATIO:
            return f"is {entry.file_size // packed:,} times as long as packed: a zip bomb"
        if entry.file_size > MAX_EVENT_BYTES:
            return f"is longer than {MAX_EVENT_BYTES // 2**30} GB"
        return ""

    def _error(self, what: str) -> InputError:
        return InputError(what, path=str(self._path))


class _UnpackedFiles:
    """The files of an unpacked folder; links are not followed, and nothing outside of it is read."""

    def __init__(self, folder: Path, part: str) -> None:
        self._folder, self._left = folder, MAX_EVENT_BYTES
        try:
            names = sorted(os.listdir(folder), key=natural_key)  # noqa: PTH208 names, not paths
        except OSError as error:
            raise InputError(f"can't be listed: {error.strerror}", path=str(folder)) from error
        self._stems = folder_parts(names).get(part, [])

    @property
    def stems(self) -> list[str]:
        return self._stems

    def lines(self, name: str) -> Iterator[bytes]:
        place = self._folder / name
        if "/" in name or "\\" in name or place.is_symlink() or not place.is_file():
            return
        with place.open("rb", buffering=0) as file:
            for line in _lines(file):
                self._left -= len(line) + 1
                if self._left < 0:
                    what = f"its events are longer than {MAX_EVENT_BYTES // 2**30} GB"
                    raise InputError(what, path=str(place))
                yield line

    def blocks(self, name: str) -> Iterator[bytes]:
        """Yield a file's content, none where it is not there."""
        place = self._folder / name
        if place.is_symlink() or not place.is_file():
            return
        with place.open("rb", buffering=0) as file:
            while block := file.read(_READ):
                yield block

    def read(self, name: str, limit: int) -> bytes:
        inside = name.split("/")
        if len(inside) != 2 or any(part in ("", ".", "..") or "\\" in part for part in inside):
            return b""
        try:
            if (self._folder / inside[0]).is_symlink():
                return b""
            return reading.read_bytes(self._folder / inside[0] / inside[1], limit, follow=False)
        except (reading.Unreadable, OSError, ValueError):
            return b""


def _lines(file: IO[bytes] | io.FileIO) -> Iterator[bytes]:
    """Yield lines without holding more than one; a damaged entry ends where its damage begins, with ``b""``."""
    rest, skipping = bytearray(), False
    while True:
        try:
            block = file.read(_READ)
        except (zipfile.BadZipFile, EOFError, zlib.error):
            yield b""
            break
        except (NotImplementedError, RuntimeError):
            yield b""
            break
        if not block:
            break
        *whole, last = block.split(b"\n")
        for piece in whole:
            line, rest = bytes(rest) + piece, bytearray()
            yield b"" if skipping else line
            skipping = False
        rest += last
        if len(rest) > MAX_LINE_BYTES:
            rest, skipping = bytearray(), True
    if rest or skipping:
        yield b"" if skipping else bytes(rest)


def _shown(name: str) -> str:
    return name[:80]
