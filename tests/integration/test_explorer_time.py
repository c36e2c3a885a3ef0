"""With a real browser an exploration ends within five seconds of its limit, whatever a page or the browser does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from app.engine.api.graph_api import ExploreOptions, ExploreReport
from app.engine.browser import browser_pool
from app.engine.browser.session import open_browser, open_session
from app.engine.engine import Engine
from app.errors import SiteloreError
from tests.support.bad_site import BadSite

LIMIT, GRACE = 10.0, 5.0
SHORT = 3.0


@pytest_asyncio.fixture(loop_scope="session")
async def bad() -> AsyncIterator[BadSite]:
    async with await BadSite.start() as site:
        yield site


@pytest_asyncio.fixture(loop_scope="session")
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    engine = await Engine.open(tmp_path / "workspace", author="mina")
    yield engine
    await engine.aclose()


async def timed(engine: Engine, url: str, seconds: float) -> tuple[ExploreReport, float]:
    """An exploration by the engine, browser start and end included, and how long it took."""
    began = time.monotonic()
    options = ExploreOptions(depth=2, max_seconds=seconds, workers=2, pictures=False)
    async with asyncio.timeout(seconds + 60):
        report = await engine.explore(url, "bad", options)
    return report, time.monotonic() - began


def many(*cases: str, times: int = 8) -> tuple[str, ...]:
    """Each case at so many addresses: more than there is time for."""
    return tuple(f"{case}?n={number}" for number in range(times) for case in cases)


@pytest.mark.parametrize(
    "cases",
    [("alerts", "keeps-you"), ("hangs", "crash"), ("never-settles", "grows", "moves"), ("silent", "slow")],
    ids=lambda cases: "+".join(cases),
)
async def test_hostile_pages_cost_no_more_than_the_limit_and_five_seconds(
    bad: BadSite, engine: Engine, cases: tuple[str, ...]
) -> None:
    report, took = await timed(engine, bad.entry(*many(*cases)), LIMIT)

    assert took < LIMIT + GRACE
    assert report.ended == "seconds"
    assert report.states >= 1
    assert report.frontier > 0, "what was not tried waits for whoever goes on"


async def test_a_tab_that_takes_too_long_ends_with_the_time_and_not_as_a_failure(
    bad: BadSite, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    @asynccontextmanager
    async def slow(*given: Any, **more: Any) -> AsyncIterator[Any]:
        asked.append(time.monotonic())
        await asyncio.sleep(10)
        async with open_session(*given, **more) as tab:
            yield tab

    monkeypatch.setattr(browser_pool, "open_session", slow)
    monkeypatch.setattr(browser_pool, "OPEN_TIMEOUT", 0.2)
    report, took = await timed(engine, bad.entry(), LIMIT)

    assert took < LIMIT + GRACE
    assert report.ended == "seconds"
    assert len(asked) >= 2, "two slow tabs are no reason to stop while there is time"
    assert not any("could be started any more" in note for note in report.notes)


async def test_a_browser_that_starts_too_slowly_is_given_up_in_time(
    bad: BadSite, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asynccontextmanager
    async def slow(*given: Any, **more: Any) -> AsyncIterator[Any]:
        await asyncio.sleep(30)
        async with open_browser(*given, **more) as browser:
            yield browser

    monkeypatch.setattr(browser_pool, "open_browser", slow)
    began = time.monotonic()
    with pytest.raises(SiteloreError, match="did not start within the time limit of 3 s"):
        await engine.explore(bad.entry(), "bad", ExploreOptions(max_seconds=SHORT))

    assert time.monotonic() - began < SHORT + GRACE
