"""The interface of an importer: how runs of one format are found, read and made into runs.

A format is one module with a ``FORMAT`` and one line in the registry. Packages of others add theirs through the entry
point group ``sitelore.importers`` (the entry's object is a ``RunFormat``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from app.engine.core.sites import SiteTable
from app.engine.imports.absences import with_absences
from app.engine.imports.source_files import ReadRun, read_bytes_start, walk
from app.engine.imports.unrecognised import run_like
from app.errors import PathError, printable

HEAD_BYTES = 64 * 2**10
"""Bytes of a file by which its format is recognised."""


@dataclass(slots=True)
class SourceFolder:
    """One folder of the place that is searched, with the names of the files in it, in natural order.

    Of a single file that was chosen, ``names`` has this file alone. ``problems`` collects what a format recognises and
    can't read.
    """

    path: Path
    names: Sequence[str]
    root: Path
    problems: list[PathError]
    _heads: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def head(self, name: str) -> bytes:
        """Return the first ``HEAD_BYTES`` of a file; nothing of a link, or of a file that can't be read."""
        if name not in self._heads:
            self._heads[name] = read_bytes_start(self.path / name, HEAD_BYTES)
        return self._heads[name]


@dataclass(frozen=True, slots=True)
class FoundPart:
    """A run that a format recognises: its folder or file, and which run of it ("" where it holds one)."""

    path: Path
    part: str = ""


class RunFinder(Protocol):
    """Yields the runs of a format in one folder; a run that is the folder itself is taken from all later formats."""

    def __call__(self, folder: SourceFolder) -> Iterable[FoundPart]: ...


class LoadEnd(Protocol):
    """Reads what the end of a run is made of: its score, its answer, its last page (``page``: with its contents)."""

    def __call__(self, path: Path, root: Path, part: str, *, page: bool) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFormat:
    """How runs of one format are found and read.

    Attributes:
        name: as ``--format`` takes it.
        title: as people call it, with its versions.
        new_finder: a finder for one search; it may keep state from folder to folder (parents come first).
        load: ``load(path, root, part)`` reads the bytes, no more than needed, and hashes their content, not their
            location (``.content_hash``). Raises ``InputError``.
        parse: makes a run of it; known content is not parsed. Raises ``InputError``. What one run lacks is one of its
            ``notes``, a file that can't be used is one of the ``problems``.
        load_end: as ``load`` for the run's end alone; by default ``load``.
        notes_absences: ``read`` adds what the whole run lacks to its notes; formats that always have it say False.
    """

    name: str
    title: str
    new_finder: Callable[[], RunFinder]
    load: Callable[[Path, Path, str], Any]
    parse: Callable[[Any, SiteTable], ReadRun]
    load_end: LoadEnd | None = None
    notes_absences: bool = True

    def read(
        self, raw: Any, sites: SiteTable, complete: Callable[[ReadRun], ReadRun] = lambda read: read
    ) -> ReadRun:
        """Parse a run, ``complete`` it, and note what the whole of it lacks. Raises ``InputError``."""
        read = complete(self.parse(raw, sites))
        return with_absences(read) if self.notes_absences else read

    def end(self, path: Path, root: Path, part: str, *, page: bool) -> Any:
        """Load the end of a run."""
        if self.load_end is not None:
            return self.load_end(path, root, part, page=page)
        return self.load(path, root, part)


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run that was found: its folder or file, which run of it, and the place that was searched."""

    path: Path
    root: Path
    format: RunFormat
    part: str = ""

    @property
    def name(self) -> str:
        """The run as seen from the place that was searched."""
        inside = self.path.relative_to(self.root) if self.path.is_relative_to(self.root) else self.path
        name = inside.as_posix() if inside.parts else self.path.name
        return printable(f"{name} ({self.part})" if self.part else name)


def find_runs(
    root: Path, formats: Sequence[RunFormat], problems: list[PathError], others: list[Path] | None = None
) -> Iterator[FoundRun]:
    """Yield the runs at or below a folder, or in a file, in natural order; of two formats the first has it.

    ``others`` collects the files in which people expect runs, of folders that are none themselves.
    """
    finders = [(form, form.new_finder()) for form in formats]
    places = walk(root, problems) if root.is_dir() else [(root.parent, [root.name])]
    for path, names in places:
        folder, taken = SourceFolder(path, names, root, problems), set[FoundPart]()
        for form, find in finders:
            for found in find(folder):
                if found not in taken and FoundPart(found.path) not in taken:
                    taken.add(found)
                    yield FoundRun(found.path, root, form, found.part)
            if FoundPart(path) in taken:
                break
        else:
            if others is not None:
                others.extend(path / name for name in run_like(names))
