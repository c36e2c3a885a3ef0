"""Where a request is known: among the rows, or with the service where the disk did not take it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from app.engine.agent import run_control as control_module
from app.engine.core.actions.types import Click, Stop
from app.engine.core.events import RequestChanged
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    Need,
    OperatorDecision,
    RequestState,
    RunState,
)
from app.engine.core.trajectory import Step
from app.engine.services.agent_runs import StoredRunRecorder
from app.errors import Conflict, NotFound, StoreError, UsageError
from tests.support.browserless import Browserless
from tests.support.supervised_loop import ASKING

YES = OperatorDecision(kind=DecisionKind.APPROVE)
RETRY = OperatorDecision(kind=DecisionKind.RETRY)


@pytest.fixture
async def wall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Browserless]:
    made = await Browserless.at(tmp_path / "workspace", monkeypatch)
    yield made
    await made.engine.aclose()


class FullDisk:
    """A disk that takes neither a step nor a row while ``full``."""

    def __init__(self, wall: Browserless, patch: pytest.MonkeyPatch) -> None:
        self._core, self.full = wall.engine._core, False
        append = StoredRunRecorder.append

        async def refusing(recorder: StoredRunRecorder, step: Step, blobs: Mapping[str, bytes]) -> None:
            if self.full:
                raise StoreError("No space left on device")
            await append(recorder, step, blobs)

        patch.setattr(StoredRunRecorder, "append", refusing)
        patch.setattr(control_module, "RETRY_SECONDS", 100.0)

    async def fill(self, *, full: bool = True) -> None:
        self.full = full
        connection = self._core.workspace.supervision.connection
        await self._core.on_store(connection.execute, f"PRAGMA query_only = {int(full)}")


@pytest.fixture
async def disk(wall: Browserless, monkeypatch: pytest.MonkeyPatch) -> FullDisk:
    return FullDisk(wall, monkeypatch)


async def next_request(wall: Browserless, run: str, *before: ApprovalRequest) -> ApprovalRequest:
    known = {one.id for one in before}
    row = await wall.until(
        run, lambda row: row.state is RunState.WAITING and any(need.id not in known for need in row.needs)
    )
    return next(need for need in row.needs if need.id not in known)


async def test_a_run_that_breaks_off_while_it_waits_still_shows_its_request_and_goes_on_with_the_answer(
    wall: Browserless,
):
    await wall.engine.save_intervention_policy(ASKING)
    (run,) = await wall.start((Click(2), Stop("done")))
    request = await next_request(wall, run)
    (job,) = [job for job in wall.engine.registry.jobs if job.title.startswith("Run:")]
    await wall.engine.cancel_job(job.id)
    row = await wall.until(run, lambda row: row.state is RunState.INTERRUPTED)
    assert [need.id for need in row.needs] == [request.id]
    assert [one.id for one in await wall.engine.requests(run)] == [request.id]
    await wall.engine.decide(request.id, YES)
    ended = await wall.until(run, lambda row: row.state is RunState.ENDED)
    assert (ended.outcome, ended.needs) == ("answered", ())
    (settled,) = await wall.engine.requests(run, closed=True)
    assert (settled.id, settled.state) == (request.id, RequestState.CLOSED)


async def test_a_person_may_try_again_what_could_not_even_be_written_down(wall: Browserless, disk: FullDisk):
    acts = asyncio.Event()
    (run,) = await wall.start((acts, Stop("42")))
    await wall.until(run, lambda row: row.state is RunState.RUNNING)
    await disk.fill()
    acts.set()
    held = await next_request(wall, run)
    assert held.need is Need.TROUBLE
    assert held.id in [one.id for one in await wall.engine.requests(run)]
    assert held.id in [one.id for one in (await wall.engine.live_run(run)).requests]
    with pytest.raises(UsageError, match="does not fit this trouble"):
        await wall.engine.decide(held.id, OperatorDecision(kind=DecisionKind.NO_WALL))
    decided = await wall.engine.decide(held.id, RETRY)
    assert (decided.state, decided.decision.author if decided.decision else "") == (
        RequestState.DECIDED,
        "ana",
    )
    with pytest.raises(Conflict, match="decided already by ana: retry"):
        await wall.engine.decide(held.id, OperatorDecision(kind=DecisionKind.DENY))
    second = await next_request(wall, run, held)
    await disk.fill(full=False)
    await wall.engine.decide(second.id, RETRY)
    assert (await wall.over(run)).outcome == "answered"
    assert await wall.engine.requests(run) == []
    said = [
        event.request.state
        for event in wall.events
        if isinstance(event, RequestChanged) and event.request.id == held.id
    ]
    assert said == [RequestState.OPEN, RequestState.DECIDED, RequestState.CLOSED]
    with pytest.raises(NotFound):
        await wall.engine.decide(held.id, RETRY)
