"""Pointing at the page of a held run, with a real browser: the pointed element is the one acted on."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from app.engine.api.live_api import PointTarget
from app.engine.api.run_api import RunRequest
from app.engine.core.events import ActionPlanned, Event
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.supervision import DecisionKind, OperatorAction, OperatorDecision, RunState
from app.errors import Conflict, NotFound, UsageError
from tests.support.operator_driver import Operator, asking, kitchen

BUYING = "Add the Brass Lamp in size One size to the basket"
MOVED = """
const note = document.createElement('div');
note.textContent = 'Free delivery today';
note.style.height = '90px';
document.body.prepend(note);
"""


@pytest_asyncio.fixture(loop_scope="session")
async def operator(tmp_path, chromium) -> AsyncIterator[Operator]:
    made = await Operator.at(tmp_path / "workspace")
    yield made
    await made.engine.aclose()


async def waiting(operator: Operator, server) -> tuple[str, object]:
    """A run that waits for approval to put something into the basket."""
    await operator.engine.save_intervention_policy(asking(RiskClass.SENDS))
    task = RunRequest(intent=BUYING, start_url=server.shop_url, kb="none", max_steps=10)
    (run,) = await operator.start(task)
    return run, await operator.asked(run)


def page_of(operator: Operator, run: str):
    """Return the browser's page of a run."""
    return operator.engine._fleet.get(run).page._browser.session.page


def named(targets: list[PointTarget], role: str, name: str) -> PointTarget:
    return next(one for one in targets if one.role == role and name in one.name)


@pytest.mark.smoke
async def test_an_approval_edited_by_pointing_acts_on_the_pointed_element_though_the_page_moved(
    operator, server
):
    run, request = await waiting(operator, server)
    before = await operator.engine.point_targets(run)
    asked = (await operator.engine.live_run(run)).next
    own = next(one for one in before if one.number == asked.element)
    assert own.box == pytest.approx(asked.box, abs=1.0)
    assert own.calls[0] == request.call

    await page_of(operator, run).evaluate(MOVED)
    after = await operator.engine.point_targets(run)
    assert [(one.number, one.role, one.name) for one in after] == [
        (one.number, one.role, one.name) for one in before
    ], "the numbers are those that an edit is read by"
    home = named(after, "link", "Kitchen")
    there = named(before, "link", "Kitchen")
    assert home.box[1] == pytest.approx(there.box[1] + 90.0, abs=1.0)
    seen = await page_of(operator, run).evaluate(
        "([x, y]) => document.elementFromPoint(x, y)?.closest('a')?.innerText",
        [home.box[0] + home.box[2] / 2, home.box[1] + home.box[3] / 2],
    )
    assert seen is not None
    assert "Kitchen" in seen, "the box is where the element is now"

    await operator.engine.decide(
        request.id, OperatorDecision(kind=DecisionKind.EDIT, call=home.calls[0], text="look there first")
    )
    await operator.until(run, lambda row: row.step > request.step)
    step = (await operator.engine.live_run(run)).steps[request.step]
    assert step.words == f"click link {home.name!r}"
    assert (step.executed, step.action.args["bid"]) == (True, str(home.number))
    assert "a person chose this instead of" in step.reason
    assert "look there first" in step.reason
    assert not server.state.in_baskets()
    deeds = await operator.engine.interventions(run)
    (edit,) = [one for one in deeds if one.action is OperatorAction.EDITED]
    assert edit.author not in ("", "agent", "policy", "watchdog")
    await operator.engine.end_run(run)


async def test_only_a_held_run_that_nobody_has_taken_over_is_pointed_at(operator, server):
    with pytest.raises(NotFound):
        await operator.engine.point_targets("no-such-run")
    run, _ = await waiting(operator, server)
    await operator.engine.take_over(run)
    with pytest.raises(Conflict, match="hand it back first"):
        await operator.engine.point_targets(run)
    await operator.engine.end_run(run)
    await operator.over(run)
    with pytest.raises(Conflict, match="not held"):
        await operator.engine.point_targets(run)


async def test_the_planned_action_of_a_paused_run_is_replaced_by_pointing(operator, server):
    def pause(event: Event) -> None:
        if isinstance(event, ActionPlanned):
            operator.engine._fleet.get(event.next.run).control.pause()

    forget = operator.engine.bus.subscribe(pause)
    (run,) = await operator.start(kitchen(server.shop_url))
    with pytest.raises(Conflict, match=r"not held|no page"):
        await operator.engine.point_targets(run)
    await operator.until(run, lambda row: row.state is RunState.PAUSED)
    forget()
    planned = (await operator.engine.live_run(run)).next
    assert planned is not None
    targets = await operator.engine.point_targets(run)
    other = next(one for one in targets if one.role == "link" and one.number != planned.element and one.name)
    with pytest.raises(UsageError, match="no element 9999"):
        await operator.engine.edit_planned(run, "click('9999')")
    wanted = await operator.engine.edit_planned(run, other.calls[0], "this one")
    assert wanted.element == other.number
    row = await operator.row(run)
    assert row.state is RunState.PAUSED
    await operator.engine.step_run(run)
    await operator.until(run, lambda now: now.step > row.step)
    step = (await operator.engine.live_run(run)).steps[row.step]
    assert step.action.args["bid"] == str(other.number)
    assert "this one" in step.reason
    await operator.engine.end_run(run)


async def cli(workspace, *words: str) -> tuple[int, str]:
    """Run ``sitelore live`` in another process; return its exit code and all it said."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "app", "--workspace", str(workspace), "live", *words,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    async with asyncio.timeout(90):
        said, _ = await process.communicate()
    return process.returncode or 0, said.decode()


async def test_a_terminal_lists_the_targets_of_a_run_that_another_process_holds_and_edits_by_them(
    operator, server, tmp_path
):
    run, request = await waiting(operator, server)
    here = await operator.engine.point_targets(run)
    code, said = await cli(tmp_path / "workspace", "targets", run, "--json")
    assert code == 0, said
    listed = json.loads(said[said.index("[") :])
    assert [(one["number"], one["name"]) for one in listed] == [(one.number, one.name) for one in here]
    code, said = await cli(tmp_path / "workspace", "targets", run, "--named", "kitchen")
    assert "click('" in said
    assert len(said.strip().splitlines()) < len(here)
    code, said = await cli(tmp_path / "workspace", "edit", run, "click('1')")
    assert (code, "not paused before an action" in said) == (1, True)
    home = named(here, "link", "Kitchen")
    code, said = await cli(
        tmp_path / "workspace", "decide", request.id, "edit", "--command", f"click('{home.number}')"
    )
    assert code == 0, said
    await operator.until(run, lambda row: row.step > request.step)
    step = (await operator.engine.live_run(run)).steps[request.step]
    assert step.action.args["bid"] == str(home.number)
    await operator.engine.end_run(run)
