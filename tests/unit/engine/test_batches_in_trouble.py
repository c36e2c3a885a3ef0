"""Batches whose store fails, whose budget is raised in the same moment, and whose runs a person has."""

from __future__ import annotations

import asyncio
import csv

import pytest

from app.engine.core.actions.types import Click, Stop
from app.engine.core.batch import BatchState, TaskState
from app.engine.core.cost import Cost
from app.engine.core.hand_back import HandBack, HandBackKind
from app.engine.core.supervision import RunState
from app.errors import Conflict, StoreError
from tests.support.browserless import Browserless
from tests.unit.engine.test_batches import ANSWERS, request_of, states, until, wall  # noqa: F401

BATCHES, REGISTRY = ("batches", "add_run"), ("run_registry", "claim")


def fail_at(patch: pytest.MonkeyPatch, wall: Browserless, where: tuple[str, str], *calls: int) -> None:  # noqa: F811
    """Let these calls of a store's method fail (0: every one)."""
    store = getattr(wall.engine._core.workspace, where[0])
    real, count = getattr(store, where[1]), 0

    def method(*given: object) -> None:
        nonlocal count
        count += 1
        if count in calls or 0 in calls:
            raise StoreError("the disk is full")
        real(*given)

    patch.setattr(store, where[1], method)


@pytest.mark.parametrize(
    "where", [pytest.param(BATCHES, id="its row"), pytest.param(REGISTRY, id="its lock")]
)
async def test_a_task_whose_start_cannot_be_stored_is_started_again(wall, monkeypatch, where):  # noqa: F811
    fail_at(monkeypatch, wall, where, 2, 3)
    row = await wall.engine.start_batch(request_of(wall, ANSWERS, ANSWERS, at_once=1))
    ended = await until(wall, row.id, lambda now: now.state is BatchState.ENDED)
    assert ended.answered == 2
    assert [len(task.runs) for task in (await wall.engine.batch(row.id)).tasks] == [1, 1]


async def test_a_batch_whose_tasks_cannot_be_stored_is_paused_and_says_why(wall, monkeypatch):  # noqa: F811
    fail_at(monkeypatch, wall, BATCHES, 0)
    row = await wall.engine.start_batch(request_of(wall, ANSWERS, ANSWERS, at_once=1))
    paused = await until(wall, row.id, lambda now: now.state is BatchState.PAUSED)
    assert paused.why == "3 runs in a row could not begin; the last, of task 1: the disk is full"
    assert (paused.waiting, paused.active) == (2, 0)


async def test_a_pause_leaves_stopped_tasks_of_a_batch_that_only_retries_stopped(wall):  # noqa: F811
    gates = asyncio.Event(), asyncio.Event()
    row = await wall.engine.start_batch(request_of(wall, (gates[0], Stop("yes")), *[ANSWERS] * 2, at_once=1))
    await wall.engine.stop_batch(row.id)
    await until(wall, row.id, lambda now: now.stopped == 1)
    wall.moves_of["Task 1"] = (gates[1], Stop("yes"))
    await wall.engine.retry_batch(row.id)
    await wall.engine.pause_batch(row.id)
    await wall.engine.resume_batch(row.id)  # as the undo of a stop does
    gates[1].set()
    again = await until(wall, row.id, lambda now: now.state is BatchState.STOPPED)
    assert (again.answered, again.waiting) == (1, 2)
    await wall.engine.resume_batch(row.id)
    assert (await until(wall, row.id, lambda now: now.state is BatchState.ENDED)).answered == 3


async def test_a_run_handed_back_into_a_paused_batch_is_paused_and_goes_on_with_it(wall):  # noqa: F811
    gate = asyncio.Event()
    row = await wall.engine.start_batch(request_of(wall, (gate, Click(0), Click(0), Stop("yes"))))
    (run,) = [one.run for one in await wall.engine.live_runs()]
    await wall.until(run, lambda one: one.state is RunState.RUNNING)
    await wall.engine.take_over(run)
    await wall.engine.pause_batch(row.id)
    await wall.engine.release(run)
    gate.set()
    held = await wall.until(run, lambda one: one.state is RunState.PAUSED)
    assert held.why == "paused by ana"
    await wall.settled()
    assert await states(wall, row.id) == [TaskState.ACTIVE]
    await wall.engine.resume_batch(row.id)
    assert (await until(wall, row.id, lambda now: now.state is BatchState.ENDED)).answered == 1


