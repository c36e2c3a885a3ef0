"""The engine is killed repeatedly under supervised runs: acknowledged data survives, and every run resumes."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from app.demo.server import DemoServer
from tests.support.kill_supervised_runs import kill_over_and_over

pytestmark = pytest.mark.browser


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed in the way of POSIX")
@pytest.mark.timeout(900)
async def test_no_request_decision_hint_or_step_is_lost_and_every_run_is_gone_on_with(tmp_path: Path):
    async with await DemoServer.start() as server:
        found = await asyncio.to_thread(
            kill_over_and_over, tmp_path / "workspace", server.shop_url, runs=2, kills=3, seed=4
        )
    assert found.faults == []
    assert found.kills == 3
    assert sum(found.steps.values()) > 0
