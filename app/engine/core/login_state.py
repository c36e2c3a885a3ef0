"""A log-in as cookies and local storage: which of them belong to a site, and where one sees that it works.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit

from app.engine.core.addresses import browser_host

_ASKED_FOR = re.compile(
    r"next|(return|redirect|back|forward|continue|dest|destination|target|referer|came[-_]?from|goto|from|service)"
    r"([-_]?(to|url|uri|path|page|after[-_]?log-?in))?",
    re.IGNORECASE,
)
"""Names under which a log-in page's address holds the page that was asked for."""


def login_of_hosts(state: Mapping[str, Any], hosts: Iterable[str]) -> dict[str, list[Any]]:
    """Return the part of a browser's state (``cookies``, ``origins``) that belongs to these hosts.

    - A host is ``name[:port]``, and may be a glob (``*.shop.example``); a glob of any name (``*:7770``) names nothing.
    - A cookie belongs to the host it is for, whatever the port, and one for a whole domain (``.shop.example``) to each
      host in it.
    - Local storage belongs to its very origin, the port included.
    """
    wanted = [one.lower() for one in hosts if _name(one).strip("*.")]
    names = [_name(one) for one in wanted]
    return {
        "cookies": [one for one in state.get("cookies", ()) if _is_for(str(one["domain"]).lower(), names)],
        "origins": [
            one
            for one in state.get("origins", ())
            if any(fnmatchcase(browser_host(str(one["origin"])), host) for host in wanted)
        ],
    }


def is_of_hosts(url: str, hosts: Iterable[str]) -> bool:
    """Whether an address is on one of these hosts, which may be globs."""
    host = browser_host(url)
    return bool(host) and any(fnmatchcase(host, one.lower()) for one in hosts)


def page_asked_for(url: str) -> str:
    """Return the page that was asked for before a log-in page, as the log-in page's address names it; "" for none."""
    for name, value in parse_qsl(urlsplit(url).query):
        if _ASKED_FOR.fullmatch(name) and value.startswith(("/", "http://", "https://")):
            asked = urljoin(url, value)
            if browser_host(asked):
                return asked
    return ""


def guarded_pages(wall: str, start: str) -> tuple[str, ...]:
    """Return pages that a log-in wall stands before, the best evidence first; ``start`` where the run began at it.

    One that shows no log-in any more proves a log-in.  The wall's own page comes last: some sites show it to people
    who are logged in.
    """
    pages = (page_asked_for(wall), start, urldefrag(wall).url)
    return tuple(dict.fromkeys(filter(None, pages)))


def is_changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether a browser's state has a cookie or a stored value that is new or another one than before."""
    return bool(_entries(after) - _entries(before))


def lacks_session(kept: Mapping[str, Any], state: Mapping[str, Any], now: float) -> bool:
    """Whether a log-in has lost a session cookie that the kept one has for a host that both have cookies of.

    A session cookie is one that scripts can't read, or that ends with the browser; ``now`` in Unix seconds.
    """

    def key(cookie: Mapping[str, Any]) -> tuple[str, str]:
        return str(cookie.get("domain", "")).lstrip("."), str(cookie.get("name", ""))

    there = {key(one) for one in state["cookies"]}
    hosts = {domain for domain, _ in there}
    return any(
        key(one)[0] in hosts and key(one) not in there
        for one in kept.get("cookies", ())
        if _is_session(one, now)
    )


def _is_session(cookie: Mapping[str, Any], now: float) -> bool:
    ends = cookie.get("expires", -1)
    lasts = not isinstance(ends, int | float) or ends < 0
    return lasts or (bool(cookie.get("httpOnly")) and ends > now)


def _entries(state: Mapping[str, Any]) -> set[tuple[str, ...]]:
    found = {
        ("cookie", str(one["domain"]), str(one["path"]), str(one["name"]), str(one["value"]))
        for one in state.get("cookies", ())
    }
    for one in state.get("origins", ()):
        found |= {
            ("stored", str(one["origin"]), str(item["name"]), str(item["value"]))
            for item in one["localStorage"]
        }
    return found


def _is_for(domain: str, names: Iterable[str]) -> bool:
    if domain.startswith("."):
        return any(f".{name}".endswith(domain) for name in names)
    return any(fnmatchcase(domain.strip("[]"), name) for name in names)


def _name(host: str) -> str:
    """Return a host's name without port and brackets."""
    return (host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]).lower()
