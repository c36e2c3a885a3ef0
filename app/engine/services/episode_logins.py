"""Log-ins of an evaluation: which are missing or have expired, and making those anew that a site's command can make."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import orjson

from app.engine.core.evaluation.suite import SuiteTask
from app.engine.core.sites import Site
from app.engine.services.site_commands import log_in
from app.engine.services.site_logins import NOBODY, checked_role, login_path
from app.engine.services.suite_requests import site_row
from app.errors import UsageError


def missing_login(task: SuiteTask, sites: Mapping[str, Site]) -> str:
    """Return why a task can't begin as its role, "" where it can; the usual log-in of a site need not be there."""
    if task.login == NOBODY:
        return ""
    try:
        checked_role(task.login)  # a suite's words become words of a command
    except UsageError as error:
        return f"its log-in is no role: {error}"
    for name in task.sites:
        row = site_row(name, sites)
        if row is None or row.login:
            continue
        path = login_path(row.name, task.login)
        if not path.exists():
            if not task.login:
                continue
            return (
                f"no log-in of the site '{row.name}' is saved for the role '{task.login}', and it has no command that"
                f" makes one; log in with: sitelore sites login {row.name} --role {task.login}"
            )
        if is_expired(path):
            role = f" for the role '{task.login}'" if task.login else ""
            option = f" --role {task.login}" if task.login else ""
            return (
                f"the log-in of the site '{row.name}'{role} has expired; log in anew with:"
                f" sitelore sites login {row.name}{option}"
            )
    return ""


def is_expired(path: Path, now: float = 0.0) -> bool:
    """Whether every cookie of a recorded log-in that has an end is past it; without any it can't be told: false."""
    try:
        value: Any = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    found: Any = cast("dict[str, Any]", value).get("cookies") if isinstance(value, dict) else None
    cookies = cast("list[Any]", found) if isinstance(found, list) else []
    ends = [
        float(end)
        for cookie in cookies
        if isinstance(cookie, dict)
        and isinstance(end := cast("dict[str, Any]", cookie).get("expires"), int | float)
        and end > 0
    ]
    return bool(ends) and max(ends) < (now or time.time())


def can_renew(task: SuiteTask, site: Site) -> bool:
    """Whether a site's command makes a task's log-in; the usual one is only made anew where there was one."""
    if not site.login or task.login == NOBODY:
        return False
    return bool(task.login) or login_path(site.name).exists()


async def renew_logins(task: SuiteTask, sites: Sequence[Site], renew: Collection[str]) -> None:
    """Log in on a task's sites by their commands, where the log-in is missing or the site is among ``renew``.

    Raises:
        SiteCommandFailed: a command failed.
    """
    for site in sites:
        path = login_path(site.name, task.login)
        if can_renew(task, site) and (site.name in renew or not path.exists()):
            await log_in(site, task.login, path)
