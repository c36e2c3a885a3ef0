"""Locks of sites for a whole evaluation, on this machine: two evaluations on one site would spoil each other's tasks.

They go by host and port, so that a site has one lock whatever it is called in a workspace.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from app import settings
from app.engine.core.evaluation.suite import SuiteTask
from app.engine.core.sites import Site
from app.engine.services.suite_requests import site_row
from app.engine.store.locks import FileLock
from app.errors import Conflict
from kb.private import make_folder

_FOLDER = "site-locks"
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class SiteLocks:
    """The locks of one evaluation; ``release`` them at its end."""

    def __init__(self) -> None:
        self._held: list[FileLock] = []

    def take(self, tasks: Iterable[SuiteTask], rows: Mapping[str, Site]) -> None:
        """Take the locks of all sites of these tasks, or none.  Blocks for moments.

        Raises:
            Conflict: another evaluation has one of them.
        """
        folder = settings.cache_dir() / _FOLDER
        make_folder(folder)
        names = sorted({site for task in tasks for site in task.sites})
        held = dict[str, str]()
        for name in names:
            row = site_row(name, rows)
            for address in site_addresses(row) if row is not None else ():
                if address in held:
                    continue
                held[address] = name
                lock = FileLock(folder / f"{hashlib.sha256(address.encode()).hexdigest()[:24]}.lock")
                if not lock.take_soon():
                    self.release()
                    raise Conflict(
                        f"the site '{name}' is in use by another evaluation; wait for it or leave the site out"
                    )
                self._held.append(lock)

    def release(self) -> None:
        """Release all locks."""
        while self._held:
            self._held.pop().release()


def site_addresses(site: Site) -> tuple[str, ...]:
    """Return host and port of a site's addresses and of its hosts; a glob names no single one."""
    hosts = (f"http://{host}" for host in site.hosts if "*" not in host)
    found = (_host_and_port(address) for address in (*site.bases.values(), *site.starts, *hosts))
    return tuple(dict.fromkeys(filter(None, found)))


def _host_and_port(address: str) -> str:
    try:
        parts = urlsplit(address)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    except ValueError:
        return ""
    host = "localhost" if parts.hostname in _THIS_MACHINE else parts.hostname
    return f"{host}:{port}" if host else ""
