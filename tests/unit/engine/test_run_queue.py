"""Who has a place in the queue: runs that work; not those that wait for a person, are paused or are taken over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.engine.core.actions.types import AskHuman, Click, Stop
from app.engine.core.events import ActionEnded, ActionPlanned
from app.engine.core.page_state import Challenge
from app.engine.core.supervision import DecisionKind, Need, OperatorDecision, RunState
from app.engine.services.supervision import fleet as fleet_module
from tests.support.browserless import Browserless
from tests.support.fake_executor import page_of
from tests.support.supervised_loop import ASKING, ORDERS, PAGES

ASKS = (AskHuman("Which?"), Stop("done"))
YES = OperatorDecision(kind=DecisionKind.ANSWER, text="this one")


@pytest.fixture
async def wall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Browserless]:
    made = await Browserless.at(tmp_path / "workspace", monkeypatch)
    yield made
    await made.engine.aclose()


@pytest.mark.parametrize(
    ("state", "counts"),
    [
        (RunState.QUEUED, False),
        (RunState.STARTING, True),
        (RunState.RUNNING, True),
        (RunState.RECOVERING, True),
        (RunState.PAUSED, False),
        (RunState.WAITING, False),
        (RunState.TAKEN_OVER, False),
        (RunState.ENDED, False),
        (RunState.INTERRUPTED, False),
    ],
)
def test_only_a_run_that_works_or_is_about_to_takes_a_place(state: RunState, counts: bool):
    assert state.counts_as_active is counts


async def test_runs_that_wait_for_a_person_give_up_their_places(wall: Browserless):
    asking = await wall.start(ASKS, ASKS, at_once=2)
    later = await wall.start((Stop("1"),), (Stop("2"),))
    for run in later:
        assert (await wall.over(run)).outcome == "answered"
    for run in asking:
        assert (await wall.row(run)).state is RunState.WAITING, "nobody has answered it"


async def test_a_paused_run_gives_up_its_place(wall: Browserless):
    (held,) = await wall.start((Click(0), Stop("")), at_once=1)
    await wall.engine.pause_run(held)
    await wall.until(held, lambda row: row.state is RunState.PAUSED)
    (other,) = await wall.start((Stop("1"),))
    assert (await wall.over(other)).outcome == "answered"
    assert (await wall.row(held)).state is RunState.PAUSED


async def test_who_is_answered_goes_on_at_once_and_nobody_begins_until_there_is_room_again(wall: Browserless):
    lets_first, lets_second = asyncio.Event(), asyncio.Event()
    first, second, third = await wall.start(
        (AskHuman("Which?"), lets_first, Stop("")), (lets_second, Stop("")), (Stop(""),), at_once=1
    )
    request = await wall.asked(first)
    await wall.until(second, lambda row: row.state is RunState.RUNNING)
    await wall.engine.decide(request.id, YES)
    await wall.until(first, lambda row: row.state is RunState.RUNNING)
    assert wall.going() == 2, "one more than may begin, for a person has answered it"
    lets_second.set()
    assert (await wall.over(second)).outcome == "answered"
    await wall.settled()
    assert (await wall.row(third)).state is RunState.QUEUED, "the one place is taken still"
    lets_first.set()
    assert (await wall.over(first)).outcome == "answered"
    assert (await wall.over(third)).outcome == "answered"


async def test_a_browser_of_a_waiting_run_counts_among_those_that_may_be_open(
    wall: Browserless, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fleet_module, "MAX_CONCURRENCY", 2)
    first, second, third = await wall.start(ASKS, ASKS, (Stop(""),), at_once=1)
    request = await wall.asked(first)
    await wall.asked(second)
    await wall.settled()
    assert (await wall.row(third)).state is RunState.QUEUED
    await wall.engine.decide(request.id, YES)
    assert (await wall.over(third)).outcome == "answered"


async def test_a_run_that_waits_at_a_wall_has_no_next_action(wall: Browserless):
    wall.pages = {**PAGES, ORDERS: page_of(ORDERS, title="Are you human?", challenge=Challenge.CAPTCHA)}
    (run,) = await wall.start((Click(0), Stop("")))
    assert (await wall.asked(run)).need is Need.WALL
    assert (await wall.engine.live_run(run)).next is None, "'Orders' was clicked; that is how it came here"
    said = [event for event in wall.events if isinstance(event, ActionPlanned | ActionEnded)]
    assert [type(event) for event in said] == [ActionPlanned, ActionEnded]


async def test_a_run_that_waits_for_approval_has_the_action_asked_about_as_its_next(wall: Browserless):
    await wall.engine.save_intervention_policy(ASKING)
    (run,) = await wall.start((Click(2), Stop("")))
    request = await wall.asked(run)
    planned = (await wall.engine.live_run(run)).next
    assert planned is not None
    assert planned.call == request.call
    await wall.engine.decide(request.id, OperatorDecision(kind=DecisionKind.DENY))
    await wall.over(run)
    assert (await wall.engine.live_run(run)).next is None


async def test_a_run_paused_after_a_step_has_no_next_action_until_it_decides(wall: Browserless):
    (run,) = await wall.start((Click(0), Click(0), Stop("")))
    await wall.engine.pause_run(run)
    await wall.until(run, lambda row: row.state is RunState.PAUSED)
    await wall.engine.step_run(run)
    await wall.until(run, lambda row: row.step == 1 and row.state is RunState.PAUSED)
    assert (await wall.engine.live_run(run)).next is None
