"""A set-up begins the one episode of a page of MiniWoB++, and the page's own reward decides its run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser

from app.engine.browser.evidence_capture import capture_evidence
from app.engine.browser.network.write_guard import WriteGuard
from app.engine.browser.page_setups import apply_setup, setup_script
from app.engine.browser.session import BrowserSession, open_session
from app.engine.core.evaluation.run_evidence import RunEvidence, TargetEvidence
from app.engine.core.evaluation.suite import Dialect, HtmlTarget
from app.engine.core.evaluation.task_score import ScoreVerdict
from app.engine.evaluation.evaluate import EvaluatorOptions, evaluate
from app.engine.evaluation.suites.registry import read_suite
from app.errors import UsageError
from benchmarks.miniwob_suite import BEGUN, REWARD, document, read_tasks
from tests.support.miniwob import UTTERANCE, MiniWob, miniwob

TARGET = HtmlTarget(locator=REWARD, exact_match="1")


@pytest.fixture(scope="module")
def pages() -> Iterator[MiniWob]:
    with miniwob() as site:
        if site is None:
            pytest.skip("MiniWoB++ is not installed")
        yield site


async def _begin(session: BrowserSession, site: MiniWob, task: str, seed: int) -> str:
    await WriteGuard().watch(session)
    await apply_setup(session, f"miniwob:{seed}")
    await session.page.goto(site.page(task))
    await session.page.wait_for_function(BEGUN)
    return str(await session.page.evaluate(UTTERANCE))


async def _reward(session: BrowserSession) -> str | None:
    return (await capture_evidence(session, [("0", TARGET)])).targets[0].value


async def test_the_same_seed_begins_the_same_episode(chromium: Browser, pages: MiniWob) -> None:
    told: list[str] = []
    for seed in (3, 3, 4):
        async with open_session(chromium) as session:
            told.append(await _begin(session, pages, "enter-text", seed))
            assert not await session.page.locator("#sync-task-cover").is_visible()
            assert await session.page.evaluate("() => core.EPISODE_MAX_TIME") == 3_600_000
    assert told[0] == told[1] != told[2]


async def test_the_pages_own_reward_is_the_evidence(blank: BrowserSession, pages: MiniWob) -> None:
    told = await _begin(blank, pages, "enter-text", 3)
    assert await _reward(blank) == "0"
    await blank.page.fill("#tt", told.split('"')[1])
    await blank.page.click("#subbtn")
    assert await _reward(blank) == "1"


async def test_the_first_reward_stands_although_the_page_is_loaded_again(
    blank: BrowserSession, pages: MiniWob
) -> None:
    told = await _begin(blank, pages, "enter-text", 3)
    await blank.page.fill("#tt", "something else")
    await blank.page.click("#subbtn")
    assert await _reward(blank) == "0"
    await blank.page.reload()
    await blank.page.wait_for_function(BEGUN)
    await blank.page.fill("#tt", told.split('"')[1])
    await blank.page.click("#subbtn")
    assert await _reward(blank) == "0"


async def test_other_pages_are_left_alone(blank: BrowserSession) -> None:
    await apply_setup(blank, "miniwob:3")
    await blank.page.set_content("<title>Other</title><p>as it was</p>")
    assert "as it was" in await blank.page.content()
    assert await _reward(blank) == "0"


@pytest.mark.parametrize(
    "setup", ["webarena:1", "miniwob", "miniwob:", "miniwob:x", "miniwob:-1", "miniwob:1);x(", "alert(1)"]
)
def test_a_suite_can_bring_no_script_of_its_own(setup: str) -> None:
    with pytest.raises(UsageError):
        setup_script(setup)


def test_no_setup_is_no_script() -> None:
    assert setup_script("") == ""


async def test_the_suite_of_the_pages_is_one_that_the_program_reads(tmp_path: Path, pages: MiniWob) -> None:
    out = tmp_path / "suite.json"
    out.write_text(json.dumps(document(await read_tasks(pages, ["click-test-2"], range(2), tabs=1))))
    suite = read_suite(out)
    first, second = suite.tasks
    assert (first.id, second.id) == ("click-test-2.0", "click-test-2.1")
    assert (first.setup, second.setup, first.cluster) == ("miniwob:0", "miniwob:1", second.cluster)
    assert first.intent.startswith("Click button ")
    assert not first.writes
    rows = (("1", ScoreVerdict.PASS), ("0", ScoreVerdict.FAIL), (None, ScoreVerdict.UNDECIDED))
    for value, verdict in rows:
        evidence = RunEvidence(targets=(TargetEvidence(target="0", value=value),))
        assert evaluate(first, evidence, EvaluatorOptions(dialect=Dialect.WEBARENA)).verdict is verdict
