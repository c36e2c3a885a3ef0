"""An address without its volatile parts, and the template of similar addresses.  Pure data.

``url_key``       ``/catalogue/mug_12?page=2``: path and the query keys that matter, normalised; identifies the page.
``url_template``  ``/catalogue/{id}``: data replaced as well; identifies the kind of page.
``section``       ``/product/{id}`` for ``/product/apron``: the last segment counts as data even if it is a plain
word.

The home host is left out of all of them, so the same site on another host or port has the same keys.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

_SAFE = "!$'()*,:@~"
_NUMBER = re.compile(r"\d+")
_HASH = re.compile(r"(?=.*\d)[0-9a-fA-F-]{8,}|[A-Za-z0-9_%=+.~-]{32,}")
_NUMBERED_SLUG = re.compile(r"[^\W_][\w.~-]*[_-]\d+|\d+[_-]\w[\w.~-]*")
_HOST = re.compile(r"[\w.-]+(?::\d+)?|\[[\da-fA-F:.]+\](?::\d+)?")
_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)*\.?|[\da-f]*:[\da-f:.]*", re.ASCII)
"""Host name in lower-case ASCII, or an IPv6 address without its brackets."""

_PLAIN = re.compile(
    r"(https?)://([a-z0-9.-]+(?::(?!80$|80[/?#]|443$|443[/?#])\d{1,4})?)((?:/[^?#\s]*)?)(?:\?([^#\s]*))?(?:#(\S*))?"
)
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/._~-]*")
_USUAL = {"http": 80, "https": 443}
_ROUTE = re.compile(r"!?/")
_PATH_SESSION = re.compile(r";(?:j?sessionid|sid)=[^/]*", re.IGNORECASE)

_VOLATILE = re.compile(
    r"(?:utm|hsa|mc|pk|mtm|matomo|ga|gad)_.*|_(?:ga|gl|hsenc|hsmi|ke|_.*)?|gclid|gclsrc|dclid|wbraid|gbraid|fbclid|msclkid"
    r"|yclid|igshid|twclid|ttclid|epik|s_cid|icid"
    r"|(?:.*[_.\[-])?(?:csrf|xsrf|nonce|token|signature|sessid|session|sid)(?:[_-]?(?:id|key|token|value))?\]?"
    r"|\w*(?:csrf|xsrf)\w*|(?:php|asp|j)?sess(?:ion)?id|form_?key|authenticity_token|access_token|state_token"
    r"|ts|timestamp|cachebust(?:er)?|cache_?bust|cb|rnd|rand(?:om)?|nocache|uenc|__cf.*|cf_chl.*"
    r"|referr?er|came_from",
    re.IGNORECASE,
)
"""Query keys that say how, when or as whom somebody came here; never which page it is."""

_BACK = re.compile(
    r"next|return(?:_?(?:to|url|path))?|redirect(?:_?(?:to|url|uri|path))?|continue|back_?url|goto|dest(?:ination)?"
    r"|success_url",
    re.IGNORECASE,
)
"""Query keys that name the next page; with a number as value they may be for paging."""

_MAYBE_TIME = re.compile(r"[a-z]|v|ver|version|time|date|dt|now|stamp", re.IGNORECASE)
_TIME = re.compile(r"1\d{9}(?:\d{3})?")
_SECRET_SEGMENTS = frozenset({"key", "form_key", "uenc", "referer", "sid"})
"""Segments whose next one is a secret or the referring page (``/key/3f5a.../``)."""

_VIEW = re.compile(r"(?:tab|view|section|mode|panel|pane|step|layout|display|scope|type|kind)", re.IGNORECASE)
_PAGING = re.compile(
    r"(?:page|p|pg|paged?|page_?(?:no|num|number|index|size)|offset|start|skip|limit|per_?page|size|count|cursor|after|before"
    r"|from|product_list_\w+|sort|sort_?by|order|order_?by|dir|direction|asc|desc|ordering|o)",
    re.IGNORECASE,
)
"""Query keys for paging and sorting: the kind of page stays the same."""

MAX_SEGMENT = 80
_FIXED, _PROJECT = 2, 3
"""Leading segments that are never taken for data (behind ``{project}/-`` one more)."""


@lru_cache(maxsize=1024)
def host_of(url: str) -> str:
    """Host and port of an address (or of a bare ``host:port``), in lower case, without a default port."""
    if "//" not in url:
        url = f"//{url}" if _HOST.fullmatch(url) else ""
    split = _split(url)
    return split.host if split is not None else ""


@lru_cache(maxsize=16_384)
def split_address(url: str) -> SplitResult:
    """Return the parts of an address; one that can't be read is nothing but path."""
    if (plain := _PLAIN.fullmatch(url)) is not None:
        return SplitResult(*plain.groups(""))
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")


