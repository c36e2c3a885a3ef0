"""A run that ends during a takeover: it ends, and the person's steps are kept."""

from __future__ import annotations

from dataclasses import replace

import pytest_asyncio

from app.engine.api.run_api import RunRequest
from app.engine.core.supervision import OperatorAction
from tests.support.blocking_proxy import BlockingProxy, Door
from tests.support.operator_driver import Operator

KITCHEN = "How many things are in the Kitchen department?"
BUTTON = (50.0, 212.0)
"""Position of the captcha's button."""


@pytest_asyncio.fixture(loop_scope="session")
async def operator(tmp_path, chromium):
    made = await Operator.at(tmp_path / "workspace")
    yield made
    await made.engine.aclose()


async def test_a_run_that_is_stopped_in_the_persons_hands_ends_and_keeps_what_they_did(operator, server):
    port = int(server.shop_url.rstrip("/").rpartition(":")[2])
    with BlockingProxy("127.0.0.1", port, Door(captcha="^/")) as walled:
        request = RunRequest(intent=KITCHEN, start_url=walled, kb="none")
        (run,) = await operator.start(replace(request, max_steps=8))
        await operator.asked(run)
        await operator.engine.take_over(run)
        await operator.click(run, *BUTTON)
        await operator.engine.end_run(run)
        row = await operator.over(run)
    assert row.outcome == "stopped"
    assert row.why == ""
    steps = (await operator.engine.open_run(run)).steps
    assert [step.by for step in steps] == ["person"]
    deeds = [one.action for one in await operator.engine.interventions(run)]
    assert deeds == [
        OperatorAction.ASKED,
        OperatorAction.TOOK_OVER,
        OperatorAction.RELEASED,
        OperatorAction.STOPPED,
    ]
