"""Batches over real stores and a real queue, with runs that have pages but no browser."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.api.batch_api import BatchRequest
from app.engine.api.run_api import RunRequest
from app.engine.core.actions.types import AskHuman, ReportInfeasible, Stop
from app.engine.core.batch import BatchRow, BatchState, TaskState
from app.engine.core.cost import Cost
from app.engine.core.events import BatchChanged
from app.engine.core.supervision import DecisionKind, OperatorDecision, RunState
from app.engine.services.supervision import batch_runner
from app.errors import Conflict, NotFound, UsageError
from tests.support.browserless import PATIENCE, Browserless
from tests.support.fake_executor import HOME

ANSWERS = (Stop("yes"),)
VALUE = "canary-BATCH-31k"


@pytest.fixture
async def wall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Browserless]:
    monkeypatch.setattr(batch_runner, "PUBLISH_INTERVAL", 0.01)
    made = await Browserless.at(tmp_path / "workspace", monkeypatch)
    yield made
    await made.engine.aclose()


def request_of(wall: Browserless, *moves: object, **more: object) -> BatchRequest:
    """A batch with a task for each list of moves."""
    tasks = []
    for number, one in enumerate(moves, 1):
        wall.moves_of[f"Task {number}"] = one  # type: ignore[assignment]
        tasks.append(RunRequest(intent=f"Task {number}", start_url=HOME, kb="none", task_id=f"t{number}"))
    return replace(BatchRequest(name="Night", tasks=tuple(tasks)), **more)


async def until(wall: Browserless, batch: str, so: Callable[[BatchRow], bool]) -> BatchRow:
    async with asyncio.timeout(PATIENCE):
        while not so(row := (await wall.engine.batch(batch)).row):
            await asyncio.sleep(0.01)
    return row


async def states(wall: Browserless, batch: str) -> list[TaskState]:
    return [task.state for task in (await wall.engine.batch(batch)).tasks]


async def test_tasks_are_started_in_order_as_many_as_the_batch_allows(wall: Browserless):
    gates = [asyncio.Event() for _ in range(5)]
    row = await wall.engine.start_batch(request_of(wall, *[(gate, Stop("yes")) for gate in gates], at_once=2))
    assert (row.name, row.total, row.active, row.waiting) == ("Night", 5, 2, 3)
    assert len(await wall.engine.live_runs()) == 2, "a task that waits is no live run"
    for number, gate in enumerate(gates, 1):
        gate.set()
        done = await until(wall, row.id, lambda now, number=number: now.answered == number)
        assert done.active <= 2
    ended = await until(wall, row.id, lambda now: now.state is BatchState.ENDED)
    assert ended.words == "5 of 5, 100 % answered"
    assert ended.ended_at > 0
    intents = [(await wall.engine.run_request(run)).intent for run in wall.began]
    assert intents == [f"Task {number}" for number in range(1, 6)]


async def test_a_run_that_waits_for_a_person_frees_its_slot(wall: Browserless):
    asks = (AskHuman("Which one?"), Stop("that one"))
    row = await wall.engine.start_batch(request_of(wall, asks, ANSWERS, ANSWERS, at_once=1))
    needy = await until(wall, row.id, lambda now: now.answered == 2)
    assert (needy.needy, needy.state) == (1, BatchState.ACTIVE)
    assert needy.words == "2 of 3, 1 needs you, 100 % answered"
    (asked,) = await wall.engine.requests()
    await wall.engine.decide(asked.id, OperatorDecision(kind=DecisionKind.ANSWER, text="the first"))
    assert (await until(wall, row.id, lambda now: now.state is BatchState.ENDED)).answered == 3


async def test_an_invalid_task_is_named_and_none_is_started(wall: Browserless):
    good = request_of(wall, ANSWERS, ANSWERS, ANSWERS)
    bad = replace(good.tasks[2], kb="/nowhere/tips.sqlite")
    with pytest.raises(Exception, match="task 3 of 3: "):
        await wall.engine.start_batch(replace(good, tasks=(*good.tasks[:2], bad)))
    assert await wall.engine.batches() == []
    assert await wall.engine.live_runs() == []


@pytest.mark.parametrize(
    "limits",
    [{"at_once": 33}, {"at_once": -1}, {"max_money": -1.0}, {"max_money": float("nan")}, {"max_tokens": -1}],
)
async def test_a_limit_out_of_its_range_is_refused(wall: Browserless, limits: dict[str, float]):
    with pytest.raises(UsageError):
        await wall.engine.start_batch(request_of(wall, ANSWERS, **limits))
    assert await wall.engine.batches() == []


async def test_a_paused_batch_starts_nothing_and_its_runs_go_on_with_it(wall: Browserless):
    gate = asyncio.Event()
    row = await wall.engine.start_batch(request_of(wall, (gate, Stop("yes")), ANSWERS, at_once=1))
    await wall.engine.pause_batch("Night")
    gate.set()
    paused = await until(wall, row.id, lambda now: now.state is BatchState.PAUSED)
    assert paused.why == "paused by ana"
    (run,) = [one.run for one in await wall.engine.live_runs()]
    await wall.until(run, lambda one: one.state is RunState.PAUSED)
    await wall.settled()
    assert (await until(wall, row.id, lambda now: True)).waiting == 1
    await wall.engine.resume_batch(row.id)
    assert (await until(wall, row.id, lambda now: now.state is BatchState.ENDED)).answered == 2


async def test_a_run_that_a_person_paused_stays_paused_when_its_batch_goes_on(wall: Browserless):
    gate = asyncio.Event()
    row = await wall.engine.start_batch(request_of(wall, (gate, Stop("yes")), at_once=1))
    (run,) = [one.run for one in await wall.engine.live_runs()]
    await wall.until(run, lambda one: one.state is RunState.RUNNING)
    await wall.engine.pause_run(run)
    gate.set()
    await wall.engine.pause_batch(row.id)
    await wall.engine.resume_batch(row.id)
    await wall.settled()
    assert (await wall.row(run)).state is RunState.PAUSED
    await wall.engine.continue_run(run)
    await until(wall, row.id, lambda now: now.state is BatchState.ENDED)


async def test_a_stopped_batch_ends_its_runs_and_what_was_not_started_can_be_started(wall: Browserless):
    gate = asyncio.Event()
    row = await wall.engine.start_batch(request_of(wall, (gate, Stop("yes")), ANSWERS, at_once=1))
    await wall.engine.stop_batch(row.id)
    stopped = await until(wall, row.id, lambda now: now.stopped == 1)
    assert (stopped.state, stopped.waiting, stopped.why) == (BatchState.STOPPED, 1, "stopped by ana")
    gate.set()
    await wall.engine.resume_batch(row.id)
    ended = await until(wall, row.id, lambda now: now.state is BatchState.ENDED)
    assert (ended.answered, ended.stopped) == (1, 1)
    with pytest.raises(Conflict, match="has ended"):
        await wall.engine.resume_batch(row.id)


async def test_failed_and_stopped_tasks_are_started_again_as_new_runs(wall: Browserless):
    fails = (ReportInfeasible("no"),)
    row = await wall.engine.start_batch(request_of(wall, fails, ANSWERS, at_once=1))
    await until(wall, row.id, lambda now: now.state is BatchState.ENDED)
    assert await states(wall, row.id) == [TaskState.FAILED, TaskState.ANSWERED]
    for tries in (2, 3):
        assert await wall.engine.retry_batch(row.id) == 1
        await until(wall, row.id, lambda now: now.state is BatchState.ENDED)
        (task, _) = (await wall.engine.batch(row.id)).tasks
        assert len(task.runs) == tries
        assert len(set(task.runs)) == tries
    wall.moves_of["Task 1"] = ANSWERS
    assert await wall.engine.retry_batch(row.id) == 1
    ended = await until(wall, row.id, lambda now: now.state is BatchState.ENDED)
    assert ended.answered == 2
    assert await wall.engine.retry_batch(row.id) == 0


async def test_of_a_stopped_batch_only_what_was_asked_for_is_started_again(wall: Browserless):
    gate = asyncio.Event()
    row = await wall.engine.start_batch(request_of(wall, (gate, Stop("yes")), ANSWERS, at_once=1))
    await wall.engine.stop_batch(row.id)
    await until(wall, row.id, lambda now: now.stopped == 1)
    gate.set()
    assert await wall.engine.retry_batch(row.id) == 1
    again = await until(wall, row.id, lambda now: now.answered == 1 and now.state is BatchState.STOPPED)
    assert again.waiting == 1


async def test_an_export_has_the_ended_runs_and_a_line_a_task(wall: Browserless, tmp_path: Path):
    row = await wall.engine.start_batch(request_of(wall, ANSWERS, (ReportInfeasible("=no"),), at_once=1))
    await until(wall, row.id, lambda now: now.state is BatchState.ENDED)
    out = tmp_path / "out"
    assert await wall.engine.export_batch("Night", str(out)) == 2
    with (out / "tasks.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["number"], line["task"], line["state"], line["answer"]) for line in lines] == [
        ("1", "t1", "answered", "yes"),
        ("2", "t2", "failed", "'=no"),  # no spreadsheet takes it for a formula
    ]
    assert {line["run"] for line in lines} == {path.name for path in out.iterdir() if path.is_dir()}
    with pytest.raises(Conflict, match=r"tasks\.csv exists"):
        await wall.engine.export_batch("Night", str(out))


async def test_only_an_ended_or_stopped_batch_is_dismissed(wall: Browserless):
    gate = asyncio.Event()
    row = await wall.engine.start_batch(request_of(wall, (gate, Stop("yes"))))
    with pytest.raises(Conflict, match="stop it first"):
        await wall.engine.dismiss_batch(row.id)
    gate.set()
    await until(wall, row.id, lambda now: now.state is BatchState.ENDED)
    await wall.engine.dismiss_batch(row.id)
    assert await wall.engine.batches() == []
    assert wall.events[-1] == BatchChanged(row=BatchRow(id=row.id, name="Night"))


async def test_a_name_that_two_batches_have_is_refused(wall: Browserless):
    first = await wall.engine.start_batch(request_of(wall, ANSWERS))
    second = await wall.engine.start_batch(request_of(wall, ANSWERS))
    with pytest.raises(UsageError, match="2 batches are called 'Night'") as raised:
        await wall.engine.batch("Night")
    assert first.id in str(raised.value)
    assert second.id in str(raised.value)
    with pytest.raises(NotFound):
        await wall.engine.batch("Day")


async def test_a_password_written_in_a_task_is_in_no_file(wall: Browserless, tmp_path: Path):
    gate = asyncio.Event()
    secret = f"Log in with the password '{VALUE}' and stop"
    hidden = 'Log in with the password "{secret:WRITTEN_1}" and stop'
    wall.moves_of |= {"First": (gate, Stop("yes")), hidden: ANSWERS}
    tasks = tuple(RunRequest(intent=one, start_url=HOME, kb="none") for one in ("First", secret))
    row = await wall.engine.start_batch(BatchRequest(name="", tasks=tasks, at_once=1))
    assert row.name == "First"
    assert [task.intent for task in (await wall.engine.batch(row.id)).tasks] == ["First", hidden]
    gate.set()
    ended = await until(wall, row.id, lambda now: now.state is BatchState.ENDED)
    assert ended.answered == 2, "the run has the value"
    holding = [
        file.name
        for file in (tmp_path / "workspace").rglob("*")
        if file.is_file() and VALUE.encode() in file.read_bytes()
    ]
    assert holding == []


async def test_runs_that_cannot_begin_pause_their_batch(wall: Browserless, monkeypatch: pytest.MonkeyPatch):
    async def no_disk(*_: object) -> None:
        raise Conflict("no browser can be started")

    row = None
    monkeypatch.setattr(wall.engine._agent_runs, "_go", no_disk)
    row = await wall.engine.start_batch(request_of(wall, *[ANSWERS] * 9, at_once=1))
    paused = await until(wall, row.id, lambda now: now.state is BatchState.PAUSED)
    assert paused.failed == 3
    assert paused.why == "3 runs in a row could not begin; the last, of task 3: no browser can be started"


async def test_ended_rows_do_not_pile_up(wall: Browserless, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(batch_runner, "MAX_ENDED_ROWS", 3)
    row = await wall.engine.start_batch(request_of(wall, *[ANSWERS] * 8))
    await until(wall, row.id, lambda now: now.state is BatchState.ENDED)
    await wall.settled()
    assert len(await wall.engine.live_runs()) == 3
    assert (await until(wall, row.id, lambda now: True)).answered == 8


async def test_after_a_fresh_start_a_batch_is_paused_and_says_why(
    wall: Browserless, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    row = await wall.engine.start_batch(
        request_of(wall, (asyncio.Event(), Stop("yes")), ANSWERS, ANSWERS, at_once=1)
    )
    (run,) = [one.run for one in await wall.engine.live_runs()]
    await wall.until(run, lambda one: one.state is RunState.RUNNING)
    await wall.engine.aclose()
    again = await Browserless.at(tmp_path / "workspace", monkeypatch, recover=True)
    try:
        again.moves_of = dict.fromkeys(("Task 1", "Task 2", "Task 3"), ANSWERS)
        found = (await again.engine.batch(row.id)).row
        assert (found.state, found.active, found.waiting) == (BatchState.PAUSED, 1, 2)
        assert found.why == batch_runner.NO_PROCESS
        await again.engine.resume_batch(row.id)
        ended = await until(again, row.id, lambda now: now.state is BatchState.ENDED)
        assert ended.answered == 3
        assert [len(task.runs) for task in (await again.engine.batch(row.id)).tasks] == [1, 1, 1]
    finally:
        await again.engine.aclose()


async def test_under_a_living_window_a_batch_goes_on_by_itself(
    wall: Browserless, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    row = await wall.engine.start_batch(request_of(wall, (asyncio.Event(), Stop("yes")), ANSWERS, at_once=1))
    await wall.until((await wall.engine.live_runs())[0].run, lambda one: one.state is RunState.RUNNING)
    await wall.engine.aclose()
    again = await Browserless.at(tmp_path / "workspace", monkeypatch)
    try:
        again.moves_of = dict.fromkeys(("Task 1", "Task 2"), ANSWERS)
        await again.engine.recover(automatically=True)
        assert (await until(again, row.id, lambda now: now.state is BatchState.ENDED)).answered == 2
    finally:
        await again.engine.aclose()


async def test_the_sum_of_all_runs_is_held_against_the_budget(wall: Browserless):
    gates = [asyncio.Event() for _ in range(3)]
    row = await wall.engine.start_batch(
        request_of(wall, *[(gate, Stop("yes")) for gate in gates], at_once=2, max_tokens=1000)
    )
    first, second = (wall.engine._fleet.find(one.run) for one in await wall.engine.live_runs())
    for run, tokens in ((first, 400), (second, 700)):
        assert run is not None
        await wall.until(run.run, lambda one: one.state is RunState.RUNNING)
        run.update(tokens=tokens, cost=Cost(known=0.01))
    spent = await until(wall, row.id, lambda now: now.state is BatchState.OUT_OF_BUDGET)
    assert spent.why == "1,100 of 1,000 tokens are used; raise the budget to go on"
    assert spent.words.endswith("$0.0200, 1,100 of 1,000 tokens")
    for gate in gates:
        gate.set()
    for run in (first, second):
        assert run is not None
        await wall.until(run.run, lambda one: one.state is RunState.PAUSED)
    with pytest.raises(Conflict, match="raise the budget"):
        await wall.engine.resume_batch(row.id)
    raised = await wall.engine.set_batch_limits(row.id, 2, 0.0, 5000)
    assert raised.max_tokens == 5000
    assert (await until(wall, row.id, lambda now: now.state is BatchState.ENDED)).answered == 3


async def test_changes_are_published_a_few_times_a_second(wall: Browserless, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(batch_runner, "PUBLISH_INTERVAL", 0.3)
    row = await wall.engine.start_batch(request_of(wall, *[ANSWERS] * 20))
    began = asyncio.get_running_loop().time()
    await until(wall, row.id, lambda now: now.state is BatchState.ENDED)
    told: list[BatchChanged] = []
    async with asyncio.timeout(PATIENCE):
        while not told or told[-1].row.state is not BatchState.ENDED:
            await asyncio.sleep(0.01)
            told = [event for event in wall.events if isinstance(event, BatchChanged)]
    took = asyncio.get_running_loop().time() - began
    assert len(told) <= 3 + took / 0.3
