"""A hanging model is told from a slow one; the hanging call is cancelled and its connection closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

import pytest

from app.engine.agent.health import HealthLimits
from app.engine.agent.model.client import EndpointModel
from app.engine.agent.model.limits import Heartbeat, RetryPolicy
from app.engine.agent.run_control import RunControl, WatchdogTimeout
from app.engine.agent.watchdog import Watchdog
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind
from app.engine.core.model_api import AgentRole
from app.engine.core.supervision import Stage
from tests.support.protocol_server import Answer, ProtocolServer, failing, hanging, slowly

ASKED = [ChatMessage(role=ChatRole.USER, parts=(MessagePart(kind=PartKind.TEXT, text="What now?"),), turn=0)]
QUICK = HealthLimits(every=0.05, model=0.5, model_first=1.5, model_idle=1.5)


class OnlyAModel:
    """A run in which only the model can be at fault."""

    def __init__(self, heartbeat: Heartbeat) -> None:
        self._heartbeat = heartbeat

    def broken(self) -> str:
        return ""

    async def page(self) -> bool:
        return True

    async def disk(self) -> str:
        return ""

    def model(self) -> tuple[float | None, bool]:
        return self._heartbeat.silence, self._heartbeat.answering

    def mark_hung(self, why: str) -> None:
        raise AssertionError(why)

    async def recover(self) -> bool:
        raise AssertionError

    def block_actions(self, why: str) -> None:
        assert why == ""


@pytest.fixture
def server() -> Iterator[ProtocolServer]:
    with ProtocolServer(lambda request: 'click("3")') as running:
        yield running


@asynccontextmanager
async def watched(
    server: ProtocolServer, told: list[str]
) -> AsyncGenerator[tuple[RunControl, EndpointModel]]:
    heartbeat = Heartbeat()
    model = EndpointModel(server.url, "test-model", retries=RetryPolicy(pause=0.01), heartbeat=heartbeat)
    control, ward = RunControl("run"), OnlyAModel(heartbeat)
    await control.begin(0)
    await model.ask(AgentRole.OPERATOR, ASKED)  # what is imported for the first request takes its time
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(Watchdog(control, ward, ward, limits=QUICK, noticed=told.append).watch())
        try:
            yield control, model
        finally:
            watching.cancel()
            await model.aclose()


async def thinks(control: RunControl, model: EndpointModel) -> str:
    async with control.in_stage(Stage.THINKING):
        return (await model.ask(AgentRole.OPERATOR, ASKED)).text


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (hanging(), "the model has not answered"),
        (hanging("abc " * 50, after=2), "the model stopped in its answer"),
    ],
)
async def test_a_hanging_call_is_reported_and_then_cancelled(
    server: ProtocolServer, answer: Answer, said: str
):
    told: list[str] = []
    async with watched(server, told) as (control, model):
        server.answers.append(answer)
        with pytest.raises(WatchdogTimeout, match=said):
            await thinks(control, model)
        assert told[0].startswith(said)
        assert await thinks(control, model) == 'click("3")'
        async with asyncio.timeout(20):
            while not server.dropped:
                await asyncio.sleep(0.02)


async def test_a_slow_answer_is_read_to_its_end(server: ProtocolServer):
    told: list[str] = []
    async with watched(server, told) as (control, model):
        text = "scroll(0, 400) " * 6  # longer in all than a silence may be
        server.answers.append(slowly(text, pause=0.1))
        assert await thinks(control, model) == text


async def test_a_wait_that_the_endpoint_asks_for_is_no_silence(server: ProtocolServer):
    told: list[str] = []
    async with watched(server, told) as (control, model):
        server.answers.append(failing(429, "slow down", retry_after="2"))
        assert await thinks(control, model) == 'click("3")'
        assert told == []
