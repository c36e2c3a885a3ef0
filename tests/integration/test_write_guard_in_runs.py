"""The write guard is active in every run: a harmless-looking button can't write, whoever pressed it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from app.engine.core.actions.types import Stop
from app.engine.engine import Engine
from tests.support.agent_bench import AgentBench, click
from tests.support.trap_site import trap_site


@pytest_asyncio.fixture(loop_scope="session")
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    opened = await Engine.open(tmp_path / "workspace")
    yield opened
    await opened.aclose()


@pytest.mark.parametrize("name", ["xhr", "form"])
async def test_a_harmless_button_of_a_page_writes_nothing_in_a_run(
    engine: Engine, chromium: Browser, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    desk = AgentBench(engine, monkeypatch)
    desk.share(chromium)
    with trap_site() as site:
        went = await desk.go(f"{site.home}/trap/{name}", [click("Show more"), Stop("42")], intent="How many?")
        assert site.wrote == ()
    assert went.steps[0].words == "click button 'Show more'"
    assert went.run.answer == "42"
