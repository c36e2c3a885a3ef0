"""Index of all tips' scopes, so that an address touches only the patterns that could match it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from kb.retrieval.url import Address, PagePattern, compile_page_pattern, host_matches
from kb.tip import CROSS, Scope


@dataclass(frozen=True, slots=True)
class QueryLocation:
    """The location of a query: its address (None if it has none), the site it names, and all sites of its task."""

    address: Address | None
    site: str
    sites: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """The page's site as named, and the other sites of the task."""
        return (self.site, *self.sites) if self.site else self.sites


@dataclass(slots=True)
class _Pattern:
    page: PagePattern
    rows: list[int] = field(default_factory=list[int])


@dataclass(slots=True)
class _Bucket:
    """Tips with the same host glob and site, by page pattern; ``loose`` patterns contain no literal segment."""

    host: str
    site: str
    patterns: dict[tuple[str, tuple[str, ...]], _Pattern] = field(
        default_factory=dict[tuple[str, tuple[str, ...]], _Pattern]
    )
    by_anchor: dict[str, list[_Pattern]] = field(default_factory=dict[str, list[_Pattern]])
    loose: list[_Pattern] = field(default_factory=list[_Pattern])

    def add(self, row: int, scope: Scope) -> None:
        key = (scope.path, scope.query)
        pattern = self.patterns.get(key)
        if pattern is None:
            pattern = self.patterns[key] = _Pattern(compile_page_pattern(*key))
            anchor = pattern.page.anchor
            (self.loose if anchor is None else self.by_anchor.setdefault(anchor, [])).append(pattern)
        pattern.rows.append(row)

    def matching(self, address: Address) -> list[_Pattern]:
        anchored = (self.by_anchor.get(segment, ()) for segment in set(address.segments))
        return [pattern for pattern in chain(self.loose, *anchored) if pattern.page.matches(address)]


class Sites:
    """The sites of an address, by the host globs known of each."""

    def __init__(self, hosts: Mapping[str, Sequence[str]]) -> None:
        self._hosts = {site: tuple(globs) for site, globs in hosts.items() if globs}
        self._found: dict[str, frozenset[str]] = {}

    def of(self, host: str) -> frozenset[str]:
        """Sites with a glob that matches ``host:port``."""
        found = self._found.get(host)
        if found is None:
            found = frozenset(
                site for site, globs in self._hosts.items() if any(host_matches(glob, host) for glob in globs)
            )
            self._found[host] = found
        return found

    def admits(self, scope_host: str, site: str, place: QueryLocation) -> tuple[bool, bool]:
        """The gate of ``kb.retrieval.cascade``: (may the tip be considered, may its scope match) at a location."""
        address = place.address
        if address is None:
            anywhere = bool(scope_host) and not scope_host.strip("*.:")
            return not place.named or site in (*place.named, CROSS) or anywhere, False
        if scope_host:
            holds = host_matches(scope_host, address.host)
            return holds, holds
        if site == CROSS:
            return True, False
        if site in self._hosts:
            holds = site == place.site or site in self.of(address.host)
            return holds or site in place.sites, holds
        return not place.named or site in place.named, site == place.site


class ScopeIndex:
    """Rows by scope; rows are appended and never removed (the retriever masks and rebuilds)."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._buckets: list[_Bucket] = []
        self._number: dict[tuple[str, str], int] = {}
        self._of_row: list[int] = []
        self._array: NDArray[np.int64] | None = None

    def append(self, site: str, scope: Scope) -> None:
        """Index the scope of the next row."""
        key = (scope.host, site)
        number = self._number.setdefault(key, len(self._buckets))
        if number == len(self._buckets):
            self._buckets.append(_Bucket(*key))
        self._buckets[number].add(len(self._of_row), scope)
        self._of_row.append(number)
        self._array = None

    def look_up(self, place: QueryLocation) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """For every row: whether it may be considered at a location, and its URL score there (0 if none)."""
        open_buckets = np.zeros(len(self._buckets), dtype=bool)
        scores = np.zeros(len(self._of_row))
        for number, bucket in enumerate(self._buckets):
            admitted, may_hold = self._sites.admits(bucket.host, bucket.site, place)
            open_buckets[number] = admitted
            if may_hold and place.address is not None:
                for pattern in bucket.matching(place.address):
                    scores[pattern.rows] = pattern.page.score
        if self._array is None:
            self._array = np.array(self._of_row, dtype=np.int64)
        return open_buckets[self._array], scores
