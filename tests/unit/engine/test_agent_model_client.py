"""The model client against a server that speaks the protocol, well and badly."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from app.engine.agent.model import transport
from app.engine.agent.model.client import EndpointModel
from app.engine.agent.model.limits import Budget, Price, RetryPolicy
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind
from app.engine.core.model_api import AgentRole, ModelError, ModelErrorKind
from tests.support.protocol_server import (
    Answer,
    ProtocolServer,
    broken,
    cut,
    empty,
    failing,
    hanging,
    huge,
    slowly,
)

KEY = "sk-verysecretverysecretverysecret"
SCHEMA = {
    "title": "verdict",
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20


def said(text: str, role: ChatRole = ChatRole.USER, turn: int = 0) -> ChatMessage:
    return ChatMessage(role=role, parts=(MessagePart(kind=PartKind.TEXT, text=text),), turn=turn)


ASKED = [said("You act on web pages.", ChatRole.SYSTEM, -1), said("What now?")]


@pytest.fixture
def server() -> Iterator[ProtocolServer]:
    with ProtocolServer(lambda request: 'click("3")', key=KEY) as running:
        yield running


class Waits(list[float]):
    """A sleep that takes no time and remembers what was asked of it."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@asynccontextmanager
async def asking(server: ProtocolServer, **options: object) -> AsyncIterator[EndpointModel]:
    given = {
        "key": KEY,
        "retries": RetryPolicy(first=5, idle=0.3, whole=8, attempts=3),
        "sleep": Waits(),
        **options,
    }
    model = EndpointModel(server.url, "test-model", rng=random.Random(1), **given)  # type: ignore[arg-type]
    try:
        yield model
    finally:
        await model.aclose()


async def trouble_with(server: ProtocolServer, **options: object) -> ModelError:
    async with asking(server, **options) as model:
        with pytest.raises(ModelError) as caught:
            await model.ask(AgentRole.OPERATOR, ASKED)
    return caught.value


async def test_an_answer_comes_with_its_tokens_and_times(server: ProtocolServer):
    server.answers.append(Answer(text='click("7")', thinking="the seventh", usage=(40, 5)))
    async with asking(server) as model:
        reply = await model.ask(AgentRole.OPERATOR, ASKED, most=99)
        assert (reply.text, reply.thinking, reply.tokens) == ('click("7")', "the seventh", (40, 5))
        assert 0 < reply.first <= reply.seconds
        used = model.usage()[AgentRole.OPERATOR]
    assert (used.calls, used.tokens_in, used.tokens_out, used.retries) == (1, 40, 5, 0)
    body = server.bodies[0]
    assert body["max_tokens"] == 99
    assert body["stream"] is True
    assert body["messages"] == [
        {"role": "system", "content": "You act on web pages."},
        {"role": "user", "content": "What now?"},
    ]


async def test_unicode_survives_small_chunks(server: ProtocolServer):
    server.answers.append(slowly("Zürich 東京 🛒 done", pause=0.001, letters=1))
    async with asking(server) as model:
        assert (await model.ask(AgentRole.OPERATOR, ASKED)).text == "Zürich 東京 🛒 done"


async def test_a_json_document_in_place_of_a_stream_is_read(server: ProtocolServer):
    server.answers.append(Answer(text="whole", thinking="hm", as_json=True, usage=(9, 2)))
    async with asking(server) as model:
        reply = await model.ask(AgentRole.OPERATOR, ASKED)
    assert (reply.text, reply.thinking, reply.tokens) == ("whole", "hm", (9, 2))


async def test_an_answer_that_is_complete_need_not_hang_up(server: ProtocolServer):
    server.answers.append(Answer(text="all of it", stays=True))
    async with asking(server) as model:
        assert (await model.ask(AgentRole.OPERATOR, ASKED)).text == "all of it"
        assert model.usage()[AgentRole.OPERATOR].calls == 1


