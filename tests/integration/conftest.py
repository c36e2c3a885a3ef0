"""One Chromium and one loop for the whole session; a shop and a browser session for every test."""

from __future__ import annotations

import inspect
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from app.demo.server import HOST, DemoServer
from app.engine.browser.launch.launcher import NoBrowser, launch
from app.engine.browser.launch.playwright_process import PlaywrightProcess
from app.engine.browser.session import BrowserSession, open_session
from tests.support.browser_walker import Walker

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.browser)
            if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
                item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    async with PlaywrightProcess() as playwright:
        try:
            browser, _ = await launch(playwright)
        except NoBrowser as missing:
            if os.environ.get(
                "CI"
            ):  # set-up installs a browser there: a missing one is a fault, not a reason to skip
                raise
            pytest.skip(str(missing))
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def server() -> AsyncIterator[DemoServer]:
    async with await DemoServer.start() as running:
        yield running


@asynccontextmanager
async def walking(browser: Browser) -> AsyncIterator[Walker]:
    async with open_session(browser, keep_tabs=True) as tab:
        errors: list[str] = []
        tab.page.on("pageerror", lambda error: errors.append(str(error)))
        tab.page.on("request", lambda request: errors.extend(_strange(request.url)))
        yield Walker(tab)
        assert errors == []


def _strange(url: str) -> list[str]:
    return [] if url.startswith((f"http://{HOST}:", "data:", "about:")) else [f"asked for {url}"]


@pytest_asyncio.fixture(loop_scope="session")
async def shop(chromium: Browser, server: DemoServer) -> AsyncIterator[Walker]:
    """At the shop's first page."""
    async with walking(chromium) as walker:
        await walker.go(server.shop_url + "/")
        yield walker


@pytest_asyncio.fixture(loop_scope="session")
async def admin(chromium: Browser, server: DemoServer) -> AsyncIterator[Walker]:
    """Signed in, on the dashboard."""
    async with walking(chromium) as walker:
        await walker.go(server.admin_url + "/admin")
        await walker.do("click", "button", "Sign in")
        yield walker


@pytest_asyncio.fixture(loop_scope="session")
async def blank(chromium: Browser) -> AsyncIterator[BrowserSession]:
    """An empty tab."""
    async with open_session(chromium, keep_tabs=True) as tab:
        yield tab
