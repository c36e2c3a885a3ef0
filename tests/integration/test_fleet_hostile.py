"""An operator who is too quick, clumsy or hostile: supervised runs with real browsers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
import pytest_asyncio

from app.engine.api.run_api import RunRequest
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    OperatorAction,
    OperatorDecision,
    RunState,
    TakeoverSummary,
)
from app.errors import Conflict, NotFound, SiteloreError, StoreError, UsageError
from tests.support.blocking_proxy import BlockingProxy, Door
from tests.support.operator_driver import Operator, asking, kitchen


@pytest_asyncio.fixture(loop_scope="session")
async def operator(tmp_path, chromium) -> AsyncIterator[Operator]:
    made = await Operator.at(tmp_path / "workspace")
    yield made
    await made.engine.aclose()


@pytest.mark.smoke
async def test_a_run_that_is_stopped_as_soon_as_it_is_started_does_nothing(operator, server):
    (run,) = await operator.start(kitchen(server.shop_url))
    await operator.engine.end_run(run)
    row = await operator.over(run)
    assert (row.outcome, row.step) == ("stopped", 0)


async def test_a_run_that_is_paused_as_soon_as_it_is_started_is_held_before_its_first_action(
    operator, server
):
    (run,) = await operator.start(kitchen(server.shop_url))
    await operator.engine.pause_run(run)
    row = await operator.until(run, lambda row: row.state is RunState.PAUSED or not row.state.alive)
    assert (row.state, row.step) == (RunState.PAUSED, 0)
    await operator.engine.end_run(run)
    await operator.over(run)


async def test_a_supervised_run_that_is_waited_for_is_done_once(operator, server):
    summary = await operator.engine.run_task(kitchen(server.shop_url, supervised=True))
    assert summary.outcome == "answered"
    assert (await operator.row(summary.run)).outcome == "answered"


async def test_going_on_twice_with_a_run_that_broke_off_is_going_on_once(tmp_path, chromium, server):
    port = int(server.shop_url.rstrip("/").rpartition(":")[2])
    with BlockingProxy("127.0.0.1", port, Door(captcha="^/")) as walled:
        first = await Operator.at(tmp_path / "workspace")
        (run,) = await first.start(kitchen(walled))
        await first.asked(run)
        await first.engine.aclose()
        second = await Operator.at(tmp_path / "workspace", recover=True)
        try:
            await asyncio.gather(
                second.engine.continue_run(run), second.engine.continue_run(run), return_exceptions=True
            )
            row = await second.until(run, lambda row: row.state is RunState.WAITING)
            await asyncio.sleep(1)
            row = await second.row(run)
            assert row.state is RunState.WAITING, row
            assert len(await second.engine.requests(run)) == 1
            await second.engine.end_run(run)
            assert (await second.over(run)).outcome == "stopped"
        finally:
            await second.engine.aclose()


async def test_a_verb_that_decides_nothing_about_an_approval_is_refused_and_it_stays_open(operator, server):
    await operator.engine.save_intervention_policy(asking(RiskClass.SENDS))
    task = RunRequest(
        intent="Put the Oak Tray into the basket", start_url=server.shop_url, kb="none", max_steps=10
    )
    (run,) = await operator.start(task)
    request = await operator.asked(run)
    for decision in (
        OperatorDecision(kind=DecisionKind.RETRY),
        OperatorDecision(kind=DecisionKind.ANSWER, text="what?"),
        OperatorDecision(kind=DecisionKind.EDIT, call="buy everything"),
        OperatorDecision(kind=DecisionKind.EDIT, call="\0" * 9),
    ):
        with pytest.raises(UsageError):
            await operator.engine.decide(request.id, decision)
    assert [need.id for need in (await operator.row(run)).needs] == [request.id]
    assert not server.state.in_baskets()
    said = await asyncio.gather(
        operator.engine.decide(request.id, OperatorDecision(kind=DecisionKind.DENY)),
        operator.engine.decide(request.id, OperatorDecision(kind=DecisionKind.APPROVE)),
        operator.engine.end_run(run),
        return_exceptions=True,
    )
    assert [type(one) for one in said[:2]] == [ApprovalRequest, Conflict]
    assert (await operator.over(run)).outcome == "stopped"
    assert not server.state.in_baskets()


async def test_a_run_that_is_over_takes_no_more_deeds(operator, server):
    (run,) = await operator.start(kitchen(server.shop_url))
    await operator.over(run)
    before = await operator.engine.interventions(run)
    for deed in ("pause_run", "continue_run", "step_run", "end_run", "take_over", "release"):
        with pytest.raises(Conflict):
            await getattr(operator.engine, deed)(run)
    with pytest.raises(Conflict):
        await operator.engine.send_hint(run, "too late")
    with pytest.raises(NotFound):
        await operator.engine.watch_page("no such run", 100, 100, 1)
    assert await operator.engine.interventions(run) == before


async def test_a_run_stopped_while_its_page_comes_into_a_persons_hands_ends(operator, server):
    port = int(server.shop_url.rstrip("/").rpartition(":")[2])
    with BlockingProxy("127.0.0.1", port, Door(captcha="^/")) as walled:
        (run,) = await operator.start(kitchen(walled))
        await operator.asked(run)
        taking = asyncio.create_task(operator.engine.take_over(run))
        while (await operator.row(run)).state is not RunState.TAKEN_OVER:
            await asyncio.sleep(0)
        assert not taking.done()
        await operator.engine.end_run(run)
        row = await operator.over(run)
        with suppress(SiteloreError):
            await taking
        assert row.outcome == "stopped"
        assert not operator.engine._fleet.get(run).page.taken_over
        deeds = [one.action for one in await operator.engine.interventions(run)]
        assert deeds.count(OperatorAction.TOOK_OVER) == deeds.count(OperatorAction.RELEASED)


async def test_a_queued_run_of_another_process_is_seen_and_stopped_where_it_waits(tmp_path, chromium, server):
    port = int(server.shop_url.rstrip("/").rpartition(":")[2])
    with BlockingProxy("127.0.0.1", port, Door(held="^/product/")) as silent:
        first = await Operator.at(tmp_path / "workspace")
        second = None
        try:
            busy, waiting, late = await first.start(
                kitchen(silent, intent="Put the Oak Tray into the basket"),
                kitchen(server.shop_url),
                kitchen(server.shop_url),
                at_once=1,
            )
            await first.until(busy, lambda row: row.step > 0)
            second = await Operator.at(tmp_path / "workspace")
            assert await second.engine.recover(automatically=True) == [], "a process holds them"
            assert (await second.row(waiting)).state is RunState.QUEUED
            await second.engine.end_run(waiting)
            assert (await first.over(waiting)).outcome == "stopped"
            await second.engine.aclose()
            await first.engine.aclose()
            second = await Operator.at(tmp_path / "workspace", recover=True)
            states = {row.run: row.state for row in await second.engine.live_runs()}
            assert states == {busy: RunState.INTERRUPTED, late: RunState.QUEUED}
        finally:
            if second is not None:
                await second.engine.aclose()
            await first.engine.aclose()


async def test_a_program_that_is_closed_in_a_persons_hands_leaves_one_request_and_what_they_did(
    tmp_path, chromium, server
):
    port = int(server.shop_url.rstrip("/").rpartition(":")[2])
    with BlockingProxy("127.0.0.1", port, Door(captcha="^/", modal="")) as walled:
        first = await Operator.at(tmp_path / "workspace")
        (run,) = await first.start(kitchen(walled))
        asked = await first.asked(run)
        await first.engine.take_over(run)
        await first.click(run, 600, 500)
        await first.engine.aclose()
        second = await Operator.at(tmp_path / "workspace", recover=True)
        try:
            assert (await second.row(run)).state is RunState.INTERRUPTED
            assert [step.by for step in (await second.engine.open_run(run)).steps] == ["person"]
            await second.engine.continue_run(run)
            again = await second.until(run, lambda row: row.state is RunState.WAITING)
            assert [need.id for need in again.needs] != [asked.id]
            assert await second.engine.requests(run) == list(again.needs), "the one of before is closed"
        finally:
            await second.engine.aclose()


async def test_a_page_is_handed_back_once_and_all_runs_are_held_from_their_start(operator, server):
    port = int(server.shop_url.rstrip("/").rpartition(":")[2])
    with BlockingProxy("127.0.0.1", port, Door(captcha="^/")) as walled:
        (run,) = await operator.start(kitchen(walled))
        assert await operator.engine.pause_all() == 1, "one that starts is held, too"
        await operator.until(run, lambda row: row.state is RunState.PAUSED)
        await operator.engine.continue_run(run)
        await operator.asked(run)
        await operator.engine.take_over(run)
        said = await asyncio.gather(*(operator.engine.release(run) for _ in range(2)), return_exceptions=True)
        assert [type(one) for one in said] == [TakeoverSummary, Conflict]
        deeds = [one.action for one in await operator.engine.interventions(run)]
        assert deeds.count(OperatorAction.RELEASED) == 1
        await operator.engine.end_run(run)
        await operator.over(run)


async def test_a_full_disk_does_not_keep_a_run_in_a_persons_hands_from_being_stopped(
    operator, server, monkeypatch
):
    monkeypatch.setattr("app.engine.services.supervision.supervised_page.TAKEOVER_END_TIMEOUT", 2.0)
    port = int(server.shop_url.rstrip("/").rpartition(":")[2])
    with BlockingProxy("127.0.0.1", port, Door(captcha="^/")) as walled:
        (run,) = await operator.start(kitchen(walled))
        await operator.asked(run)
        await operator.engine.take_over(run)
        live = operator.engine._fleet.get(run).live

        def full(*_: object) -> None:
            raise StoreError("the disk is full")

        monkeypatch.setattr(live, "append", full)
        await operator.click(run, 600, 500)
        async with asyncio.timeout(20):
            await operator.engine.end_run(run)
        row = await operator.over(run)
        assert row.outcome == "stopped"
