"""Maps addresses to sites by host globs.

The benchmark's sites run on hosts that differ from run to run and keep their ports, so a glob such as ``*:7770``
identifies a site better than a host does.  ``site_rules`` says which entries are good.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from app.assets import resource
from app.errors import InputError
from kb.tip import CROSS

HOME_PAGE = "homepage"
"""Name of the page that only lists the other sites; no task is about it."""

__all__ = ["CROSS", "HOME_PAGE", "Site", "SiteTable", "load_sites", "site_table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One row of the table of sites.

    Attributes:
        hosts: globs over ``host:port``; a ``*`` stands for any text.
        learned: those of ``hosts`` that an exploration or a run brought.
        starts: start pages, the usual one first.
        bases: names in task files (``__SHOPPING__``) and the addresses they stand for.
        reset: the command that puts the site back as it was; evaluations run it.
        state: the command that prints the site's state as JSON for an evaluation; it is run with ``before TASK`` or
            ``after TASK`` behind it.
        login: the command that logs in and writes a storage state; it is run with a role and the file's path behind it.
    """

    name: str
    hosts: tuple[str, ...] = ()
    learned: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    bases: dict[str, str] = field(default_factory=dict[str, str])
    reset: str = ""
    state: str = ""
    login: str = ""

    @property
    def shared_hosts(self) -> tuple[str, ...]:
        """The hosts that tips carry along when they are frozen: all but learned ones of a private network."""
        return tuple(host for host in self.hosts if host not in self.learned or not _is_private(host))


class SiteTable:
    """Site names by ``host:port`` glob: a host in full wins, then the glob with most letters, then the first one."""

    def __init__(self, globs: Mapping[str, Sequence[str]]) -> None:
        self.globs = {site: tuple(patterns) for site, patterns in globs.items()}
        wild = [
            (len(host.replace("*", "")), site, host.lower())
            for site, patterns in self.globs.items()
            for host in patterns
            if "*" in host
        ]
        wild.sort(key=lambda one: -one[0])
        self._patterns = [(site, re.compile(re.escape(host).replace(r"\*", ".*"))) for _, site, host in wild]
        self._by_host: dict[str, str] = {}
        for site, patterns in self.globs.items():
            for host in patterns:
                if "*" not in host:
                    self._by_host.setdefault(host.lower(), site)

    def site_of(self, url: str) -> str:
        """The site of an address: its name, else its host and port; "" for ``about:blank`` and the like."""
        try:
            host = urlsplit(url).netloc.rpartition("@")[2].lower()
        except ValueError:
            return ""
        if host not in self._by_host:
            named = (site for site, pattern in self._patterns if pattern.fullmatch(host))
            self._by_host[host] = next(named, host)
        return self._by_host[host]

    def site_of_host(self, host: str) -> str:
        """The site that a ``host:port`` belongs to; "" for none."""
        found = self.site_of(f"http://{host}/")
        return found if found in self.globs else ""

    def named(self, urls: Iterable[str]) -> tuple[str, ...]:
        """The table's sites among these addresses in order of first visit, without the home page."""
        seen = dict.fromkeys(self.site_of(url) for url in urls)
        return tuple(site for site in seen if site in self.globs and site != HOME_PAGE)


def load_sites(path: Path | None = None) -> SiteTable:
    """Read a table ``{"site": ["host glob", ...]}``; without a path the built-in one.

    Raises:
        InputError: the file can't be read or is no such mapping.
    """
    source = path if path is not None else resource("sites.json")
    try:
        table = json.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"the table of sites can't be read: {error}", path=str(source)) from error
    return site_table(table, str(source))


def site_table(table: object, source: str = "") -> SiteTable:
    """Validate an untrusted mapping and return it as a table.

    Raises:
        InputError: it is not ``{"site": ["host glob", ...]}``.
    """
    good: dict[str, list[str]] = {}
    entries: dict[object, object] = table if isinstance(table, dict) else {}  # pyright: ignore[reportUnknownVariableType]
    for site, globs in entries.items():
        patterns: list[object] = globs if isinstance(globs, list) else [None]  # pyright: ignore[reportUnknownVariableType]
        texts = [pattern for pattern in patterns if isinstance(pattern, str)]
        if not isinstance(site, str) or len(texts) != len(patterns):
            good.clear()
            break
        good[site] = texts
    if not good:
        raise InputError(
            "this is no table of sites", path=source, remedy='write {"site": ["host:port glob", ...], ...}'
        )
    return SiteTable(good)


def _is_private(host: str) -> bool:
    """Whether a host is one of this machine or of a private network, so that nobody else can reach it."""
    name = host.strip("[").partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    try:
        return ipaddress.ip_address(name).is_private
    except ValueError:
        return "." not in name or name.endswith((".localhost", ".local", ".internal"))