def browser_host(url: str) -> str:
    """Host and port of an address as a browser writes them, other alphabets as ASCII; "" if no browser accepts it."""
    try:
        parts = urlsplit(url)
        name, port = parts.hostname or "", parts.port
        name = name if name.isascii() else name.encode("idna").decode()
    except ValueError:
        return ""
    if not _NAME.fullmatch(name):
        return ""
    name = _bracketed(name)
    return f"{name}:{port}" if port and port != _USUAL.get(parts.scheme) else name


def is_on_any_host(url: str, hosts: Collection[str]) -> bool:
    """Whether an address is on one of some hosts or a subdomain; a host with a port means this port only."""
    try:
        parts = urlsplit(url)
        name, port = _bracketed(_bare(parts.hostname or "")), parts.port or _USUAL.get(parts.scheme)
    except ValueError:
        return False
    named = (name, f"{name}:{port}")
    return any(
        one == host or one.endswith(f".{host}")
        for host in (_bare(given.lower()) for given in hosts)
        for one in named
    )


@lru_cache(maxsize=16_384)
def url_key(url: str, home: str = "") -> str:
    """The normalised address without the parts that change from visit to visit.

    Args:
        url: an absolute address.
        home: address or ``host:port`` whose host is left out of the key; "" leaves every host out.
    """
    split = _split(url)
    if split is None or split.scheme not in ("http", "https", ""):
        return url.partition("?")[0][:MAX_SEGMENT]
    key = _away(split, home) + _path(split.path)
    if split.query:
        key += _query(split.query)
    if split.fragment and _ROUTE.match(split.fragment):
        route, _, rest = split.fragment.partition("?")
        key += f"#{_path(route.lstrip('!'))}{_query(rest)}"
    return key


@lru_cache(maxsize=16_384)
def url_template(url: str, home: str = "") -> str:
    """The address with data replaced: numbers by ``{n}``, hashes and long or numbered names by ``{id}``.

    Of the query only the names are kept, and values of those that choose a view (``tab=``, ``section=``); keys for
    paging and sorting are removed.
    """
    key = url_key(url, home)
    split = _split(url)
    away = _away(split, home) if split is not None else ""
    if not key.startswith((f"{away}/", "/")):
        return key
    rest, mark, route = key.removeprefix(away).partition("#")
    template = away + _templated(rest)
    return f"{template}#{_templated(route)}" if mark else template


def section(template: str) -> str:
    """A template in which plain words that may be data count as data.

    The last of two or more segments is data (``/product/apron``), and words before a segment of data, from the third
    on, belong to it: ``/shop/category/books/{id}`` and ``/shop/category/{id}`` are one section.  A segment after data
    names a part of it: ``/product/{id}/reviews``.
    """
    head, mark, query = template.partition("?")
    if "#" in template:
        head, _, route = template.partition("#")
        return f"{head.partition('?')[0]}#{section(route)}"
    host, slash, path = head.partition("/")
    segments = path.split("/") if path else []
    if len(segments) >= 2 and not _is_data(segments[-1]) and not _is_data(segments[-2]):
        stem, dot, suffix = segments[-1].rpartition(".")
        segments[-1] = f"{{id}}.{suffix}" if dot and stem and _is_suffix(suffix) else "{id}"
    kept: list[str] = []
    fixed = _PROJECT if segments[1:2] == ["-"] else _FIXED
    for at, segment in enumerate(segments):
        if _is_data(segment):
            if not any(map(_is_data, kept)):
                del kept[fixed:]
            segment = segment.replace("{n}", "{id}")
        if at < fixed or not kept or not (_is_data(segment) and kept[-1] == segment):
            kept.append(segment)
    return host + slash + "/".join(kept) + mark + query


