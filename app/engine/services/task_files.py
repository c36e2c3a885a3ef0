"""Task files of supervised runs: read by the loader of suites, each task made a request.

Plain lists may say more than a suite's task has: ``policy``, ``kb``, ``graph``, ``domains``, ``storage_state``,
``suite``, ``max_tokens``.  Reference answers are never part of a request: a run must not see them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.engine.api.run_api import RunRequest
from app.engine.core.evaluation.suite import Suite, SuiteTask
from app.engine.core.sites import Site
from app.engine.evaluation.suites import plain
from app.engine.evaluation.suites.registry import suite_of
from app.engine.evaluation.suites.suite_file import beside, parse, read_bytes
from app.engine.evaluation.suites.task_record import TaskRecord
from app.engine.services.suite_requests import run_request
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
    path = path.expanduser()
    content = parse(read_bytes(path), str(path), beside(path))
    suite = suite_of(content, unique=False)
    suite = replace(suite, name=(names or {}).get(suite.sha256) or _own_name(suite))
    known = dict(sites or {})
    for name, address in (bases or {}).items():
        site = name.strip("_").lower()
        known.setdefault(site, Site(name=site, bases={name: address}))
    return [
        _request(suite, task, TaskRecord.of(value, number, str(path)), known, start_url)
        for number, (task, value) in enumerate(zip(suite.tasks, content.records, strict=True), 1)
    ]


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
