"""A log-in that a person makes in one run is kept for its site and given to the runs that wait for it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import zstandard

from app import settings
from app.engine.api.run_api import RunRequest
from app.engine.browser.live_browser import LiveBrowser
from app.engine.core.events import LoginShared
from app.engine.core.page_input import NavigationKind
from app.engine.core.supervision import DecisionKind, Need, OperatorAction, RequestState, RunState
from app.engine.services import agent_runs
from app.engine.services.site_logins import (
    forget_login,
    keep_login,
    keep_login_state,
    login_path,
    no_login,
    saved_login,
)
from app.engine.store.blob_store import BLOB_FILE
from app.errors import Conflict
from tests.support.live_hands import key, typed
from tests.support.login_site import ANSWER, PASSWORD, USER, LoginSite
from tests.support.operator_driver import Operator
from tests.support.order_reader import reading

KILLED = 180.0
"""Seconds for what takes ten on a quiet machine."""
EMPTY = '{"cookies": [], "origins": []}'


@pytest.fixture
def logins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "user" / "logins"
    folder.mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("SITELORE_LOGINS", str(folder))
    monkeypatch.setattr(agent_runs, "make_policy_bundle", reading)
    return folder


@pytest.fixture
def site() -> Iterator[LoginSite]:
    with LoginSite() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def operator(tmp_path: Path, chromium: object, logins: Path) -> AsyncIterator[Operator]:
    made = await Operator.at(tmp_path / "workspace")
    yield made
    await made.engine.aclose()


def task(url: str, site: str = "shop", **more: object) -> RunRequest:
    request = RunRequest(intent="Read the newest order", start_url=url, site=site, kb="none", max_steps=8)
    return replace(request, **more)  # type: ignore[arg-type]


async def log_in(operator: Operator, run: str, password: str = PASSWORD) -> None:
    """Take a run over, fill in its log-in and wait for the page behind it."""
    engine = operator.engine
    await engine.take_over(run)
    await engine.send_input(run, typed(USER))
    await engine.send_input(run, key("Tab"))
    await engine.send_input(run, typed(password))
    await engine.send_input(run, key("Enter", text="\r"))
    page = engine._fleet.get(run).page.browser.session.page  # type: ignore[attr-defined]
    if password == PASSWORD:
        await page.get_by_text("Ready.").wait_for()
    else:
        await page.get_by_text("Wrong name or password").wait_for()


async def walled(operator: Operator, runs: list[str]) -> None:
    for run in runs:
        assert (await operator.asked(run)).need is Need.WALL


async def shared(operator: Operator) -> LoginShared:
    async with asyncio.timeout(60):
        while not (found := operator.told(LoginShared)):
            await asyncio.sleep(0.05)
    assert isinstance(found[0], LoginShared)
    return found[0]


def files_with(folder: Path, *texts: str) -> list[str]:
    """Return the files with one of these texts, also in a page's stored content."""
    found: list[str] = []
    for file in [one for one in folder.rglob("*") if one.is_file()]:
        contents = [file.read_bytes()]
        if file.name == BLOB_FILE:
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as rows:
                contents += [unpacked(data) for (data,) in rows.execute("SELECT data FROM blob")]
            assert len(contents) > 1
        found += [str(file) for one in contents if any(text.encode() in one for text in texts)]
    return found


