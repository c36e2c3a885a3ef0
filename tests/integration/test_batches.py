"""Batches with real browsers: stopped, retried, exported; a budget that runs out and is raised."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from app.engine.api.batch_api import BatchRequest
from app.engine.api.run_api import LlmRunOptions
from app.engine.core.batch import BatchRow, BatchState, TaskState
from app.engine.core.events import BatchChanged
from app.engine.core.supervision import RunState
from app.errors import UsageError
from tests.support.operator_driver import WAIT, Operator, kitchen
from tests.support.protocol_server import ProtocolServer
from tests.support.shop_brain import count_the_kitchen

MOON = "What is the stock of the moon?"


@pytest_asyncio.fixture(loop_scope="session")
async def operator(tmp_path, chromium) -> AsyncIterator[Operator]:
    made = await Operator.at(tmp_path / "workspace")
    yield made
    await made.engine.aclose()


async def until(operator: Operator, batch: str, so: Callable[[BatchRow], bool]) -> BatchRow:
    async with asyncio.timeout(WAIT):
        while not so(row := (await operator.engine.batch(batch)).row):
            await asyncio.sleep(0.05)
    return row


@pytest.mark.smoke
async def test_six_tasks_two_at_once_are_stopped_retried_and_exported(operator, server, tmp_path: Path):
    tasks = [kitchen(server.shop_url, task_id=f"t{number}") for number in range(6)]
    tasks[1] = replace(tasks[1], intent=MOON, max_steps=3)
    started = await operator.engine.start_batch(BatchRequest(name="Kitchens", tasks=tuple(tasks), at_once=2))
    assert (started.total, started.active, started.waiting) == (6, 2, 4)
    await until(operator, started.id, lambda row: row.answered >= 1 and row.failed == 1)
    await operator.engine.stop_batch("Kitchens")
    stopped = await until(operator, started.id, lambda row: not row.active)
    assert stopped.state is BatchState.STOPPED
    assert stopped.waiting + stopped.stopped >= 1
    again = stopped.failed + stopped.stopped
    assert await operator.engine.retry_batch("Kitchens") == again
    await until(operator, started.id, lambda row: row.state is BatchState.STOPPED and not row.active)
    if stopped.waiting:
        await operator.engine.resume_batch("Kitchens")
    ended = await until(operator, started.id, lambda row: row.waiting + row.active == 0)
    assert (ended.answered, ended.failed) == (5, 1)
    assert max(row.active for row in rows_of(operator)) <= 2

    detail = await operator.engine.batch("Kitchens")
    assert [task.state for task in detail.tasks].count(TaskState.ANSWERED) == 5
    assert len(detail.tasks[1].runs) == 2, "the run that failed stays"
    runs = [run for task in detail.tasks for run in task.runs]
    assert len(set(runs)) == len(runs) == 6 + again
    out = tmp_path / "export"
    count = await operator.engine.export_batch("Kitchens", str(out))
    assert count == len([path for path in out.iterdir() if path.is_dir()])
    with (out / "tasks.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["task"] for line in lines] == [f"t{number}" for number in range(6)]
    assert {line["answer"] for line in lines if line["state"] == "answered"} == {"5"}


def rows_of(operator: Operator) -> list[BatchRow]:
    return [event.row for event in operator.events if isinstance(event, BatchChanged)]


async def test_a_budget_that_runs_out_holds_the_runs_and_raised_lets_them_go_on(
    operator, server, monkeypatch: pytest.MonkeyPatch
):
    with ProtocolServer(brain=count_the_kitchen) as endpoint:
        use(monkeypatch, endpoint)
        monkeypatch.setenv("SITELORE_MODEL_PRICE", "10/10")
        tasks = tuple(
            kitchen(server.shop_url, policy="llm", llm=LlmRunOptions(judge="off")) for _ in range(4)
        )
        one = await operator.engine.start_batch(BatchRequest(name="Measure", tasks=tasks[:1]))
        measured = await until(operator, one.id, lambda row: row.state is BatchState.ENDED)
        assert measured.answered == 1
        assert measured.tokens > 0
        assert measured.cost is not None
        assert measured.cost.total == pytest.approx(measured.tokens * 10 / 1e6)

        limit = int(measured.tokens * 1.6)
        batch = await operator.engine.start_batch(
            BatchRequest(name="Short", tasks=tasks, at_once=2, max_tokens=limit)
        )
        spent = await until(operator, batch.id, lambda row: row.state is BatchState.OUT_OF_BUDGET)
        assert "raise the budget" in spent.why
        assert spent.tokens <= limit, "what a request may cost was reserved before it was sent"
        assert spent.failed == 0, "its budget ends no run"
        async with asyncio.timeout(WAIT):
            while any(
                row.state is not RunState.PAUSED
                for row in await operator.engine.live_runs()
                if row.batch == batch.id and row.state.alive
            ):
                await asyncio.sleep(0.05)
        asked = len(endpoint.asked)
        await asyncio.sleep(0.5)
        assert len(endpoint.asked) == asked, "nothing is asked while it is out of budget"
        await operator.engine.set_batch_limits(batch.id, 2, 0.0, measured.tokens * 20)
        ended = await until(operator, batch.id, lambda row: row.state is BatchState.ENDED)
        assert ended.answered == 4
        detail = await operator.engine.batch(batch.id)
        assert [len(task.runs) for task in detail.tasks] == [1, 1, 1, 1], (
            "paused runs went on where they were"
        )


async def test_a_budget_of_money_without_a_price_is_refused_at_the_start(
    operator, server, monkeypatch: pytest.MonkeyPatch
):
    with ProtocolServer(brain=count_the_kitchen) as endpoint:
        use(monkeypatch, endpoint)
        monkeypatch.setenv("SITELORE_MODEL_PRICE", "10/10")
        tasks = (kitchen(server.shop_url, policy="llm", model="of-my-own"),)
        with pytest.raises(UsageError, match=r"a budget of money needs the price of of-my-own"):
            await operator.engine.start_batch(BatchRequest(name="", tasks=tasks, max_money=1.0))
        assert await operator.engine.batches() == []
        row = await operator.engine.start_batch(BatchRequest(name="Free", tasks=tasks))
        ended = await until(operator, row.id, lambda row: row.state is BatchState.ENDED)
        assert ended.model == "of-my-own"
        assert {asked.body["model"] for asked in endpoint.asked} == {"of-my-own"}
        assert ended.cost is not None
        assert ended.cost.short == "cost unknown"
        (task,) = (await operator.engine.batch(row.id)).tasks
        assert (await operator.engine.open_run(task.runs[0])).run.model == "of-my-own"


def use(monkeypatch: pytest.MonkeyPatch, endpoint: ProtocolServer) -> None:
    monkeypatch.setenv("SITELORE_MODEL_URL", endpoint.url)
    monkeypatch.setenv("SITELORE_MODEL_NAME", "scripted")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
