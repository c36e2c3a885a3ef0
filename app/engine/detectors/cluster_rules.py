"""The rules by which failures are clustered.  Pure.

Runs that share all facts of a kind are a cluster. Those left over try a coarser level, so that no crumbs remain: first
the page alone, then the control, the section and the site, at last the detector. A run is in one cluster. Keys are made
of shared facts alone: neither verdicts nor the ranking change them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from app.engine.core.verdicts import Label
from app.engine.detectors.failure_facts import CRASH, GAVE_UP, FailureFacts
from app.engine.detectors.failure_words import label_of, title_of

LEVELS = (
    ("error", "site", "page", "control"),
    ("error", "site", "page"),
    ("site", "page"),
    ("error", "site", "control"),
    ("error", "site", "section"),
    ("error", "site"),
    ("error",),
    (),
)
"""Facts that failures of one detector share at each level, the finest first."""
_ONLY_ERROR = frozenset({CRASH})
"""Detectors whose failures are alike by their error alone."""
_BY_ERROR = frozenset({CRASH, GAVE_UP, ""})
"""Detectors that say nothing without their error: those that fired on how a run ended, and none."""
_FAMILY = {"repeated-action": "state-action-loop"}
"""Detectors that see the same kind of failure in two ways."""
LEAST = 2
"""Runs that make a cluster at any level but the coarsest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOfFacts:
    """Failures of one kind, with the facts that all of them share ("" where they differ)."""

    key: str
    title: str
    detector: str
    sites: tuple[str, ...]
    page: str
    control: str
    error: str
    label: Label | None
    members: tuple[FailureFacts, ...]


def cluster_failures(failures: Iterable[FailureFacts]) -> list[ClusterOfFacts]:
    """Return the clusters of these failures, the largest first; the same for any order of them."""
    groups: list[tuple[str, tuple[FailureFacts, ...]]] = []
    by_detector: dict[str, list[FailureFacts]] = {}
    for one in sorted(failures, key=lambda one: one.run):
        by_detector.setdefault(_FAMILY.get(one.detector, one.detector), []).append(one)
    for detector, rest in by_detector.items():
        for number, names in enumerate(LEVELS):
            if detector in _ONLY_ERROR and set(names) - {"error"}:
                continue
            if detector in _BY_ERROR and "error" not in names:
                continue
            rest = _take(rest, number, detector, names, groups)
        for one in rest:
            groups.append((_key(len(LEVELS), detector, (one.error, one.site, one.page)), (one,)))
    titles = _titles([members for _, members in groups])
    made = [_cluster(key, members, title) for (key, members), title in zip(groups, titles, strict=True)]
    return sorted(made, key=lambda one: (-len(one.members), one.title, one.key))


def _titles(groups: Sequence[tuple[FailureFacts, ...]]) -> list[str]:
    """Return a sentence for each group; those that would have the same one name their page, then their site too."""
    titles = [title_of(members) for members in groups]
    for place_of in (_page_of, _page_and_site_of):
        counts = Counter(titles)
        titles = [
            title if counts[title] == 1 else title_of(members, place_of(members))
            for title, members in zip(titles, groups, strict=True)
        ]
    return titles


def _page_of(members: Sequence[FailureFacts]) -> str:
    return _shared(members, "page") or _shared(members, "section") or _sites_of(members)


def _page_and_site_of(members: Sequence[FailureFacts]) -> str:
    return f"{_page_of(members)} of {_sites_of(members)}"


def _sites_of(members: Sequence[FailureFacts]) -> str:
    sites = sorted({one.site for one in members if one.site})
    return ", ".join(sites[:3]) or "an unknown site"


def _shared(members: Sequence[FailureFacts], name: str) -> str:
    values = {str(getattr(one, name)) for one in members}
    return values.pop() if len(values) == 1 else ""


def _take(
    failures: Sequence[FailureFacts],
    number: int,
    detector: str,
    names: Sequence[str],
    groups: list[tuple[str, tuple[FailureFacts, ...]]],
) -> list[FailureFacts]:
    """Add the groups of one level; return the failures that are left over."""
    alike: dict[tuple[str, ...], list[FailureFacts]] = {}
    for one in failures:
        alike.setdefault(tuple(map(str, (getattr(one, name) for name in names))), []).append(one)
    rest: list[FailureFacts] = []
    for values, members in alike.items():
        if len(members) < LEAST and names:
            rest += members
        else:
            groups.append((_key(number, detector, values), tuple(members)))
    return sorted(rest, key=attrgetter("run"))


def _key(number: int, detector: str, values: Sequence[str]) -> str:
    digest = hashlib.blake2b(repr((number, detector, tuple(values))).encode(), digest_size=4).hexdigest()
    return f"{detector or 'ended'}-{digest}"


def _cluster(key: str, members: tuple[FailureFacts, ...], title: str) -> ClusterOfFacts:
    labels = {label_of(one) for one in members}
    return ClusterOfFacts(
        key=key,
        title=title,
        detector=Counter(one.detector for one in members).most_common(1)[0][0],
        sites=tuple(sorted({one.site for one in members if one.site})),
        page=_shared(members, "page"),
        control=_shared(members, "control"),
        error=_shared(members, "error"),
        label=labels.pop() if len(labels) == 1 else None,
        members=members,
    )
