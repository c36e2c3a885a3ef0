"""Written rules of the table of sites: what a host, a base name and a row may be, and whose host it is."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from app.engine.core.addresses import browser_host
from app.engine.core.public_suffixes import is_open_suffix
from app.engine.core.sites import CROSS, HOME_PAGE, Site, SiteTable
from app.engine.core.trajectory import Run, Step
from app.errors import Conflict, UsageError

T = TypeVar("T")

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_WILD = re.compile(r"(?:[a-z0-9*_-]+(?:\.[a-z0-9*_-]+)*|\[[\da-f:]+\])(?::[\d*]+)?|\*:\d+")
_BASE = re.compile(r"__[A-Z][A-Z0-9_]*__")
_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_LONGEST_HOST, _LONGEST_COMMAND, _MOST = 260, 1000, 200
_HOST_REMEDY = "give one such as shop.example, shop.example:8080, [::1]:8080, *.shop.example or *:7770"


def site_name(text: str) -> str:
    """Return a site's name in its one spelling.

    Raises ``UsageError``: ids of tips and files begin with it, so it has letters, digits, ``-``, ``_`` and ``.`` only.
    """
    name = text.strip().lower()
    if not _NAME.fullmatch(name) or name == CROSS:
        raise UsageError(
            f"{text[:80]!r} can't be a site's name",
            remedy="use letters a-z, digits, '-', '_' and '.', at most 63, a letter or digit first",
        )
    return name


def host_glob(text: str) -> str:
    """Return a host, or a glob of hosts, as the table has it; an address gives its host.

    Other alphabets become ASCII as in a browser, and ports that a browser leaves out go.

    Raises ``UsageError`` for what is no host, and for a glob that holds for every host, or for all under a registry's
    suffix (``*.co.uk``).
    """
    given = text.strip()
    host = _wild_host(given.lower()) if "*" in given else _plain_host(given)
    if not host or len(host) > _LONGEST_HOST:
        raise UsageError(f"{text[:80]!r} is not a host", remedy=_HOST_REMEDY)
    return host


def base_name(text: str) -> str:
    """Return the name of a base.  Raises ``UsageError`` if it is not written like ``__SHOPPING__``."""
    name = text.strip()
    if not _BASE.fullmatch(name):
        raise UsageError(f"{text[:80]!r} is not the name of a base", remedy="write it like __SHOPPING__")
    return name


def checked_row(site: Site) -> Site:
    """Return a row in its one spelling.  Raises ``UsageError`` that says which entry is wrong."""
    hosts = tuple(dict.fromkeys(map(host_glob, site.hosts)))
    commands = {name: getattr(site, name).strip() for name in ("reset", "state", "login")}
    for name, command in commands.items():
        if not command.isprintable() or len(command) > _LONGEST_COMMAND:
            raise UsageError(
                f"the {name} command has to be one line of at most {_LONGEST_COMMAND:,} characters",
                remedy="put a longer one into a script",
            )
    if max(len(hosts), len(site.starts), len(site.bases)) > _MOST:
        raise UsageError(f"a site has at most {_MOST} hosts, start pages and bases", remedy="use a glob")
    return replace(
        site,
        name=site_name(site.name),
        hosts=hosts,
        learned=tuple(host for host in site.learned if host in hosts),
        starts=tuple(dict.fromkeys(site.starts)),
        bases={base_name(name): address for name, address in site.bases.items()},
        **commands,
    )


def refuse_taken(site: Site, others: Iterable[Site]) -> None:
    """Raise ``Conflict`` if a host or a base of a row is another site's."""
    for other in others:
        if other.name == site.name:
            continue
        taken = [
            *(host for host in site.hosts if host in other.hosts),
            *(name for name in site.bases if name in other.bases),
        ]
        if taken:
            raise Conflict(
                f"{taken[0]} belongs to the site '{other.name}'; remove it there first, then give it to '{site.name}'"
            )


def merged(now: Site, before: Site, after: Site) -> Site:
    """Apply the change from ``before`` to ``after`` to a row that has changed meanwhile."""
    hosts = _merged_items(now.hosts, before.hosts, after.hosts)
    given_up = {host for host in before.learned if host not in after.learned}
    learned = [host for host in now.learned if host not in given_up]
    return replace(
        now,
        hosts=hosts,
        learned=tuple(host for host in dict.fromkeys((*learned, *after.learned)) if host in hosts),
        starts=_merged_items(now.starts, before.starts, after.starts),
        bases=_merged_bases(now.bases, before.bases, after.bases),
        **{
            name: getattr(after if getattr(after, name) != getattr(before, name) else now, name)
            for name in ("reset", "state", "login")
        },
    )


def lesson(table: SiteTable, site: str, host: str) -> tuple[bool, str]:
    """Decide whether a site learns a host, and say in one sentence what came of it; "" if there is nothing to say.

    A host that belongs to another site is never taken from it.
    """
    owner = table.site_of_host(host)
    if not host or owner == site or not _can_learn(site) or host == site:
        return False, ""
    if owner:
        return False, f"{host} is a host of the site '{owner}' and stays with it; '{site}' did not get it"
    return True, f"the site '{site}' now has the host {host}"


def claimed_host(run: Run, steps: Sequence[Step], table: SiteTable) -> str:
    """Return the host that a run shows to be its site's: all its pages are on it, and it is no site's yet."""
    if not _can_learn(run.site) or len(run.sites) > 1 or _is_host_like(run.site, table):
        return ""
    pages = [run.start_url, *(step.url for step in steps), run.final.url if run.final is not None else ""]
    hosts = {browser_host(url) for url in pages if _SCHEME.match(url)}
    host = hosts.pop() if len(hosts) == 1 else ""
    return host if host and not table.site_of_host(host) else ""


def _can_learn(site: str) -> bool:
    return bool(_NAME.fullmatch(site)) and site not in (CROSS, HOME_PAGE)


def _is_host_like(site: str, table: SiteTable) -> bool:
    """Whether a run's site is only the host of its pages, as it is for a site without a name."""
    return site not in table.globs and "." in site


def _plain_host(given: str) -> str:
    if not _SCHEME.match(given):
        if re.search(r"[/?#@\\\s]", given):
            return ""
        given = f"{'https' if given.endswith(':443') else 'http'}://{given}"
    host = browser_host(given)
    if not host.startswith("["):
        return host
    name, _, port = host[1:].partition("]")
    try:
        return f"[{ipaddress.ip_address(name).compressed}]{port}"
    except ValueError:
        return ""


def _wild_host(given: str) -> str:
    name = given.removesuffix(":80").removesuffix(":443")
    try:
        name = ".".join(part if part.isascii() else part.encode("idna").decode() for part in name.split("."))
    except ValueError:
        return ""
    if is_open_suffix(name.partition(":")[0].lstrip("*.")):
        return ""
    return name if _WILD.fullmatch(name) and name.strip("*.:-_") else ""


def _merged_items(now: Sequence[T], before: Sequence[T], after: Sequence[T]) -> tuple[T, ...]:
    if list(now) == list(before):
        return tuple(after)
    kept = [item for item in now if item in after or item not in before]
    return tuple(dict.fromkeys((*kept, *(item for item in after if item not in before))))


def _merged_bases(
    now: Mapping[str, str], before: Mapping[str, str], after: Mapping[str, str]
) -> dict[str, str]:
    result = {name: address for name, address in now.items() if name in after or name not in before}
    return result | {name: address for name, address in after.items() if before.get(name) != address}
