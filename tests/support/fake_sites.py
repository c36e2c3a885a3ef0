"""The table of sites of an engine without disk."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.engine.api.site_api import SiteRow
from app.engine.core.events import EventBus, SitesChanged
from app.engine.core.site_rules import checked_row, merged, refuse_taken
from app.engine.core.sites import Site
from app.errors import NotFound, UsageError

SAVED_AT = 1_750_000_000.0


def make_sites() -> dict[str, SiteRow]:
    """Three sites: one with everything, one with a learned host, one with nothing but its name."""
    shop = Site(
        name="shopping",
        hosts=("*:7770", "shop.example"),
        starts=("http://shop.example/",),
        bases={"__SHOPPING__": "http://shop.example/"},
        reset="docker restart shop",
    )
    git = Site(name="gitlab", hosts=("*:8023", "git.example:8443"), learned=("git.example:8443",))
    rows = [
        SiteRow(site=shop, login=True, login_at=SAVED_AT, runs=12, tips=4),
        SiteRow(site=git, runs=8, tips=2, home="http://git.example:8443/"),
        SiteRow(site=Site(name="wiki")),
    ]
    return {row.site.name: row for row in rows}


class FakeSites:
    """Keeps the rows in ``site_rows`` by the real rules; ``site_error`` is raised by the next change."""

    bus: EventBus
    site_rows: dict[str, SiteRow]
    site_error: Exception | None = None

    async def sites(self) -> list[SiteRow]:
        return list(self.site_rows.values())

    async def save_site(self, site: Site, before: Site | None = None) -> SiteRow:
        self._call("save_site", site, before)
        self._fail()
        row = checked_row(site)
        old = self.site_rows.get(row.name)
        if before is not None and old is not None:
            row = merged(old.site, before, row)
        refuse_taken(row, [one.site for one in self.site_rows.values()])
        self.site_rows[row.name] = replace(old or SiteRow(site=row), site=row)
        self._did(f"{'edit' if before else 'add'} site '{row.name}'")
        self.bus.publish(SitesChanged())
        return self.site_rows[row.name]

    async def remove_site(self, site: str) -> None:
        self._call("remove_site", site)
        self._fail()
        del self.site_rows[site]
        self._did(f"remove site '{site}'")
        self.bus.publish(SitesChanged())

    async def keep_login(self, site: str, file: str, role: str = "") -> None:
        self._call("keep_login", site, file, *([role] if role else []))
        self._fail()
        self.site_rows[site] = replace(self.site_rows[site], login=True, login_at=SAVED_AT)
        self.bus.publish(SitesChanged())

    async def run_login(self, site: str, role: str = "") -> None:
        self._call("run_login", site, role)
        self._fail()
        self.site_rows[site] = replace(self.site_rows[site], login=True, login_at=SAVED_AT)
        self.bus.publish(SitesChanged())

    async def forget_login(self, site: str, role: str = "") -> bool:
        self._call("forget_login", site, *([role] if role else []))
        self.site_rows[site] = replace(self.site_rows[site], login=False, login_at=0.0)
        self.bus.publish(SitesChanged())
        return True

    async def site_start(self, site: str) -> str:
        row = self.site_rows.get(site)
        if row is None:
            raise NotFound(f"there is no site '{site}'")
        if not row.site.starts:
            raise UsageError(f"it is not known where the site '{site}' begins", remedy="give an address")
        return row.site.starts[0]

    def _fail(self) -> None:
        error, self.site_error = self.site_error, None
        if error is not None:
            raise error

    def _call(self, name: str, *args: Any) -> None:
        raise NotImplementedError

    def _did(self, label: str) -> None:
        raise NotImplementedError
