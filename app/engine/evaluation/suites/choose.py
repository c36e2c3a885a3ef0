"""A choice among the tasks of a suite, and its halves by template."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection

from app.engine.core.evaluation.suite import Suite, SuiteTask, TaskFilter
from app.errors import NotFound, UsageError

SPLIT_SEED = 7
HALVES = ("a", "b")
"""Names of the halves as subsets; ``a@9`` is the first half by the seed 9."""


def template_of(task: SuiteTask) -> str:
    """Return what a task shares with those that may not be kept apart from it: its template, else itself."""
    return f"template:{task.template}" if task.template else f"task:{task.id}"


def halves(suite: Suite, seed: int = SPLIT_SEED) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ids of two halves; tasks of one template are in the same one.

    Templates are dealt out within each site and kind, largest first, to the half that has fewer tasks of it (then
    fewer tasks in all, then by the seed), so that both halves have the same mixture.  The order of the file is
    irrelevant.
    """
    members: dict[str, list[SuiteTask]] = defaultdict(list)
    for task in suite.tasks:
        members[template_of(task)].append(task)
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, tasks in members.items():
        groups[
            Counter((task.site, task.kind) for task in sorted(tasks, key=_id)).most_common(1)[0][0]
        ].append(name)
    half_of, total = dict[str, int](), [0, 0]
    for group in sorted(groups):
        here = [0, 0]
        for name in sorted(groups[group], key=lambda one: (-len(members[one]), _drawn(seed, one))):
            half = min((0, 1), key=lambda at: (here[at], total[at], _drawn(seed + 1, name)[at]))
            half_of[name] = half
            here[half] += len(members[name])
            total[half] += len(members[name])
    a, b = (tuple(task.id for task in suite.tasks if half_of[template_of(task)] == half) for half in (0, 1))
    return a, b


def chosen_tasks(suite: Suite, wanted: TaskFilter | None, seed: int = SPLIT_SEED) -> tuple[SuiteTask, ...]:
    """Return the tasks that a filter leaves, in the order of the suite.

    Raises:
        UsageError: a range is upside down, or an id, site, kind, template or subset is none of the suite's.
    """
    if wanted is None:
        return suite.tasks
    ids = _ids(suite, wanted.ids) if wanted.ids else None
    subset = _subset(suite, wanted.subset, seed) if wanted.subset else None
    _refuse_unknown(suite, "site", wanted.sites, {site for task in suite.tasks for site in task.sites})
    _refuse_unknown(suite, "type", wanted.kinds, {task.kind for task in suite.tasks})
    _refuse_unknown(suite, "template", wanted.templates, {task.template for task in suite.tasks})
    return tuple(
        task
        for task in suite.tasks
        if (ids is None or task.id in ids)
        and (subset is None or task.id in subset)
        and (not wanted.sites or set(task.sites) & set(wanted.sites))
        and (not wanted.kinds or task.kind in wanted.kinds)
        and (not wanted.templates or task.template in wanted.templates)
        and (not wanted.required_obs or task.required_obs == wanted.required_obs)
    )


def _ids(suite: Suite, given: Collection[str]) -> set[str]:
    known = {task.id for task in suite.tasks}
    numbers = {int(id): id for id in known if id.isdecimal() and len(id) < 12}
    found, missing = set[str](), list[str]()
    for text in given:
        first, dash, last = (part.strip() for part in text.partition("-"))
        if text.strip() in known:
            found.add(text.strip())
        elif dash and first.isdecimal() and last.isdecimal():
            low, high = int(first), int(last)
            if low > high:
                raise UsageError(
                    f"{text[:40]!r} is no range of ids", remedy="put the smaller one first: 40-59"
                )
            inside = {id for number, id in numbers.items() if low <= number <= high}
            if not inside:
                missing.append(text)
            found |= inside
        else:
            missing.append(text)
    _refuse_unknown(suite, "task", missing, ())
    return found


def _subset(suite: Suite, name: str, seed: int) -> set[str]:
    half, mark, own_seed = name.partition("@")
    if half in HALVES and (not mark or own_seed.isdecimal()):
        return set(halves(suite, int(own_seed) if mark else seed)[HALVES.index(half)])
    subsets = dict(suite.subsets)
    if name not in subsets:
        there = ", ".join([*subsets, *HALVES])
        raise NotFound(f"the suite '{suite.name}' has no subset {name[:40]!r}; there are {there}")
    return set(subsets[name])


def _refuse_unknown(suite: Suite, what: str, given: Collection[str], known: Collection[str]) -> None:
    unknown = [text for text in given if text not in known]
    if unknown:
        raise NotFound(
            f"the suite '{suite.name}' has no {what} {unknown[0][:80]!r}; 'sitelore suite show' lists what it has"
        )


def _id(task: SuiteTask) -> str:
    return task.id


def _drawn(seed: int, name: str) -> bytes:
    """Return two bytes and more that seed and name decide."""
    return hashlib.sha256(f"{seed}\0{name}".encode()).digest()
