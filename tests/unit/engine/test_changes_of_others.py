"""Tips and stored runs that another process, such as a terminal, changes in the workspace of an open window."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from app.engine.core.actions.types import Stop
from app.engine.core.events import Event, KnowledgeChanged, RunsChanged
from app.engine.core.verdicts import Label, Verdict
from app.engine.engine import Engine
from app.engine.services.supervision.other_processes import OtherProcesses
from kb.tip import Status, TipDraft
from tests.support.browserless import Browserless
from tests.support.runs import write_run


@pytest.fixture
async def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Browserless]:
    made = await Browserless.at(tmp_path / "workspace", monkeypatch)
    yield made
    await made.engine.aclose()


@pytest.fixture
async def window(terminal: Browserless, tmp_path: Path) -> AsyncIterator[Engine]:
    made = await Engine.open(tmp_path / "workspace", author="ana")
    yield made
    await made.aclose()


@pytest.fixture
async def seen(window: Engine) -> Callable[[], object]:
    """The changes of knowledge and stored runs that one look of the window publishes."""
    events: list[Event] = []
    window.bus.subscribe(events.append)
    others = OtherProcesses(window._core, window._fleet, window._batches)

    async def look() -> list[type[Event]]:
        events.clear()
        await others.look()
        await asyncio.sleep(0)
        return [type(one) for one in events if isinstance(one, (KnowledgeChanged, RunsChanged))]

    assert await look() == []
    return look


async def test_a_tip_that_a_terminal_makes_active_is_told_once(terminal, window, seen):
    tip = (await terminal.engine.save_tip(TipDraft(site="shop", text="Open the cart by its icon."))).id
    assert await seen() == [KnowledgeChanged]
    await terminal.engine.set_status([tip], Status.ACTIVE)
    assert await seen() == [KnowledgeChanged]
    assert (await window.tip(tip)).status is Status.ACTIVE
    assert await seen() == []


async def test_runs_that_a_terminal_imports_are_told_and_listed(terminal, window, seen, tmp_path):
    write_run(tmp_path / "runs" / "task_1", steps=2)
    await terminal.engine.import_runs([str(tmp_path / "runs")])
    assert await seen() == [RunsChanged]
    assert (await window.info()).runs == 1
    assert await seen() == []


async def test_a_verdict_of_a_terminal_is_told(terminal, seen, tmp_path):
    write_run(tmp_path / "runs" / "task_1", steps=2)
    (run,) = (await terminal.engine.import_runs([str(tmp_path / "runs")])).runs
    await seen()
    verdict = Verdict(id="v", run=run, label=Label.LOOP, step=1, author="ana", at=1.0, lead_seconds=1.0)
    await terminal.engine._core.on_store(terminal.engine._core.workspace.review.add_verdict, verdict)
    assert await seen() == [RunsChanged]


async def test_what_the_window_itself_changes_is_not_told_again(window, seen):
    await window.save_tip(TipDraft(site="shop", text="Open the cart by its icon."))
    assert await seen() == []


async def test_a_step_of_an_active_run_is_no_change_of_the_stored_runs(terminal, seen):
    gates = [asyncio.Event() for _ in range(3)]
    (run,) = await terminal.start((*gates, Stop("yes")))
    gates[0].set()
    await terminal.until(run, lambda row: row.step >= 1)
    await seen()
    gates[1].set()
    await terminal.until(run, lambda row: row.step >= 2)
    assert await seen() == []
    gates[2].set()
    await terminal.over(run)
    assert RunsChanged in await seen()