async def test_a_model_that_thinks_gets_room_for_it(server: ProtocolServer):
    server.answers.append(Answer(thinking="hm " * 20, finish="length"))
    async with asking(server) as model:
        assert (await model.ask(AgentRole.OPERATOR, ASKED, most=50)).text == 'click("3")'
        await model.ask(AgentRole.OPERATOR, ASKED, most=50)
    assert [body["max_tokens"] for body in server.bodies] == [50, 4050, 4050]


async def test_a_local_endpoint_bypasses_the_proxy_of_the_environment(
    server: ProtocolServer, monkeypatch: pytest.MonkeyPatch
):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with asking(server) as model:
        assert (await model.ask(AgentRole.OPERATOR, ASKED)).text == 'click("3")'


async def test_concurrent_requests_keep_the_budget(server: ProtocolServer):
    server.brain = lambda request: Answer(text="x", usage=(15, 100), first=0.1)
    async with asking(server, budget=Budget(tokens=350)) as model:
        came = await asyncio.gather(
            *(model.ask(AgentRole.OPERATOR, ASKED, most=100) for _ in range(9)), return_exceptions=True
        )
    total = model.meter.total()
    assert total.tokens_in + total.tokens_out <= 350
    assert [type(one).__name__ for one in came].count("ModelReply") == 3


async def test_connections_are_used_again(server: ProtocolServer):
    async with asking(server) as model:
        for _ in range(3):
            await model.ask(AgentRole.OPERATOR, ASKED)
    assert len({asked.peer for asked in server.asked}) == 1


async def test_roles_have_models_and_accounts_of_their_own(server: ProtocolServer):
    async with asking(server, models={AgentRole.VISION: "eyes"}) as model:
        await model.ask(AgentRole.VISION, ASKED)
        await model.ask(AgentRole.PLANNER, ASKED)
        await model.ask(AgentRole.PLANNER, ASKED)
        assert {role: usage.calls for role, usage in model.usage().items()} == {
            AgentRole.VISION: 1,
            AgentRole.PLANNER: 2,
        }
    assert [body["model"] for body in server.bodies] == ["eyes", "test-model", "test-model"]


async def test_the_only_model_of_an_endpoint_needs_no_choosing(server: ProtocolServer):
    model = EndpointModel(server.url, "", key=KEY)
    await model.ask(AgentRole.OPERATOR, ASKED)
    assert server.bodies[0]["model"] == "test-model"
    await model.aclose()
    server.models = ("one", "two")
    model = EndpointModel(server.url, "", key=KEY)
    with pytest.raises(ModelError, match=r"SITELORE_MODEL_NAME to one of: one, two"):
        await model.ask(AgentRole.OPERATOR, ASKED)
    await model.aclose()


# pictures and prompts


def looked(digest: str) -> list[ChatMessage]:
    picture = MessagePart(kind=PartKind.IMAGE, text="the page", digest=digest)
    return [
        *ASKED,
        ChatMessage(
            role=ChatRole.USER, parts=(picture, MessagePart(kind=PartKind.TEXT, text="Where is it?"))
        ),
    ]


async def test_pictures_are_sent_and_missing_ones_described(server: ProtocolServer):
    async with asking(server) as model:
        await model.ask(AgentRole.VISION, looked("a"), pictures={"a": PNG})
        await model.ask(AgentRole.VISION, looked("b"), pictures={"a": PNG})
    with_picture = server.bodies[0]["messages"][1]["content"]
    assert [part["type"] for part in with_picture] == ["text", "image_url", "text"]
    assert with_picture[1]["image_url"]["url"].startswith("data:image/png;base64,")
    assert (
        server.bodies[1]["messages"][1]["content"] == "What now?\n[picture not shown: the page]\nWhere is it?"
    )


async def test_an_endpoint_that_takes_no_pictures_gets_their_description(server: ProtocolServer):
    server.refuses = frozenset({"image_url"})
    async with asking(server) as model:
        first = await model.ask(AgentRole.VISION, looked("a"), pictures={"a": PNG})
        assert (first.text, first.pictures_dropped) == ('click("3")', True)
        assert not (await model.ask(AgentRole.OPERATOR, ASKED)).pictures_dropped
    assert ["image_url" in json.dumps(body) for body in server.bodies] == [True, False, False]


