"""Reads task lists: our own files, WebArena's task files, or plain lines of text.

- ``.txt``: one task a line; the start address is given beside the file.
- ``.jsonl``: one object a line, ``.json``: a list of objects.  ``intent`` is required; ``start_url``, ``site``,
  ``policy``, ``max_steps``, ``kb``, ``graph``, ``domains``, ``storage_state`` and ``task_id`` are optional.
- WebArena's and WebChoreArena's ``test*.raw.json`` are lists of objects with ``sites`` and a ``start_url`` such as
  ``__SHOPPING__``; its real address is in the table of sites, or is given beside the file.  Their right answers are
  never read: a run must not see them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import orjson

from app.engine.api.run_api import RunRequest
from app.errors import InputError

MAX_BYTES = 64 * 1024 * 1024
MAX_TASKS = 5_000
_PLACEHOLDER = re.compile(r"^__[A-Z_]+__")
_POLICIES = ("scout", "llm")


def read_tasks(path: Path, start_url: str = "", bases: Mapping[str, str] | None = None) -> list[RunRequest]:
    """Return the tasks of a file, in its order.

    Args:
        path: the file.
        start_url: the start address of tasks without one that name no site either.
        bases: the addresses that names such as ``__SHOPPING__`` stand for.

    Raises:
        InputError: the file can't be read or is too large, or a task is invalid; the message says which.
    """
    data = _content(path)
    if path.suffix == ".txt":
        tasks = [
            {"intent": line.strip()} for line in data.decode("utf-8", "replace").splitlines() if line.strip()
        ]
    elif path.suffix == ".jsonl":
        tasks = [
            _parsed(line, path, f"line {number}")
            for number, line in enumerate(data.splitlines(), 1)
            if line.strip()
        ]
    else:
        whole = _parsed(data, path, "the file")
        tasks = cast("list[Any]", whole if isinstance(whole, list) else [whole])
    if not tasks:
        raise InputError("there is no task in this file", path=str(path), remedy="write one task a line")
    if len(tasks) > MAX_TASKS:
        raise InputError(
            f"{len(tasks):,} tasks are more than {MAX_TASKS:,}",
            path=str(path),
            remedy="cut the file into several",
        )
    known = bases or {}
    return [_request(task, number, path, start_url, known) for number, task in enumerate(tasks, 1)]


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError("this file is too large for a list of tasks", path=str(path))
        return path.read_bytes()
    except OSError as error:
        raise InputError(error.strerror or str(error), path=str(path)) from error


def _parsed(data: bytes, path: Path, where: str) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{where} is not valid JSON: {error.msg}", path=str(path)) from error


def _request(task: Any, number: int, path: Path, start_url: str, bases: Mapping[str, str]) -> RunRequest:
    def wrong(what: str, remedy: str = "") -> InputError:
        return InputError(f"task {number}: {what}", path=str(path), remedy=remedy)

    if not isinstance(task, dict):
        raise wrong("it is not an object", 'write {"intent": "…", "start_url": "…"}')
    told = cast("dict[str, Any]", task)
    intent, start = told.get("intent"), told.get("start_url", "")
    if not isinstance(intent, str) or not intent.strip():
        raise wrong("it has no intent", "say in words what is to be done")
    start = _text(start, "start_url", wrong)
    if start or start_url or not told.get("site"):  # a site begins at its own start page
        start = _start_address(start, start_url, bases, wrong)
    if "sites" in told and "eval" in told:  # WebArena's: the log-in files are on the benchmark's machine
        told = {name: value for name, value in told.items() if name != "storage_state"}
    given = {name: read(told[name], name, wrong) for name, read in _READ.items() if name in told}
    if given.get("policy", "scout") not in _POLICIES:
        raise wrong(f"there is no policy {given['policy']!r}", "use scout or llm")
    return RunRequest(intent=intent.strip(), start_url=start, task_id=str(told.get("task_id", "")), **given)


def _start_address(start: str, default: str, bases: Mapping[str, str], wrong: Any) -> str:
    start = start.split(" |AND| ")[0]
    named = _PLACEHOLDER.match(start)
    base = bases.get(named[0], default) if named else default
    if (named or not start) and not base:
        remedy = "give a start address" + (
            f", or: sitelore sites edit SITE --base {named[0]}=URL" if named else ""
        )
        raise wrong(f"its start address ({start or 'none given'}) is unknown", remedy)
    if named:
        return base.rstrip("/") + start[named.end() :]
    return start or base


def _text(value: Any, name: str, wrong: Any) -> str:
    if not isinstance(value, str):
        raise wrong(f"its {name} is not a text")
    return value


def _texts(value: Any, name: str, wrong: Any) -> tuple[str, ...]:
    found = cast("list[Any]", value if isinstance(value, list) else [value])
    if not all(isinstance(one, str) for one in found):
        raise wrong(f"its {name} are not texts")
    return tuple(cast("list[str]", found))


def _number(value: Any, name: str, wrong: Any) -> int:
    if not isinstance(value, int) or not 1 <= value <= 1_000_000:
        raise wrong(f"its {name} is not a positive whole number")
    return value


_READ: dict[str, Callable[[Any, str, Any], Any]] = {
    **dict.fromkeys(("policy", "kb", "site", "storage_state", "suite"), _text),
    **dict.fromkeys(("graph", "domains"), _texts),
    **dict.fromkeys(("max_steps", "max_tokens"), _number),
}
"""Readers of the optional fields."""
