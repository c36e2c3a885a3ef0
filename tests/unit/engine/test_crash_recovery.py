"""Runs that a process left behind stand on the wall as they were; those that were going are gone on with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from app.engine.api.run_api import RunRequest
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    Hint,
    LiveRow,
    Need,
    OperatorDecision,
    RunState,
    Stage,
)
from app.engine.core.trajectory import Outcome
from app.engine.services.core import Core
from app.engine.services.supervision.crash_recovery import recover_runs
from app.engine.store.run_writer import RunWriter, request_file
from app.engine.store.supervision.supervision_state import LiveRunSnapshot
from app.errors import Conflict
from tests.support.runs import make_run, make_step

REQUEST = RunRequest(intent="Find it", start_url="http://shop.example/")


@dataclass
class Wall:
    """Rows put into the fleet and runs resumed, in order."""

    core: Core
    rows: dict[str, LiveRow] = field(default_factory=dict[str, LiveRow])
    went_on: list[str] = field(default_factory=list[str])
    refuses: str = ""

    def put(self, row: LiveRow, request: RunRequest) -> None:
        assert request.intent == REQUEST.intent
        self.rows[row.run] = row

    async def resume(self, run: str) -> None:
        assert run in self.rows
        if run == self.refuses:
            raise Conflict("another process took it")
        self.went_on.append(run)

    async def recover(self, *, automatically: bool = True) -> dict[str, LiveRow]:
        rows = await recover_runs(self.core, self.put, self.resume, automatically=automatically)
        assert {row.run: row for row in rows} == self.rows
        return self.rows

    def left(self, run: str, state: RunState, steps: int = 2, outcome: Outcome | None = None) -> None:
        """A run whose process died in this state, or after it had ended."""
        workspace = self.core.workspace
        live = RunWriter.begin(workspace, make_run(run), request_file(REQUEST))
        for number in range(steps):
            live.append(make_step(number))
        if outcome is not None:
            live.finish(replace(live.run, outcome=outcome))
        else:
            live.close()
        self.noted(run, state)

    def noted(self, run: str, state: RunState, request: RunRequest | None = REQUEST) -> None:
        """Return a run's stored rows."""
        row = LiveRow(
            run=run,
            intent=REQUEST.intent,
            state=state,
            stage=Stage.THINKING,
            stage_since=9.0,
            step=1,
            why="old",
        )
        self.core.workspace.supervision.save_snapshot(
            LiveRunSnapshot(run=run, row=row, request=request, at=9.0)
        )

    def asked(self, run: str, name: str, *, decided: bool = False) -> None:
        """A request of a run."""
        desk = self.core.workspace.supervision
        desk.open_request(ApprovalRequest(id=name, run=run, need=Need.APPROVAL, step=2, question="May it?"))
        if decided:
            desk.decide(name, OperatorDecision(kind=DecisionKind.APPROVE, author="ana", at=1.0))


@pytest.fixture
async def wall(tmp_path: Path) -> AsyncIterator[Wall]:
    core = await Core.open(tmp_path / "workspace", "ana")
    yield Wall(core)
    await core.aclose()


async def did(wall: Wall, *deeds: object) -> None:
    def doing() -> None:
        for deed in deeds:
            assert callable(deed)
            deed()

    await wall.core.on_store(doing)


async def test_runs_that_were_going_are_gone_on_with_and_held_ones_wait_for_a_person(wall: Wall):
    await did(wall, *(lambda state=state: wall.left(state.name, state) for state in RunState if state.alive))
    rows = await wall.recover()
    assert wall.went_on == ["QUEUED", "STARTING", "RUNNING", "RECOVERING"]
    assert {row.state for row in rows.values()} == {RunState.INTERRUPTED}
    assert {row.step for row in rows.values()} == {2}
    assert {row.stage for row in rows.values()} == {Stage.IDLE}
    assert rows["RUNNING"].why == "the program ended in the middle of the run"
    assert rows["PAUSED"].why == "it was paused when the program ended"
    assert rows["TAKEN_OVER"].why == "it was taken over when the program ended"


async def test_after_a_start_by_hand_nothing_goes_on_by_itself(wall: Wall):
    await did(wall, lambda: wall.left("one", RunState.RUNNING), lambda: wall.noted("two", RunState.QUEUED))
    rows = await wall.recover(automatically=False)
    assert wall.went_on == []
    assert {run: row.state for run, row in rows.items()} == {
        "one": RunState.INTERRUPTED,
        "two": RunState.QUEUED,
    }


