"""Lists of tasks: our own, WebArena's, plain lines; what is no task is named with its number."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from app.engine.services.task_files import read_tasks
from app.errors import InputError


def test_one_line_is_one_task(tmp_path: Path):
    file = tmp_path / "tasks.txt"
    file.write_text("Find the cheapest book\n\n  How many orders?  \n")
    tasks = read_tasks(file, "http://shop.test/")
    assert [(task.intent, task.start_url) for task in tasks] == [
        ("Find the cheapest book", "http://shop.test/"),
        ("How many orders?", "http://shop.test/"),
    ]


def test_lines_of_objects_keep_what_they_say(tmp_path: Path):
    file = tmp_path / "tasks.jsonl"
    file.write_bytes(
        orjson.dumps(
            {"intent": "Buy", "start_url": "http://a.test/", "policy": "llm", "max_steps": 9, "graph": "a"}
        )
        + b"\n"
        + orjson.dumps({"intent": "Look", "kb": "none", "domains": ["b.test", "c.test"]})
    )
    first, second = read_tasks(file, "http://b.test/")
    assert (first.start_url, first.policy, first.max_steps, first.graph) == (
        "http://a.test/",
        "llm",
        9,
        ("a",),
    )
    assert (second.start_url, second.kb, second.domains) == ("http://b.test/", "none", ("b.test", "c.test"))


def test_webarenas_file_begins_where_it_is_told_and_its_answers_are_not_read(tmp_path: Path):
    file = tmp_path / "test.raw.json"
    task = {
        "sites": ["shopping_admin"],
        "task_id": 7,
        "start_url": "__SHOPPING_ADMIN__/orders/",
        "storage_state": "./.auth/shopping_admin_state.json",
        "intent": "How many orders?",
        "eval": {"reference_answers": {"exact_match": "31337"}},
    }
    file.write_bytes(orjson.dumps([task]))
    (read,) = read_tasks(file, "http://shop.test/admin/")
    assert (read.start_url, read.task_id, read.storage_state) == ("http://shop.test/admin/orders/", "7", "")
    assert "31337" not in repr(read)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no task"),
        (b"[", "not valid JSON"),
        (b'[{"intent": "x", "start_url": "http://a.test/"}, 4]', "task 2: it is not an object"),
        (b'[{"start_url": "http://a.test/"}]', "task 1: it has no intent"),
        (b'[{"intent": "x", "start_url": "__SHOPPING__"}]', "start address"),
        (
            b'[{"intent": "x", "start_url": "http://a.test/", "policy": "magic"}]',
            "there is no policy 'magic'",
        ),
        (b'[{"intent": "x", "start_url": "http://a.test/", "max_steps": "all"}]', "max_steps"),
        (b'[{"intent": "x", "start_url": "http://a.test/", "graph": [3]}]', "graph"),
    ],
)
def test_what_is_no_task_is_named(tmp_path: Path, content: bytes, says: str):
    file = tmp_path / ("tasks.txt" if not content else "tasks.json")
    file.write_bytes(content)
    with pytest.raises(InputError, match=says):
        read_tasks(file)


def test_a_file_that_is_not_there_is_said(tmp_path: Path):
    with pytest.raises(InputError, match="No such file"):
        read_tasks(tmp_path / "none.json")


def test_a_named_base_comes_from_the_table_of_sites_and_a_named_site_begins_by_itself(tmp_path):
    file = tmp_path / "tasks.json"
    tasks = [
        {"intent": "a", "start_url": "__SHOPPING__/cart |AND| __GITLAB__"},
        {"intent": "b", "start_url": "__GITLAB__/x"},
        {"intent": "c", "site": "shop"},
    ]
    file.write_bytes(orjson.dumps(tasks))
    bases = {"__SHOPPING__": "http://127.0.0.1:9100/", "__GITLAB__": "http://git.test/group/"}
    read = read_tasks(file, "", bases)
    assert [(task.start_url, task.site) for task in read] == [
        ("http://127.0.0.1:9100/cart", ""), ("http://git.test/group/x", ""), ("", "shop"),
    ]  # fmt: skip
    assert read_tasks(file, "http://given.test/", bases)[2].start_url == "http://given.test/"
    assert read_tasks(file, "http://given.test/")[1].start_url == "http://given.test/x"
    with pytest.raises(InputError, match=r"__GITLAB__/x.*--base __GITLAB__=URL"):
        read_tasks(file, "", {"__SHOPPING__": "http://127.0.0.1:9100/"})
