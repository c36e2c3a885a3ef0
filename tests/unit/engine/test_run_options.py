"""The options that `live start` and `live batch start` share."""

from __future__ import annotations

import inspect

import pytest

from app.cli.live import start
from app.cli.live_batch import start as start_batch
from app.cli.run_options import RunOptions, chosen_numbers
from app.engine.api.run_api import RunRequest
from app.errors import UsageError

FILE = [
    RunRequest(intent="one", start_url="http://a/", policy="llm", max_steps=7),
    RunRequest(intent="two", start_url="http://b/"),
    RunRequest(intent="three", start_url="http://c/"),
]


class Engine:
    """An engine that reads any file as ``FILE``."""

    async def read_tasks(self, path: str, start_url: str = "") -> list[RunRequest]:
        return list(FILE)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("2", (2,)), ("1-3", (1, 2, 3)), ("3,1", (3, 1)), (" 1 - 2 , 2", (1, 2))],
)
def test_tasks_are_chosen_by_number_in_the_given_order_each_once(text, numbers):
    assert chosen_numbers(text, 3) == numbers


@pytest.mark.parametrize("text", ["0", "4", "2-9", "3-1", "x", "1,", "-2"])
def test_a_wrong_number_is_named(text):
    with pytest.raises(UsageError, match="task"):
        chosen_numbers(text, 3)


async def test_what_is_not_given_leaves_a_task_as_its_file_has_it():
    found = await RunOptions(run_tokens=500, allow=["sends,buys"], judge_every=3).requests(
        Engine(), "t.jsonl"
    )
    assert [one.policy for one in found] == ["llm", "scout", "scout"]
    assert [one.max_steps for one in found] == [7, 30, 30]
    assert {one.max_tokens for one in found} == {500}
    assert {one.allow for one in found} == {("sends", "buys")}
    assert {one.llm.judge_every for one in found} == {3}


async def test_only_the_chosen_tasks_are_started():
    found = await RunOptions(only="3,1").requests(Engine(), "t.jsonl")
    assert [one.intent for one in found] == ["three", "one"]


async def test_a_task_in_words_needs_a_start():
    with pytest.raises(UsageError, match="start address"):
        await RunOptions().requests(Engine(), "Count the orders")


def test_both_commands_take_the_same_options_of_a_run():
    first, second = (set(inspect.signature(command).parameters) for command in (start, start_batch))
    shared = set(inspect.signature(RunOptions).parameters)
    assert shared <= first
    assert shared <= second