async def test_a_run_that_broke_off_before_stays_so_with_its_reason(wall: Wall):
    await did(wall, lambda: wall.left("one", RunState.INTERRUPTED))
    assert (await wall.recover())["one"].why == "old"
    assert wall.went_on == []


async def test_a_run_that_waits_keeps_its_request_and_its_hints(wall: Wall):
    hint = Hint(id="h", run="one", step=1, text="try the menu")
    await did(
        wall,
        lambda: wall.left("one", RunState.WAITING),
        lambda: wall.asked("one", "r1"),
        lambda: wall.core.workspace.supervision.add_hint(hint),
    )
    row = (await wall.recover())["one"]
    assert wall.went_on == []
    assert [need.id for need in row.needs] == ["r1"]
    assert row.hints == 1


async def test_a_run_whose_request_was_decided_goes_on(wall: Wall):
    await did(wall, lambda: wall.left("one", RunState.WAITING), lambda: wall.asked("one", "r1", decided=True))
    row = (await wall.recover())["one"]
    assert wall.went_on == ["one"]
    assert row.needs == ()


async def test_a_run_that_had_not_begun_is_begun(wall: Wall):
    await did(wall, lambda: wall.noted("one", RunState.QUEUED), lambda: wall.noted("two", RunState.STARTING))
    rows = await wall.recover()
    assert {row.state for row in rows.values()} == {RunState.QUEUED}
    assert wall.went_on == ["one", "two"]


@pytest.mark.parametrize("state", [RunState.RUNNING, RunState.WAITING, RunState.ENDED])
async def test_a_run_that_ended_is_taken_off_and_what_it_asked_is_closed(wall: Wall, state: RunState):
    await did(
        wall,
        lambda: wall.left("one", state, outcome=Outcome.ANSWERED),
        lambda: wall.asked("one", "r1"),
    )
    assert await wall.recover() == {}
    desk = wall.core.workspace.supervision
    assert await wall.core.on_store(lambda: (desk.snapshots(), desk.requests("one"))) == ([], [])


async def test_a_note_of_which_there_is_nothing_left_is_dropped(wall: Wall):
    await did(
        wall,
        lambda: wall.noted("one", RunState.RUNNING),
        lambda: wall.noted("two", RunState.QUEUED, request=None),
    )
    assert await wall.recover() == {}


async def test_a_run_that_another_process_works_on_is_left_to_it(wall: Wall):
    def working() -> RunWriter:
        live = RunWriter.begin(wall.core.workspace, make_run("one"), request_file(REQUEST))
        wall.noted("one", RunState.RUNNING)
        return live

    live = await wall.core.on_store(working)
    assert await wall.recover() == {}
    assert [note.run for note in await wall.core.on_store(wall.core.workspace.supervision.snapshots)] == [
        "one"
    ]
    await wall.core.on_store(live.close)


async def test_one_that_can_not_be_gone_on_with_keeps_nobody_else_from_it(wall: Wall):
    wall.refuses = "one"
    await did(wall, lambda: wall.left("one", RunState.RUNNING), lambda: wall.left("two", RunState.RUNNING))
    await wall.recover()
    assert wall.went_on == ["two"]


async def test_one_whose_files_are_damaged_keeps_nobody_else_from_the_wall(wall: Wall):
    await did(wall, lambda: wall.left("one", RunState.RUNNING), lambda: wall.left("two", RunState.RUNNING))
    (wall.core.workspace.runs.folder("one") / "task.json").write_bytes(b"{nothing")
    assert list(await wall.recover()) == ["two"]


async def test_a_run_that_crashed_can_be_gone_on_with_and_one_that_answered_can_not(wall: Wall):
    await did(
        wall,
        lambda: wall.left("one", RunState.RUNNING, outcome=Outcome.CRASHED),
        lambda: wall.left("two", RunState.RUNNING, outcome=Outcome.ANSWERED),
    )
    workspace = wall.core.workspace

    def resuming() -> RunWriter:
        with pytest.raises(Conflict, match="has ended"):
            RunWriter.resume(workspace, "two")
        return RunWriter.resume(workspace, "one")

    live = await wall.core.on_store(resuming)
    assert (live.run.outcome, live.run.error, len(live.steps)) == (Outcome.RUNNING, "", 2)
    await wall.core.on_store(live.close)
