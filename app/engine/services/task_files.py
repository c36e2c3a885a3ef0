"""Task files of supervised runs: read by the loader of suites, each task made a request.

Plain lists may say more than a suite's task has: ``policy``, ``kb``, ``graph``, ``domains``, ``storage_state``,
``suite``, ``max_tokens``.  Reference answers are never part of a request: a run must not see them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.engine.api.batch_api import FileTask
from app.engine.api.run_api import RunRequest
from app.engine.core.evaluation.suite import Suite, SuiteTask
from app.engine.core.sites import Site
from app.engine.evaluation.suites import plain
from app.engine.evaluation.suites.read_tasks import names_of_bases
from app.engine.evaluation.suites.registry import suite_of
from app.engine.evaluation.suites.suite_file import SuiteContent, beside, parse, read_bytes
from app.engine.evaluation.suites.task_record import TaskRecord
from app.engine.services.core import Core
from app.engine.services.suite_requests import run_request, site_row, unbound_names
from app.errors import InputError

_POLICIES = ("scout", "llm")


def read_tasks(
    path: Path,
    start_url: str = "",
    bases: Mapping[str, str] | None = None,
    sites: Mapping[str, Site] | None = None,
    names: Mapping[str, str] | None = None,
) -> list[RunRequest]:
    """Return the tasks of a file, in its order.

    Args:
        path: the file.
        start_url: the start address of tasks without one that name no site either.
        bases: the addresses that names such as ``__SHOPPING__`` stand for, where there is no table of sites.
        sites: the table of sites, by name.
        names: suites of the workspace by hash: a file that is one of them is called by its name there.

    Raises:
        InputError: the file can't be read or is too large, or a task is invalid; the message says which.
    """
    suite, content = _content(path, names or {})
    known = dict(sites or {})
    for name, address in (bases or {}).items():
        site = name.strip("_").lower()
        known.setdefault(site, Site(name=site, bases={name: address}))
    return [
        _request(suite, task, TaskRecord.of(value, number, content.path), known, start_url)
        for number, (task, value) in enumerate(zip(suite.tasks, content.records, strict=True), 1)
    ]


class TaskFileService:
    """Task files as batches are started from."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def read_task_file(self, path: str, start_url: str = "") -> list[FileTask]:
        """Return the tasks of a file, also those that can't be run yet.  Raises ``InputError``."""
        sites = dict(self._core.workspace.site_store.rows)
        names = await self._core.on_store(self._core.workspace.suites.by_hash)
        return await self._core.on_worker(tasks_in_file, Path(path), start_url, sites, names)


def tasks_in_file(
    path: Path,
    start_url: str = "",
    sites: Mapping[str, Site] | None = None,
    names: Mapping[str, str] | None = None,
) -> list[FileTask]:
    """Return the tasks of a file, also those that can't be run yet; arguments and errors are those of ``read_tasks``.

    Another address than the one a task names is never put in: ``start_url`` holds for tasks that name no site.
    """
    suite, content = _content(path, names or {})
    return [
        _file_task(suite, task, TaskRecord.of(value, number, content.path), sites or {}, start_url)
        for number, (task, value) in enumerate(zip(suite.tasks, content.records, strict=True), 1)
    ]


def _content(path: Path, names: Mapping[str, str]) -> tuple[Suite, SuiteContent]:
    path = path.expanduser()
    content = parse(read_bytes(path), str(path), beside(path))
    suite = suite_of(content, unique=False)
    return replace(suite, name=names.get(suite.sha256) or _own_name(suite)), content


def _file_task(
    suite: Suite, task: SuiteTask, record: TaskRecord, sites: Mapping[str, Site], start_url: str
) -> FileTask:
    named = names_of_bases(task.start_url)
    further = [f"__{name.upper()}__" for name in task.sites[1:] if _is_unknown(name, sites)]
    missing = unbound_names((*named, *further), sites)
    try:
        request = _request(suite, task, record, sites, "" if named or further else start_url)
    except InputError as error:
        problem = error.what if not error.remedy else f"{error.what} ({error.remedy})"
        return FileTask(number=record.number, intent=task.intent, problem=problem, names=missing)
    given = [
        *_options(record, suite.form == plain.NAME),
        *(["max_steps"] if task.max_steps else []),
        *(["storage_state"] if task.login else []),
    ]
    return FileTask(
        number=record.number, intent=task.intent, request=request, given=tuple(dict.fromkeys(given))
    )


def _is_unknown(name: str, sites: Mapping[str, Site]) -> bool:
    row = site_row(name, sites)
    return "." not in name and not (row is not None and (row.bases or row.starts or row.hosts))


def _own_name(suite: Suite) -> str:
    return "" if suite.form == plain.NAME else suite.name


def _request(
    suite: Suite, task: SuiteTask, record: TaskRecord, sites: Mapping[str, Site], start_url: str
) -> RunRequest:
    given = _options(record, suite.form == plain.NAME)
    if given.get("policy", "scout") not in _POLICIES:
        raise record.wrong(f"there is no policy {given['policy']!r}", "use scout or llm")
    try:
        request = run_request(suite, task, sites, default_start=start_url)
    except InputError as error:
        raise record.wrong(error.what.partition(": ")[2] or error.what, error.remedy) from error
    if (
        suite.form == plain.NAME
    ):  # its site is said or comes from the address, its id is said or there is none
        request = replace(request, site="", task_id=record.id("task_id", "id"))
    given["domains"] = tuple(dict.fromkeys((*given.get("domains", ()), *request.domains)))
    return replace(request, **given)


def _options(record: TaskRecord, is_plain: bool) -> dict[str, Any]:
    """Return the fields of a request that a record gives itself."""
    readers: dict[str, Callable[[str], Any]] = {
        "policy": record.text,
        "kb": record.text,
        "graph": record.texts,
        "domains": record.texts,
        "max_tokens": record.count,
    }
    if is_plain:  # a benchmark's log-in files are on its own machine, and its sites are those of the table
        readers |= {"storage_state": record.text, "site": record.text, "suite": record.text}
    return {name: read(name) for name, read in readers.items() if record.fields.get(name) is not None}
