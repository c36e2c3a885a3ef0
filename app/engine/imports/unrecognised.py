"""Files that look like runs and that no format recognises: their names, and why a single one is none."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from app.engine.imports.source_files import MAX_JSON_BYTES, read_bytes, read_json_object
from app.errors import InputError, printable

ENDINGS = (".json", ".jsonl", ".zip", ".har")
"""Endings of files in which people expect runs."""

_COMPANIONS = re.compile(
    r".*site.*\.json|.*_auto_eval_results\.json|(args|config|example|task|task_config|task_info)\.json",
    re.IGNORECASE,
)
"""Names of files that formats read beside their runs: tables of sites, judges' results, tasks."""


def run_like(names: Iterable[str]) -> Iterator[str]:
    """Yield the names of files in which people expect runs."""
    return (name for name in names if name.lower().endswith(ENDINGS))


def without_claimed(files: Iterable[Path], claimed: Collection[Path]) -> list[Path]:
    """Return the files that are no run, lie in none, and are read with none."""
    inside: dict[Path, bool] = {}

    def is_inside(folder: Path) -> bool:
        if folder not in inside:
            inside[folder] = folder in claimed or (folder.parent != folder and is_inside(folder.parent))
        return inside[folder]

    return [
        path
        for path in files
        if path not in claimed
        and not is_inside(path.parent)
        and not (claimed and _COMPANIONS.fullmatch(path.name))
    ]


def why_no_run(path: Path) -> str:
    """Return why a single file is no run, "" where nothing can be said; reads it, so for one chosen file only."""
    ending = path.suffix.lower()
    try:
        if path.stat().st_size == 0:
            return "it is empty"
        if ending == ".zip":
            return "a zip of no known format" if zipfile.is_zipfile(path) else "it is no zip, or is cut off"
        if ending == ".har":
            return "a HAR holds a browser's requests, and no steps of an agent"
        if ending not in ENDINGS:
            return ""
        data = read_bytes(path, MAX_JSON_BYTES)
        if ending == ".jsonl":
            data = data.lstrip().partition(b"\n")[0]
        read_json_object(data, path)
    except InputError as error:
        if error.what == "not a JSON object":
            return "JSON of no known format"
        return printable(error.what.removeprefix("the file "))
    except OSError as error:
        return f"it can't be read: {error.strerror}"
    return "JSON of no known format"
