"""The URL route: does a scope match an address, and how specific is it?

Globs are matched segment by segment: ``*`` stays within one path segment, a segment that is exactly ``**`` stands for
any number of segments, including none.  A ``*`` at the end of the path holds for the page itself and everything
below: ``/dashboard/*`` and ``/dashboard/**`` are the same and match ``/dashboard`` too, ``/dash*`` matches
``/dashboard/x``.  A value of the query is a glob as well (``q=*``: any value, but one; ``state=open*``).  Hosts are
matched as ``host:port`` with default ports dropped, ignoring case; paths keep their case.  A trailing slash and
percent-encoding make no difference.  Matching costs at most pattern length times address length, so no pattern from a
person (or a file) can stall the program.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl, unquote, urlsplit

from kb.tip import Scope

WEAK_SCORE = 0.1
"""The URL score of a scope that matches a whole site: it says little about the current page."""

_DEFAULT_PORTS = {"http": "80", "https": "443"}
_LONGEST = 4_000


@dataclass(frozen=True, slots=True)
class Address:
    """A page's address, ready for matching: ``host:port`` in lower case, decoded segments, decoded query pairs."""

    host: str
    segments: tuple[str, ...]
    query: frozenset[tuple[str, str]]
    keys: frozenset[str]


@lru_cache(maxsize=65_536)
def parse_address(url: str) -> Address | None:
    """Parse an address; None for one without a host (``about:blank``, ``data:``, a browser's error page)."""
    try:
        parts = urlsplit(url[:_LONGEST])
    except ValueError:
        return None
    host = parts.netloc.rpartition("@")[2].lower()
    if parts.scheme not in ("http", "https") or not host:
        return None
    port = _DEFAULT_PORTS[parts.scheme]
    host = host.removesuffix(f":{port}")
    pairs = frozenset(parse_qsl(parts.query, keep_blank_values=True))
    return Address(host, _segments(parts.path), pairs, frozenset(key for key, _ in pairs))


def _segments(path: str) -> tuple[str, ...]:
    return tuple(unquote(segment) for segment in path.strip("/").split("/")) if path.strip("/") else ()


def wildcard_match(pattern: str, text: str) -> bool:
    """Whether ``text`` matches ``pattern`` with each ``*`` as any text; never slower than their product."""
    if "*" not in pattern:
        return pattern == text
    head, *middle, tail = pattern.split("*")
    if len(text) < len(head) + len(tail) or not (text.startswith(head) and text.endswith(tail)):
        return False
    at, end = len(head), len(text) - len(tail)
    for piece in middle:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def host_matches(pattern: str, host: str) -> bool:
    """Whether a host glob (``*:8023``, ``*.example.com``) matches ``host:port``."""
    return wildcard_match(pattern.lower(), host)


@dataclass(frozen=True, slots=True)
class PagePattern:
    """The path and query part of a scope, compiled.

    Attributes:
        segments: the glob's segments, ``**`` for any number of them; empty: the front page; None: every path.
        keys: required query keys; ``pairs``: keys with their required value; ``globs``: keys with a pattern of it.
        fixed: number of literal segments; ``partial``: of partly literal ones.
        points: the specificity; 0 for a pattern that matches every page.
    """

    segments: tuple[str, ...] | None
    keys: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    globs: frozenset[tuple[str, str]]
    fixed: int
    partial: int
    points: float

    @property
    def is_site_wide(self) -> bool:
        """Whether it excludes no page of the host."""
        return self.points == 0

    @property
    def score(self) -> float:
        """Specificity in (0, 1): one fixed segment gives 0.5, two 0.75, three 0.88; a whole site ``WEAK_SCORE``."""
        return round(1 - 0.5 ** (self.points / 4), 4) if self.points else WEAK_SCORE

    @property
    def anchor(self) -> str | None:
        """The last segment that every matching address has: lets an index skip most patterns."""
        spelled_out = (segment for segment in reversed(self.segments or ()) if "*" not in segment)
        return next(spelled_out, None)

    def matches(self, address: Address) -> bool:
        """Whether path and query match an address (its host is checked elsewhere)."""
        if not (self.keys <= address.keys and self.pairs <= address.query):
            return False
        if not all(_has_value(key, glob, address) for key, glob in self.globs):
            return False
        return self.segments is None or _match_segments(self.segments, address.segments)