async def test_a_run_handed_back_after_its_batch_went_on_goes_on(wall):  # noqa: F811
    row = await wall.engine.start_batch(request_of(wall, (asyncio.Event(), Stop("yes"))))
    (run,) = [one.run for one in await wall.engine.live_runs()]
    await wall.until(run, lambda one: one.state is RunState.RUNNING)
    await wall.engine.take_over(run)
    await wall.engine.pause_batch(row.id)
    await wall.engine.resume_batch(row.id)
    await wall.engine.release(run)
    await wall.until(run, lambda one: one.state is RunState.RUNNING)


async def test_a_budget_that_is_raised_while_a_refusal_waits_is_not_answered_by_out_of_budget(
    wall,  # noqa: F811
    monkeypatch,
):
    row = await wall.engine.start_batch(request_of(wall, (asyncio.Event(), Stop("yes")), max_tokens=1000))
    (run,) = [one.run for one in await wall.engine.live_runs()]
    await wall.until(run, lambda one: one.state is RunState.RUNNING)
    found, runner = wall.engine._fleet.find(run), wall.engine._batches._runner
    found.update(tokens=900, cost=Cost(known=0.01))
    await until(wall, row.id, lambda now: now.tokens == 900)
    monkeypatch.setattr(type(found), "refused_by", "tokens")
    async with runner.one_at_a_time:
        raising = asyncio.create_task(wall.engine.set_batch_limits(row.id, 0, 0.0, 5000))
        await wall.settled()
        asking = asyncio.create_task(found.on_out_of_budget())
        await wall.settled()
    await raising
    assert await asking, "it asks again"
    now = (await wall.engine.batch(row.id)).row
    assert (now.state, now.why) == (BatchState.ACTIVE, "")
    assert not found.control.pause_requested


async def test_a_task_that_a_person_finishes_is_answered_by_hand_in_list_and_table(wall, tmp_path):  # noqa: F811
    row = await wall.engine.start_batch(
        request_of(wall, (asyncio.Event(), Stop("yes")), (asyncio.Event(), Stop("yes")), ANSWERS)
    )
    await until(wall, row.id, lambda now: now.answered == 1)
    backs = (HandBack(how=HandBackKind.FINISHED), HandBack(how=HandBackKind.ANSWER, answer="42"))
    for task, back in zip((await wall.engine.batch(row.id)).tasks, backs, strict=False):
        (run,) = task.runs
        await wall.until(run, lambda one: one.state is RunState.RUNNING)
        await wall.engine.take_over(run)
        await wall.engine.release(run, back)
    ended = await until(wall, row.id, lambda now: now.state is BatchState.ENDED)
    assert ended.answered == 3
    outcomes = [task.outcome for task in (await wall.engine.batch(row.id)).tasks]
    assert outcomes == ["answered by hand", "answered by hand", "answered"]
    await wall.engine.export_batch(row.id, str(tmp_path / "out"))
    with (tmp_path / "out" / "tasks.csv").open(encoding="utf-8", newline="") as file:
        assert [line["outcome"] for line in csv.DictReader(file)] == outcomes


async def test_a_cost_that_comes_late_does_not_lift_the_refusal_of_too_small_a_budget(wall, monkeypatch):  # noqa: F811
    row = await wall.engine.start_batch(request_of(wall, (asyncio.Event(), Stop("yes")), max_tokens=1000))
    (run,) = [one.run for one in await wall.engine.live_runs()]
    await wall.until(run, lambda one: one.state is RunState.RUNNING)
    found = wall.engine._fleet.find(run)
    found.update(tokens=900, cost=Cost(known=0.01))
    await until(wall, row.id, lambda now: now.tokens == 900)
    monkeypatch.setattr(type(found), "refused_by", "tokens")
    assert await found.on_out_of_budget()
    found.update(tokens=950)
    await until(wall, row.id, lambda now: now.tokens == 950)
    with pytest.raises(Conflict, match="raise the budget"):
        await wall.engine.resume_batch(row.id)
