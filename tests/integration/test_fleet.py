"""Supervised runs with real browsers: the wall, decisions, hints, pauses, takeovers, restarts."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
import pytest_asyncio

from app.engine.api.run_api import RunRequest
from app.engine.core.events import ActionPlanned, PageFrame
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.supervision import (
    ApprovalScope,
    DecisionKind,
    Need,
    OperatorAction,
    OperatorDecision,
    RequestState,
    RunState,
)
from app.errors import Conflict, UsageError
from tests.support.blocking_proxy import BlockingProxy, Door
from tests.support.operator_driver import Operator, asking, kitchen

BUTTON = (50.0, 212.0)
"""Where the captcha's button stands."""


@pytest_asyncio.fixture(loop_scope="session")
async def operator(tmp_path, chromium) -> AsyncIterator[Operator]:
    made = await Operator.at(tmp_path / "workspace")
    yield made
    await made.engine.aclose()


async def test_six_runs_at_once_two_of_them_blocked_stand_with_the_blocked_first(operator, server):
    port = int(server.shop_url.rstrip("/").rpartition(":")[2])
    with (
        BlockingProxy("127.0.0.1", port, Door(captcha="^/")) as walled,
        BlockingProxy("127.0.0.1", port, Door(modal="^/")) as covered,
    ):
        # No address does what a covered button would.
        tray = kitchen(f"{covered}product/oak-tray", intent="Put the Oak Tray into the basket", max_steps=8)
        runs = await operator.start(
            kitchen(server.shop_url), kitchen(server.shop_url), kitchen(walled),
            tray, kitchen(server.shop_url), kitchen(server.shop_url), at_once=6,
        )  # fmt: skip
        request = await operator.asked(runs[2])
        assert request.need is Need.WALL
        for run in (runs[0], runs[1], runs[4], runs[5]):
            assert (await operator.over(run)).outcome == "answered"
        flagged = await operator.until(runs[3], lambda row: bool(row.flags))
        assert flagged.flags[0].detector == "covered-element"
        assert flagged.flags[0].step == 0, "at the first step that gave evidence"
        assert (await operator.engine.live_runs())[0].run == runs[2]
        await operator.engine.end_run(runs[2])
        with suppress(Conflict):  # its eight steps may be over by now
            await operator.engine.end_run(runs[3])
        assert (await operator.over(runs[2])).outcome == "stopped"
        assert (await operator.over(runs[3])).outcome != "answered"


@pytest.mark.smoke
async def test_a_takeover_goes_from_the_wall_to_the_answer_and_leaves_a_tip_and_a_path(operator, server):
    port = int(server.shop_url.rstrip("/").rpartition(":")[2])
    with BlockingProxy("127.0.0.1", port, Door(captcha="^/")) as walled:
        (run,) = await operator.start(kitchen(walled, site="demo"))
        request = await operator.asked(run)
        await operator.engine.watch_page(run, 640, 400, 25)
        await operator.engine.take_over(run)
        assert (await operator.row(run)).state is RunState.TAKEN_OVER
        with pytest.raises(Conflict):
            await operator.engine.take_over(run)
        await operator.click(run, *BUTTON)
        await asyncio.sleep(1.5)
        account = await operator.engine.release(run)
        assert account.steps == 1
        assert "I am human" in account.words
        assert (await operator.over(run)).outcome == "answered"
        steps = (await operator.engine.open_run(run)).steps
        assert [step.by for step in steps][:2] == ["person", ""]
        settled = {one.id: one for one in await operator.engine.requests(run, closed=True)}
        assert settled[request.id].state is RequestState.CLOSED
        deeds = await operator.engine.interventions(run)
        assert [one.action for one in deeds] == [
            OperatorAction.ASKED,
            OperatorAction.TOOK_OVER,
            OperatorAction.RELEASED,
        ]
        assert deeds[0].author == "agent"
        draft = await operator.engine.draft_tip_from_takeover(run, account.first_step)
        assert "I am human" in draft.text
        assert (draft.site, draft.provenance.run) == ("demo", run)
        assert await operator.engine.takeover_to_graph(run, account.first_step) == 1
        assert (await operator.engine.graph_stats("demo")).row.transitions == 1
        assert operator.told(PageFrame), "the page was shown"


async def test_what_a_person_does_while_the_page_comes_into_their_hands_is_not_lost(operator, server):
    port = int(server.shop_url.rstrip("/").rpartition(":")[2])
    with BlockingProxy("127.0.0.1", port, Door(captcha="^/")) as walled:
        (run,) = await operator.start(kitchen(walled))
        await operator.asked(run)
        taking = asyncio.create_task(operator.engine.take_over(run))
        while (await operator.row(run)).state is not RunState.TAKEN_OVER:
            await asyncio.sleep(0)
        assert not taking.done(), "the page is looked at before anything is done to it"
        await operator.click(run, *BUTTON)
        account = await operator.engine.release(run)
        await taking
        assert account.steps == 1
        assert (await operator.over(run)).outcome == "answered"


