"""One decision for equal requests (``decide_all``): none where they differ, and each by itself where they do not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.engine.core.actions.types import AskHuman, Stop
from app.engine.core.request_groups import inbox_groups
from app.engine.core.supervision import (
    ApprovalScope,
    DecisionKind,
    OperatorDecision,
    RequestState,
)
from app.engine.engine import Engine
from app.errors import Conflict, UsageError
from tests.support.browserless import Browserless

YES = OperatorDecision(kind=DecisionKind.ANSWER, text="the blue one")
MOVES = (AskHuman("Which one?"), Stop("done"))


@pytest.fixture
async def wall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Browserless]:
    made = await Browserless.at(tmp_path / "workspace", monkeypatch)
    yield made
    await made.engine.aclose()


async def asked(wall: Browserless, count: int, **more: object) -> dict[str, str]:
    """So many runs that ask, with their requests."""
    runs = await wall.start(*[MOVES] * count, at_once=8, **more)
    return {run: (await wall.asked(run)).id for run in runs}


async def test_one_answer_reaches_every_run_of_the_task(wall: Browserless):
    requests = await asked(wall, 4, intent="Buy a bowl", site="shop")
    (group,) = inbox_groups(await wall.engine.live_runs())
    assert set(group.runs) == set(requests)
    results = await wall.engine.decide_all([one.id for one in group.requests], YES)
    assert [one.error for one in results] == [""] * 4
    assert {one.run for one in results} == set(requests)
    for run in requests:
        assert (await wall.over(run)).why == "done"
        (request,) = await wall.engine.requests(run, closed=True)
        assert request.decision is not None
        assert (request.decision.text, request.decision.author) == ("the blue one", "ana")


async def test_runs_with_other_tasks_are_asked_one_by_one(wall: Browserless):
    requests = await asked(wall, 2, site="shop")
    assert len(inbox_groups(await wall.engine.live_runs())) == 2
    with pytest.raises(UsageError, match="not equal"):
        await wall.engine.decide_all(list(requests.values()), YES)
    assert all(one.state is RequestState.OPEN for one in await wall.engine.requests())
    assert len(await wall.engine.requests()) == 2, "nothing was decided"


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (OperatorDecision(kind=DecisionKind.ANSWER), "the answer is empty"),
        (OperatorDecision(kind=DecisionKind.RETRY), "does not fit"),
        (OperatorDecision(kind=DecisionKind.NO_WALL), "does not fit"),
    ],
)
async def test_a_decision_that_does_not_fit_decides_none(
    wall: Browserless, decision: OperatorDecision, words: str
):
    requests = await asked(wall, 2, intent="Buy a bowl", site="shop")
    with pytest.raises(UsageError, match=words):
        await wall.engine.decide_all(list(requests.values()), decision)
    assert len(await wall.engine.requests()) == 2
    with pytest.raises(UsageError, match="no request"):
        await wall.engine.decide_all([], YES)


async def test_one_that_was_decided_closed_or_never_made_keeps_none_of_the_others(wall: Browserless):
    requests = await asked(wall, 4, intent="Buy a bowl", site="shop")
    first, second, third, fourth = requests
    await wall.engine.decide(requests[first], YES)
    await wall.engine.end_run(second)
    await wall.over(second)
    given = [*requests.values(), requests[third], "req-none"]
    results = await wall.engine.decide_all(given, YES)
    assert [one.request for one in results] == [*requests.values(), "req-none"], "each once"
    assert "already" in results[0].error or "closed" in results[0].error
    assert "closed" in results[1].error
    assert (results[2].error, results[3].error) == ("", "")
    assert "no request" in results[4].error
    assert [(await wall.over(run)).why for run in (third, fourth)] == ["done"] * 2


async def test_two_who_decide_at_once_are_both_told_what_counts(wall: Browserless):
    requests = await asked(wall, 3, intent="Buy a bowl", site="shop")
    other = OperatorDecision(kind=DecisionKind.ANSWER, text="the red one", author="ben")
    await wall.engine.decide(list(requests.values())[1], other)
    results = await wall.engine.decide_all(list(requests.values()), YES)
    assert [bool(one.error) for one in results] == [False, True, False]
    with pytest.raises(Conflict):
        await wall.engine.decide(results[1].request, YES)


async def test_runs_of_another_process_take_the_decision_as_from_a_single_one(wall: Browserless):
    requests = await asked(wall, 3, intent="Buy a bowl", site="shop")
    elsewhere = await Engine.open(wall.engine._core.workspace.path, author="ben")
    try:
        groups = inbox_groups(await elsewhere.live_runs())
        async with asyncio.timeout(60):  # their rows are stored a moment after they ask
            while [len(one.requests) for one in groups] != [3]:
                await asyncio.sleep(0.05)
                groups = inbox_groups(await elsewhere.live_runs())
        results = await elsewhere.decide_all([one.id for one in groups[0].requests], YES)
        assert [one.error for one in results] == [""] * 3
    finally:
        await elsewhere.aclose()
    for run in requests:
        assert (await wall.over(run)).why == "done"


async def test_a_rule_for_the_site_is_made_once(wall: Browserless):
    requests = await asked(wall, 2, intent="Buy a bowl", site="shop")
    for_site = OperatorDecision(kind=DecisionKind.APPROVE, scope=ApprovalScope.SITE)
    results = await wall.engine.decide_all(list(requests.values()), for_site)
    scopes = [one.decided.decision.scope for one in results if one.decided and one.decided.decision]
    assert scopes == [ApprovalScope.SITE, ApprovalScope.ONCE]
