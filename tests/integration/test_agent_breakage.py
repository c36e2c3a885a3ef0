"""Failures around a run (server, browser, disk, its own files) are reported in one sentence, and no step is lost."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from app.engine.agent.memory import ledger_files
from app.engine.api.run_api import RunRequest
from app.engine.browser.live_browser import LiveBrowser
from app.engine.core.actions.types import Action, Goto, Stop, Wait
from app.engine.core.observation import AgentDecision, Observation
from app.engine.core.trajectory import Outcome
from app.engine.engine import Engine
from app.engine.services import agent_runs
from app.engine.store import run_locks, run_writer
from app.errors import Conflict, InputError, StoreError
from tests.support.agent_bench import AgentBench, click
from tests.support.hostile_site import HostileSite
from tests.support.hostile_world import World, hostile_world

DONE = Stop("done")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Engine]:
    opened = await Engine.open(tmp_path_factory.mktemp("hostile") / "workspace")
    yield opened
    await opened.aclose()


@pytest_asyncio.fixture(loop_scope="session")
async def world(engine: Engine, chromium: Browser, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async with hostile_world(engine, chromium, monkeypatch) as made:
        yield made


@pytest.mark.smoke
async def test_a_server_that_goes_away_is_told_and_the_run_goes_on_where_it_stands(world: World):
    url = world.site.url

    def leave(_: Observation) -> AgentDecision:
        for server in world.site._servers:
            server.close()
        return AgentDecision(action=Goto(f"{url}/good/two"))

    went = await world.desk.go(world.site.page("good/one"), [leave, DONE])
    assert went.run.outcome is Outcome.ANSWERED
    assert (went.steps[0].cause, went.steps[0].effect) == ("network", "refused")
    assert "does not answer" in went.steps[0].error


async def test_a_browser_that_is_killed_in_a_step_closes_the_run_and_loses_no_step(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    opened: list[LiveBrowser] = []
    start = agent_runs.AgentRunService._browser

    async def kept_in_hand(self: agent_runs.AgentRunService, request: RunRequest) -> LiveBrowser:
        opened.append(await start(self, request))
        return opened[-1]

    async def pid() -> int:
        browser = opened[0].session.context.browser
        assert browser is not None
        told = await (await browser.new_browser_cdp_session()).send("SystemInfo.getProcessInfo")
        return next(one["id"] for one in told["processInfo"] if one["type"] == "browser")

    monkeypatch.setattr(agent_runs.AgentRunService, "_browser", kept_in_hand)
    desk = AgentBench(engine, monkeypatch)

    class Killer:
        name = "killer"

        async def decide(self, sight: Observation) -> AgentDecision:
            action: Action = Wait(0.1)
            if sight.step == 1:
                asyncio.get_running_loop().call_later(0.3, os.kill, await pid(), signal.SIGKILL)
                action = Wait(5.0)
            return AgentDecision(action=action)

        async def aclose(self) -> None:
            return None

    async with await HostileSite.start() as site:
        desk.give(Killer())
        request = RunRequest(intent="Wait", start_url=site.page("good/one"), kb="none", max_steps=9)
        summary = await engine.run_task(request)
    went = desk.went(summary)
    assert went.run.outcome is Outcome.CRASHED
    assert went.run.error == "the browser was closed or crashed"
    assert [step.cause for step in went.steps] == ["", "page lost"]


@pytest.mark.parametrize("part", ["steps", "contents", "ledger"])
async def test_a_disk_that_is_full_ends_the_run_with_one_sentence_and_what_was_kept_stays(
    world: World, monkeypatch: pytest.MonkeyPatch, part: str
):
    room = 2
    month = 100 * (1 + ("steps", "contents", "ledger").index(part))  # pages that no other test has kept
    next_month = click("Next month")

    def full(*_: object, **__: object) -> None:
        nonlocal room
        room -= 1
        if room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def filling(module: ModuleType, name: str) -> None:
        write = getattr(module, name)

        def writing(*given: object, **named: object) -> object:
            full()
            return write(*given, **named)

        monkeypatch.setattr(module, name, writing)

    match part:
        case "steps":
            filling(run_writer, "append_atomically")
        case "contents":
            filling(run_writer, "pack_blobs")
        case _:
            room = 3
            filling(ledger_files, "append_atomically")
    with pytest.raises(StoreError, match="space"):
        await world.desk.go(world.site.page(f"calendar/{month}"), [next_month] * 4)
    went = world.desk.newest()
    assert (went.run.outcome, went.run.step_count) == (Outcome.INTERRUPTED, 2)
    assert "space" in went.run.error
    assert [step.index for step in went.steps] == [0, 1]
    monkeypatch.undo()
    world.desk.share(world.browser)
    world.desk.script([DONE])
    summary = await world.desk.engine.resume_run(went.run.id)
    assert (summary.outcome, summary.steps) == ("answered", 3)


async def test_a_disk_that_stays_full_leaves_the_run_to_be_closed_at_the_next_opening(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fill_up(_: Observation) -> AgentDecision:
        monkeypatch.setattr(run_locks, "write_file", full)
        monkeypatch.setattr(run_writer, "append_atomically", full)
        return AgentDecision(action=Wait(0.1))

    engine = await Engine.open(tmp_path)
    try:
        desk = AgentBench(engine, monkeypatch)
        desk.share(chromium)
        async with await HostileSite.start() as site:
            with pytest.raises(StoreError, match="space"):
                await desk.go(site.page("good/one"), [Wait(0.1), fill_up])
    finally:
        await engine.aclose()
    monkeypatch.undo()
    engine = await Engine.open(tmp_path)
    try:
        went = AgentBench(engine, monkeypatch).newest()
    finally:
        await engine.aclose()
    assert (went.run.outcome, went.run.step_count) == (Outcome.INTERRUPTED, 1)


async def test_a_run_that_another_process_works_on_is_not_gone_on_with_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    second = await Engine.open(world.desk.workspace)
    tried: list[str] = []

    async def meanwhile(run: str) -> None:
        with pytest.raises(Conflict, match="another process is working on run"):
            await second.resume_run(run)
        tried.append(run)

    class Tries:
        name = "tries"

        async def decide(self, sight: Observation) -> AgentDecision:
            await meanwhile(world.desk.newest_id())
            return AgentDecision(action=DONE)

        async def aclose(self) -> None:
            return None

    try:
        world.desk.give(Tries())
        request = RunRequest(intent="Wait", start_url=world.site.page("good/one"), kb="none")
        summary = await world.desk.engine.run_task(request)
        with pytest.raises(Conflict, match="has ended"):
            await second.resume_run(summary.run)
    finally:
        await second.aclose()
    assert (summary.outcome, tried) == ("answered", [summary.run])


@pytest.mark.parametrize(
    ("file", "content", "error"),
    [
        ("ledger-events.jsonl", b"{nothing\n", "ledger-events.jsonl: line 1 is damaged"),
        ("steps.jsonl", b"{nothing\n", "steps.jsonl"),
        ("task.json", b"{nothing", "task.json of run .* is damaged"),
        ("task.json", b'{"version": 99, "request": {}}', "newer version"),
        ("task.json", b'{"version": 1, "request": {"intent": 7}}', "task.json of run .* is damaged"),
    ],
)
async def test_a_run_whose_files_are_damaged_is_not_gone_on_with_and_says_why(
    world: World, file: str, content: bytes, error: str
):
    def stop(_: Observation) -> AgentDecision:
        raise StoreError("the cable was pulled")

    with pytest.raises(StoreError, match="cable"):
        await world.desk.go(world.site.page("good/one"), [Wait(0.1), stop])
    went = world.desk.newest()
    assert (went.run.outcome, went.run.step_count) == (Outcome.INTERRUPTED, 1)
    whole = (went.folder / file).read_bytes()
    (went.folder / file).write_bytes(content)
    world.desk.script([DONE])
    with pytest.raises((StoreError, InputError), match=error) as told:
        await world.desk.engine.resume_run(went.run.id)
    assert "\n" not in str(told.value)
    (went.folder / file).write_bytes(whole)
    assert (await world.desk.engine.resume_run(went.run.id)).steps == 2
