"""A password written out in the task of a run that waits, or that is watched, is in no row, list, event or file."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.engine.api.run_api import RunRequest
from app.engine.core.actions.types import Stop, TypeText
from app.engine.core.supervision import RunState
from app.errors import UsageError
from tests.support.browserless import Browserless
from tests.support.fake_executor import HOME, page_of

VALUE = "canary-QUEUE-07x"
TASK = f"Log in with the password '{VALUE}' and stop"
LIFTED = 'Log in with the password "{secret:WRITTEN_1}" and stop'
LOG_IN = (TypeText(0, "{secret:WRITTEN_1}"), Stop("done"))
PAGES = {HOME: page_of(HOME, "secret:Password")}


@pytest.fixture
async def wall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Browserless]:
    made = await Browserless.at(tmp_path / "workspace", monkeypatch)
    made.pages = PAGES
    made.moves_of[LIFTED] = LOG_IN
    yield made
    await made.engine.aclose()


def files_with(folder: Path, value: str = VALUE) -> list[str]:
    return [
        str(file.relative_to(folder))
        for file in folder.rglob("*")
        if file.is_file() and value.encode() in file.read_bytes()
    ]


async def queued(wall: Browserless, free: asyncio.Event) -> str:
    """A run with a password in its task, behind one that holds the only place."""
    await wall.start((free, Stop("first")), at_once=1)
    (run,) = await wall.engine.start_runs([RunRequest(intent=TASK, start_url=HOME, kb="none")])
    await wall.settled()
    assert (await wall.row(run)).state is RunState.QUEUED
    return run


async def test_a_queued_run_is_noted_without_its_password_and_types_it_when_it_begins(
    wall: Browserless, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    free = asyncio.Event()
    run = await queued(wall, free)
    assert (await wall.row(run)).intent == LIFTED
    assert (await wall.engine.run_request(run)).intent == LIFTED
    assert VALUE not in repr(await wall.engine.live_run(run))
    assert files_with(tmp_path) == []
    free.set()
    assert (await wall.over(run)).outcome == "answered"
    assert wall.hands[run].typed == {0: VALUE}
    await wall.settled()
    assert files_with(tmp_path) == []
    assert VALUE not in repr(wall.events)
    assert VALUE not in caplog.text


async def test_a_run_that_is_watched_at_once_is_noted_without_its_password(wall: Browserless, tmp_path: Path):
    summary = await wall.engine.run_task(RunRequest(intent=TASK, start_url=HOME, kb="none", supervised=True))
    assert wall.hands[summary.run].typed == {0: VALUE}
    assert files_with(tmp_path) == []
    assert VALUE not in repr(wall.events)


async def test_after_a_restart_a_queued_run_says_which_secret_is_missing_and_goes_on_once_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    before = await Browserless.at(tmp_path / "workspace", monkeypatch)
    run = await queued(before, asyncio.Event())
    await before.engine.aclose()
    assert files_with(tmp_path) == []

    wall = await Browserless.at(tmp_path / "workspace", monkeypatch, recover=True)
    wall.pages = PAGES
    wall.moves_of[LIFTED] = LOG_IN
    await wall.engine.continue_run(run)
    row = await wall.until(run, lambda row: row.state is RunState.INTERRUPTED)
    assert row.why == (
        "the task needs the secret WRITTEN_1, which was written in it and is stored nowhere"
        " (set the variable SITELORE_SECRET_WRITTEN_1 and run it again)"
    )
    monkeypatch.setenv("SITELORE_SECRET_WRITTEN_1", "another-way-in-1")
    await wall.engine.continue_run(run)
    assert (await wall.over(run)).outcome == "answered"
    assert wall.hands[run].typed == {0: "another-way-in-1"}
    assert files_with(tmp_path, "another-way-in-1") == []
    await wall.engine.aclose()


async def test_a_named_secret_that_is_missing_is_one_sentence_and_no_run_begins(wall: Browserless):
    request = RunRequest(intent="Log in with {secret:SHOP}", start_url=HOME, kb="none")
    with pytest.raises(UsageError) as refused:
        await wall.engine.start_runs([request])
    assert str(refused.value) == (
        "the task needs the secret SHOP (set the variable SITELORE_SECRET_SHOP and run it again)"
    )
    assert await wall.engine.live_runs() == []
