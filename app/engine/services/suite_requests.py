"""The run of a suite's task as a request: where it starts, which hosts it may visit, who is logged in.

The same for supervised runs and for evaluations.  Nothing of a task's oracle is read here, nor are the values of its
template: a run must not see them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urljoin

from app.engine.api.run_api import RunRequest
from app.engine.core.evaluation.suite import Suite, SuiteTask
from app.engine.core.sites import HOME_PAGE, Site
from app.engine.evaluation.suites.read_tasks import AND, BASE
from app.engine.services.site_logins import NOBODY, joint_login, no_login, saved_login
from app.errors import InputError

USUAL_STEPS = 30


def run_request(
    suite: Suite,
    task: SuiteTask,
    sites: Mapping[str, Site],
    *,
    default_start: str = "",
    max_steps: int = 0,
    logins: bool = True,
) -> RunRequest:
    """Return the request of a task's run: policy, knowledge and budgets are the caller's to put in.

    Args:
        sites: the workspace's table, by name.
        default_start: the address for tasks that name none, and for names of bases that the table lacks.
        max_steps: steps at most where the task does not say; 0 for the usual 30.
        logins: put in the saved log-ins of its sites.

    Raises:
        InputError: an address or a log-in that the task needs is not there; the message says how to give it.
    """
    named = {name: address for row in sites.values() for name, address in row.bases.items()}
    own = [row for name in task.sites if (row := site_row(name, sites)) is not None]
    first, *others = task.start_url.split(AND)
    start = _address(first, task, own, named, default_start)
    further = [address for text in others if (address := _known_address(text, named))]
    hosts = [host for row in own for host in _hosts(row)]
    for name in task.sites[1:]:
        row = site_row(name, sites)
        if not default_start and not (row is not None and _hosts(row)) and "." not in name:
            raise InputError(
                f"task {task.id[:40]}: it is not known where its site '{name[:60]}' is",
                remedy=f"sitelore sites edit {name[:60]} --base __{name.upper()[:60]}__=URL",
            )
    if len(task.sites) > 1 and HOME_PAGE in sites:
        hosts += _hosts(sites[HOME_PAGE])  # from there an agent finds the other sites
    return RunRequest(
        intent=task.intent,
        start_url=start,
        site=own[0].name if own and _is_first(own[0], task) else "",
        domains=tuple(dict.fromkeys([*further, *hosts])),
        suite=suite.name,
        task_id=task.id,
        max_steps=task.max_steps or max_steps or USUAL_STEPS,
        storage_state=_login(task, own) if logins else "",
        setup=task.setup,
    )


def site_row(name: str, sites: Mapping[str, Site]) -> Site | None:
    """Return the row of a task's site: the one of that name, else the one that has its base (``__SHOPPING__``)."""
    base = f"__{name.upper()}__"
    return sites.get(name) or next((row for row in sites.values() if base in row.bases), None)


def unbound_names(names: Iterable[str], sites: Mapping[str, Site]) -> tuple[str, ...]:
    """Return those of these names of bases that stand for no address in the table of sites."""
    known = {name for row in sites.values() for name in row.bases}
    return tuple(sorted(set(names) - known))


def _address(text: str, task: SuiteTask, own: list[Site], named: Mapping[str, str], default: str) -> str:
    """Return one start address: a name replaced by its base, a path put behind the site's own address."""
    text = text.strip()
    if base_name := BASE.match(text):
        address = _known_address(text, {**named, base_name[0]: named.get(base_name[0], default)})
        if not address:
            raise _unknown(task, text, f"sitelore sites edit SITE --base {base_name[0]}=URL")
        return address
    if text.startswith("/") or not text:
        if not text and not default and task.sites:
            return ""  # the site's own start page
        base = next((one for row in own[:1] for one in (*row.bases.values(), *row.starts)), default)
        if not base:
            raise _unknown(task, text, "")
        return urljoin(base, text) if text else base
    return text


def _known_address(text: str, named: Mapping[str, str]) -> str:
    """Return an address with the base that its name stands for, "" where the name is not known."""
    text = text.strip()
    name = BASE.match(text)
    if name is None:
        return text
    base, rest = named.get(name[0], ""), text[name.end() :]
    return base.rstrip("/") + rest if base and rest else base


def _unknown(task: SuiteTask, start: str, remedy: str) -> InputError:
    return InputError(
        f"task {task.id[:40]}: its start address ({start[:200] or 'none given'}) is unknown",
        remedy="give a start address" + (f", or: {remedy}" if remedy else ""),
    )


def _is_first(row: Site, task: SuiteTask) -> bool:
    return row.name == task.site or f"__{task.site.upper()}__" in row.bases


def _hosts(row: Site) -> list[str]:
    """Return the addresses and hosts of a site that a run may be held to; ``*:7770`` would let it go anywhere."""
    hosts = [host for host in row.hosts if "*" not in host.removeprefix("*.")]
    return [*row.bases.values(), *row.starts, *hosts]


def _login(task: SuiteTask, own: list[Site]) -> str:
    """Return the path of the log-in a task starts with: of all its sites together where there are several."""
    if task.login == NOBODY:
        return no_login()
    found = [saved_login(row.name, task.login) for row in own]
    if task.login and own and not any(found):
        raise InputError(
            f"task {task.id[:40]}: no log-in of '{own[0].name}' is saved for the role '{task.login[:60]}'",
            remedy=f"sitelore sites login {own[0].name} --role {task.login[:60]}",
        )
    return joint_login([path for path in found if path])
