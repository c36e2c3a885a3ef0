"""The state of an exploration in the list of maps, here or in another process."""

from __future__ import annotations

import pytest

from app.engine.engine import Engine
from app.engine.store.locks import FileLock


@pytest.fixture
async def engine(tmp_path):
    """An engine whose only map was explored by a process that has not said how it ended."""
    opened = await Engine.open(tmp_path / "workspace", "ana")
    core = opened._core

    def beginning() -> None:
        store = core.workspace.graph("shop")
        store.begin_exploration("http://127.0.0.1/", {}, 1.0)

    await core.on_store(beginning)
    yield opened
    await opened.aclose()


async def test_an_exploration_whose_process_lives_is_running_and_one_whose_died_is_interrupted(engine):
    assert [row.state for row in await engine.graphs()] == ["interrupted"]
    lock = FileLock(engine._core.workspace.lock_path("shop"))
    lock.path.parent.mkdir(parents=True, exist_ok=True)
    assert lock.take()
    assert [row.state for row in await engine.graphs()] == ["running"]
    lock.release()
    assert [row.state for row in await engine.graphs()] == ["interrupted"]