async def test_a_growing_conversation_keeps_its_cached_prefix(server: ProtocolServer):
    so_far = [said("You act on web pages. " * 40, ChatRole.SYSTEM, -1)]
    async with asking(server) as model:
        for turn in range(4):
            so_far += [said(f"page {turn} " * 20, turn=turn), said("click", ChatRole.ASSISTANT, turn)]
            reply = await model.ask(AgentRole.OPERATOR, [*so_far, said("And now?", turn=turn)])
    assert reply.cached > 0.7 * reply.tokens[0]


# structured answers


async def test_a_schema_is_asked_for_where_it_is_offered(server: ProtocolServer):
    server.brain = lambda request: '{"ok": true}'
    async with asking(server) as model:
        assert (await model.ask(AgentRole.JUDGE, ASKED, schema=SCHEMA)).data == {"ok": True}
    shape = server.bodies[0]["response_format"]
    assert (shape["type"], shape["json_schema"]["name"], shape["json_schema"]["strict"]) == (
        "json_schema",
        "verdict",
        True,
    )


async def test_rejected_fields_are_learnt_once(server: ProtocolServer):
    server.brain = lambda request: 'Sure!\n```json\n{"ok": true,}\n```'
    server.refuses = frozenset({"response_format", "stream_options", "max_tokens", "temperature"})
    async with asking(server) as model:
        for _ in range(3):
            assert (await model.ask(AgentRole.JUDGE, ASKED, schema=SCHEMA)).data == {"ok": True}
        assert model.usage()[AgentRole.JUDGE].retries == 0
    refusals = len(server.bodies) - 3
    assert refusals == 5  # one each, and the schema is asked for as any JSON before it is given up
    assert set(server.bodies[-1]) == {"model", "messages", "stream", "max_completion_tokens"}
    assert '"ok"' in server.bodies[-1]["messages"][-1]["content"]


async def test_a_context_overflow_is_an_error_and_nothing_is_learnt(server: ProtocolServer):
    server.answers.extend([failing(400, "This model's maximum context length is 10 tokens")])
    async with asking(server) as model:
        with pytest.raises(ModelError, match="maximum context length") as caught:
            await model.ask(AgentRole.JUDGE, ASKED, schema=SCHEMA)
        assert caught.value.kind is ModelErrorKind.REFUSED
        await model.ask(AgentRole.JUDGE, ASKED, schema=SCHEMA)
    assert "response_format" in server.bodies[-1]


# trouble


@pytest.mark.parametrize(
    "bad",
    [
        failing(500),
        failing(503, retry_after="2"),
        failing(429, retry_after="0.5"),
        broken(),
        hanging("abc " * 50, after=2),
        hanging(),
        cut("abc " * 50, after=3),
        Answer(raw=b"", kind="text/event-stream"),
        Answer(raw=b"<html>hello</html>", kind="text/html"),
        Answer(raw=b'data: {"error": {"message": "overloaded"}}\n\n', kind="text/event-stream"),
        Answer(
            raw=b'data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: 7\n\n', kind="text/event-stream"
        ),
        Answer(raw=b'{"choices": []', kind="application/json"),
        Answer(raw=b'{"error": {"message": "overloaded"}}', kind="application/json"),
        Answer(raw=b"[]", kind="application/json"),
    ],
    ids=[
        "500",
        "503",
        "429",
        "broken",
        "hangs late",
        "hangs",
        "cut",
        "nothing",
        "a page",
        "error event",
        "no object",
        "half JSON",
        "error JSON",
        "JSON list",
    ],
)
async def test_a_transient_failure_is_retried(server: ProtocolServer, bad: Answer):
    server.answers.append(bad)
    async with asking(server, retries=RetryPolicy(first=0.5, idle=0.3, attempts=3)) as model:
        assert (await model.ask(AgentRole.OPERATOR, ASKED)).text == 'click("3")'
        used = model.usage()[AgentRole.OPERATOR]
    assert (used.calls, used.retries) == (2, 1)


