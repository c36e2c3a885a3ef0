"""A task file as a batch takes it: its tasks, what each sets itself, and what keeps some from being run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.engine.core.sites import Site
from app.engine.services.task_files import tasks_in_file
from app.errors import InputError

SHOP = Site(name="shopping", bases={"__SHOPPING__": "http://127.0.0.1:7770"})


def webarena(*starts: tuple[str, list[str]]) -> list[dict[str, object]]:
    """Return tasks as WebArena's own file writes them."""
    return [
        {
            "task_id": number,
            "sites": sites,
            "start_url": start,
            "intent": f"Task {number}",
            "require_login": True,
            "storage_state": "./.auth/state.json",
            "eval": {"eval_types": ["string_match"], "reference_answers": {"exact_match": "x"}},
        }
        for number, (start, sites) in enumerate(starts)
    ]


@pytest.fixture
def written(tmp_path: Path):
    def write(tasks: object, name: str = "tasks.json") -> Path:
        path = tmp_path / name
        path.write_text(tasks if isinstance(tasks, str) else json.dumps(tasks), encoding="utf-8")
        return path

    return write


def test_a_benchmarks_unknown_sites_are_named_and_its_other_tasks_can_be_run(written) -> None:
    path = written(
        webarena(
            ("__SHOPPING__/a", ["shopping"]),
            ("__SHOPPING_ADMIN__", ["shopping_admin"]),
            ("__SHOPPING__", ["shopping", "reddit"]),
        )
    )
    first, admin, both = tasks_in_file(path, sites={"shopping": SHOP})
    assert first.request is not None
    assert first.request.start_url == "http://127.0.0.1:7770/a"
    assert (admin.request, admin.names) == (None, ("__SHOPPING_ADMIN__",))
    assert "__SHOPPING_ADMIN__" in admin.problem
    assert (both.request, both.names) == (None, ("__REDDIT__",))


def test_one_start_address_never_stands_for_several_sites(written) -> None:
    path = written(webarena(("__SHOPPING__", ["shopping"]), ("__GITLAB__", ["gitlab"])))
    tasks = tasks_in_file(path, "http://one.example/", {"shopping": SHOP})
    assert [task.request and task.request.start_url for task in tasks] == ["http://127.0.0.1:7770", None]


def test_a_task_says_which_fields_it_sets_itself(written) -> None:
    path = written(
        [
            {"intent": "one", "policy": "llm", "max_steps": 9, "domains": ["a.example"]},
            {"intent": "two", "start_url": "http://own.example/"},
        ]
    )
    one, two = tasks_in_file(path, "http://shop.example/")
    assert sorted(one.given) == ["domains", "max_steps", "policy"]
    assert two.given == ()
    assert two.request is not None
    assert two.request.start_url == "http://own.example/"


def test_a_plain_task_without_an_address_says_so_and_stays_in_the_list(written) -> None:
    (task,) = tasks_in_file(written("Count the pears\n", "tasks.txt"))
    assert task.request is None
    assert task.names == ()
    assert "start address" in task.problem
    (task,) = tasks_in_file(written("Count the pears\n", "tasks.txt"), "http://shop.example/")
    assert task.request is not None


def test_a_wrong_policy_is_a_problem_of_its_task_alone(written) -> None:
    path = written([{"intent": "one", "policy": "magic", "start_url": "http://a.example/"}])
    (task,) = tasks_in_file(path)
    assert "magic" in task.problem


def test_a_file_that_is_no_list_of_tasks_is_refused(written) -> None:
    with pytest.raises(InputError):
        tasks_in_file(written("", "tasks.txt"))
