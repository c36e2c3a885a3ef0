"""Importers: one module per foreign format, recognised by the files' content."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from app.engine.core.sites import SiteTable
from app.engine.imports import colorbrowseragent, native
from app.engine.imports.source_files import ReadRun
from app.errors import InputError, PathError


class _LoadEnd(Protocol):
    def __call__(self, folder: Path, root: Path, *, page: bool) -> Any: ...


@dataclass(frozen=True, slots=True)
class RunFormat:
    """How runs of one format are found and read.

    ``load(folder, root)`` reads the bytes and hashes their content (``.content_hash``), ``parse(raw, sites)`` makes a
    run of them: known content need not be parsed. ``load_end`` reads only what the run's end is made of (its score,
    its answer, its last page), for ``parse`` as well; the hash of that content is another.
    """

    name: str
    find_runs: Callable[[Path, list[PathError]], Iterator[Path]]
    load: Callable[[Path, Path], Any]
    parse: Callable[[Any, SiteTable], ReadRun]
    load_end: _LoadEnd


FORMATS: dict[str, RunFormat] = {
    module.__name__.rpartition(".")[2]: RunFormat(
        module.__name__.rpartition(".")[2], module.find_runs, module.load, module.parse, module.load_end
    )
    for module in (native, colorbrowseragent)
}
"""Formats by the name that ``--format`` takes."""

AUTO = "auto"


def chosen_formats(name: str) -> list[RunFormat]:
    """Return the formats to look for: the named one, or all of them for ``auto``.

    Raises:
        InputError: there is no such format.
    """
    if name == AUTO:
        return list(FORMATS.values())
    if name not in FORMATS:
        raise InputError(
            f"no run format is called {name!r}", remedy=f"use {AUTO}, {', '.join(sorted(FORMATS))}"
        )
    return [FORMATS[name]]
