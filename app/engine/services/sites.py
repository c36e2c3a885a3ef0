"""The table of sites: list, edit, remove, and keep a log-in."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from app import settings
from app.engine.api.run_rows import RunFilter
from app.engine.api.site_api import SiteRow
from app.engine.core.events import RunsChanged, SitesChanged
from app.engine.core.site_rules import checked_row
from app.engine.core.sites import Site
from app.engine.services.core import Core, on_store
from app.engine.services.graph_cache import checked_address
from app.engine.services.site_commands import log_in
from app.engine.services.site_logins import (
    checked_role,
    forget_login,
    keep_login,
    saved_login,
    saved_roles,
)
from app.engine.services.site_starts import home_of, start_page
from app.errors import NotFound, UsageError

LOGIN_SECONDS = 120.0
"""Time limit of a site's log-in command."""


class SiteService:
    """Use cases of the table of sites."""

    def __init__(self, core: Core) -> None:
        self._core = core

    @on_store
    def sites(self) -> list[SiteRow]:
        """Return every site of the table, and what the workspace has of it."""
        workspace = self._core.workspace
        runs = Counter(row.site for row in workspace.index.rows(RunFilter()))
        tips = Counter(tip.site for tip in self._core.kb.tips())
        return [
            _row(site, runs[site.name], tips[site.name], home_of(workspace, site.name))
            for site in workspace.site_store.rows.values()
        ]

    async def save_site(self, site: Site, before: Site | None = None) -> SiteRow:
        """Add a site, or change one that was ``before`` as it was read; undo takes it back.

        Raises:
            UsageError: an entry is not what it has to be.  Conflict: a host or base is another site's, or it exists.
        """
        row = checked_row(
            replace(
                site,
                starts=tuple(map(checked_address, site.starts)),
                bases={name: checked_address(address) for name, address in site.bases.items()},
            )
        )
        if row != before:
            await self._change(before, row)
        return next(found for found in await self.sites() if found.site.name == row.name)

    async def remove_site(self, site: str) -> None:
        """Remove a site from the table; its runs, tips, map and log-in stay.  Undo brings it back."""
        await self._change(await self._core.on_store(self._known, site), None)

    async def keep_login(self, site: str, file: str, role: str = "") -> None:
        """Keep a copy of a recorded log-in for a site or one of its roles, readable by its owner alone."""
        await self._core.on_store(self._known, site)
        await self._core.on_worker(keep_login, site, file, checked_role(role))
        self._core.bus.publish(SitesChanged())

    async def run_login(self, site: str, role: str = "") -> None:
        """Log in by the site's own command, and keep the log-in that it writes.

        Raises:
            UsageError: the site has no such command.  InputError: it wrote no recorded log-in.
            SiteCommandFailed: it failed, or took too long.
        """
        row, role = await self._core.on_store(self._known, site), checked_role(role)
        if not row.login:
            raise UsageError(
                f"the site '{site}' has no log-in command",
                remedy=f"give it one with: sitelore sites edit {site} --login-command COMMAND",
            )
        with TemporaryDirectory(dir=settings.logins_dir(), prefix=".incoming-") as folder:
            file = Path(folder) / "login.json"
            await log_in(row, role, file, LOGIN_SECONDS)
            await self._core.on_worker(keep_login, site, str(file), role)
        self._core.bus.publish(SitesChanged())

    async def forget_login(self, site: str, role: str = "") -> bool:
        """Delete a saved log-in of a site or one of its roles; return whether there was one."""
        there = await self._core.on_worker(forget_login, site, checked_role(role))
        self._core.bus.publish(SitesChanged())
        return there

    @on_store
    def site_start(self, site: str) -> str:
        """Return the page where work on a site begins.  Raises ``UsageError`` where none is known."""
        return start_page(self._core.workspace, site)

    async def _change(self, before: Site | None, after: Site | None) -> None:
        workspace = self._core.workspace

        def changing() -> None:
            hosts = workspace.sites
            workspace.change_site(before, after, self._core.author)
            self._core.share_hosts(hosts)

        await self._core.do_in_review(changing)
        self._core.bus.publish(SitesChanged())
        self._core.bus.publish(RunsChanged())  # runs and pages may be of another site now

    def _known(self, site: str) -> Site:
        rows = self._core.workspace.site_store.rows
        if site not in rows:
            raise NotFound(f"there is no site '{site}'; 'sitelore sites list' names them")
        return rows[site]


def _row(site: Site, runs: int, tips: int, home: str) -> SiteRow:
    login = saved_login(site.name)
    return SiteRow(
        site=site,
        login=bool(login),
        login_at=Path(login).stat().st_mtime if login else 0.0,
        roles=saved_roles(site.name),
        runs=runs,
        tips=tips,
        home=home,
    )