@pytest.mark.smoke
async def test_an_action_that_is_denied_is_told_to_the_agent_and_one_approved_is_done(operator, server):
    await operator.engine.save_intervention_policy(asking(RiskClass.SENDS))
    task = RunRequest(
        intent="Add the Brass Lamp in size One size to the basket",
        start_url=server.shop_url, kb="none", max_steps=10,
    )  # fmt: skip
    (run,) = await operator.start(task)
    request = await operator.asked(run)
    assert (request.need, request.risk) == (Need.APPROVAL, RiskClass.SENDS)
    planned = [event.next for event in operator.told(ActionPlanned)][-1]
    assert planned.box is not None
    assert planned.call == request.call
    assert not server.state.in_baskets(), "nothing is done before it is decided"
    with pytest.raises(UsageError):
        await operator.engine.decide(
            request.id, OperatorDecision(kind=DecisionKind.EDIT, call='click("9999")')
        )
    await operator.engine.decide(request.id, OperatorDecision(kind=DecisionKind.DENY, text="not this one"))
    with pytest.raises(Conflict, match="decided already"):
        await operator.engine.decide(request.id, OperatorDecision(kind=DecisionKind.APPROVE))
    await operator.until(run, lambda row: row.step > request.step)
    step = (await operator.engine.live_run(run)).steps[request.step]
    assert (step.cause, "not this one" in step.error) == ("person", True)
    assert not server.state.in_baskets()
    again = await operator.until(run, lambda row: bool(row.needs) or not row.state.alive)
    if again.needs:
        await operator.engine.decide(
            again.needs[0].id, OperatorDecision(kind=DecisionKind.APPROVE, scope=ApprovalScope.RUN)
        )
        await operator.over(run)
        assert server.state.in_baskets()


async def test_a_paused_run_stands_still_steps_once_and_goes_on(operator, server):
    (run,) = await operator.start(kitchen(server.shop_url))
    await operator.until(run, lambda row: row.state is RunState.RUNNING)
    await operator.engine.pause_run(run)
    held = await operator.until(run, lambda row: row.state is RunState.PAUSED)
    await asyncio.sleep(1.2)
    later = await operator.row(run)
    assert later.step == held.step
    assert later.seconds - held.seconds < 0.5, "its clock stands still"
    assert later.held_seconds > held.held_seconds
    await operator.engine.step_run(run)
    stepped = await operator.until(
        run, lambda row: row.step > held.step and row.state in (RunState.PAUSED, RunState.ENDED)
    )
    assert stepped.step == held.step + 1
    await operator.engine.continue_run(run)
    assert (await operator.over(run)).outcome == "answered"


@pytest.mark.smoke
async def test_a_hint_is_given_to_the_next_step_and_becomes_a_draft(operator, server):
    (run,) = await operator.start(kitchen(server.shop_url))
    await operator.until(run, lambda row: row.state is RunState.RUNNING)
    await operator.engine.pause_run(run)
    await operator.until(run, lambda row: row.state is RunState.PAUSED)
    with pytest.raises(UsageError):
        await operator.engine.send_hint(run, "x" * 1_000_000)
    hint = await operator.engine.send_hint(run, "The number of things stands above the list.")
    assert (await operator.row(run)).hints == 1
    await operator.engine.continue_run(run)
    await operator.over(run)
    shown = [
        exposure.tip for step in (await operator.engine.open_run(run)).steps for exposure in step.exposures
    ]
    assert f"hint:{hint.id}" in shown
    assert (await operator.engine.live_run(run)).hints[0].taken_at > 0
    assert (await operator.engine.draft_tip_from_hint(hint.id)).text == hint.text


@pytest.mark.smoke
async def test_after_a_restart_a_waiting_run_is_there_with_its_request_and_a_decision_takes_it_up(
    tmp_path, chromium, server
):
    port = int(server.shop_url.rstrip("/").rpartition(":")[2])
    with BlockingProxy("127.0.0.1", port, Door(captcha="^/")) as walled:
        first = await Operator.at(tmp_path / "workspace")
        (run,) = await first.start(kitchen(walled))
        request = await first.asked(run)
        steps = (await first.row(run)).step
        await first.engine.aclose()
        second = await Operator.at(tmp_path / "workspace", recover=True)
        try:
            row = await second.row(run)
            assert (row.state, row.step) == (RunState.INTERRUPTED, steps)
            assert [need.id for need in row.needs] == [request.id]
            await second.engine.end_run(run)
            assert (await second.over(run)).outcome == "stopped"
            settled = await second.engine.requests(run, closed=True)
            assert [one.state for one in settled] == [RequestState.CLOSED]
        finally:
            await second.engine.aclose()


async def test_a_browser_that_is_killed_is_brought_back_and_the_run_is_answered(operator, server):
    (run,) = await operator.start(kitchen(server.shop_url))
    await operator.until(run, lambda row: row.state is RunState.RUNNING)
    await operator.engine.pause_run(run)
    await operator.until(run, lambda row: row.state is RunState.PAUSED)
    os.kill(operator.engine._fleet.get(run).page._browser.process, signal.SIGKILL)
    await operator.engine.continue_run(run)
    assert (await operator.over(run)).outcome == "answered"
    assert OperatorAction.MENDED in [one.action for one in await operator.engine.interventions(run)]


async def test_a_run_that_is_waited_for_is_done_once_and_stands_on_the_wall(operator, server):
    summary = await operator.engine.run_task(kitchen(server.shop_url, supervised=True))
    assert summary.outcome == "answered"
    (row,) = await operator.engine.live_runs()
    assert (row.run, row.state, row.outcome) == (summary.run, RunState.ENDED, "answered")


async def test_more_runs_than_are_allowed_wait_their_turn(operator, server):
    runs = await operator.start(*[kitchen(server.shop_url) for _ in range(3)], at_once=1)
    states = [row.state for row in await operator.engine.live_runs()]
    assert states.count(RunState.QUEUED) == 2
    await operator.engine.end_run(runs[2])
    assert (await operator.row(runs[2])).outcome == "stopped"
    for run in runs[:2]:
        assert (await operator.over(run)).outcome == "answered"
    await operator.engine.dismiss_run(runs[0])
    assert runs[0] not in [row.run for row in await operator.engine.live_runs()]


async def test_a_wrong_task_among_many_begins_none(operator, server):
    with pytest.raises(UsageError, match="task 2 of 2"):
        await operator.start(kitchen(server.shop_url), kitchen("not an address"))
    assert await operator.engine.live_runs() == []
