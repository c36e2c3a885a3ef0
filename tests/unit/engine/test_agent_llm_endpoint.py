"""The llm policy over a real connection: an endpoint that misbehaves."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from app.engine.agent.llm.llm_policy import LlmPolicy
from app.engine.agent.llm.prompting import Fence
from app.engine.agent.model.client import EndpointModel
from app.engine.agent.model.limits import Budget, RetryPolicy
from app.engine.agent.model.recording_model import RecordingModel
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.actions.types import Click, Stop
from app.engine.core.model_api import LanguageModel, ModelError, ModelErrorKind
from app.engine.core.observation import AgentDecision, HistoryEntry, Observation
from app.engine.core.page_state import Element, PageCapture
from tests.support.protocol_server import (
    Answer,
    ProtocolServer,
    Request,
    broken,
    cut,
    empty,
    failing,
    huge,
    slowly,
)

RETRIES = RetryPolicy(first=20, idle=20, whole=40, attempts=3, pause=0.01, longest=0.02, wait=1)
PAGE = PageCapture(
    url="http://shop.test/",
    title="Shop",
    tree="[0] link 'Orders'",
    elements=(Element(index=0, role="link", name="Orders"),),
)
PLAN = json.dumps(
    {
        "observation": "", "challenges": "", "reasoning": "", "next_steps": [], "impossible": False, "missing": "",
        "plan": [{"id": "", "intent": "open the orders", "state": "active"}], "done": False, "final_answer": "",
    }
)  # fmt: skip
CLICK = '<think>there</think><action>click("0")</action>'


def role_of(request: Request) -> str:
    system = request["messages"][0]["content"]
    return "planner" if system.startswith("You oversee") else "operator"


def answering(*operator: str | Answer):
    """A brain: plans for the planner, these answers in order for the operator, then clicks."""
    waiting = list(operator)

    def brain(request: Request) -> str | Answer:
        if role_of(request) == "planner":
            return PLAN
        return waiting.pop(0) if waiting else CLICK

    return brain


@pytest.fixture
def server() -> Iterator[ProtocolServer]:
    with ProtocolServer(answering(), key="k") as running:
        yield running


def model_at(server: ProtocolServer, key: str = "k", **more: object) -> EndpointModel:
    return EndpointModel(server.url, "test-model", key=key, retries=RETRIES, rng=random.Random(1), **more)


def sight(step: int = 0, turns: tuple[HistoryEntry, ...] = ()) -> Observation:
    return Observation(
        step=step, steps_left=20, intent="Open the orders", start_url=PAGE.url, page=PAGE, history=turns
    )


async def decided(model: LanguageModel, steps: int = 1, marker: str = "f00d") -> list[AgentDecision]:
    head, turns, decisions = (
        LlmPolicy(model, fence=Fence(marker)),
        tuple[HistoryEntry, ...](),
        list[AgentDecision](),
    )
    try:
        for step in range(steps):
            decision = await head.decide(sight(step, turns))
            decisions.append(decision)
            if decision.action is not None:
                came = ActionResult(success=True, effect=Effect.CHANGED)
                turns += (HistoryEntry(step=step, url=PAGE.url, title="Shop", state="", action=decision.action,
                               result=came, words="click link 'Orders'"),)  # fmt: skip
    finally:
        await head.aclose()
    return decisions


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "bad",
    [empty(), broken(), cut("<think>I", after=1), failing(500), failing(429, retry_after="0"), huge(), slowly(CLICK),
     Answer(text="<action>click(", finish="length"), Answer(raw=b"<html>busy</html>", kind="text/html")],
    ids=["empty", "broken", "cut", "500", "429", "huge", "slow", "too long", "html"],
)  # fmt: skip
async def test_one_bad_answer_does_not_end_a_run(server: ProtocolServer, bad: Answer):
    server.brain = answering(bad)

    (decision,) = await decided(model_at(server))

    assert decision.action == Click(0)


@pytest.mark.parametrize(
    ("status", "trouble"),
    [(401, ModelErrorKind.UNAUTHORISED), (500, ModelErrorKind.SERVER), (429, ModelErrorKind.RATE_LIMITED)],
)
async def test_an_endpoint_that_only_fails_ends_it_with_the_reason(
    server: ProtocolServer, status: int, trouble: ModelErrorKind
):
    server.brain = lambda request: failing(status)

    with pytest.raises(ModelError) as caught:
        await decided(model_at(server))
    assert caught.value.kind is trouble


async def test_an_endpoint_that_is_gone_ends_it_with_the_reason(server: ProtocolServer):
    model = model_at(server)
    with ProtocolServer(answering()) as short:
        gone = short.url
    with pytest.raises(ModelError) as caught:
        await decided(EndpointModel(gone, "test-model", retries=RETRIES))
    await model.aclose()

    assert caught.value.kind is ModelErrorKind.UNREACHABLE


async def test_a_budget_that_is_used_up_ends_it(server: ProtocolServer):
    with pytest.raises(ModelError) as caught:
        await decided(model_at(server, budget=Budget(tokens=9000)), steps=12)

    assert caught.value.kind is ModelErrorKind.BUDGET


async def test_it_can_be_cancelled_while_the_model_thinks(server: ProtocolServer):
    server.brain = answering(Answer(text=CLICK, first=30))
    head = LlmPolicy(model_at(server))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1.5):
            await head.decide(sight())
    await head.aclose()


async def test_every_exchange_of_a_run_is_recorded(server: ProtocolServer):
    kept: list[bytes] = []

    def sink(data: bytes) -> str:
        kept.append(data)
        return str(len(kept))

    server.brain = answering("no action here", CLICK, '<action>scroll("down")</action>')
    recorded = await decided(RecordingModel(model_at(server), sink), steps=3)
    assert len(kept) == len(server.asked)
    assert recorded[0].calls == ("1", "2", "3")


async def test_every_prompt_begins_with_the_same_messages(server: ProtocolServer):
    await decided(model_at(server), steps=6)

    told = [one.body["messages"] for one in server.asked if role_of(one.body) == "operator"]
    for before, after in pairwise(told):
        assert after[0] == before[0]
        assert len(after) >= len(before)
        assert [m["role"] for m in after][:2] == ["system", "user"]


async def test_what_is_claimed_and_declared_goes_through_the_connection(server: ProtocolServer):
    def brain(request: Request) -> str:
        if role_of(request) == "operator":
            return '<action>stop("42")</action>'
        claimed = "<<answer " in json.dumps(request["messages"][-1])
        return json.dumps({**json.loads(PLAN), "done": claimed, "final_answer": "42" if claimed else ""})

    server.brain = brain

    (decision,) = await decided(model_at(server))

    assert decision.action == Stop("42")


async def test_a_short_context_shortens_the_page_and_the_run_still_acts(server: ProtocolServer):
    server.context = 4_096
    lines = "\n".join(f"[{at}] link 'Order {at} of the year before last'" for at in range(1, 900))
    page = replace(PAGE, tree=f"{PAGE.tree}\n{lines}")
    head = LlmPolicy(model_at(server), fence=Fence("f00d"))
    turns = tuple[HistoryEntry, ...]()
    for step in range(4):
        decision = await head.decide(replace(sight(step, turns), page=page))
        assert decision.action == Click(0)
        came = ActionResult(success=True, effect=Effect.CHANGED)
        turns += (HistoryEntry(step=step, url=PAGE.url, title="Shop", state="", action=Click(0), result=came,
                               words="click link 'Orders'"),)  # fmt: skip
    await head.aclose()
