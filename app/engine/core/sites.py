"""Maps addresses to sites by host globs.

The benchmark's sites run on hosts that differ from run to run and keep their ports, so a glob such as ``*:7770``
identifies a site better than a host does.  The table is a plain mapping, so that a workspace can have its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from pathlib import Path
from urllib.parse import urlsplit

from app.assets import resource
from app.errors import InputError
from kb.tip import CROSS

HOME_PAGE = "homepage"
"""Name of the page that only lists the other sites; no task is about it."""

__all__ = ["CROSS", "HOME_PAGE", "SiteTable", "load_sites", "site_table"]


class SiteTable:
    """Site names by ``host:port`` glob; the first site with a matching glob wins."""

    def __init__(self, globs: Mapping[str, Sequence[str]]) -> None:
        self.globs = {site: tuple(patterns) for site, patterns in globs.items()}
        self._patterns = [
            (site, re.compile("|".join(translate(p.lower()) for p in patterns)))
            for site, patterns in self.globs.items()
            if patterns
        ]
        self._by_host: dict[str, str] = {}

    def site_of(self, url: str) -> str:
        """The site of an address: its name, else its host and port; "" for ``about:blank`` and the like."""
        try:
            host = urlsplit(url).netloc.rpartition("@")[2].lower()
        except ValueError:
            return ""
        if host not in self._by_host:
            named = (site for site, pattern in self._patterns if pattern.match(host))
            self._by_host[host] = next(named, host)
        return self._by_host[host]

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
