"""The exploration of a real shop: nothing of it is changed, and a link crawler finds no kind of page beside ours.

It takes a started shop (``tests.support.shop``); without one there is nothing to explore.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser

from app.engine.core.transition import SkipReason
from benchmarks.exploration import leave
from tests.support.exploration_process import expedition
from tests.support.link_crawler import crawl
from tests.support.shop import ADMIN, Shop, difference, record_login, started_shop

DEPTH = 1


@pytest.fixture(scope="module")
def started() -> Iterator[Shop]:
    with started_shop() as found:
        if found is None:
            pytest.skip("there is no shop, and none could be installed")
        yield found


@pytest.mark.timeout(1800)
async def test_a_visitor_finds_every_kind_of_page_and_leaves_no_trace(started: Shop, tmp_path: Path):
    before = started.rows()
    found = await expedition(started.url, tmp_path, depth=DEPTH)
    links = await asyncio.to_thread(crawl, started.url, DEPTH, leave=leave)
    assert found.report.ended == "done"
    assert found.report.tokens == 0
    both = found.templates & links.templates.keys()
    assert len(both) >= 0.98 * len(links.templates), links.templates.keys() - found.templates
    assert found.report.interaction_only > 0
    assert difference(before, started.rows()) == []


@pytest.mark.timeout(1800)
async def test_the_manager_explores_the_back_office_and_nothing_is_destroyed(
    started: Shop, chromium: Browser, tmp_path: Path
):
    login = await record_login(chromium, started.url, ADMIN, tmp_path / "login.json")
    kept = login.read_bytes()
    before = started.rows()
    home = f"{started.url.rstrip('/')}/dashboard/"
    found = await expedition(home, tmp_path / "w", depth=DEPTH, storage_state=str(login))
    assert found.report.ended == "done"
    assert "/dashboard/catalogue" in found.addresses
    assert found.report.interaction_only > 0
    assert found.report.skipped.get(SkipReason.DANGER, 0) > 0
    assert difference(before, started.rows()) == []
    assert login.read_bytes() == kept
    assert not [
        path for path in (tmp_path / "w").rglob("*") if path.is_file() and b"sessionid" in path.read_bytes()
    ]
