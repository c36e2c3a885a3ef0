"""A batch of another process, such as a terminal's, as a window on the same workspace sees and commands it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.engine.api.batch_api import BatchRequest
from app.engine.api.run_api import RunRequest
from app.engine.core.actions.types import Stop
from app.engine.core.batch import BatchRow, BatchState, TaskState
from app.engine.core.events import BatchChanged, LiveRunChanged, LiveRunDismissed
from app.engine.core.supervision import RunState
from app.engine.services.supervision import batch_runner, other_processes, remote_replies
from app.errors import Conflict
from tests.support.browserless import PATIENCE, Browserless
from tests.support.fake_executor import HOME
from tests.unit.engine.test_batches import ANSWERS, request_of, until


@pytest.fixture
async def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Browserless]:
    monkeypatch.setattr(batch_runner, "PUBLISH_INTERVAL", 0.01)
    made = await Browserless.at(tmp_path / "workspace", monkeypatch)
    yield made
    await made.engine.aclose()


@pytest.fixture
async def window(
    terminal: Browserless, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Browserless]:
    monkeypatch.setattr(other_processes, "INTERVAL", 0.02)
    made = await Browserless.at(tmp_path / "workspace", monkeypatch, recover=True)
    made.engine.watch_others()
    made.moves_of = terminal.moves_of
    yield made
    await made.engine.aclose()


def told(window: Browserless, batch: str) -> list[BatchRow]:
    return [one.row for one in window.events if isinstance(one, BatchChanged) and one.row.id == batch]


async def told_until(window: Browserless, batch: str, state: BatchState) -> BatchRow:
    async with asyncio.timeout(PATIENCE):
        while not (rows := told(window, batch)) or rows[-1].state is not state:
            await asyncio.sleep(0.01)
    return rows[-1]


async def test_the_window_is_told_of_a_batch_its_progress_and_its_end(terminal, window):
    gates = [asyncio.Event() for _ in range(2)]
    row = await terminal.engine.start_batch(
        request_of(terminal, *[(gate, Stop("yes")) for gate in gates], at_once=1)
    )
    assert (await told_until(window, row.id, BatchState.ACTIVE)).total == 2
    async with asyncio.timeout(PATIENCE):
        while not (rows := await window.engine.live_runs()):
            await asyncio.sleep(0.01)
    (run,) = [one.run for one in rows]
    for gate in gates:
        gate.set()
    ended = await told_until(window, row.id, BatchState.ENDED)
    assert ended.answered == 2
    async with asyncio.timeout(PATIENCE):  # the batch and its runs are told of one after the other
        while not any(isinstance(one, LiveRunChanged) and one.row.run == run for one in window.events):
            await asyncio.sleep(0.01)
    async with asyncio.timeout(PATIENCE):
        while not any(isinstance(one, LiveRunDismissed) and one.run == run for one in window.events):
            await asyncio.sleep(0.01)
    await terminal.engine.dismiss_batch(row.id)
    async with asyncio.timeout(PATIENCE):
        while told(window, row.id)[-1].total:
            await asyncio.sleep(0.01)


async def test_the_window_is_told_when_the_process_of_a_batch_has_ended(terminal, window, monkeypatch):
    monkeypatch.setattr(other_processes, "LOOKS_WITHOUT_CHANGE", 1)
    row = await terminal.engine.start_batch(request_of(terminal, (asyncio.Event(), Stop("yes"))))
    await told_until(window, row.id, BatchState.ACTIVE)
    await terminal.engine.aclose()
    assert (await told_until(window, row.id, BatchState.PAUSED)).why == batch_runner.NO_PROCESS


async def test_commands_of_the_window_have_reached_the_batch_when_they_return(terminal, window):
    gates = [asyncio.Event() for _ in range(3)]
    row = await terminal.engine.start_batch(
        request_of(terminal, *[(gate, Stop("yes")) for gate in gates], at_once=1)
    )
    (run,) = [one.run for one in await terminal.engine.live_runs()]
    await terminal.until(run, lambda one: one.state is RunState.RUNNING)

    async def state() -> BatchRow:
        return (await terminal.engine.batch(row.id)).row

    await window.engine.pause_batch("Night")
    assert (await state()).state is BatchState.PAUSED
    limited = await window.engine.set_batch_limits(row.id, 2, 0.0, 9000)
    assert (limited.at_once, limited.max_tokens) == (2, 9000)
    assert (await state()).at_once == 2
    await window.engine.resume_batch(row.id)
    assert (await state()).active == 2
    await window.engine.stop_batch(row.id)
    assert (await state()).state is BatchState.STOPPED
    await until(terminal, row.id, lambda now: now.stopped == 2)
    for gate in gates:
        gate.set()
    assert await window.engine.retry_batch(row.id) == 2
    assert (await until(terminal, row.id, lambda now: now.answered == 2)).waiting == 1
    assert not window.engine.owns_batch(row.id)


async def test_a_refusal_there_is_told_here_in_its_own_sentence(terminal, window):
    row = await terminal.engine.start_batch(
        request_of(terminal, (asyncio.Event(), Stop("yes")), max_tokens=1000)
    )
    (run,) = [one.run for one in await terminal.engine.live_runs()]
    await terminal.until(run, lambda one: one.state is RunState.RUNNING)
    found = terminal.engine._fleet.find(run)
    assert found is not None
    found.update(tokens=1100)
    await until(terminal, row.id, lambda now: now.state is BatchState.OUT_OF_BUDGET)
    with pytest.raises(Conflict, match=r"1,100 of 1,000 tokens are used; raise the budget to go on"):
        await window.engine.resume_batch(row.id)


async def test_a_process_that_does_not_answer_is_named_and_the_command_is_withdrawn(
    terminal, window, monkeypatch
):
    monkeypatch.setattr(remote_replies, "REPLY_TIMEOUT", 0.2)
    row = await terminal.engine.start_batch(request_of(terminal, (asyncio.Event(), Stop("yes"))))
    assert terminal.engine._fleet._listening is not None
    terminal.engine._fleet._listening.cancel()
    with pytest.raises(Conflict, match=r"the process that runs the batch does not answer; nothing was done"):
        await window.engine.pause_batch(row.id)
    taken = window.engine._core.workspace.supervision.take_remote_commands
    assert await window.engine._core.on_store(taken, [row.id]) == []


async def test_a_batch_whose_process_ended_goes_on_in_a_window_that_was_open_before(terminal, window):
    row = await terminal.engine.start_batch(
        request_of(terminal, (asyncio.Event(), Stop("yes")), ANSWERS, at_once=1)
    )
    (run,) = [one.run for one in await terminal.engine.live_runs()]
    await terminal.until(run, lambda one: one.state is RunState.RUNNING)
    await terminal.engine.pause_batch(row.id)
    await terminal.engine.aclose()
    window.moves_of = dict.fromkeys(("Task 1", "Task 2"), ANSWERS)
    await window.engine.resume_batch(row.id)
    ended = await until(window, row.id, lambda now: now.state is BatchState.ENDED)
    assert ended.answered == 2
    tasks = (await window.engine.batch(row.id)).tasks
    assert tasks[0].runs == (run,)
    assert len(tasks[1].runs) == 1


async def test_a_run_that_had_not_begun_when_its_process_ended_is_started_once(
    terminal, window, monkeypatch: pytest.MonkeyPatch
):
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(terminal.engine._agent_runs, "prepare", never)
    row = await terminal.engine.start_batch(request_of(terminal, ANSWERS, ANSWERS, at_once=1))
    (run,) = [one.run for one in await terminal.engine.live_runs()]
    await terminal.until(run, lambda one: one.state is RunState.STARTING)
    await terminal.settled()
    await terminal.engine.aclose()
    await window.engine.resume_batch(row.id)
    assert (await until(window, row.id, lambda now: now.state is BatchState.ENDED)).answered == 2
    assert (await window.engine.batch(row.id)).tasks[0].runs == (run,)
    assert [len(task.runs) for task in (await window.engine.batch(row.id)).tasks] == [1, 1]


async def test_after_a_restart_tasks_with_a_written_password_fail_and_say_which_secret_is_gone(
    terminal, window
):
    secret = "Log in with the password 'canary-OTHER-77' and stop"
    hidden = 'Log in with the password "{secret:WRITTEN_1}" and stop'
    window.moves_of = {"First": ANSWERS, hidden: ANSWERS, "Last": ANSWERS}
    terminal.moves_of = {"First": (asyncio.Event(), Stop("yes"))}
    tasks = tuple(RunRequest(intent=one, start_url=HOME, kb="none") for one in ("First", secret, "Last"))
    row = await terminal.engine.start_batch(BatchRequest(name="Night", tasks=tasks, at_once=1))
    await terminal.until(
        (await terminal.engine.live_runs())[0].run, lambda one: one.state is RunState.RUNNING
    )
    await terminal.engine.aclose()
    await window.engine.resume_batch(row.id)
    await until(window, row.id, lambda now: now.state is BatchState.ENDED)
    first, failed, last = (await window.engine.batch(row.id)).tasks
    assert (first.state, failed.state, last.state) == (
        TaskState.ANSWERED,
        TaskState.FAILED,
        TaskState.ANSWERED,
    )
    assert failed.why == (
        "the task needs the secret WRITTEN_1, which was written in it and is stored nowhere"
        " (set the variable SITELORE_SECRET_WRITTEN_1 and run it again)"
    )
