"""A run whose process is killed at any moment resumes from disk; only the step in flight is lost."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from app.demo.server import DemoServer
from tests.support.long_run import STEPS, survive

pytestmark = pytest.mark.browser


@pytest.mark.skipif(sys.platform == "win32", reason="process groups are killed in the way of POSIX")
@pytest.mark.timeout(900)
async def test_a_run_killed_again_and_again_ends_with_every_step_once(tmp_path: Path):
    async with await DemoServer.start() as server:
        found = await asyncio.to_thread(survive, tmp_path / "workspace", server.shop_url, 4, seed=5)
    assert found.faults == []
    assert found.kills == 4
    assert (found.outcome, found.steps) == ("answered", STEPS)
    assert found.answer == f"{STEPS - 1} steps remembered"
