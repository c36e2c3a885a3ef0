"""Where a test of a tip begins, and what becomes of the tip by its result."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from app.engine.agent.procedures.procedure_test import ProcedureTestResult
from app.engine.core.events import Event, KnowledgeChanged
from app.engine.engine import Engine
from app.engine.services.graph_cache import GraphCache
from app.engine.services.tip_testing import StartPage, TipTestService, start_of
from app.errors import NotFound, UsageError
from kb.evidence import TestOutcome
from kb.tip import Scope, Status, TipDraft

HOME, STEP = "https://shop.example/home", "https://shop.example/orders/7"


@pytest.mark.parametrize(
    ("scope", "step", "home", "hosts", "url", "sure"),
    [
        ("shop.example/orders", STEP, HOME, (), "https://shop.example/orders", True),
        ("/orders?tab=open", "", HOME, (), "https://shop.example/orders?tab=open", True),
        ("/orders", "", "", ("*:80", "b.example"), "http://b.example/orders", True),
        ("/orders?tab", STEP, HOME, (), STEP, False),
        ("/orders/*", STEP, HOME, (), STEP, False),
        ("*:8023/orders", STEP, HOME, (), STEP, False),
        ("/orders/*", "", HOME, (), HOME, False),
        ("/orders/*", "https://x/REDACTED", HOME, (), HOME, False),
        ("", "", "", ("b.example",), "http://b.example/", False),
        ("c.example/**", "", "", (), "http://c.example/", False),
    ],
)
def test_a_test_begins_at_the_surest_page(
    scope: str, step: str, home: str, hosts: tuple[str, ...], url: str, sure: bool
):
    assert start_of(Scope.parse(scope), step, home, hosts) == StartPage(url=url, sure=sure)


def test_where_nothing_is_known_there_is_no_start():
    assert start_of(Scope.parse("/orders"), "", "", ("*:8023",)) is None


@pytest_asyncio.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    opened = await Engine.open(tmp_path / "w", author="ada")
    yield opened
    await opened.aclose()


def service(engine: Engine) -> TipTestService:
    core = engine._core
    return TipTestService(core, GraphCache(core))


async def stored(engine: Engine, status: Status, do: str = 'Press "Orders".') -> str:
    saved = await engine.save_tip(TipDraft(site="shop", text=do, do=do, scope=Scope.parse("s.example/")))
    await engine.set_status([saved.id], status)
    return saved.id


@pytest.mark.parametrize(
    ("status", "outcome", "then"),
    [
        (Status.REVIEWED, TestOutcome.BROKE, Status.SUSPECT),
        (Status.ACTIVE, TestOutcome.BROKE, Status.SUSPECT),
        (Status.DRAFT, TestOutcome.BROKE, Status.DRAFT),
        (Status.RETIRED, TestOutcome.BROKE, Status.RETIRED),
        (Status.ACTIVE, TestOutcome.NOT_REACHED, Status.ACTIVE),
        (Status.ACTIVE, TestOutcome.STOPPED, Status.ACTIVE),
        (Status.ACTIVE, TestOutcome.HOLDS, Status.ACTIVE),
        (Status.SUSPECT, TestOutcome.HOLDS, Status.SUSPECT),
    ],
)
async def test_only_a_trusted_tip_that_broke_becomes_suspect(
    engine: Engine, status: Status, outcome: TestOutcome, then: Status
):
    tip = await stored(engine, status)
    assert (await engine.tip(tip)).status is status
    heard: list[Event] = []
    engine.bus.subscribe(heard.append)
    result = ProcedureTestResult(outcome=outcome, step=1, message="it says why", steps=(), seconds=2.0)
    done = await service(engine)._keep(
        await engine.tip(tip), StartPage(url="http://s.example/", sure=True), result
    )
    assert (await engine.tip(tip)).status is then
    assert done.became_suspect is (then is Status.SUSPECT and status is not Status.SUSPECT)
    assert bool(done.offer) is (status is Status.SUSPECT)
    assert KnowledgeChanged(tips=(tip,)) in heard
    standing = await engine.tip_standing(tip)
    assert (standing.outcome, standing.step, standing.tested_by) == (outcome, 1, "ada")
    assert standing.message == "it says why (2.0 s)"
    if done.became_suspect:
        assert "it says why" in (await engine.undo("knowledge")).did
        assert (await engine.tip(tip)).status is status


async def test_a_guessed_start_is_trusted_once_a_test_of_this_content_has_worked(engine: Engine):
    tip = await stored(engine, Status.ACTIVE)
    tests = service(engine)
    assert not tests._has_worked(await engine.tip(tip))
    for outcome, step, worked in ((TestOutcome.BROKE, 1, False), (TestOutcome.HOLDS, 1, True)):
        result = ProcedureTestResult(outcome=outcome, step=step, message="why", steps=(), seconds=0.0)
        await tests._keep(await engine.tip(tip), StartPage(url="http://s.example/", sure=True), result)
        assert tests._has_worked(await engine.tip(tip)) is worked
    draft = TipDraft(site="shop", text='Press "Sales".', do='Press "Sales".')
    await engine.edit_tip(tip, draft)
    assert not tests._has_worked(await engine.tip(tip))


async def test_a_tip_without_steps_and_one_without_a_page_are_refused(engine: Engine):
    silent = await engine.save_tip(TipDraft(site="shop", text="Prices are in pounds."))
    nowhere = await engine.save_tip(TipDraft(site="unknown", text='Press "Orders".'))
    with pytest.raises(UsageError, match="has no steps"):
        await engine.test_tip(silent.id)
    with pytest.raises(UsageError, match="not known where"):
        await engine.test_tip(nowhere.id)
    with pytest.raises(NotFound):
        await engine.test_tip("nothing")
    with pytest.raises(NotFound, match="no tips to test"):
        await engine.test_tips("nowhere")
