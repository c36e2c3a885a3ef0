"""Importers' result and file access: within the folder, of bounded size, never following a link."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import orjson

from app.engine.core.trajectory import Run, Step
from app.errors import InputError, PathError
from kb import reading

MAX_JSON_BYTES = 256 * 2**20
"""Longest JSON file that is read; the largest real step record is below 5 MB."""

MAX_IMAGE_BYTES = 64 * 2**20

NESTED_TOO_DEEPLY = "nested too deeply to be read"

_NUMBER = re.compile(r"([0-9]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRun:
    """One run read from a foreign folder.

    ``blobs`` holds the contents the steps name by SHA-256 (trees and HTML as UTF-8, pictures as they were).
    ``problems`` are files that could not be used; the run is complete without them.
    """

    run: Run
    steps: tuple[Step, ...]
    blobs: dict[str, bytes] = field(default_factory=dict[str, bytes])
    problems: tuple[PathError, ...] = ()


def walk(root: Path, problems: list[PathError]) -> Iterator[tuple[Path, list[str]]]:
    """Yield every folder below ``root`` with its file names, sorted; links are problems, never followed."""

    def cannot_list(error: OSError) -> None:
        problems.append(PathError(path=str(error.filename), error=f"can't be listed: {error.strerror}"))

    for folder, folders, files in os.walk(root, onerror=cannot_list, followlinks=False):
        here = Path(folder)
        for name in list(folders):
            try:
                what = reading.LINK if (here / name).is_symlink() else ""
            except OSError as error:  # the path is longer than the system takes
                what = f"can't be examined: {error.strerror}"
            if what:
                folders.remove(name)
                problems.append(PathError(path=str(here / name), error=what))
        folders.sort(key=natural_key)
        yield here, sorted(files, key=natural_key)


def natural_key(name: str) -> list[tuple[int, str]]:
    """Return a sort key by which ``step_10`` comes after ``step_9``."""
    parts = _NUMBER.split(name)
    return [
        (len(part.lstrip("0")), part.lstrip("0")) if at % 2 else (-1, part) for at, part in enumerate(parts)
    ]


def read_bytes(path: Path, limit: int) -> bytes:
    """Return a regular file's bytes.

    Raises:
        InputError: it is a link, no regular file, longer than ``limit`` bytes, or can't be read.
    """
    try:
        return reading.read_bytes(path, limit, follow=False)
    except reading.Unreadable as error:
        raise InputError(error.why, path=str(path)) from error


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder, in natural order.

    Raises:
        InputError: it can't be listed.
    """
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name for entry in entries), key=natural_key)
    except OSError as error:
        raise InputError(f"can't be listed: {error.strerror}", path=str(folder)) from error


def read_files(
    folder: Path, names: Iterable[str], problems: list[PathError], unhashed: Container[str] = ()
) -> tuple[dict[str, bytes], str]:
    """Return the bytes of files by name, and the hash of their names and contents; unreadable ones are problems.

    Args:
        unhashed: names of files that do not make the run another one.
    """
    files: dict[str, bytes] = {}
    digest = hashlib.sha256()
    for name in names:
        try:
            data = read_bytes(folder / name, MAX_JSON_BYTES)
        except InputError as error:
            problems.append(PathError(path=error.path, error=error.what))
            continue
        files[name] = data
        if name not in unhashed:
            digest.update(f"{name}\0{len(data)}\0".encode())
            digest.update(data)
    return files, digest.hexdigest()


def read_bytes_start(path: Path, count: int) -> bytes:
    """Return the first bytes of a regular file; none of a link, or of what can't be read."""
    try:
        if path.is_symlink() or not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(count)
    except OSError:
        return b""


def read_json_object(data: bytes, path: Path) -> dict[str, Any]:
    """Parse one JSON object; ``NaN`` and lone surrogates, which Python's own writer makes, are accepted.

    Raises:
        InputError: it is cut off, not JSON, nested too deeply, or not an object.
    """
    try:
        value: object = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        value = _parse_leniently(data, path, str(error))
    if not isinstance(value, dict):
        raise InputError("not a JSON object", path=str(path))
    return cast("dict[str, Any]", value)


def _parse_leniently(data: bytes, path: Path, fault: str) -> object:
    try:
        value = json.loads(data.decode("utf-8", "replace"), parse_constant=lambda _: None)
        return orjson.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError as error:
        raise InputError(NESTED_TOO_DEEPLY, path=str(path)) from error
    except ValueError as error:
        cut = not data.rstrip().endswith((b"}", b"]")) or "unexpected end of data" in fault
        what = "the file is cut off" if cut and data.strip() else "not valid JSON"
        raise InputError(
            f"{what}: {fault}" if data.strip() else "the file is empty", path=str(path)
        ) from error
