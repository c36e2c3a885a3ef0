"""Batches that a process left: who may take them over, and what goes on by itself."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from app.engine.core.actions.types import Stop
from app.engine.core.batch import BatchState, TaskState
from app.engine.core.supervision import RunState
from app.engine.services.supervision import batch_runner
from app.errors import StoreError
from tests.support.browserless import Browserless
from tests.unit.engine.test_batches import ANSWERS, request_of, states, until

Opening = Callable[[Path], Awaitable[Browserless]]


@pytest.fixture
async def opened(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Opening]:
    """Opens workspaces; every run of theirs hangs until the test's end."""
    monkeypatch.setattr(batch_runner, "PUBLISH_INTERVAL", 0.01)
    there: list[Browserless] = []

    async def opening(place: Path) -> Browserless:
        made = await Browserless.at(place, monkeypatch)
        made.moves_of = {f"Task {number}": (asyncio.Event(), Stop("yes")) for number in (1, 2, 3)}
        there.append(made)
        return made

    yield opening
    for one in there:
        await one.engine.aclose()


async def killed(first: Browserless, place: Path) -> Path:
    """Return the workspace as a kill at this moment leaves it."""
    await first.settled()
    copy = place.with_name("killed")
    await asyncio.to_thread(shutil.copytree, place, copy)
    return copy


def start_slowly(wall: Browserless) -> None:
    """Let every browser of a process take for ever."""

    async def hanging(*_: object) -> None:
        await asyncio.Event().wait()

    wall.engine._agent_runs._go = hanging  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("command", "left", "tasks", "rows"),
    [
        pytest.param(
            "pause_batch", BatchState.PAUSED, TaskState.ACTIVE, RunState.INTERRUPTED, id="a paused batch"
        ),
        pytest.param(
            "stop_batch", BatchState.STOPPED, TaskState.STOPPED, RunState.ENDED, id="a stopped batch"
        ),
    ],
)
async def test_after_a_crash_nothing_of_a_batch_goes_on_that_a_person_had_halted(
    opened: Opening, tmp_path: Path, command, left, tasks, rows
):
    first = await opened(tmp_path / "workspace")
    start_slowly(first)
    row = await first.engine.start_batch(request_of(first, ANSWERS, ANSWERS))
    await first.settled()
    await getattr(first.engine, command)(row.id)
    again = await opened(await killed(first, tmp_path / "workspace"))
    await again.engine.recover(automatically=True)
    await until(again, row.id, lambda now: now.state is left)
    await again.settled()
    assert again.began == []
    assert await states(again, row.id) == [tasks, tasks]
    assert {one.state for one in await again.engine.live_runs()} == {rows}


async def test_of_two_processes_that_resume_a_batch_at_once_one_has_it(opened: Opening, tmp_path: Path):
    first = await opened(tmp_path / "workspace")
    moves = [(asyncio.Event(), Stop("yes"))] * 3
    row = await first.engine.start_batch(request_of(first, *moves, at_once=1))
    place = await killed(first, tmp_path / "workspace")
    both = await opened(place), await opened(place)
    await asyncio.gather(*(one.engine.resume_batch(row.id) for one in both))
    await both[0].settled()
    assert sorted(one.engine.owns_batch(row.id) for one in both) == [False, True]
    assert sum(len(one.began) for one in both) == 1
    assert [len(task.runs) for task in (await both[0].engine.batch(row.id)).tasks] == [1, 0, 0]


async def test_a_batch_is_its_process_s_before_others_can_see_it(
    opened: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    first = await opened(tmp_path / "workspace")
    other = await opened(tmp_path / "workspace")
    batches = first.engine._core.workspace.batches
    add = batches.add_batch
    seen: list[bool] = []

    def adding(*facts: object) -> None:
        add(*facts)  # type: ignore[arg-type]
        seen.append(other.engine._core.workspace.run_registry.has_other_owner(facts[0].id))  # type: ignore[attr-defined]

    monkeypatch.setattr(batches, "add_batch", adding)
    await first.engine.start_batch(request_of(first, ANSWERS))
    await first.settled()
    assert seen == [True]


async def test_a_batch_that_could_not_be_stored_is_nobodys(
    opened: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    first = await opened(tmp_path / "workspace")

    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(first.engine._core.workspace.batches, "add_batch", full)
    with pytest.raises(StoreError):
        await first.engine.start_batch(request_of(first, ANSWERS))
    assert list((tmp_path / "workspace").rglob("*.batch")) == []


async def test_a_command_takes_over_only_the_batch_it_names_and_reading_takes_none(
    opened: Opening, tmp_path: Path
):
    first = await opened(tmp_path / "workspace")
    moves = (asyncio.Event(), Stop("yes"))
    one = await first.engine.start_batch(request_of(first, moves, name="One"))
    two = await first.engine.start_batch(request_of(first, moves, name="Two"))
    place = await killed(first, tmp_path / "workspace")
    reader = await opened(place)
    assert {row.batch for row in await reader.engine.left_runs()} == {one.id, two.id}
    assert await reader.engine.live_runs() == []
    again = await opened(place)
    await again.engine.resume_batch("One")
    assert (again.engine.owns_batch(one.id), again.engine.owns_batch(two.id)) == (True, False)
    assert [row.batch for row in await again.engine.live_runs()] == [one.id]
    other = await opened(place)
    await other.engine.resume_batch("Two")
    assert other.engine.owns_batch(two.id)
