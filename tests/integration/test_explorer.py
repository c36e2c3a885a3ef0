"""The exploration with a real browser: the bundled shop, and a site that misbehaves in every way."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from app.demo.server import DemoServer
from app.engine.core.transition import FrontierStatus, SkipReason
from tests.support.bad_site import GOOD, BadSite
from tests.support.exploration_process import Expedition, expedition, start


@pytest_asyncio.fixture(loop_scope="session")
async def bad() -> AsyncIterator[BadSite]:
    async with await BadSite.start() as site:
        yield site


def told(found: Expedition, site: BadSite) -> dict[str, str]:
    """By case: what became of the link to it."""
    return {
        item.value.removeprefix(site.url).strip("/"): f"{item.status.value} {item.detail}".strip()
        for item in found.items
        if item.value.startswith(site.url)
    }


@pytest.mark.smoke
async def test_the_bundled_shop_is_explored_and_nothing_of_it_changes(server: DemoServer, tmp_path: Path):
    before = repr(server.state)
    found = await expedition(f"{server.shop_url}/", tmp_path, depth=3)
    assert found.report.ended == "done"
    assert found.report.frontier == 0
    assert len(found.addresses) >= 20
    assert {"/", "/basket", "/department/Kitchen", "/product/enamel-mug", "/checkout"} <= found.addresses
    assert repr(server.state) == before
    assert all(state.picture and state.elements for state in found.states)
    assert not [item for item in found.items if item.status is FrontierStatus.FAILED]


async def test_faults_of_single_pages_are_told_and_the_rest_is_explored(bad: BadSite, tmp_path: Path):
    home = bad.entry(
        "loop/a", "cut", "flaky", "moves-once", "alerts", "popups", "download", "captcha", "down", "gone"
    )
    found = await expedition(home, tmp_path, depth=1, workers=2)
    said = told(found, bad)
    assert found.report.ended == "done"
    assert {f"/good/{name}" for name in GOOD} <= found.addresses
    assert "loop" in said["loop/a"]
    assert said["flaky"] == said["alerts"] == said["popups"] == "tried"
    assert "captcha" in said["captcha"]
    assert "503" in said["down"]
    assert "404" in said["gone"]
    assert bad.destroyed == []


async def test_pages_that_crash_hang_or_never_rest_cost_themselves_only(bad: BadSite, tmp_path: Path):
    home = bad.entry("crash", "never-settles", "grows", "moves")
    found = await expedition(home, tmp_path, depth=1, workers=2)
    said = told(found, bad)
    assert found.report.ended == "done"
    assert {f"/good/{name}" for name in GOOD} <= found.addresses
    assert said["crash"].startswith("failed")
    assert said["never-settles"] == said["grows"] == "tried"
    assert any("never became idle" in note for note in found.report.notes)


async def test_a_control_that_crashes_its_page_is_given_up_and_menus_are_opened(bad: BadSite, tmp_path: Path):
    found = await expedition(bad.entry("crash-on-click"), tmp_path, depth=2, workers=2)
    clicked = [item for item in found.items if item.locator and item.locator.name == "Show more"]
    assert [item.status for item in clicked] == [FrontierStatus.FAILED], clicked
    assert {f"/good/{name}/more" for name in GOOD} <= found.addresses
    assert found.report.interaction_only == 3


async def test_what_a_script_would_send_is_not_sent(bad: BadSite, tmp_path: Path):
    found = await expedition(bad.entry("danger"), tmp_path, depth=2, workers=1)
    assert found.report.ended == "done"
    assert bad.destroyed == []
    reasons = {item.reason for item in found.items}
    assert {SkipReason.DANGER, SkipReason.FORM} <= reasons


async def test_a_login_that_expires_pauses_the_exploration_and_another_one_goes_on(
    bad: BadSite, tmp_path: Path
):
    login = tmp_path / "login.json"
    login.write_text(json.dumps(bad.storage_state()), "utf-8")
    home = bad.entry("members")
    first = await expedition(home, tmp_path / "w", depth=2, workers=1, storage_state=str(login))
    assert first.report.ended == "paused"
    assert any("login has expired" in note for note in first.report.notes)
    assert not any(address.startswith("/login") for address in first.addresses)
    bad.visits_until_logout = 100
    login.write_text(json.dumps(bad.storage_state()), "utf-8")
    second = await expedition(home, tmp_path / "w", depth=2, workers=1, storage_state=str(login))
    assert second.report.ended == "done"
    assert {f"/members/{n}" for n in range(1, 13)} <= second.addresses
    assert first.ids < second.ids


async def test_a_host_that_does_not_answer_is_told(bad: BadSite, tmp_path: Path):
    found = await expedition(f"{bad.refused_url}/", tmp_path)
    assert found.report.ended == "failed"
    assert any("does not answer" in note for note in found.report.notes)


async def test_a_browser_killed_in_the_middle_is_started_again(bad: BadSite, tmp_path: Path):
    async def killing() -> None:
        while bad.times("/good/one") == 0:
            await asyncio.sleep(0.02)
        for pid in _browsers_of(os.getpid()) - before:
            os.kill(pid, signal.SIGKILL)

    before = _browsers_of(os.getpid())
    async with asyncio.TaskGroup() as group:
        running = group.create_task(expedition(bad.entry(), tmp_path, depth=2, workers=1))
        group.create_task(killing())
    found = running.result()
    assert found.report.ended == "done"
    assert {f"/good/{name}" for name in GOOD} <= found.addresses


async def test_a_process_killed_in_the_middle_is_gone_on_with_and_nothing_is_tried_twice(
    server: DemoServer, tmp_path: Path
):
    url, workspace = f"{server.shop_url}/", tmp_path / "w"
    whole = await expedition(url, tmp_path / "whole", depth=2, workers=1)
    process = start(url, workspace, depth=2, workers=1)
    try:
        file = workspace / "graphs" / "explored.sqlite"
        deadline = time.monotonic() + 60
        while _tried(file) < 6 and time.monotonic() < deadline and process.poll() is None:
            await asyncio.sleep(0.02)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    tried = _tried(file)
    assert tried >= 6
    rest = await expedition(url, workspace, depth=2, workers=1)
    assert rest.report.ended == "done"
    assert rest.ids == whole.ids
    assert rest.report.tried == whole.report.tried
    followed = [t for t in rest.transitions if t.attempts and t.locator is not None and t.locator.href]
    assert {t.attempts for t in followed} == {1}


def _tried(file: Path) -> int:
    if not file.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM frontier WHERE status = 'tried'").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def _browsers_of(pid: int) -> set[int]:
    """Main processes of browsers below a process."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                names[int(entry.name)] = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
            except (OSError, ValueError, IndexError):
                continue
    found: set[int] = set()
    for one, name in names.items():
        line = one
        while line in parents and line != pid:
            line = parents[line]
        if line == pid and "chrom" in name.partition("\0")[0] and "--type=" not in name:
            found.add(one)
    return found
