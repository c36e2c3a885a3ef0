"""Where work on a site begins when only the site is named, and what sites learn from it."""

from __future__ import annotations

import logging

from app.engine.core.addresses import browser_host
from app.engine.core.events import SitesChanged
from app.engine.services.core import Core
from app.engine.services.graph_cache import checked_address
from app.engine.store.workspace import Workspace
from app.errors import SiteloreError, UsageError

log = logging.getLogger(__name__)


def home_of(workspace: Workspace, site: str) -> str:
    """Return the home page of a site's map, "" without one; store thread only."""
    try:
        return workspace.graph(site).home if site in workspace.graph_sites() else ""
    except SiteloreError as error:
        log.warning("the map of %s can't be read: %s", site, error)
        return ""


def start_page(workspace: Workspace, site: str) -> str:
    """Return a site's start page: its own, else the home page of its map, else that of a base; store thread only.

    Raises ``UsageError`` where none is known.
    """
    row = workspace.site_store.rows.get(site)
    known = (
        (*row.starts[:1], home_of(workspace, site), *row.bases.values())
        if row
        else (home_of(workspace, site),)
    )
    found = next(filter(None, known), "")
    if not found:
        raise UsageError(
            f"it is not known where the site '{site}' begins",
            remedy=f"give an address, or keep one with: sitelore sites edit {site} --start URL",
        )
    return found


async def start_address(core: Core, url: str, site: str) -> str:
    """Return the address given, in its one spelling; without one the site's start page.  Raises ``UsageError``."""
    if not url.strip() and site.strip():
        url = await core.on_store(start_page, core.workspace, site.strip())
    return checked_address(url)


async def learn_host(core: Core, site: str, address: str) -> None:
    """Let a site learn the host of a page that a person called its own; failing to is no failure of the work."""
    host = browser_host(address)

    def learning() -> list[str]:
        before = core.workspace.sites
        told = core.workspace.learn_hosts({host: (site,)}) if host and site else []
        core.share_hosts(before)
        return told

    try:
        told = await core.on_store(learning)
    except SiteloreError as error:
        log.warning("the host %s was not learned: %s", host, error)
        return
    for words in told:
        core.bus.publish(SitesChanged(note=words))
