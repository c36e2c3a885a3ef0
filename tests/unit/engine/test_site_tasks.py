"""Tests of the tasks of the open sites: what can be seen of them without a running site."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from benchmarks.sites.__main__ import OPEN, site_of
from benchmarks.sites.tasks import SiteTask, load_tasks

HELD_BACK = {"question": 4, "way": 4, "change": 4}


@pytest.mark.parametrize("held_back", [False, True])
@pytest.mark.parametrize("name", OPEN)
def test_tasks_are_complete(name: str, held_back: bool) -> None:
    site = site_of(name)
    tasks = load_tasks(site, held_back=held_back)

    assert len({task.id for task in tasks}) == len(tasks)
    for task in tasks:
        assert task.login in {"", *site.accounts}, task.id
        assert task.start.startswith("/"), task.id
        assert set(task.may_change) <= set(site.content), task.id
        assert _has_its_oracle(task), task.id


@pytest.mark.parametrize("name", OPEN)
def test_tasks_held_back_ask_for_other_things(name: str) -> None:
    site = site_of(name)
    known, held_back = load_tasks(site), load_tasks(site, held_back=True)

    assert Counter(task.kind for task in held_back) == HELD_BACK
    assert len({task.template for task in held_back}) == len(held_back)
    assert not {task.template for task in known} & {task.template for task in held_back}
    assert not {task.id for task in known} & {task.id for task in held_back}


def _has_its_oracle(task: SiteTask) -> bool:
    """Whether what its kind is judged by is there, and nothing else."""
    judged = {"question": bool(task.answer), "way": bool(task.url), "change": bool(task.after)}
    if task.kind == "way":
        re.compile(task.url.replace("{0}", "1"))
        assert ("{0}" in task.url) == bool(task.sql)
    if task.kind == "question":
        assert task.sql
    return [kind for kind, there in judged.items() if there] == [task.kind]
