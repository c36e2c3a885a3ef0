"""Recording: a scripted run is stored as an imported one would be, and the bundled ones are what they say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser

from app.assets import resource
from app.demo.server import DemoServer
from app.engine.browser.session import open_session
from app.engine.core.sites import load_sites
from app.engine.core.trajectory import ErrorClass, Outcome
from app.engine.imports import native
from app.engine.store.run_files import write_run_folder
from tools import demo_scripts
from tools.run_recorder import Move, Script, ScriptError, record_run

ATTEMPTS = {f"{attempt.task.id}-{attempt.name}": attempt for attempt in demo_scripts.ATTEMPTS}


def script_of(name: str, server: DemoServer, **changes: object) -> Script:
    attempt = ATTEMPTS[name]
    start = demo_scripts.start_url(server, attempt.task)
    told = {
        "run": name,
        "task": attempt.task.id,
        "site": attempt.task.site,
        "intent": attempt.task.intent,
        "start_url": start,
        "hosts": frozenset({urlsplit(start).netloc}),
        "moves": attempt.moves,
        "step_limit": demo_scripts.STEP_LIMIT,
        "before": demo_scripts.SIGN_IN if attempt.task.site == demo_scripts.ADMIN else (),
    }
    return Script(**{**told, **changes})


async def record(name: str, server: DemoServer, chromium: Browser, **changes: object):
    done = ATTEMPTS[name].task.done
    async with open_session(chromium, keep_tabs=True) as tab:
        return await record_run(
            tab,
            script_of(name, server, **changes),
            lambda answer: float(done(server.state, answer or "")),
            source="demo",
            suite="demo",
            note="a script",
        )


@pytest.mark.smoke
async def test_a_run_is_recorded_written_and_read_back_the_same(
    chromium: Browser, server: DemoServer, tmp_path: Path
):
    recorded = await record("admin-1-b", server, chromium)
    run, steps = recorded.run, recorded.steps
    assert (run.score, run.outcome, run.source) == (1.0, Outcome.ANSWERED, "demo")
    assert [step.words for step in steps[1:4]] == [
        "click link 'Edit Oak Tray'",
        "type '14' into textbox 'Stock'",
        "click button 'Save'",
    ]
    assert all(step.target_box for step in steps if step.target is not None)
    assert "Saved." in steps[4].notices

    write_run_folder(tmp_path / run.id, run, steps, recorded.blobs)
    read = native.parse(native.load(tmp_path / run.id, tmp_path), load_sites())

    assert read.problems == ()
    assert read.steps == steps
    assert read.run.final == run.final
    assert read.blobs == recorded.blobs


@pytest.mark.smoke
async def test_a_run_that_leaves_the_site_ends_there(chromium: Browser, server: DemoServer):
    recorded = await record("admin-1-a", server, chromium)
    assert (recorded.run.outcome, recorded.run.score) == (Outcome.LEFT_ALLOWED_SITES, 0.0)
    assert recorded.run.final is not None
    assert recorded.run.final.url.startswith(server.maker_url)


async def test_an_unreadable_output_is_a_step_without_an_action(chromium: Browser, server: DemoServer):
    recorded = await record("admin-6-a", server, chromium)
    unread = [step for step in recorded.steps if not step.executed]
    assert len(unread) == 2
    assert all(step.action is None and step.error_class is ErrorClass.HARNESS for step in unread)
    assert recorded.run.score == 0.0


async def test_a_script_that_no_longer_matches_the_site_raises(chromium: Browser, server: DemoServer):
    with pytest.raises(ScriptError, match="no button 'Fly'"):
        await record("shop-1-b", server, chromium, moves=(Move(role="button", name="Fly"),))
    with pytest.raises(ScriptError, match="without an answer"):
        await record("shop-1-b", server, chromium, moves=(Move(role="link", name="Wear"),))


def test_the_bundled_runs_match_the_scripts():
    folder = resource("demo_runs")
    read = {
        path.name: native.parse(native.load(path, folder), load_sites()) for path in native.find_runs(folder)
    }
    assert set(read) == {f"demo-{name}" for name in ATTEMPTS}
    for name, attempt in ATTEMPTS.items():
        run = read[f"demo-{name}"]
        assert run.problems == ()
        assert (run.run.score == 1) is attempt.passes
        assert run.run.source == "demo"
        assert len(run.steps) == len(attempt.moves)
        sites = load_sites()
        assert {sites.site_of(step.url) for step in run.steps} == {attempt.task.site}
        assert all(step.screenshot in run.blobs and step.tree in run.blobs for step in run.steps)
    outcomes = Counter(run.run.outcome for run in read.values())
    assert outcomes[Outcome.STEP_LIMIT] == 3
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 3_000_000
