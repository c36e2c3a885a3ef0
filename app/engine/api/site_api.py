"""Use cases of the table of sites."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from app.engine.core.sites import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRow:
    """A site of the table and what the workspace has of it.

    Attributes:
        login: whether a log-in is saved; the log-in itself is a secret and never leaves its file.
        login_at: when it was saved, 0 for never.
        roles: those that a log-in of their own is saved for.
        home: the home page of its map, "" without a map.
    """

    site: Site
    login: bool = False
    login_at: float = 0.0
    roles: tuple[str, ...] = ()
    runs: int = 0
    tips: int = 0
    home: str = ""


class SiteApi(Protocol):
    """Sites with their hosts, start pages, log-ins, bases and commands."""

    async def sites(self) -> list[SiteRow]: ...
    async def save_site(self, site: Site, before: Site | None = None) -> SiteRow: ...
    async def remove_site(self, site: str) -> None: ...
    async def keep_login(self, site: str, file: str, role: str = "") -> None: ...
    async def forget_login(self, site: str, role: str = "") -> bool: ...
    async def run_login(self, site: str, role: str = "") -> None: ...
    async def site_start(self, site: str) -> str: ...
