"""Division of runs among annotators.  Pure."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence


def divide_runs(
    runs: Sequence[tuple[str, str]], annotators: Sequence[str], overlap: float, seed: int
) -> dict[str, tuple[str, ...]]:
    """Return the queue of each annotator: each run goes to one, a share of ``overlap`` to two.

    ``runs`` are ids and sites, in the order the queues keep. The same seed gives the same division. Queues differ by
    one run at most, sites are spread evenly, and the shared runs are spread over the sites and over the pairs of
    annotators.
    """
    chance = random.Random(seed)
    people = sorted(annotators)
    chance.shuffle(people)
    by_site: dict[str, list[str]] = {}
    for run, site in sorted(runs):
        by_site.setdefault(site, []).append(run)
    for site in by_site:
        chance.shuffle(by_site[site])
    wanted = _shares({site: len(found) for site, found in by_site.items()}, overlap if len(people) > 1 else 0)
    load, at_site = Counter[str](), Counter[tuple[str, str]]()
    pairs = Counter[frozenset[str]]()
    queues: dict[str, set[str]] = {person: set() for person in people}

    def give(person: str, run: str, site: str) -> None:
        queues[person].add(run)
        load[person] += 1
        at_site[person, site] += 1

    for site, found in by_site.items():
        for run in found[: wanted[site]]:
            first = min(people, key=lambda one: (load[one], at_site[one, site]))
            give(first, run, site)
            others = [one for one in people if one != first]
            second = min(
                others, key=lambda one: (load[one], pairs[frozenset((first, one))], at_site[one, site])
            )
            give(second, run, site)
            pairs[frozenset((first, second))] += 1
    for site, found in by_site.items():
        for run in found[wanted[site] :]:
            give(min(people, key=lambda one: (load[one], at_site[one, site])), run, site)
    return {person: tuple(run for run, _ in runs if run in queues[person]) for person in sorted(annotators)}


def _shares(sizes: dict[str, int], share: float) -> dict[str, int]:
    """Return how many of each size are taken, so that their sum is the share of all: by largest remainders."""
    exact = {name: size * share for name, size in sizes.items()}
    taken = {name: int(value) for name, value in exact.items()}
    left = round(sum(sizes.values()) * share) - sum(taken.values())
    by_rest = sorted(exact, key=lambda name: (taken[name] - exact[name], name))
    for name in by_rest[: max(0, left)]:
        taken[name] += 1
    return {name: min(count, sizes[name]) for name, count in taken.items()}
