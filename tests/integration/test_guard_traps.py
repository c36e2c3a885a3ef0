"""Harmless-looking buttons that write: without a guard each of them does, with one nothing reaches the server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from playwright.async_api import Browser

from app.engine.browser.session import visit
from tests.support.trap_site import TRAPS, TrapSite, trap_site


@pytest.fixture(scope="module")
def site() -> Iterator[TrapSite]:
    with trap_site() as running:
        yield running


@pytest.mark.parametrize("name", TRAPS)
async def test_without_a_guard_each_trap_writes(chromium: Browser, site: TrapSite, name: str):
    site.reset()
    async with visit(chromium, keep_tabs=True) as tab:
        await tab.page.goto(f"{site.home}/trap/{name}")
        where = tab.page.frames[-1] if name == "other-frame" else tab.page
        await where.click("#more")
        await asyncio.to_thread(site.wait_for_write)
        assert site.wrote == (TRAPS[name].wrote,)
