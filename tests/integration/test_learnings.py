"""A run finds out which way of clicking works on a control, and the next run clicks in that way at once."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from app.engine.api.run_api import LIVE_KNOWLEDGE, WITHOUT_KNOWLEDGE, RunRequest
from app.engine.core.trajectory import Step
from app.engine.engine import Engine
from kb.tip import Kind, Status
from tests.support.pages_server import serving
from tests.support.protocol_server import ProtocolServer, Request, text_of
from tests.support.shop_brain import plan, role_of

INSIDE = "Four spoons"


@pytest.fixture(scope="module")
def home() -> Iterator[str]:
    with serving() as home:
        yield home


@pytest_asyncio.fixture(loop_scope="session")
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    opened = await Engine.open(tmp_path / "workspace")
    yield opened
    await opened.aclose()


class DrawerBrain:
    """Clicks the drawer; where that does nothing presses Enter on it, then clicks again; stops when it is open."""

    def __init__(self) -> None:
        self.calls = ["click", "press", "click"]

    def __call__(self, request: Request) -> str:
        text = text_of(request)
        open_now = INSIDE in text.rpartition("You are at")[2]
        if role_of(request) == "planner":
            return plan(done=open_now, answer=INSIDE if open_now else "")
        if role_of(request) != "operator":
            return "{}"
        if open_now or not self.calls:
            return f'<think>Done.</think><action>stop("{INSIDE}")</action>'
        number = re.findall(r"\[(\d+)\] button 'Open the drawer'", text)[-1]
        call = self.calls.pop(0)
        keys = ', "Enter"' if call == "press" else ""
        return f'<think>Open it.</think><action>{call}("{number}"{keys})</action>'


async def run(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, url: str, kb: str = LIVE_KNOWLEDGE
) -> list[Step]:
    """Do the task; return the steps on the page."""
    with ProtocolServer(brain=DrawerBrain()) as endpoint:
        monkeypatch.setenv("SITELORE_MODEL_URL", endpoint.url)
        monkeypatch.setenv("SITELORE_MODEL_NAME", "scripted")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        request = RunRequest(intent="Open the drawer.", start_url=url, policy="llm", kb=kb, max_steps=6)
        summary = await engine.run_task(request)
    detail = await engine.open_run(summary.run)
    return [one for one in detail.steps if one.action is not None and one.action.kind in ("click", "press")]


async def test_what_one_run_learns_the_next_one_does_at_once_until_it_fails(
    engine: Engine, home: str, monkeypatch: pytest.MonkeyPatch
):
    url = f"{home}/enter_only.html"
    first = await run(engine, monkeypatch, url)
    assert [(one.action.kind, one.effect) for one in first if one.action] == [
        ("click", "nothing"),
        ("press", "changed"),
    ]
    [tip] = await engine.list_tips()
    assert (tip.kind, tip.status, tip.record.effect) == (Kind.LEARNING, Status.DRAFT, 1)
    assert "Open the drawer" in tip.text

    second = await run(engine, monkeypatch, url)
    assert [(one.tried, one.effect) for one in second] == [(("enter",), "changed")], (
        "the learned way comes first"
    )
    [tip] = await engine.list_tips()
    assert tip.record.effect == 2, "the same learning is evidence, and no second tip"

    without = await run(engine, monkeypatch, url, WITHOUT_KNOWLEDGE)
    assert [one.tried for one in without] == [("cdp",), ("cdp",)]

    # The site has changed: Enter does nothing any more, a click works.
    changed = await run(engine, monkeypatch, f"{url}#deaf")
    assert (changed[0].tried, changed[0].effect) == (("enter",), "nothing")
    assert (changed[-1].tried, changed[-1].effect) == (("cdp",), "changed"), "the usual way again"
    [tip] = await engine.list_tips()
    assert (tip.record.effect, tip.record.failed, tip.status) == (2, 1, Status.DRAFT)

    await engine.set_status([tip.id], Status.RETIRED)
    again = await run(engine, monkeypatch, url)
    assert [one.tried for one in again] == [("cdp",), ("cdp",)], "a retired one is not followed"
