"""The ends of foreign runs, read without importing them: score, answer and last page, nothing of the way there."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.engine.core.sites import SiteTable
from app.engine.core.trajectory import Run
from app.engine.imports import AUTO, chosen_formats
from app.engine.imports.run_format import FoundRun, find_runs
from app.engine.imports.source_files import ReadRun
from app.errors import InputError, PathError


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """The end of a run; its ``run`` has no steps, and ``blobs`` holds its last page where that was wanted."""

    place: FoundRun
    run: Run
    blobs: dict[str, bytes]


def find_run_places(root: Path, problems: list[PathError]) -> list[FoundRun]:
    """Return every run at or below a folder; of two formats that claim one the first has it.

    Raises:
        InputError: there is no such folder, or no run in it.
    """
    root = root.expanduser().absolute()
    if not os.path.isdir(root):  # noqa: PTH112 False too for a name that the system can't take
        raise InputError("no such folder", path=str(root), remedy="give the folder that holds the runs")
    found = list(find_runs(root, chosen_formats(AUTO), problems))
    if not found:
        why = problems[0].error if problems else "no run was found in this folder"
        raise InputError(why, path=problems[0].path if problems else str(root))
    return found


def read_run_end(
    place: FoundRun, sites: SiteTable, wants_page: Callable[[Run], bool] = lambda run: True
) -> RunEnd:
    """Read the end of one run; its page, which may be long, only where ``wants_page`` says so of the run.

    Raises:
        InputError: it can't be read.
    """
    try:
        read = _read(place, sites, page=False)
        if read.run.final is not None and wants_page(read.run):
            read = _read(place, sites, page=True)
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", path=str(place.path)) from error
    return RunEnd(place=place, run=read.run, blobs=read.blobs)


def _read(place: FoundRun, sites: SiteTable, *, page: bool) -> ReadRun:
    return place.format.parse(place.format.end(place.path, place.root, place.part, page=page), sites)
