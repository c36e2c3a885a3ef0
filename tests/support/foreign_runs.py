"""Foreign runs for tests: read every run of a place, and damage a file in every way that one change can."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.engine.core.sites import load_sites
from app.engine.imports import FORMATS
from app.engine.imports.run_format import find_runs
from app.engine.imports.source_files import ReadRun
from app.errors import InputError, PathError
from tests.support.runs import SHARED

SAMPLES = SHARED / "data" / "formats"
"""A small sample of each foreign format, where it lies beside the checkout."""

needs_samples = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="the format samples are not beside the checkout"
)

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A picture of one pixel, in base64."""


def read_all(place: Path, format: str = "") -> tuple[list[ReadRun], list[PathError]]:
    """Return every run at or below a place, and what could not be read; only expected errors are problems."""
    formats = [FORMATS[format]] if format else list(FORMATS.values())
    problems: list[PathError] = []
    runs: list[ReadRun] = []
    for found in find_runs(place, formats, problems):
        try:
            raw = found.format.load(found.path, found.root, found.part)
            runs.append(found.format.parse(raw, load_sites()))
        except InputError as error:
            problems.append(PathError(path=error.path or str(found.path), error=error.what))
    for read in runs:
        problems += read.problems
        _check(read)
    return runs, problems


def read_one(place: Path, format: str = "") -> ReadRun:
    """Return the only run of a place; nothing may be wrong with it."""
    runs, problems = read_all(place, format)
    assert (len(runs), problems) == (1, [])
    return runs[0]


def _check(read: ReadRun) -> None:
    """Every run that is read is whole: indices are positions, contents that steps name are there."""
    assert read.run.step_count == len(read.steps)
    assert [step.index for step in read.steps] == list(range(len(read.steps)))
    pages = [*read.steps, *([read.run.final] if read.run.final is not None else [])]
    for step in pages:
        assert {step.tree, step.html, step.screenshot, *step.calls} - {""} <= read.blobs.keys()


def damages(document: Any) -> Iterator[Any]:
    """Yield copies of a JSON document, each with one value left out, empty or of another type."""
    for path in _paths(document):
        for value in (_GONE, None, 7, "x", [], {}, [None], {"a": [1]}):
            damaged = copy.deepcopy(document)
            here = damaged
            for key in path[:-1]:
                here = here[key]
            if value is _GONE:
                del here[path[-1]]
            else:
                here[path[-1]] = value
            yield damaged


_GONE = object()


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from _paths(inner, (*path, key))
