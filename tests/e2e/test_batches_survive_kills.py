"""The engine is killed repeatedly under a batch: every task is done, and each by one run."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from app.demo.server import DemoServer
from tests.support.kill_batches import kill_batch

pytestmark = pytest.mark.browser


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed in the way of POSIX")
@pytest.mark.timeout(900)
async def test_no_task_is_lost_and_none_is_done_twice(tmp_path: Path):
    async with await DemoServer.start() as server:
        found = await asyncio.to_thread(
            kill_batch, tmp_path / "workspace", server.shop_url, tasks=6, kills=3, seed=4
        )
    assert found.faults == []
    assert found.kills >= 1
    assert found.ended[-1] == 6