def unpacked(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompress(data) if data.startswith(zstandard.FRAME_HEADER) else data


@pytest.mark.smoke
async def test_four_runs_wait_at_one_login_and_all_go_on_after_one_was_made(operator, site, logins):
    runs = await operator.start(*[task(site.orders)] * 3, task(site.url), at_once=4)
    await walled(operator, runs)
    await log_in(operator, runs[0])
    await operator.engine.release(runs[0])
    told = await shared(operator)
    assert (told.site, told.source, set(told.runs)) == ("shop", runs[0], set(runs[1:]))
    assert told.words == "Logged in to shop: 3 runs go on, and the log-in is kept for later runs."
    rows = [await operator.over(run) for run in runs]
    assert [(row.outcome, row.why) for row in rows] == [("answered", ANSWER)] * 4
    for run in runs[1:]:
        (wall,) = [one for one in await operator.engine.requests(run, closed=True) if one.need is Need.WALL]
        assert wall.decision is not None
        assert wall.decision.kind is DecisionKind.APPROVE
        done = [one.action for one in await operator.engine.interventions(run)]
        assert OperatorAction.GOT_LOGIN in done
    source = [one.action for one in await operator.engine.interventions(runs[0])]
    assert OperatorAction.SHARED_LOGIN in source
    assert len(set(site.visits)) == 1, "they all have the one session"
    file = login_path("shop")
    assert file.stat().st_mode & 0o077 == 0
    (session, token), *_ = site.sessions.items()
    assert files_with(file.parent, session, token) == [str(file)]
    workspace = Path(operator.engine._core.workspace.path)
    assert files_with(workspace, PASSWORD, session, token) == []
    (later,) = await operator.start(task(site.orders))
    assert (await operator.over(later)).outcome == "answered"
    assert not await operator.engine.requests(later, closed=True), "it began logged in"
    assert await operator.engine.forget_login("shop")
    (again,) = await operator.start(task(site.orders))
    await walled(operator, [again])
    await operator.engine.end_run(again)


async def test_a_login_that_failed_is_given_to_nobody(operator, site, logins):
    runs = await operator.start(*[task(site.orders)] * 2, at_once=2)
    await walled(operator, runs)
    await log_in(operator, runs[0], "not-this-one")
    await operator.engine.release(runs[0])
    await operator.until(runs[0], lambda row: row.state is RunState.WAITING and bool(row.needs))
    await log_in(operator, runs[0], "nor-this")
    await operator.engine.move_page(runs[0], NavigationKind.OPEN, f"{site.url}/")
    await operator.engine.release(runs[0])  # an open page proves nothing
    await operator.until(runs[0], lambda row: row.state is RunState.WAITING and bool(row.needs))
    assert saved_login("shop") == ""
    assert operator.told(LoginShared) == []
    assert (await operator.row(runs[1])).needs[0].state is RequestState.OPEN
    assert files_with(Path(operator.engine._core.workspace.path), "not-this-one", "nor-this") == []
    for run in runs:
        await operator.engine.end_run(run)


async def test_an_open_page_that_the_log_in_leads_back_to_proves_nothing(operator, logins):
    with LoginSite(back_to="/") as site:
        kept = {
            "name": "sid",
            "value": "good",
            "domain": "127.0.0.1",
            "path": "/",
            "expires": -1,
            "httpOnly": True,
        }
        keep_login_state("shop", {"cookies": [kept], "origins": []})
        runs = await operator.start(*[task(site.orders)] * 2, at_once=2)
        await walled(operator, runs)
        await operator.engine.take_over(runs[0])
        await operator.engine.move_page(runs[0], NavigationKind.OPEN, f"{site.url}/")
        await operator.engine.release(runs[0])
        await operator.until(runs[0], lambda row: bool(row.needs) or not row.state.alive)
        assert operator.told(LoginShared) == []
        assert (await operator.row(runs[1])).needs[0].state is RequestState.OPEN
        assert [one["value"] for one in json.loads(login_path("shop").read_text())["cookies"]] == ["good"]
        await operator.engine.end_run(runs[0])
        await log_in(operator, runs[1])
        await operator.engine.release(runs[1])
        await shared(operator)
        assert (await operator.over(runs[1])).outcome == "answered"
        assert "good" not in login_path("shop").read_text()


async def test_what_a_browser_had_is_put_back_whole(chromium, site):
    def of(state: dict[str, list[Any]]) -> tuple[dict[str, str], dict[str, list[Any]]]:
        cookies = {one["name"]: one["value"] for one in state["cookies"]}
        return cookies, {one["origin"]: one["localStorage"] for one in state["origins"]}

    mine = {"cookies": [{"name": "sid", "value": "mine", "url": site.url}], "origins": []}
    theirs = {
        "cookies": [{"name": name, "value": "theirs", "url": site.url} for name in ("sid", "more")],
        "origins": [{"origin": site.url, "localStorage": [{"name": "token", "value": "theirs"}]}],
    }
    async with await LiveBrowser.open() as browser:
        await browser.go(f"{site.url}/")
        await browser.session.context.clear_cookies()
        await browser.add_login(mine)
        before = await browser.login_state()
        await browser.add_login(theirs)
        now = await browser.login_state()
        assert of(now) == (
            {"sid": "theirs", "more": "theirs"},
            {site.url: theirs["origins"][0]["localStorage"]},
        )
        await browser.put_back_login(now, before)
        assert of(await browser.login_state()) == ({"sid": "mine"}, {})
        wall = f"{site.url}/login?next=/orders"
        assert await browser.is_behind_login(site.orders, wall, 10)
        assert not await browser.is_behind_login(f"{site.url}/", wall, 10)


async def test_a_run_of_another_role_or_site_and_one_that_wants_no_login_are_left_alone(
    operator, site, logins, tmp_path
):
    file = tmp_path / "old.json"
    file.write_text(EMPTY, encoding="utf-8")
    keep_login("shop", str(file), "buyer")
    with LoginSite() as other:
        runs = await operator.start(
            task(site.orders),
            task(site.orders, storage_state=str(login_path("shop", "buyer"))),
            task(site.orders, storage_state=str(file)),
            task(site.orders, storage_state=no_login()),
            task(other.orders, "forge"),
            at_once=5,
        )
        await walled(operator, runs)
        await log_in(operator, runs[0])
        await operator.engine.release(runs[0])
        assert (await shared(operator)).runs == ()
        assert (await operator.over(runs[0])).outcome == "answered"
        for run in runs[1:]:
            row = await operator.row(run)
            assert (row.state, row.needs[0].state) == (RunState.WAITING, RequestState.OPEN)
        await log_in(operator, runs[3])  # whose task begins without a log-in
        await operator.engine.release(runs[3])
        assert (await operator.over(runs[3])).outcome == "answered"
        assert len(operator.told(LoginShared)) == 1
        await log_in(operator, runs[1])
        await operator.engine.release(runs[1])
        assert (await operator.over(runs[1])).outcome == "answered"
        buyer = login_path("shop", "buyer").read_text()
        assert "sid-" in buyer
        assert buyer != login_path("shop").read_text()
        await operator.engine.end_run(runs[2])
        await operator.engine.end_run(runs[4])


async def test_a_run_that_comes_to_the_wall_later_and_one_that_a_person_wishes_go_on_too(
    operator, site, logins, monkeypatch
):
    first, second = await operator.start(*[task(site.orders)] * 2, at_once=2)
    await walled(operator, [first, second])
    with pytest.raises(Conflict, match="still asks for a log-in"):
        await operator.engine.share_login(first)
    await log_in(operator, first)
    told = await operator.engine.share_login(first)  # while it is in hand
    assert told.runs == (second,)
    assert (await operator.over(second)).outcome == "answered"
    assert (await operator.row(first)).state is RunState.TAKEN_OVER
    monkeypatch.setattr(agent_runs, "saved_login", lambda *_: "")  # as if its browser had started before
    (third,) = await operator.start(task(site.orders))
    assert (await operator.over(third)).outcome == "answered"
    (wall,) = await operator.engine.requests(third, closed=True)
    assert wall.decision is not None
    await operator.engine.release(first)
    assert (await operator.over(first)).outcome == "answered"


async def test_where_log_ins_are_not_to_be_kept_only_waiting_runs_are_given_it(
    operator, site, logins, monkeypatch
):
    monkeypatch.setenv("SITELORE_KEEP_LOGINS", "off")
    runs = await operator.start(*[task(site.orders)] * 2, at_once=2)
    await walled(operator, runs)
    await log_in(operator, runs[0])
    await operator.engine.release(runs[0])
    assert (await shared(operator)).words == "Logged in to shop: 1 run goes on."
    assert [(await operator.over(run)).outcome for run in runs] == ["answered"] * 2
    assert list(settings.logins_dir().iterdir()) == []


async def test_a_site_that_does_not_name_the_page_asked_for_is_proven_by_its_own_log_in_page(
    operator, logins
):
    with LoginSite(names_page=False) as site:
        runs = await operator.start(*[task(site.url)] * 2, at_once=2)
        await walled(operator, runs)
        await log_in(operator, runs[0])
        await operator.engine.release(runs[0])
        assert (await shared(operator)).runs == (runs[1],)
        assert [(await operator.over(run)).outcome for run in runs] == ["answered"] * 2


async def test_a_single_sign_on_is_the_log_in_of_the_site_it_leads_to(operator, logins):
    with LoginSite(sign_on=True) as site:
        asked = task(site.orders, domains=(site.sign_on_url,))
        runs = await operator.start(asked, asked, at_once=2)
        await walled(operator, runs)
        await log_in(operator, runs[0])
        await operator.engine.release(runs[0])
        assert (await shared(operator)).runs == (runs[1],)
        assert [(await operator.over(run)).outcome for run in runs] == ["answered"] * 2
        kept = json.loads(login_path("shop").read_text())
        assert {one["domain"] for one in kept["cookies"]} == {"127.0.0.1", "localhost"}
        assert [one["origin"] for one in kept["origins"]] == [site.url]


async def test_a_process_killed_between_keeping_and_giving_leaves_the_requests_open(
    tmp_path, chromium, site, logins
):
    workspace = tmp_path / "workspace"
    victim = subprocess.Popen(
        [sys.executable, "-m", "tests.support.kill_login_sharing", str(workspace), site.orders],
        env={**os.environ, "SITELORE_LOGINS": str(logins)},
    )
    assert await asyncio.to_thread(victim.wait, KILLED) == -signal.SIGKILL
    assert saved_login("shop")
    after = await Operator.at(workspace, recover=True)
    try:
        rows = await after.engine.live_runs()
        assert len(rows) == 3
        waiting = [one for one in await after.engine.requests() if one.need is Need.WALL]
        assert all(one.state is RequestState.OPEN for one in waiting)
        assert len({one.run for one in waiting}) >= 2, "all but perhaps the one that was handed back"
        for row in rows:
            await after.engine.continue_run(row.run)
        assert [(await after.over(row.run)).outcome for row in rows] == ["answered"] * 3
        assert not await after.engine.requests(), "nothing waits for them any more"
    finally:
        await after.engine.aclose()
    forget_login("shop")
