"""The rules by which failures are clustered.  Pure.

Runs that share all facts of a kind are a cluster. Those left over try a coarser level, so that few crumbs remain: first
the page alone, then the control, the goal, the section and the site, at last the detector. Runs with no more than a
hint go by how they ended instead of that last, as a hint makes runs of two sites alike in little. A run is in one
cluster. Keys are made of shared facts alone: neither verdicts nor the ranking change them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from app.engine.core.verdicts import Label
from app.engine.detectors.failure_facts import CRASH, GAVE_UP, FailureFacts
from app.engine.detectors.failure_words import label_of, title_of

LEVELS = (
    ("error", "site", "page", "control"),
    ("error", "site", "page"),
    ("site", "page"),
    ("error", "site", "control"),
    ("error", "site", "goal"),
    ("error", "site", "section"),
    ("error", "site"),
    ("error",),
    (),
)
"""Facts that failures of one detector share at each level, the finest first."""
_LEVELS_OF_ENDINGS = (
    ("error", "site", "goal"),
    ("error", "site", "page"),
    ("error", "site", "section"),
    ("error", "site"),
    ("error",),
)
"""The same for failures that are known by their ending alone: tasks of one template go wrong alike."""
_LEVELS = {GAVE_UP: _LEVELS_OF_ENDINGS, CRASH: (("error",),)}
_MUST_BE_KNOWN = frozenset({"page", "control", "goal", "section"})
"""Facts by which failures are alike only where they have them."""
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
    ended = by_detector.pop("", [])
    for detector, rest in by_detector.items():
        for names in _LEVELS.get(detector, LEVELS):
            if "site" not in names:
                ended += [_as_ended(one) for one in rest if one.is_hint]
                rest = [one for one in rest if not one.is_hint]
            rest = _take(rest, detector, names, groups)
        groups += _alone(detector, rest)
    rest = sorted(ended, key=attrgetter("run"))
    for names in _LEVELS_OF_ENDINGS:
        rest = _take(rest, "", names, groups)
    groups += _alone("", rest)
    titles = _titles([members for _, members in groups])
    made = [_cluster(key, members, title) for (key, members), title in zip(groups, titles, strict=True)]
    return sorted(made, key=lambda one: (-len(one.members), one.title, one.key))


def _as_ended(one: FailureFacts) -> FailureFacts:
    return replace(one, detector="", error=one.ending, control="", action="", other="")


def _alone(detector: str, failures: Iterable[FailureFacts]) -> list[tuple[str, tuple[FailureFacts, ...]]]:
    return [(_key(detector, ("alone",), (one.error, one.site, one.page)), (one,)) for one in failures]


def _titles(groups: Sequence[tuple[FailureFacts, ...]]) -> list[str]:
    """Return a sentence for each group; those that would have the same one name their page, goal, or page and site."""
    titles = [title_of(members) for members in groups]
    for more in (_with_page, _with_goal, _with_page_and_site):
        counts = Counter(titles)
        titles = [
            title if counts[title] == 1 else more(members)
            for title, members in zip(titles, groups, strict=True)
        ]
    return titles


def _with_page(members: Sequence[FailureFacts]) -> str:
    return title_of(members, _place_of(members))


def _with_goal(members: Sequence[FailureFacts]) -> str:
    goal = _shared(members, "goal")
    return _with_page(members) + (f" ({goal} …)" if goal else "")


def _with_page_and_site(members: Sequence[FailureFacts]) -> str:
    place, sites = _place_of(members), _sites_of(members)
    return title_of(members, place if place == sites else f"{place} of {sites}")


def _place_of(members: Sequence[FailureFacts]) -> str:
    return _shared(members, "page") or _shared(members, "section") or _sites_of(members)


def _sites_of(members: Sequence[FailureFacts]) -> str:
    sites = sorted({one.site for one in members if one.site})
    return ", ".join(sites[:3]) or "an unknown site"


def _shared(members: Sequence[FailureFacts], name: str) -> str:
    values = {str(getattr(one, name)) for one in members}
    return values.pop() if len(values) == 1 else ""


def _take(
    failures: Sequence[FailureFacts],
    detector: str,
    names: Sequence[str],
    groups: list[tuple[str, tuple[FailureFacts, ...]]],
) -> list[FailureFacts]:
    """Add the groups of one level; return the failures that are left over."""
    alike: dict[tuple[str, ...], list[FailureFacts]] = {}
    rest: list[FailureFacts] = []
    for one in failures:
        values = tuple(str(getattr(one, name)) for name in names)
        if all(value for name, value in zip(names, values, strict=True) if name in _MUST_BE_KNOWN):
            alike.setdefault(values, []).append(one)
        else:
            rest.append(one)
    for values, members in alike.items():
        if len(members) < LEAST and names:
            rest += members
        else:
            groups.append((_key(detector, names, values), tuple(members)))
    return sorted(rest, key=attrgetter("run"))


def _key(detector: str, names: Sequence[str], values: Sequence[str]) -> str:
    facts = repr((detector, tuple(names), tuple(values)))
    return f"{detector or 'ended'}-{hashlib.blake2b(facts.encode(), digest_size=4).hexdigest()}"


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