def _has_value(key: str, glob: str, address: Address) -> bool:
    """Whether a query key has a value that fits a glob; an empty value fits none."""
    return any(found == key and value and wildcard_match(glob, value) for found, value in address.query)


def _match_segments(pattern: tuple[str, ...], segments: tuple[str, ...]) -> bool:
    """Match greedily, backtracking only to the last ``**`` (enough, for the same reason as in ``wildcard_match``)."""
    at = index = 0
    retry_at = retry_index = -1
    while at < len(segments):
        if index < len(pattern) and pattern[index] == "**":
            retry_at, retry_index = at, index + 1
            index += 1
        elif index < len(pattern) and wildcard_match(pattern[index], segments[at]):
            at, index = at + 1, index + 1
        elif retry_index >= 0:
            retry_at += 1
            at, index = retry_at, retry_index
        else:
            return False
    return all(segment == "**" for segment in pattern[index:])


@lru_cache(maxsize=65_536)
def compile_page_pattern(path: str, query: tuple[str, ...]) -> PagePattern:
    """Compile a scope's path glob and query keys.

    Points: 4 for a literal segment, 3 for a partly literal one, 1 for a ``*`` (it fixes the depth), 0 for ``**``; 4
    for ``key=value``, 3 for a key with a glob that says something, 2 for a key.  A path that ends exactly at the
    address's end counts 1 more.
    """
    segments = _opened(_segments(path))
    fixed = sum("*" not in segment for segment in segments)
    stars = sum(segment == "*" for segment in segments)
    deep = sum(segment == "**" for segment in segments)
    partial = len(segments) - fixed - stars - deep
    asked = parse_qsl("&".join(query), keep_blank_values=True)
    with_value = {unquote(key.partition("=")[0]) for key in query if "=" in key}
    valued = frozenset((key, value) for key, value in asked if key in with_value)
    globs = frozenset(pair for pair in valued if "*" in pair[1])
    pairs, told = valued - globs, sum(bool(value.strip("*")) for _, value in globs)
    keys = frozenset(key for key, _ in asked if key not in with_value)
    points = 4 * fixed + 3 * partial + stars + 4 * len(pairs) + 2 * (len(keys) + len(globs)) + told
    if not path.strip():
        return PagePattern(None, keys, pairs, globs, 0, 0, points)
    points += (0 if deep else 1) + (0 if segments else 4)
    return PagePattern(segments, keys, pairs, globs, fixed, partial, points)


def _opened(segments: tuple[str, ...]) -> tuple[str, ...]:
    """Segments with a ``*`` at the end made to hold for everything below."""
    if not segments or not segments[-1].endswith("*") or segments[-1] == "**":
        return segments
    return (*segments[:-1], "**") if segments[-1] == "*" else (*segments, "**")


def matches_everything(scope: Scope) -> bool:
    """Whether a scope excludes no address: a host of wildcards only, every path, no query."""
    return bool(scope.host) and not scope.host.strip("*.:") and is_site_wide(scope)


def is_site_wide(scope: Scope) -> bool:
    """Whether a scope matches every page of its hosts."""
    return compile_page_pattern(scope.path, scope.query).is_site_wide


def scope_holds(scope: Scope, url: str, hosts: tuple[str, ...] = ()) -> bool:
    """Whether a scope matches an address; ``hosts`` are the default if the scope names no host."""
    address = parse_address(url)
    if address is None:
        return False
    patterns = (scope.host,) if scope.host else hosts
    if not any(host_matches(pattern, address.host) for pattern in patterns):
        return False
    return compile_page_pattern(scope.path, scope.query).matches(address)