@pytest.mark.parametrize(
    ("bad", "trouble", "words"),
    [
        (failing(500, "out of order"), ModelErrorKind.SERVER, "answers 500: out of order, 3 attempts"),
        (failing(429, "slow down"), ModelErrorKind.RATE_LIMITED, "answers 429: slow down, 3 attempts"),
        (hanging(), ModelErrorKind.TIMEOUT, "did not begin to answer within 0.2 s, 3 attempts"),
        (hanging("x" * 99, after=1), ModelErrorKind.TIMEOUT, "fell silent within 0.1 s, 3 attempts"),
        (cut("abc " * 50, after=2), ModelErrorKind.UNREACHABLE, "broke off"),
        (broken(), ModelErrorKind.UNREADABLE, "its JSON is broken"),
    ],
)
async def test_a_lasting_failure_is_explained_in_a_sentence(
    server: ProtocolServer, bad: Answer, trouble: ModelErrorKind, words: str
):
    server.answers.extend([bad] * 3)
    error = await trouble_with(server, retries=RetryPolicy(first=0.2, idle=0.1, attempts=3))
    assert error.kind is trouble
    assert words in str(error)
    assert len(server.asked) == 3


async def test_a_rejected_key_is_not_retried_and_not_shown(server: ProtocolServer):
    error = await trouble_with(server, key="sk-anotherkeyanotherkeyanother")
    assert error.kind is ModelErrorKind.UNAUTHORISED
    assert "OPENAI_API_KEY" in str(error)
    assert "anotherkey" not in str(error)
    assert len(server.asked) == 1
    server.answers.append(failing(403, f"no access with {KEY}"))
    assert KEY not in str(await trouble_with(server))


async def test_an_exhausted_quota_is_not_retried(server: ProtocolServer):
    server.answers.append(failing(429, "You exceeded your current quota", code="insufficient_quota"))
    error = await trouble_with(server)
    assert error.kind is ModelErrorKind.RATE_LIMITED
    assert "quota" in str(error)
    assert len(server.asked) == 1


async def test_a_wrong_address_names_the_setting_to_check(server: ProtocolServer):
    model = EndpointModel(server.url.removesuffix("/v1") + "/nowhere", "test-model", key=KEY)
    server.answers.append(failing(404, "no such address"))
    with pytest.raises(ModelError, match="SITELORE_MODEL_URL") as caught:
        await model.ask(AgentRole.OPERATOR, ASKED)
    assert caught.value.kind is ModelErrorKind.REFUSED
    await model.aclose()


async def test_an_unreachable_endpoint_is_explained(server: ProtocolServer):
    waits = Waits()
    model = EndpointModel(
        "http://user:hidden@127.0.0.1:9/v1", "m", retries=RetryPolicy(attempts=3), sleep=waits
    )
    with pytest.raises(ModelError, match="can't be reached") as caught:
        await model.ask(AgentRole.OPERATOR, ASKED)
    assert caught.value.kind is ModelErrorKind.UNREACHABLE
    assert "hidden" not in str(caught.value)
    assert len(waits) == 2
    await model.aclose()


async def test_waits_grow_and_keep_to_what_the_endpoint_asks(server: ProtocolServer):
    waits = Waits()
    server.answers.extend([failing(500), failing(500), failing(429, retry_after="7"), failing(500)])
    async with asking(server, sleep=waits, retries=RetryPolicy(attempts=5, pause=1.0)) as model:
        await model.ask(AgentRole.OPERATOR, ASKED)
    first, second, asked, fourth = waits
    assert 0.5 <= first <= 1.0 <= second <= 2.0
    assert 7.0 <= asked < 8.0
    assert 4.0 <= fourth <= 8.0


async def test_a_wait_that_is_too_long_is_not_begun(server: ProtocolServer):
    waits = Waits()
    server.answers.append(failing(429, "come back tomorrow", retry_after="86400"))
    error = await trouble_with(server, sleep=waits)
    assert error.kind is ModelErrorKind.RATE_LIMITED
    assert waits == []


