"""The protocol of an evaluation: its arms, the order of its episodes, and which of them may run side by side.

Order: repeats outermost; within a repeat the templates in an order drawn by the seed, the tasks of each together;
within a task its arms one after the other, and with every task another arm comes first.  So whatever changes with time
changes for all arms alike.

Locks of sites, the rule:

1. A task that writes has each of its sites for itself.
2. Tasks that only read share their sites.
3. An episode takes all its sites at once or waits with none, so that two can never wait for each other.
4. A site that was written on is put back before the next episode on it; until then the episode that wrote keeps it.
5. A site on which a task that only reads changed something, or on which its worker died, is put back as soon as
   nobody is on it; nothing new starts on it before.
6. Who waits is not overtaken on the sites it waits for: episodes that need one of them for themselves, or that it
   needs for itself, stay behind it. Episodes on other sites may start.
7. An episode without a site needs none and can start at any time.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from app.engine.api.evaluation_api import EvaluationRequest
from app.engine.api.run_api import WITHOUT_KNOWLEDGE
from app.engine.core.evaluation.episode import Arm, EpisodeKey, EpisodeRecord
from app.engine.core.evaluation.suite import SuiteTask
from app.errors import UsageError

MAP_SUFFIX = "+map"


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One episode to be run: its key, its sites, and whether it writes on them."""

    key: EpisodeKey
    sites: frozenset[str] = frozenset()
    writes: bool = False
    attempt: int = 1


def arms_of(request: EvaluationRequest) -> tuple[Arm, ...]:
    """Return the arms of an evaluation: ``against``, then ``kb``, each without and then with maps for ``both``.

    A file's arm is called ``akb``, and by the file's name where both arms have one; hashes are not filled in.
    ``none`` against ``none`` is one knowledge, not two.

    Raises:
        UsageError: two files have the same name.
    """
    files = list(dict.fromkeys((request.against, request.kb)))
    has_two = sum(one != WITHOUT_KNOWLEDGE for one in files) > 1
    names = [_arm_name(one, has_two) for one in files]
    if len(set(names)) < len(names):
        raise UsageError(
            f"both knowledge bases are called {names[0]!r}, so their arms can't be told apart",
            remedy="rename one of the files",
        )
    maps = {"no": (False,), "yes": (True,), "both": (False, True)}[request.maps]
    return tuple(
        Arm(name=name + MAP_SUFFIX * with_map, kb=kb, maps=with_map)
        for with_map in maps
        for name, kb in zip(names, files, strict=True)
    )


def _arm_name(kb: str, has_two: bool) -> str:
    if kb == WITHOUT_KNOWLEDGE:
        return WITHOUT_KNOWLEDGE
    return PurePath(kb).stem if has_two else "akb"


def ordered_tasks(tasks: Iterable[SuiteTask], seed: int) -> tuple[SuiteTask, ...]:
    """Return tasks in the order drawn by a seed, the same for equal tasks whatever their order was.

    Templates are drawn, and the tasks of one stand together: who looks before the end sees whole templates.
    """
    templates: dict[str, list[SuiteTask]] = {}
    for task in sorted(tasks, key=lambda task: (task.cluster, task.id)):
        templates.setdefault(task.cluster, []).append(task)
    draw = random.Random(seed)
    clusters = list(templates)
    draw.shuffle(clusters)
    for cluster in clusters:
        draw.shuffle(templates[cluster])
    return tuple(task for cluster in clusters for task in templates[cluster])


def ordered_episodes(tasks: Sequence[SuiteTask], arms: Sequence[Arm], repeats: int) -> list[Episode]:
    """Return all episodes in order; ``tasks`` are in theirs (``ordered_tasks``)."""
    return [
        Episode(
            key=EpisodeKey(task=task.id, repeat=repeat, arm=arm.name),
            sites=frozenset(task.sites),
            writes=task.writes,
        )
        for repeat in range(repeats)
        for place, task in enumerate(tasks)
        for arm in _rotated(arms, place + repeat)
    ]


def _rotated(arms: Sequence[Arm], by: int) -> list[Arm]:
    start = by % len(arms) if arms else 0
    return [*arms[start:], *arms[:start]]


def episodes_left(episodes: Iterable[Episode], records: Iterable[EpisodeRecord]) -> list[Episode]:
    """Return the episodes that have no record, and those whose record only says why they could not be run."""
    done = {record.key for record in records if not is_failed(record)}
    return [episode for episode in episodes if episode.key not in done]


def is_failed(record: EpisodeRecord) -> bool:
    """Whether an episode could not be run or scored because of something else than the agent."""
    return bool(record.error) and record.score is None


def next_attempt(episode: Episode) -> Episode | None:
    """Return the episode for its second attempt after its worker died, ``None`` after the second one."""
    return replace(episode, attempt=2) if episode.attempt == 1 else None


class SiteSchedule:
    """Says which episode may start, by the rule of site locks.  Pure: whoever runs episodes says what is running."""

    def next(self, waiting: Sequence[Episode], running: Collection[Episode]) -> Episode | None:
        """Return the first waiting episode that may start, ``None`` where all have to wait.

        Args:
            waiting: in their order.
            running: those that hold their sites: also an episode that is over while its sites are put back.
        """
        shared = {site for one in running if not one.writes for site in one.sites}
        alone = {site for one in running if one.writes for site in one.sites}
        for episode in waiting:
            taken = shared | alone if episode.writes else alone
            if not episode.sites & taken:
                return episode
            # It waits, and nobody behind it may take its sites away.
            (alone if episode.writes else shared).update(episode.sites)
        return None
