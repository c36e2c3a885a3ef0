"""The sites as suites of Sitelore's own form, and what an evaluation asks of a site: its state, a log-in.

A suite file says what is to be done and by which evaluator it is judged; what is right is asked of the running site,
by the state command, before and after a run.  No query ever stands in a suite file.  Nothing here imports more than a
state command needs, because an evaluation runs it twice an episode.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import shutil
import sys
import urllib.request
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.sites.site import HERE
from benchmarks.sites.tasks import SiteTask, TaskSet, ask, expected, find_task, load_tasks, strayed

if TYPE_CHECKING:
    from benchmarks.sites.site import Site
    from benchmarks.sites.tasks import Rows

FORMAT, VERSION = "sitelore-suite", 1
NOBODY = "nobody"
EVALUATORS = {"question": "answer", "way": "page", "change": "state"}
"""By what a task is judged, by its kind."""
TITLES: dict[TaskSet, str] = {
    "tasks": "tasks",
    "held_back": "tasks held back",
    "fresh": "fresh tasks",
}


def base_of(name: str) -> str:
    """The name that stands for a site's address in a suite."""
    return f"__{re.sub(r'[^A-Z0-9]', '_', name.upper())}__"


def suite_document(sites: Sequence[Site], which: TaskSet = "tasks") -> dict[str, Any]:
    """One suite with the tasks of all these sites.

    Raises:
        RuntimeError: a site has no such tasks, or two tasks have one id.
    """
    tasks: list[dict[str, Any]] = []
    for site in sites:
        if not (site.data / f"{which}.json").is_file():
            raise RuntimeError(f"{site.name} has no {TITLES[which]}")
        tasks += [task_record(site.name, task) for task in load_tasks(site, which)]
    seen: set[str] = set()
    for task in tasks:
        if task["id"] in seen:
            raise RuntimeError(
                f"two tasks have the id {task['id']}; write the sites into suites of their own"
            )
        seen.add(task["id"])
    names = ", ".join(site.name for site in sites)
    return {"format": FORMAT, "version": VERSION, "title": f"{names}: {TITLES[which]}", "tasks": tasks}


def task_record(name: str, task: SiteTask) -> dict[str, Any]:
    """One task as a suite has it; what is right is left to the site's state command."""
    oracle: dict[str, Any] = {"evaluators": [EVALUATORS[task.kind]]}
    if task.kind == "question":
        oracle["answer_kind"] = task.answer
    return {
        "id": task.id,
        "intent": task.intent,
        "sites": [name],
        "start_url": f"{base_of(name)}{task.start}",
        "template": task.template,
        "kind": task.kind,
        "login": task.login or NOBODY,
        "writes": task.kind == "change",
        "oracle": oracle,
    }


def state_before(site: Site, id: str) -> dict[str, Any]:
    """Right answers at this moment; the rows of the moment are kept for ``state_after``.

    Raises:
        RuntimeError: the site does not run, there is no such task, or its question has no answer.
    """
    task = _task_of_running(site, id)
    path = _kept_rows(site, id)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(_rows_as_text(site.rows()), encoding="utf-8")
    draft.replace(path)
    if task.kind == "change":
        return {}
    try:
        right = expected(site, task)
    except AssertionError as error:
        raise RuntimeError(str(error)) from error
    return {"answer": right} if task.kind == "question" else {"page": right[0]}


def state_after(site: Site, id: str) -> dict[str, Any]:
    """Expected and found results of a change, and the rows that it may not have changed.

    Raises:
        RuntimeError: the site does not run, there is no such task, or nothing was kept before it.
    """
    task, path = _task_of_running(site, id), _kept_rows(site, id)
    if not path.is_file():
        raise RuntimeError(f"nothing was kept before {task.id}; ask for its state before the run, too")
    before = _rows_of_text(path.read_text(encoding="utf-8"))
    after = _rows_of_text(_rows_as_text(site.rows()))
    document: dict[str, Any] = {"unasked": strayed(before, after, task.may_change)}
    if task.kind == "change":
        document["checks"] = [
            {
                "name": f"{task.template} {number}",
                "expected": _sorted(truth["rows"]),
                "found": _sorted(ask(site, truth["sql"])),
            }
            for number, truth in enumerate(task.after, start=1)
        ]
    return document


