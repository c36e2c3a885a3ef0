"""Commands of other processes: they count for a short time, and for what their sender saw."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.engine.core.actions.types import Click, Stop
from app.engine.core.supervision import LiveRow, PlannedAction, RunState
from app.engine.engine import Engine
from app.engine.services.supervision import remote_replies
from app.engine.store.supervision.supervision_state import COMMAND_LIFETIME
from app.errors import Conflict, NotFound
from tests.support.browserless import PATIENCE, Browserless


@pytest.fixture
async def wall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Browserless]:
    made = await Browserless.at(tmp_path / "workspace", monkeypatch)
    yield made
    await made.engine.aclose()


@pytest.fixture
async def other(wall: Browserless, tmp_path: Path) -> AsyncIterator[Engine]:
    """Another process with the same workspace."""
    made = await Engine.open(tmp_path / "workspace", author="bob")
    yield made
    await made.aclose()


async def paused(wall: Browserless) -> tuple[str, LiveRow]:
    """Start a run and pause it before its second action, ``click('0')``."""
    gate = asyncio.Event()
    (run,) = await wall.start((gate, Click(0), Click(0), Stop("yes")))
    await wall.until(run, lambda row: row.state is RunState.RUNNING)
    await wall.engine.pause_run(run)
    gate.set()
    row = await wall.until(run, lambda row: row.state is RunState.PAUSED)
    async with asyncio.timeout(PATIENCE):
        while await planned(wall, run) is None:
            await asyncio.sleep(0.005)
    return run, row


async def planned(wall: Browserless, run: str) -> PlannedAction | None:
    return (await wall.engine.live_run(run)).next


async def send(other: Engine, run: str, what: str, text: str = "", *, ago: float) -> None:
    """Send a command as it was sent some seconds ago."""
    rows = other._core.workspace.supervision
    await other._core.on_store(
        lambda: rows._insert("wish", run=run, what=what, text=text, at=time.time() - ago)
    )


async def taken(other: Engine) -> None:
    """Wait until every command was taken."""
    rows = other._core.workspace.supervision
    async with asyncio.timeout(PATIENCE):
        while await other._core.on_store(lambda: rows._one("SELECT COUNT(*) FROM wish")[0]):
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("ago", "counts"), [(1.0, True), (COMMAND_LIFETIME + 5, False), (-COMMAND_LIFETIME - 5, False)]
)
async def test_a_command_counts_for_half_a_minute(wall: Browserless, other: Engine, caplog, ago, counts):
    run, _ = await paused(wall)
    await send(other, run, "stop", ago=ago)
    await taken(other)
    if counts:
        await wall.over(run)
    else:
        await wall.settled()
        assert (await wall.row(run)).state is RunState.PAUSED
        assert f"stop was asked of {run}" in caplog.text


async def test_an_edit_sent_long_ago_replaces_nothing(wall: Browserless, other: Engine):
    run, _ = await paused(wall)
    before = await planned(wall, run)
    text = json.dumps({"token": "t" * 32, "call": "press('0', 'Enter')", "reason": ""})
    await send(other, run, "edit planned", text, ago=3600)
    await taken(other)
    await wall.settled()
    assert await planned(wall, run) == before


async def test_a_command_that_nobody_answers_is_taken_back(
    wall: Browserless, other: Engine, monkeypatch: pytest.MonkeyPatch
):
    run, _ = await paused(wall)
    wall.engine._fleet._listening.cancel()  # its process hangs
    monkeypatch.setattr(remote_replies, "REPLY_TIMEOUT", 0.3)
    with pytest.raises(Conflict, match="does not answer; nothing was done"):
        await other.edit_planned(run, "press('0', 'Enter')")
    rows = other._core.workspace.supervision
    assert await other._core.on_store(rows.take_remote_commands, [run]) == []


async def test_a_command_to_a_run_that_no_process_has_is_refused(other: Engine):
    with pytest.raises(NotFound, match="no run 'gone'"):
        await other.pause_run("gone")
    assert await other._core.on_store(other._core.workspace.supervision.take_remote_commands, ["gone"]) == []


@pytest.mark.parametrize("who", ["here", "elsewhere"])
async def test_an_edit_is_of_the_action_it_was_chosen_for(wall: Browserless, other: Engine, who: str):
    run, row = await paused(wall)
    engine = wall.engine if who == "here" else other
    call = "press('0', 'Enter')"
    for step, instead_of in ((row.step + 1, ""), (row.step, "click('7')"), (-1, "click('7')")):
        with pytest.raises(Conflict, match="before another action now, click"):
            await engine.edit_planned(run, call, "", step, instead_of)
    before = await planned(wall, run)
    assert before is not None
    assert (before.step, before.call) == (row.step, "click('0')")
    wanted = await engine.edit_planned(run, call, "", before.step, before.call)
    assert wanted.call == call
    with pytest.raises(Conflict, match="before another action now, press"):
        await engine.edit_planned(run, "click('0')", "", before.step, before.call)
