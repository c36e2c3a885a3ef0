"""Reader of Sitelore's own run folders (``app.engine.exports.native``)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.engine.errors import InputError, PathError
from app.engine.imports.cleaning import cleaned
from app.engine.imports.reading import MAX_IMAGE_BYTES, MAX_JSON_BYTES, ReadRun, read_bytes, walk
from app.engine.sites import SiteTable
from app.engine.store.run_files import (
    BLOB_FOLDER,
    FORMAT,
    RUN_FILE,
    STEPS_FILE,
    decode_run,
    decode_steps,
    digests,
    unpacked,
)
from app.engine.trajectory import Run

_BLOB = re.compile(r"[0-9a-f]{64}\.(?:txt\.zst|png|jpg|webp)")


@dataclass(slots=True)
class NativeRun:
    """A run folder whose head has been read.  ``content_hash`` is the run's own, else that of its two files."""

    folder: Path
    run: Run
    steps: bytes
    content_hash: str
    problems: list[PathError] = field(default_factory=list[PathError])


def find_runs(root: Path, problems: list[PathError] | None = None) -> Iterator[Path]:
    """Every native run folder at or below ``root``."""
    for folder, names in walk(root, problems if problems is not None else []):
        if RUN_FILE in names and is_native(folder / RUN_FILE):
            yield folder


def is_native(path: Path) -> bool:
    """Whether a ``run.json`` says it is of this format; a newer version counts, so that it is refused by name."""
    try:
        head = read_bytes(path, MAX_JSON_BYTES)[:200]
    except InputError:
        return False
    return FORMAT.encode() in head


def read_run(folder: Path, root: Path, sites: SiteTable) -> ReadRun:
    """Read one run folder.

    Raises:
        InputError: ``run.json`` or ``steps.jsonl`` is missing, damaged, or of a newer version.
    """
    return parse(load(folder, root), sites)


def load(folder: Path, root: Path) -> NativeRun:
    """The run's head and the bytes of its steps.

    Raises:
        InputError: as ``read_run``.
    """
    head = read_bytes(folder / RUN_FILE, MAX_JSON_BYTES)
    run = decode_run(head, folder / RUN_FILE)
    steps = read_bytes(folder / STEPS_FILE, MAX_JSON_BYTES)
    own = hashlib.sha256(len(head).to_bytes(8, "big") + head + steps).hexdigest()
    return NativeRun(folder=folder, run=run, steps=steps, content_hash=run.content_hash or own)


def parse(raw: NativeRun, sites: SiteTable) -> ReadRun:
    """Make a run of it; a content that is missing or damaged is a problem, not a failure."""
    steps, notes = decode_steps(raw.steps, raw.folder / STEPS_FILE)
    for position, step in enumerate(steps):
        if step.index != position:
            what = f"line {position + 1} holds step {step.index}, step {position} was expected"
            raise InputError(what, path=str(raw.folder / STEPS_FILE))
    run = raw.run
    blobs: dict[str, bytes] = {}
    files = raw.folder / BLOB_FOLDER
    present: dict[str, Path] = {}
    if files.is_dir() and not files.is_symlink():
        present = {
            path.name.partition(".")[0]: path for path in files.iterdir() if _BLOB.fullmatch(path.name)
        }
    for digest in digests(run, steps):
        try:
            if digest not in present:
                raise InputError("the page's content is missing", path=str(files / digest))
            path = present[digest]
            named, content = unpacked(path.name, read_bytes(path, MAX_IMAGE_BYTES), path)
            blobs[named] = content
        except InputError as error:
            raw.problems.append(PathError(path=error.path, error=error.what))
    if not run.site and run.start_url:
        run = replace(run, site=sites.site_of(run.start_url))
    run = replace(
        run,
        content_hash=raw.content_hash,
        source_path=str(raw.folder),
        step_count=len(steps),
        notes=tuple(dict.fromkeys((*run.notes, *notes))),
    )
    run, clean, kept = cleaned(run, steps, blobs)
    return ReadRun(run=run, steps=clean, blobs=kept, problems=tuple(raw.problems))
