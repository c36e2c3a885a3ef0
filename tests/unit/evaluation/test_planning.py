"""Estimates for the plan of an evaluation."""

from __future__ import annotations

import pytest

from app.engine.core.evaluation.episode import EpisodeKey, EpisodeRecord
from app.engine.core.evaluation.suite import Oracle, SuiteTask
from app.engine.evaluation.planning import (
    grouped_problems,
    scoring_problem,
    site_waits,
    usual_seconds,
    wall_hours,
)
from app.engine.evaluation.protocol import Episode


def _episodes(*kinds: str) -> list[Episode]:
    return [
        Episode(
            key=EpisodeKey(task=str(number), repeat=0, arm="none"),
            sites=frozenset(kind[1:]),
            writes=kind[0] == "W",
        )
        for number, kind in enumerate(kinds)
    ]


@pytest.mark.parametrize(
    ("kinds", "workers", "hours"),
    [
        (["Rx"] * 8, 1, 8),
        (["Rx"] * 8, 4, 2),  # readers share
        (["Wx"] * 8, 4, 8),  # writers do not
        (["Wx"] * 4 + ["Wy"] * 4, 4, 4),  # on two sites they do not meet
        (["Wxy"] * 3 + ["Rx"] * 2, 4, 4),  # a task on two sites needs both
        (["R"] * 8, 4, 2),
        ([], 4, 0),
    ],
)
def test_the_busiest_site_or_the_workers_decide_the_hours(kinds, workers, hours):
    assert wall_hours(_episodes(*kinds), 3600, workers) == hours


def test_waits_are_listed_longest_first():
    waits = site_waits(_episodes("Rx", "Wy", "Wy", "Rxy"), 1800, 2)
    assert [(one.site, one.episodes, one.alone, one.hours) for one in waits] == [
        ("y", 3, 2, 1.5),
        ("x", 2, 0, 0.5),
    ]


def test_seconds_come_from_known_episodes_that_were_run():
    key = EpisodeKey(task="a", repeat=0, arm="none")
    known = [
        EpisodeRecord(key=key, cluster="c", run="r", seconds=10.0, overhead=2.0),
        EpisodeRecord(key=key, cluster="c", run="s", seconds=20.0),
        EpisodeRecord(key=key, cluster="c", error="down", overhead=90.0),
    ]
    assert usual_seconds(known, "scout") == (16.0, "the mean of 2 episodes of this suite and policy")
    assert "assumed" in usual_seconds([], "llm")[1]


@pytest.mark.parametrize(
    ("evaluators", "why"),
    [
        ((), "no reference answer"),
        (("string_match", "telepathy"), "'telepathy' is unknown"),
        (("string_match", "url_match", "program_html", "answer", "page", "state"), ""),
    ],
)
def test_a_task_that_nothing_can_be_scored_by_is_told(evaluators, why):
    found = scoring_problem(SuiteTask(id="a", intent="a", oracle=Oracle(evaluators=evaluators)))
    assert (why in found) if why else not found


def test_one_problem_is_one_sentence_however_many_tasks_have_it():
    told = grouped_problems([(str(number), "it is far") for number in range(8)] + [("x", "it is near")])
    assert told == ("8 tasks (0, 1, 2, 3, 4 and 3 more): it is far", "task x: it is near")
