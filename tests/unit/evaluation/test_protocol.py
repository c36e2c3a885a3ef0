"""The protocol of an evaluation: arms, order of episodes, which are left, and the rule of site locks."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.api.evaluation_api import EvaluationRequest
from app.engine.core.evaluation.episode import Arm, EpisodeKey, EpisodeRecord
from app.engine.core.evaluation.suite import SuiteTask
from app.engine.core.evaluation.task_score import ScoreVerdict
from app.engine.evaluation.protocol import (
    Episode,
    SiteSchedule,
    arms_of,
    episodes_left,
    next_attempt,
    ordered_episodes,
    ordered_tasks,
)
from app.errors import UsageError

ARMS = (Arm(name="none"), Arm(name="akb", kb="/f/june.akb"))


@pytest.mark.parametrize(
    ("kb", "against", "maps", "names"),
    [
        ("none", "none", "no", ["none"]),
        ("/f/june.akb", "none", "no", ["none", "akb"]),
        ("/f/june.akb", "none", "both", ["none", "akb", "none+map", "akb+map"]),
        ("/f/june.akb", "none", "yes", ["none+map", "akb+map"]),
        ("/f/june.akb", "/f/may.akb", "no", ["may", "june"]),
        ("/f/june.akb", "/f/june.akb", "no", ["akb"]),
        ("none", "none", "both", ["none", "none+map"]),
    ],
)
def test_arms_are_named_after_what_they_may_use(kb, against, maps, names):
    arms = arms_of(EvaluationRequest(suite="s", kb=kb, against=against, maps=maps))
    assert [arm.name for arm in arms] == names
    assert [arm.maps for arm in arms] == [name.endswith("+map") for name in names]


def test_two_files_of_one_name_are_refused():
    with pytest.raises(UsageError, match="'akb'"):
        arms_of(EvaluationRequest(suite="s", kb="/a/akb.akb", against="/b/akb.akb"))


def test_templates_are_drawn_by_the_seed_and_their_tasks_stand_together():
    tasks = [
        SuiteTask(id=f"{template}{n}", intent="", template=template) for template in "pqrst" for n in "12"
    ]
    ids = [task.id for task in ordered_tasks(tasks, 7)]
    assert ids == [task.id for task in ordered_tasks(reversed(tasks), 7)]
    assert ids != [task.id for task in ordered_tasks(tasks, 8)]
    assert sorted(ids) == sorted(task.id for task in tasks)
    assert all(ids[at][0] == ids[at + 1][0] for at in range(0, 10, 2))


def test_repeats_are_outermost_and_arms_take_turns_at_being_first():
    tasks = [SuiteTask(id=id, intent=id) for id in "abc"]
    keys = [one.key for one in ordered_episodes(tasks, ARMS, 2)]
    assert [key.repeat for key in keys] == [0] * 6 + [1] * 6
    assert [key.task for key in keys] == list("aabbcc") * 2
    firsts = [key.arm for key in keys[::2]]
    assert firsts == ["none", "akb", "none", "akb", "none", "akb"]
    assert len(set(keys)) == len(keys)


def _record(task: str, *, error: str = "", score: float | None = 1.0) -> EpisodeRecord:
    key = EpisodeKey(task=task, repeat=0, arm="none")
    verdict = ScoreVerdict.UNDECIDED if score is None else ScoreVerdict.PASS
    return EpisodeRecord(key=key, cluster="c", error=error, score=score, verdict=verdict)


@pytest.mark.parametrize(
    ("record", "is_left"),
    [
        (None, True),
        (_record("a"), False),
        (_record("a", score=0.0), False),
        (_record("a", score=None), False),  # undecided, but run
        (_record("a", score=None, error="the site is down"), True),
    ],
)
def test_an_episode_is_left_until_it_was_run(record, is_left):
    episode = Episode(key=EpisodeKey(task="a", repeat=0, arm="none"))
    assert bool(episodes_left([episode], [record] if record else [])) == is_left


def test_a_dead_worker_costs_one_more_attempt_and_no_third():
    again = next_attempt(Episode(key=EpisodeKey(task="a", repeat=0, arm="none")))
    assert again is not None
    assert again.attempt == 2
    assert next_attempt(again) is None


def _episode(name: str) -> Episode:
    """``R:xy`` reads on the sites x and y, ``W:x`` writes on x; a number in front tells equal ones apart."""
    kind, sites = name.lstrip("0123456789").split(":")
    key = EpisodeKey(task=name, repeat=0, arm="none")
    return Episode(key=key, sites=frozenset(sites), writes=kind == "W")


@pytest.mark.parametrize(
    ("waiting", "running", "next_one"),
    [
        # 1: who writes has each of its sites alone
        ("W:x", "R:x", None),
        ("W:x", "W:x", None),
        ("W:xy", "R:y", None),
        ("R:x", "W:xy", None),
        ("W:x", "R:y", "W:x"),
        # 2: who reads shares
        ("R:x", "R:x", "R:x"),
        ("R:xy", "R:yz", "R:xy"),
        # 3: all sites at once, or none: who waits holds nothing that one on other sites would need
        ("W:xy R:z", "R:x", "R:z"),
        # 4: an episode whose sites are put back counts as running
        ("R:x W:x", "W:x", None),
        # 5: who waits is not overtaken on its sites, neither by readers nor by writers
        ("W:x 1R:x", "R:x", None),
        ("W:xy R:y", "R:x", None),
        ("R:x W:x R:y", "W:x", "R:y"),
        ("R:xy W:y", "W:x", None),
        ("R:xy R:y", "W:x", "R:y"),
        # 6: without a site
        ("W:", "W:x", "W:"),
        ("R:", "", "R:"),
        ("", "W:x", None),
    ],
)
def test_the_rule_of_site_locks(waiting, running, next_one):
    found = SiteSchedule().next(list(map(_episode, waiting.split())), list(map(_episode, running.split())))
    assert (found.key.task if found else None) == next_one


_EPISODES = st.lists(
    st.tuples(st.frozensets(st.sampled_from("xyz"), max_size=3), st.booleans()), min_size=1, max_size=12
)


@given(_EPISODES, st.randoms(use_true_random=False), st.integers(1, 4))
def test_every_episode_gets_its_turn_and_no_writer_shares_a_site(drawn, draw, workers):
    waiting = [
        Episode(key=EpisodeKey(task=str(number), repeat=0, arm="none"), sites=sites, writes=writes)
        for number, (sites, writes) in enumerate(drawn)
    ]
    running: list[Episode] = []
    started = 0
    while waiting or running:
        while len(running) < workers and (one := SiteSchedule().next(waiting, running)) is not None:
            waiting.remove(one)
            running.append(one)
            started += 1
        assert running, "all wait for each other"
        held = Counter(site for one in running for site in one.sites)
        assert all(held[site] == 1 for one in running if one.writes for site in one.sites)
        running.pop(draw.randrange(len(running)))
    assert started == len(drawn)