def _task_of_running(site: Site, id: str) -> SiteTask:
    task = find_task(site, id)
    if not site.is_running():
        raise RuntimeError(f"{site.name} does not run at port {site.port}; start it first")
    return task


def _sorted(rows: Iterable[Sequence[object]]) -> list[list[object]]:
    """Rows as JSON has them, in an order that does not depend on where they come from."""
    return sorted(json.loads(json.dumps([list(row) for row in rows], default=repr)), key=repr)


def _kept_rows(site: Site, id: str) -> Path:
    """The file with the rows before a task, of the server at this port."""
    return site.home / f"before-{site.port}" / f"{re.sub(r'[^A-Za-z0-9_-]', '_', id)}.json"


def _rows_as_text(rows: Rows) -> str:
    listed = {table: [list(row) for row in by_key.values()] for table, by_key in rows.items()}
    return json.dumps(listed, default=repr)


def _rows_of_text(text: str) -> Rows:
    return {table: {row[0]: tuple(row) for row in listed} for table, listed in json.loads(text).items()}


async def save_login(site: Site, role: str, file: Path) -> None:
    """Write a storage state with which one is logged in; ``reset`` restores the session from now on.

    An evaluation asks for it after every reset, so the last one is given again as long as it holds.  Else the site's
    own form is used, on a site that was reset, so that nothing but the session joins the state that is kept.

    Raises:
        RuntimeError: the site has no such role, or it does not run.
    """
    if role not in site.accounts:
        raise RuntimeError(f"{site.name} has no role {role[:80]!r}, but {', '.join(site.accounts)}")
    if not site.is_ready():
        raise RuntimeError(f"{site.name} does not run; start it first")
    cached = site.home / f"logins-{site.port}" / f"{role}.json"
    cached.parent.mkdir(parents=True, exist_ok=True)
    with (site.home / f"logins-{site.port}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of two log-ins at a time one would reset the other's session away
        if not (cached.is_file() and holds(site, role, cached)):
            site.reset()
            await _log_in(site, role, cached)
            site.keep()
        shutil.copyfile(cached, file)
    file.chmod(0o600)


async def _log_in(site: Site, role: str, file: Path) -> None:
    from app.engine.browser.session import open_browser  # late: a state command needs no browser

    async with open_browser() as browser:
        context = await browser.new_context()
        page = await context.new_page()
        await site.log_in(page, site.accounts[role])
        await context.storage_state(path=file)
        _agent_file(file).write_text(await page.evaluate("navigator.userAgent"), encoding="utf-8")
        await context.close()
    file.chmod(0o600)


def _agent_file(file: Path) -> Path:
    """The file with the browser's name that belongs to a storage state."""
    return file.with_suffix(".agent")


def holds(site: Site, role: str, file: Path) -> bool:
    """Whether a page names the account more often with the cookies of a storage state than without them.

    The browser's name is sent, too, because some sites end a session that comes with another one.
    """
    path = next((path for path, of in site.explored if of == role), site.explored[0][0])
    try:
        cookies = json.loads(file.read_text(encoding="utf-8"))["cookies"]
        header = "; ".join(f"{one['name']}={one['value']}" for one in cookies)
        agent = _agent_file(file).read_text(encoding="utf-8")
        pages = [
            _page(f"{site.url}{path}", {"User-Agent": agent, **sent}) for sent in ({}, {"Cookie": header})
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    without, with_cookies = (page.count(site.accounts[role].user) for page in pages)
    return with_cookies > without


def _page(url: str, headers: dict[str, str]) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(url, headers=headers), timeout=30) as answer:
        return answer.read().decode("utf-8", "replace")


def command_line(what: str, site: Site, default_port: int) -> str:
    """One command for the table of sites, which runs in whatever folder; arguments may be put behind it."""
    words = ["env", "-C", str(HERE.parents[1])]
    if os.environ.get("SITES_HOME"):
        words.append(f"SITES_HOME={Path(os.environ['SITES_HOME']).absolute()}")
    words += [sys.executable, "-m", "benchmarks.sites", what]
    words += ["--port", str(site.port)] if site.port != default_port else []
    return shlex.join([*words, site.name])
