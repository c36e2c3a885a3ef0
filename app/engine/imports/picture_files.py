"""Pictures beside a run's files, found by their names; nothing outside of the chosen folder is read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath

from app.engine.core.trajectory import Step
from app.engine.imports.page_contents import ForeignContents
from app.engine.imports.source_files import MAX_IMAGE_BYTES, natural_key, read_bytes
from app.errors import InputError, PathError

MAX_NAMES = 20_000
"""Names that are listed of one folder."""

_PICTURE = re.compile(r"[^/\\\0]{1,200}\.(?:png|jpe?g|webp)", re.IGNORECASE)
_DIGITS = re.compile(r"\d{1,9}")


@dataclass(slots=True)
class PictureFiles:
    """The pictures of one run: ``folder`` and the folders in it that ``places`` names.

    ``missing`` counts those that the run names and that are not there; damaged ones are ``problems``.
    """

    folder: Path
    contents: ForeignContents
    places: tuple[str, ...] = ("",)
    problems: list[PathError] = field(default_factory=list[PathError])
    missing: int = 0
    _read: dict[Path, str] = field(default_factory=dict[Path, str])

    def names(self) -> list[str]:
        """Return the names of the pictures in the first of the places that has any, in natural order."""
        for place in self.places:
            found = _list(self.folder / place) if _is_inside(self.folder, place) else []
            if found:
                return found
        return []

    def named(self, path: str) -> str:
        """Return the digest of the picture at a path that the run names; "" for none.

        The path may be one of another machine: its last part is looked for in the places.
        """
        name = PureWindowsPath(path).name  # takes both kinds of slashes
        if not name:
            return ""
        if not _PICTURE.fullmatch(name):
            self.missing += 1
            return ""
        relative = os.path.dirname(path.replace("\\", "/"))  # noqa: PTH120 may be a path of another system
        for place in (relative, *self.places) if relative else self.places:
            if not _is_inside(self.folder, place):
                continue
            digest = self._digest(self.folder / place / name)
            if digest is not None:
                return digest
        self.missing += 1
        return ""

    def note(self) -> list[str]:
        """Return a sentence where pictures are missing or too many."""
        notes: list[str] = []
        if self.missing:
            notes.append(f"pictures that it names and that are not beside it: {self.missing}")
        if self.contents.left_out:
            notes.append(f"pictures left out, as there are too many: {self.contents.left_out}")
        return notes

    def _digest(self, path: Path) -> str | None:
        if path in self._read:
            return self._read[path]
        if not os.path.lexists(path):
            return None
        try:
            data = read_bytes(path, MAX_IMAGE_BYTES)
            before = self.contents.left_out
            digest = self.contents.picture(data)
            if not digest and self.contents.left_out == before:
                raise InputError("not a PNG, JPEG or WebP picture", path=str(path))
        except InputError as error:
            self.problems.append(PathError(path=error.path, error=error.what))
            digest = ""
        self._read[path] = digest
        return digest


def read_beside(folder: Path, name: str, most: int, problems: list[PathError]) -> bytes:
    """Return a file beside a run, nothing where there is none; one that can't be used is a problem."""
    if not os.path.lexists(folder / name):
        return b""
    try:
        return read_bytes(folder / name, most)
    except InputError as error:
        problems.append(PathError(path=error.path, error=error.what))
        return b""


def urls_of(steps: Iterable[Step]) -> list[str]:
    """Return the addresses of pages and tabs in order of visit."""
    return [url for step in steps for url in (step.url, *(tab.url for tab in step.tabs)) if url]


def _is_inside(folder: Path, place: str) -> bool:
    """Whether a place is a folder below this one, without a link on the way."""
    if not place:
        return True
    parts = place.split("/")
    if place.startswith("/") or any(part in ("", ".", "..") or ":" in part or "\0" in part for part in parts):
        return False
    here = folder
    try:
        for part in parts:
            here /= part
            if here.is_symlink() or not here.is_dir():
                return False
    except OSError:
        return False
    return True


def _list(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry, _ in zip(entries, range(MAX_NAMES), strict=False)]
    except OSError:
        return []
    return sorted((name for name in names if _PICTURE.fullmatch(name)), key=natural_key)


def by_number(names: Iterable[str]) -> dict[int, str]:
    """Return pictures by their position from 0: by the first number in each name, plain ones before full pages.

    A gap in the numbers stays one where they begin with 0 or 1.
    """
    found: dict[int, str] = {}
    for name in sorted(names, key=lambda name: ("full" in name, natural_key(name))):
        number = _DIGITS.search(name)
        if number is not None:
            found.setdefault(int(number[0]), name)
    if not found:
        return {}
    first = min(found)
    if first > 1:
        return dict(enumerate(found[number] for number in sorted(found)))
    return {number - first: name for number, name in found.items()}
