"""Files beside a run folder, within the chosen folder: its log, its screenshots, the tasks' sites."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from app.engine.core.trajectory import add_blob
from app.engine.imports.source_files import MAX_IMAGE_BYTES, read_bytes, read_json_object, walk
from app.errors import InputError, PathError

_MAX_MAP_BYTES = 4 * 2**20
_MAX_LOG_BYTES = 64 * 2**20
_LEVELS_UP = 4
_PICTURE = re.compile(r"screenshot_(som_)?step_(\d{1,9})\.(png|jpg|jpeg|webp)")
_MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF")
_LINE = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - ", re.MULTILINE)
_STEP, _SUMMARY = "Starting step ", "Progress summary generated:"
_STEP_NUMBER = re.compile(r"(\d{1,9})\.")


def summaries(folder: Path, root: Path) -> dict[int, str]:
    """Return summaries by step from ``logs/<run folder>.log``; none where there is no log or it can't be read."""
    for logs in _places(folder.parent, root, "logs"):
        try:
            return step_summaries(
                read_bytes(logs / f"{folder.name}.log", _MAX_LOG_BYTES).decode("utf-8", "replace")
            )
        except InputError:
            continue
    return {}


def pictures(folder: Path, root: Path, blobs: dict[str, bytes], problems: list[PathError]) -> dict[int, str]:
    """Return each step's screenshot digest; contents go to ``blobs``. A plain one wins over one with marks."""
    found: dict[int, str] = {}
    plain: set[int] = set()
    for place in [folder, *(place / folder.name for place in _places(folder.parent, root, "screenshots"))]:
        if place.is_symlink() or not place.is_dir():
            continue
        for path in sorted(place.iterdir()):
            named = _PICTURE.fullmatch(path.name)
            if named is None or int(named[2]) in plain:
                continue
            try:
                data = read_bytes(path, MAX_IMAGE_BYTES)
                if not data.startswith(_MAGIC):
                    raise InputError("not a PNG, JPEG or WebP picture", path=str(path))
            except InputError as error:
                problems.append(PathError(path=error.path, error=error.what))
                continue
            found[int(named[2])] = add_blob(blobs, data)
            if not named[1]:
                plain.add(int(named[2]))
    return found


@lru_cache(maxsize=4)
def task_sites(root: Path) -> dict[str, tuple[str, ...]]:
    """Return sites by task id from a JSON map ``{"33": ["map"], ...}`` anywhere below ``root``; empty without one."""
    for folder, names in walk(root, []):
        for name in names:
            if name.endswith(".json") and "site" in name.lower():
                sites = _site_map(folder / name)
                if sites:
                    return sites
    return {}


def _site_map(path: Path) -> dict[str, tuple[str, ...]]:
    try:
        table = read_json_object(read_bytes(path, _MAX_MAP_BYTES), path)
    except InputError:
        return {}
    sites: dict[str, tuple[str, ...]] = {}
    for task, names in table.items():
        if not task.isdigit() or not isinstance(names, list) or not names:
            return {}
        sites[task] = tuple(str(name) for name in names)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return sites


@lru_cache(maxsize=64)
def _places(folder: Path, root: Path, name: str) -> tuple[Path, ...]:
    """Return folders of that name beside or above a folder of runs, up to the chosen folder."""
    found: list[Path] = []
    here = folder
    for _ in range(_LEVELS_UP):
        if not here.is_relative_to(root):
            break
        place = here / name
        if place.is_dir() and not place.is_symlink():
            found.append(place)
        here = here.parent
    return tuple(found)


def step_summaries(log: str) -> dict[int, str]:
    """Return summaries by step index; of several attempts in a log the last one counts."""
    steps: dict[int, int] = {}
    for at in _message_starts(log, _STEP):
        number = _STEP_NUMBER.match(log, at + len(_STEP))
        if number is not None:
            steps[at] = int(number[1])
    summaries: dict[int, str] = {}
    step = 0
    for at in sorted([*steps, *_message_starts(log, _SUMMARY)]):
        if at in steps:
            step = steps[at]
            if step == 0:
                summaries.clear()
            continue
        start = at + len(_SUMMARY)
        following = _LINE.search(log, start)
        text = log[start : following.start() if following else len(log)].strip()
        if text:
            summaries[step] = text
    return summaries


def _message_starts(log: str, words: str) -> list[int]:
    """Return where a message begins with these words: after ``LEVEL - `` on its line."""
    found: list[int] = []
    at = log.find(f" - {words}")
    while at != -1:
        line = log.rfind("\n", 0, at) + 1
        if _LINE.match(log, line):
            found.append(at + 3)
        at = log.find(f" - {words}", at + 1)
    return found
