"""Estimates for the plan of an evaluation: hours, memory, waits for sites; and problems of its tasks.  Pure."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from math import ceil

from app.engine.api.evaluation_api import SiteWait
from app.engine.core.evaluation.episode import EpisodeRecord
from app.engine.core.evaluation.suite import Evaluator, SuiteTask
from app.engine.evaluation.protocol import Episode

USUAL_SECONDS = {"scout": 25.0, "llm": 240.0}
"""Seconds of an episode where none has been run: the scout's on sites of this machine; a model's by its providers."""
WORKER_GB = 0.9
"""Memory of a worker: its engine with the encoder, and a Chromium with one site's pages."""
_SHOWN_IDS = 5


def usual_seconds(records: Sequence[EpisodeRecord], policy: str) -> tuple[float, str]:
    """Return the seconds of an episode, and what they are based on."""
    known = [record.seconds + record.overhead for record in records if record.run]
    if known:
        return round(
            statistics.fmean(known), 2
        ), f"the mean of {len(known)} episodes of this suite and policy"
    return USUAL_SECONDS.get(
        policy, USUAL_SECONDS["llm"]
    ), f"assumed: no episode of the {policy} policy is known"


def site_waits(episodes: Iterable[Episode], seconds: float, workers: int) -> tuple[SiteWait, ...]:
    """Return what waits for each site: its episodes alone one after the other, the others as many at once as can."""
    total, alone = Counter[str](), Counter[str]()
    for episode in episodes:
        total.update(episode.sites)
        if episode.writes:
            alone.update(episode.sites)
    waits = [
        SiteWait(
            site=site,
            episodes=total[site],
            alone=alone[site],
            hours=round(
                _hours(alone[site] + ceil((total[site] - alone[site]) / max(1, workers)), seconds), 2
            ),
        )
        for site in total
    ]
    return tuple(sorted(waits, key=lambda wait: (-wait.hours, wait.site)))


def wall_hours(episodes: Sequence[Episode], seconds: float, workers: int) -> float:
    """Return the wall-clock hours at least: the busiest site's, or all episodes dealt out to the workers."""
    busiest = max((wait.hours for wait in site_waits(episodes, seconds, workers)), default=0.0)
    return round(max(busiest, _hours(ceil(len(episodes) / max(1, workers)), seconds)), 2)


def _hours(episodes: int, seconds: float) -> float:
    return episodes * seconds / 3600


def scoring_problem(task: SuiteTask) -> str:
    """Return why no run of a task can be scored, "" where one can."""
    if not task.oracle.evaluators:
        return "no reference answer, so that no run can be scored"
    unknown = sorted(set(task.oracle.evaluators) - {one.value for one in Evaluator})
    if unknown:
        return f"the evaluator {unknown[0]!r} is unknown to this program, so that no run can be scored"
    return ""


def grouped_problems(problems: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return one sentence a problem, with the ids of the tasks that have it; of many ids the first ones."""
    by_problem: dict[str, list[str]] = {}
    for task, problem in problems:
        by_problem.setdefault(problem, []).append(task)
    return tuple(_sentence(problem, ids) for problem, ids in by_problem.items())


def _sentence(problem: str, ids: Sequence[str]) -> str:
    if len(ids) == 1:
        return f"task {ids[0]}: {problem}"
    more = f" and {len(ids) - _SHOWN_IDS} more" if len(ids) > _SHOWN_IDS else ""
    return f"{len(ids)} tasks ({', '.join(ids[:_SHOWN_IDS])}{more}): {problem}"
