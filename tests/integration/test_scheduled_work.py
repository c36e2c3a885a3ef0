"""Scheduled work on the demo shop, which changes between two times: the difference, the suspect tip, cron's codes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from app.engine.api.graph_api import ExploreOptions
from app.engine.core.events import Event, JobChanged, ScheduleChanged
from app.engine.core.schedule import Schedule, ScheduledTask
from app.engine.engine import Engine
from app.errors import Conflict
from kb.tip import Scope, Status, TipDraft
from tests.support.changing_shop import ChangingShop

SHOP = "larkspur"


@pytest_asyncio.fixture(loop_scope="session")
async def shop() -> AsyncIterator[ChangingShop]:
    async with await ChangingShop.start() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    opened = await Engine.open(tmp_path / "workspace", author="ada")
    yield opened
    await opened.aclose()


async def add(engine: Engine, task: ScheduledTask) -> str:
    wanted = Schedule(id="", task=task, site=SHOP, every_days=7, clock="03:00")
    return (await engine.save_schedule(wanted)).schedule.id


async def tip(engine: Engine, shop: ChangingShop, do: str) -> str:
    scope = Scope(host=shop.shop_url.removeprefix("http://"), path="/")
    saved = await engine.save_tip(TipDraft(site=SHOP, text=do, do=do, scope=scope))
    await engine.set_status([saved.id], Status.REVIEWED)
    return saved.id


@pytest.mark.smoke
async def test_what_changed_between_two_times_arrives_with_the_suspect_tip(
    engine: Engine, shop: ChangingShop
):
    options = ExploreOptions(depth=1, max_states=60, pictures=False)
    await engine.explore(shop.shop_url, SHOP, options)
    tray = await tip(engine, shop, 'Press "Kitchen", then press "Oak Tray".')
    update, verify = await add(engine, ScheduledTask.EXPLORE), await add(engine, ScheduledTask.VERIFY)
    test = await add(engine, ScheduledTask.TEST_TIPS)
    heard: list[Event] = []
    engine.bus.subscribe(heard.append)
    for entry in (update, verify, test):
        result = await engine.run_schedule(entry)
        assert (result.error, result.changes, result.suspects) == ("", (), ()), result

    shop.changes = {">Oak Tray</a>": ">Serving board</a>", ">Kitchen</a>": ">Cookware</a>"}
    tested = await engine.run_schedule(test)
    assert tested.error == ""
    assert tested.suspects == (tray,)
    assert any(line.startswith("1 tip broke: “Press") for line in tested.changes)
    assert any(line.startswith("1 tip is suspect: “Press") for line in tested.changes)
    assert (await engine.tip(tray)).status is Status.SUSPECT

    updated = await engine.run_schedule(update)
    assert updated.error == ""
    assert any("changed: " in line or "vanished: " in line for line in updated.changes), updated.changes
    again = await engine.run_schedule(update)
    assert (again.error, again.changes) == ("", ())

    told = [one.result for one in heard if isinstance(one, ScheduleChanged) and one.result is not None]
    assert told[-3:] == [tested, updated, again]
    titles = {one.title for one in heard if isinstance(one, JobChanged)}
    assert {f"Update the map of {SHOP}", f"Verify the map of {SHOP}", f"Test the tips of {SHOP}"} <= titles
    assert shop.sent == []


async def test_a_site_that_is_down_is_a_failure_and_takes_nothing_off_the_map(
    engine: Engine, shop: ChangingShop
):
    await engine.explore(shop.shop_url, SHOP, ExploreOptions(depth=0, pictures=False))
    states = (await engine.graph_stats(SHOP)).row.states
    entry = await add(engine, ScheduledTask.VERIFY)
    await shop.stop()
    result = await engine.run_schedule(entry)
    assert result.error == f"1 of 1 pages of {SHOP} could not be opened"
    assert result.changes == ()
    assert (await engine.graph_stats(SHOP)).row.states == states
    assert (await engine.graph_stats(SHOP)).row.gone == 0


async def test_work_waits_while_its_site_is_explored_and_its_job_can_be_cancelled(
    engine: Engine, shop: ChangingShop
):
    await engine.explore(shop.shop_url, SHOP, ExploreOptions(depth=0, pictures=False))
    entry = await add(engine, ScheduledTask.VERIFY)
    begun = asyncio.Event()
    jobs: list[JobChanged] = []

    def hear(event: Event) -> None:
        if isinstance(event, JobChanged) and event.state == "running":
            jobs.append(event)
            begun.set()

    engine.bus.subscribe(hear)
    exploring = asyncio.ensure_future(
        engine.explore(shop.shop_url, SHOP, ExploreOptions(depth=2, pictures=False, resume=False))
    )
    await begun.wait()
    with pytest.raises(Conflict, match="is being explored or verified"):
        await engine.run_schedule(entry)
    await engine.cancel_job(jobs[-1].id)
    await exploring

    begun.clear()
    doing = asyncio.ensure_future(engine.run_schedule(entry))
    await begun.wait()
    await engine.cancel_job(jobs[-1].id)
    assert (await doing).error == "cancelled"
    [row] = await engine.schedules()
    assert (row.is_active, row.results[0].error) == (False, "cancelled")


async def test_the_command_for_cron_says_by_its_code_what_came_of_it(tmp_path: Path, shop: ChangingShop):
    workspace = tmp_path / "ws"

    async def sitelore(*words: str) -> tuple[int, str, str]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "app", "--workspace", str(workspace), *words,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=dict(os.environ),
        )  # fmt: skip
        out, err = await process.communicate()
        return int(process.returncode or 0), out.decode(), err.decode()

    engine = await Engine.open(workspace, author="ada")
    await engine.explore(shop.shop_url, SHOP, ExploreOptions(depth=0, pictures=False))
    await engine.aclose()
    code, out, err = await sitelore("schedule", "add", "verify", "nowhere")
    assert (code, out) == (2, "")
    assert "there is no site 'nowhere'" in err
    code, out, _ = await sitelore("schedule", "add", "verify", SHOP, "--every", "7", "--json")
    row: dict[str, Any] = json.loads(out)
    entry = row["schedule"]["id"]
    assert await sitelore("schedule", "run") == (0, "nothing is due\n", "")
    code, out, _ = await sitelore("schedule", "run", entry)
    assert (code, "nothing changed" in out) == (0, True), out
    shop.changes = {">Garden</a>": ">Outdoors</a>"}
    code, out, _ = await sitelore("schedule", "run", "--all")
    assert (code, "changed" in out) == (1, True), out
    code, out, _ = await sitelore("schedule", "list")
    assert (code, "verify the map" in out, "every 7 days at 03:00" in out) == (0, True, True)
    assert (await sitelore("schedule", "off", entry))[2] == f"{entry}: off\n"
    assert "next " in (await sitelore("schedule", "on", entry[:4]))[2]
    await shop.stop()
    code, out, _ = await sitelore("schedule", "run", entry)
    assert (code, "could not be done" in out) == (3, True), out
    code, out, _ = await sitelore("schedule", "show", entry)
    assert out.count("verify the map, larkspur") == 4
    assert (await sitelore("schedule", "remove", entry))[2] == "removed: verify the map, larkspur\n"
    assert (await sitelore("review", "undo"))[1].startswith("undone: remove scheduled work")
    assert len(json.loads((await sitelore("schedule", "list", "--json"))[1])) == 1