async def test_an_answer_without_a_word_is_an_answer(server: ProtocolServer):
    server.answers.append(empty())
    async with asking(server) as model:
        reply = await model.ask(AgentRole.OPERATOR, ASKED)
    assert (reply.text, reply.truncated) == ("", False)


async def test_a_huge_answer_is_cut_off_while_it_comes(server: ProtocolServer):
    server.answers.append(huge(10_000_000))
    async with asking(server) as model:
        reply = await model.ask(AgentRole.OPERATOR, ASKED, most=100)
        assert (await model.ask(AgentRole.OPERATOR, ASKED)).text == 'click("3")'
    assert reply.truncated
    assert 100 < len(reply.text) < 20_000


async def test_one_event_without_end_is_cut_off_too(server: ProtocolServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(transport, "MAX_RESPONSE_BYTES", 1_000_000)
    for kind in ("text/event-stream", "application/json"):
        server.answers.append(Answer(raw=b"data: " + b"x" * 4_000_000, kind=kind))
        async with asking(server) as model:
            reply = await model.ask(AgentRole.OPERATOR, ASKED)
        assert (reply.text, reply.truncated) == ('click("3")', False)
    assert len(server.asked) == 4  # an answer without a word is asked for once more, with room for reasoning


async def test_an_answer_that_ran_out_of_tokens_says_so(server: ProtocolServer):
    server.answers.append(Answer(text="click(", finish="length"))
    async with asking(server) as model:
        assert (await model.ask(AgentRole.OPERATOR, ASKED)).truncated


# cancelling and budgets


async def test_cancelling_closes_the_connection_at_once(server: ProtocolServer):
    server.answers.append(hanging("abc " * 50, after=2))
    async with asking(server, retries=RetryPolicy()) as model:
        task = asyncio.ensure_future(model.ask(AgentRole.OPERATOR, ASKED))
        while not server.asked:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        began = asyncio.get_running_loop().time()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.get_running_loop().time() - began < 2
        while not server.dropped:
            await asyncio.sleep(0.01)
        assert model.usage()[AgentRole.OPERATOR].calls == 1


async def test_the_budget_of_tokens_shortens_answers_and_then_refuses(server: ProtocolServer):
    server.brain = lambda request: Answer(text="x", usage=(60, 20))
    async with asking(server, budget=Budget(tokens=170)) as model:
        await model.ask(AgentRole.OPERATOR, ASKED, most=100)
        await model.ask(AgentRole.PLANNER, ASKED, most=100)
        with pytest.raises(ModelError, match="160 of 170 tokens") as caught:
            await model.ask(AgentRole.OPERATOR, ASKED)
    assert caught.value.kind is ModelErrorKind.BUDGET
    assert [body["max_tokens"] for body in server.bodies] == [100, 170 - 80 - 15]


async def test_the_budget_of_money_is_kept_over_all_roles(server: ProtocolServer):
    server.brain = lambda request: Answer(text="x", usage=(1000, 100))
    price = Price(tokens_in=100.0, tokens_out=1000.0)
    async with asking(server, budget=Budget(money=0.5), price=price) as model:
        await model.ask(AgentRole.OPERATOR, ASKED)
        await model.ask(AgentRole.VISION, ASKED)
        assert model.usage()[AgentRole.VISION].money == pytest.approx(0.2)
        await model.ask(AgentRole.OPERATOR, ASKED)
        with pytest.raises(ModelError, match="US dollars"):
            await model.ask(AgentRole.OPERATOR, ASKED)
    assert len(server.asked) == 3


async def test_the_budget_of_time_ends_a_call_and_forbids_waits(server: ProtocolServer):
    server.answers.append(slowly("word " * 200, pause=0.05))
    error = await trouble_with(server, budget=Budget(seconds=1.5), retries=RetryPolicy())
    assert error.kind is ModelErrorKind.BUDGET
    waits = Waits()
    server.answers.append(failing(503, "busy", retry_after="30"))
    error = await trouble_with(server, budget=Budget(seconds=20), sleep=waits)
    assert error.kind is ModelErrorKind.SERVER
    assert waits == []