def path_template(path: str) -> tuple[str, ...]:
    """Segments of a path with data replaced; a segment before ``/-/`` is a project's name."""
    project, mark, tail = path.strip("/").partition("/-/")
    if mark and project:
        return ("{project}", "-", *map(segment_template, filter(None, tail.split("/"))))
    return tuple(segment_template(segment) for segment in path.split("/") if segment)


@lru_cache(maxsize=16_384)
def segment_template(segment: str) -> str:
    """One segment of a path: itself, or ``{n}``, ``{id}`` if it is data; a file's suffix stays."""
    if _NUMBER.fullmatch(segment):
        return "{n}"
    stem, dot, suffix = segment.rpartition(".")
    if dot and stem and _is_suffix(suffix):
        return f"{segment_template(stem)}.{suffix}"
    if _HASH.fullmatch(segment) or segment.count("-") >= 3 or segment.count("_") >= 4:
        return "{id}"
    if _NUMBERED_SLUG.fullmatch(segment) or len(segment) > MAX_SEGMENT:
        return "{id}"
    return segment


def _is_data(segment: str) -> bool:
    return segment.startswith(("{id}", "{n}"))


def _is_suffix(suffix: str) -> bool:
    return suffix.isascii() and suffix.isalpha() and len(suffix) <= 5


class _Parts(NamedTuple):
    """A parsed address; ``host`` with its port unless that is the default."""

    scheme: str
    host: str
    path: str
    query: str
    fragment: str


def _split(url: str) -> _Parts | None:
    plain = _PLAIN.fullmatch(url)
    if plain is not None:  # nearly all are, and ``urlsplit`` takes five times as long
        scheme, host, path, query, fragment = plain.groups("")
        return _Parts(scheme, host, path, query, fragment)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    host = parts.hostname or ""
    host = f"{host}:{port}" if port and port != _USUAL.get(parts.scheme) else host
    return _Parts(parts.scheme, host, parts.path, parts.query, parts.fragment)


def _bracketed(name: str) -> str:
    """An IPv6 address as written in front of a port."""
    return f"[{name}]" if ":" in name else name


def _bare(host: str) -> str:
    return host.removeprefix("www.")


def _away(parts: _Parts, home: str) -> str:
    """The host, unless it is the home one."""
    if not home:
        return ""
    return parts.host if _bare(parts.host) != _bare(host_of(home)) else ""


def _path(path: str) -> str:
    if ";" in path:
        path = _PATH_SESSION.sub("", path)
    segments = [segment for segment in path.split("/") if segment]
    if not _PLAIN_PATH.fullmatch(path):
        segments = [_quoted(unquote(segment)) for segment in segments]
    kept: list[str] = []
    skip = False
    for at, segment in enumerate(segments):
        following = segments[at + 1] if at + 1 < len(segments) else ""
        if skip:
            skip = False
        elif segment.lower() in _SECRET_SEGMENTS and _HASH.fullmatch(following):
            skip = True
        else:
            kept.append(segment)
    return "/" + "/".join(kept)


def _query(query: str) -> str:
    """The relevant part of a query, sorted, with its question mark; "" if there is none."""
    kept = sorted(_kept_query(query))
    return "?" + "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in kept) if kept else ""


def _kept_query(query: str) -> Iterator[tuple[str, str]]:
    if not query:
        return
    for name, value in parse_qsl(query, keep_blank_values=True, max_num_fields=None):
        if _VOLATILE.fullmatch(name) or (_BACK.fullmatch(name) and not value.isdigit()):
            continue
        if _MAYBE_TIME.fullmatch(name) and _TIME.fullmatch(value):
            continue
        yield name, value


def _templated(key: str) -> str:
    path, _, query = key.partition("?")
    names: dict[str, None] = {}
    for part in filter(None, query.split("&")):
        name, _, value = part.partition("=")
        if _PAGING.fullmatch(name):
            continue
        names[f"{name}={segment_template(value)}" if value and _VIEW.fullmatch(name) else name] = None
    template = "/" + "/".join(path_template(path))
    return f"{template}?{'&'.join(names)}" if names else template


def _quoted(text: str) -> str:
    return quote(text, safe=_SAFE)
