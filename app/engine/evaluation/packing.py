"""Files packed into one message: a compressed tape archive of plain files, checked when it is unpacked."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import zstandard

from app.engine.store.run_files import write_file
from app.errors import Conflict, InputError
from kb.private import make_folder

MAX_UNPACKED = 2**31
"""Bytes that are unpacked at most; a small packed file must not fill the disk."""
MAX_FILES = 200_000
_LEVEL = 3


def pack_files(files: Mapping[str, bytes]) -> bytes:
    """Pack contents by their relative paths; equal contents give equal bytes."""
    packed = io.BytesIO()
    compressor = zstandard.ZstdCompressor(level=_LEVEL)
    with (
        compressor.stream_writer(packed, closefd=False) as compressed,
        tarfile.open(fileobj=compressed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(files[name]), 0o600
            archive.addfile(entry, io.BytesIO(files[name]))
    return packed.getvalue()


def read_folder(folder: Path) -> dict[str, bytes]:
    """Return the contents of a folder's plain files by their relative paths; links are left out."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def unpack_files(data: bytes, folder: Path, where: str = "the packed files") -> None:
    """Unpack into a new folder, for its owner alone.

    Raises:
        InputError: damaged, too large, or with an entry that is no plain file below the folder.
        Conflict: the folder exists.
    """
    if folder.exists():
        raise Conflict(f"{folder} exists already")
    left = MAX_UNPACKED
    make_folder(folder, parents=True)
    try:
        reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data))
        with tarfile.open(fileobj=reader, mode="r|") as archive:
            for number, entry in enumerate(archive):
                left -= entry.size
                if left < 0 or number >= MAX_FILES:
                    raise InputError("it holds more than may be unpacked", path=where)
                place = folder / _checked_name(entry, where)
                content = archive.extractfile(entry)
                if content is None:
                    raise InputError(f"{entry.name[:80]!r} has no content", path=where)
                place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_file(place, content.read())
    except (tarfile.TarError, zstandard.ZstdError, EOFError) as error:
        raise InputError(f"damaged: {error}", path=where) from error
    except OSError as error:
        raise InputError(f"can't be unpacked: {error.strerror or error}", path=where) from error


def _checked_name(entry: tarfile.TarInfo, where: str) -> PurePosixPath:
    name = PurePosixPath(entry.name)
    unsafe = name.is_absolute() or ".." in name.parts or "\\" in entry.name or ":" in entry.name
    if not entry.isreg() or unsafe or not name.parts or "\0" in entry.name:
        raise InputError(f"{entry.name[:80]!r} is no plain file below its folder", path=where)
    return name
