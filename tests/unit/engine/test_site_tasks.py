"""Tests of the tasks of the open sites: what can be seen of them without a running site."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from app.engine.evaluation.dialects.page_pattern import full_match
from benchmarks.sites.__main__ import OPEN, SEALED, site_of
from benchmarks.sites.tasks import SETS, SiteTask, TaskSet, load_tasks, sets_of

OF_A_KIND = {"question": 4, "way": 4, "change": 4}


@pytest.mark.parametrize("which", SETS)
@pytest.mark.parametrize("name", OPEN)
def test_tasks_are_complete(name: str, which: TaskSet) -> None:
    site = site_of(name)
    tasks = load_tasks(site, which)

    assert len({task.id for task in tasks}) == len(tasks)
    for task in tasks:
        assert task.login in {"", *site.accounts}, task.id
        assert task.start.startswith("/"), task.id
        assert set(task.may_change) <= set(site.content), task.id
        assert _has_its_oracle(task), task.id


@pytest.mark.parametrize("which", ["held_back", "fresh"])
@pytest.mark.parametrize("name", OPEN)
def test_tasks_for_figures_ask_for_other_things(name: str, which: TaskSet) -> None:
    site = site_of(name)
    tasks = load_tasks(site, which)
    others = [task for other in SETS if other != which for task in load_tasks(site, other)]

    assert Counter(task.kind for task in tasks) == OF_A_KIND
    assert len({task.template for task in tasks}) == len(tasks)
    assert not {task.template for task in others} & {task.template for task in tasks}
    assert not {task.id for task in others} & {task.id for task in tasks}


@pytest.mark.parametrize("name", OPEN)
def test_fresh_tips_are_tips_of_the_site_and_hold_no_task(name: str) -> None:
    site = site_of(name)
    lines = (site.data / "tips_fresh.jsonl").read_text(encoding="utf-8").splitlines()
    tips = [json.loads(line) for line in lines]

    assert 6 <= len(tips) <= 10
    for tip in tips:
        assert tip["site"] == name
        for task in load_tasks(site, "fresh"):
            quoted = re.findall(r'"([^"]+)"', task.intent)
            assert not [text for text in quoted if text in tip["text"]], (task.id, tip["text"])


@pytest.mark.parametrize("name", [*OPEN, *SEALED])
def test_the_expression_of_a_way_is_one_that_an_evaluator_tries_on_a_long_address(name: str) -> None:
    site = site_of(name)
    for which in sets_of(site):
        for task in load_tasks(site, which):
            if task.kind == "way":
                full_match(task.url.replace("{0}", "12"), "/path?" + "x" * 500)


def _has_its_oracle(task: SiteTask) -> bool:
    """Whether what its kind is judged by is there, and nothing else."""
    judged = {"question": bool(task.answer), "way": bool(task.url), "change": bool(task.after)}
    if task.kind == "way":
        re.compile(task.url.replace("{0}", "1"))
        assert ("{0}" in task.url) == bool(task.sql)
    if task.kind == "question":
        assert task.sql
    return [kind for kind, there in judged.items() if there] == [task.kind]
