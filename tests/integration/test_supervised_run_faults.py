"""Supervised runs whose browser dies or whose disk is full at a moment that is nobody's: seen, mended, nothing lost."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from app.demo.server import DemoServer
from app.engine.agent import health_probes
from app.engine.api.run_api import RunRequest
from app.engine.core.actions.types import Action, AskHuman, Stop, TakeNote, Wait
from app.engine.core.observation import AgentDecision, Observation
from app.engine.core.supervision import (
    DecisionKind,
    Need,
    OperatorAction,
    OperatorDecision,
    RequestState,
    RunState,
)
from app.engine.services import agent_runs
from app.engine.services.policy_factory import PolicyBundle
from tests.support.operator_driver import Operator

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are killed in the way of POSIX")


class Slow:
    """Waits on the page over and over, notes every third step, and stops in the end."""

    name = "slow"

    def __init__(self, steps: int, asks_at: int = -1) -> None:
        self._steps, self._asks_at = steps, asks_at

    async def decide(self, sight: Observation) -> AgentDecision:
        await asyncio.sleep(0.2)
        action: Action = Wait(0.1)
        if sight.step == self._asks_at and not sight.answers:
            action = AskHuman("Shall I go on?")
        elif sight.step >= self._steps:
            action = Stop("done")
        elif sight.step % 3 == 2:
            action = TakeNote(f"step {sight.step}")
        return AgentDecision(action=action)

    async def aclose(self) -> None:
        return None


@pytest_asyncio.fixture(loop_scope="session")
async def operator(
    tmp_path: Path, chromium: Browser, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Operator]:
    monkeypatch.setattr(agent_runs, "make_policy_bundle", lambda *_: PolicyBundle(Slow(12)))
    made = await Operator.at(tmp_path / "workspace")
    yield made
    await made.engine.aclose()


def walk(server: DemoServer) -> RunRequest:
    return RunRequest(intent="Wait a while", start_url=server.shop_url, kb="none", max_steps=40)


def kill_browser(operator: Operator, run: str) -> None:
    browser = operator.engine._fleet.get(run).page._browser
    assert browser is not None
    os.kill(browser.process, signal.SIGKILL)


async def mended(operator: Operator, run: str) -> None:
    async with asyncio.timeout(90):
        while OperatorAction.MENDED not in [one.action for one in await operator.engine.interventions(run)]:
            await asyncio.sleep(0.1)


async def test_a_browser_that_dies_in_a_persons_hands_comes_back_and_the_page_is_handed_back(
    operator: Operator, server: DemoServer
):
    (run,) = await operator.start(walk(server))
    await operator.until(run, lambda row: row.step > 1)
    await operator.engine.take_over(run)
    kill_browser(operator, run)
    await mended(operator, run)
    await operator.until(run, lambda row: row.state is RunState.TAKEN_OVER)
    await operator.click(run, 5.0, 5.0)
    account = await operator.engine.release(run)
    assert account.url_after.startswith(server.shop_url)
    assert (await operator.over(run)).outcome == "answered"
    steps = (await operator.engine.open_run(run)).steps
    assert [step.index for step in steps] == list(range(len(steps)))


async def test_a_browser_that_dies_while_a_question_is_open_is_back_before_it_is_answered(
    operator: Operator, server: DemoServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(agent_runs, "make_policy_bundle", lambda *_: PolicyBundle(Slow(6, asks_at=3)))
    (run,) = await operator.start(walk(server))
    request = await operator.asked(run)
    kill_browser(operator, run)
    await mended(operator, run)
    row = await operator.until(run, lambda row: row.state is RunState.WAITING)
    assert [need.id for need in row.needs] == [request.id]
    await operator.engine.decide(request.id, OperatorDecision(kind=DecisionKind.ANSWER, text="yes"))
    assert (await operator.over(run)).outcome == "answered"
    settled = {one.id: one.state for one in await operator.engine.requests(run, closed=True)}
    assert settled[request.id] is RequestState.CLOSED


async def test_a_disk_that_is_full_holds_the_run_before_its_next_action_and_it_goes_on_by_itself(
    operator: Operator, server: DemoServer, monkeypatch: pytest.MonkeyPatch
):
    full = ""
    monkeypatch.setattr(health_probes, "disk_problem", lambda _: full)
    monkeypatch.setattr(health_probes, "DISK_CHECK_SECONDS", 0.2)
    (run,) = await operator.start(walk(server))
    await operator.until(run, lambda row: row.step > 1)
    full = "the disk is full"
    row = await operator.until(run, lambda row: bool(row.needs) and row.state is RunState.WAITING)
    assert row.needs[0].need is Need.TROUBLE
    assert row.needs[0].why == "the disk is full"
    full = ""
    assert (await operator.over(run)).outcome == "answered"
    steps = (await operator.engine.open_run(run)).steps
    assert [step.index for step in steps] == list(range(13))


async def test_a_run_whose_browser_can_not_be_brought_back_waits_for_a_person_who_may_try_again(
    operator: Operator, server: DemoServer, monkeypatch: pytest.MonkeyPatch
):
    from app.engine.browser import session
    from app.engine.browser.launch.launcher import NoBrowser

    start = session.launch
    broken = False

    async def launch(*given: object, **named: object) -> object:
        if broken:
            raise NoBrowser("no browser could be started: it is not there")
        return await start(*given, **named)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(session, "launch", launch)
    (run,) = await operator.start(replace(walk(server), max_steps=60))
    await operator.until(run, lambda row: row.step > 1)
    broken = True
    kill_browser(operator, run)
    request = await operator.asked(run)
    assert request.need is Need.TROUBLE
    assert "3 times in a row" in request.question
    broken = False
    await operator.engine.decide(request.id, OperatorDecision(kind=DecisionKind.RETRY))
    assert (await operator.over(run)).outcome == "answered"
