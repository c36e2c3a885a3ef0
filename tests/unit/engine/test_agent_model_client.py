"""The model client against a server that speaks the protocol, well and badly."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from app.engine.agent.answer_parser import parse_answer
from app.engine.agent.model import transport
from app.engine.agent.model.capability_store import CapabilityStore
from app.engine.agent.model.client import EndpointModel
from app.engine.agent.model.limits import Budget, Price, RetryPolicy
from app.engine.agent.model.model_request import EndpointOptions
from app.engine.core.actions.types import TypeText
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


async def test_room_grows_until_a_model_that_reasons_long_can_answer(server: ProtocolServer, tmp_path: Path):
    server.reasoning = 20_000
    store = CapabilityStore(tmp_path / "endpoints.json")
    async with asking(server, store=store) as model:
        assert (await model.ask(AgentRole.OPERATOR, ASKED, most=500)).text == 'click("3")'
    asked = [body["max_tokens"] for body in server.bodies]
    assert asked == [500, 4500, 8500, 16_500, 32_500]
    async with asking(server, store=CapabilityStore(tmp_path / "endpoints.json")) as model:
        await model.ask(AgentRole.PLANNER, ASKED, most=500)
    assert [body["max_tokens"] for body in server.bodies[5:]] == [32_500]


async def test_room_ends_at_its_bound_and_at_the_budget(server: ProtocolServer):
    server.reasoning = 10**6
    async with asking(server) as model:
        reply = await model.ask(AgentRole.OPERATOR, ASKED, most=500)
    assert (reply.text, reply.truncated, server.bodies[-1]["max_tokens"]) == ("", True, 64_500)
    server.asked.clear()
    async with asking(server, budget=Budget(tokens=3000)) as model:
        assert (await model.ask(AgentRole.OPERATOR, ASKED, most=500)).truncated
    assert [body["max_tokens"] < 3000 for body in server.bodies] == [True, True]


async def test_what_an_endpoint_rejects_is_not_sent_by_the_next_run(server: ProtocolServer, tmp_path: Path):
    server.brain = lambda request: '{"ok": true}'
    server.refuses = frozenset(
        {"response_format", "stream_options", "max_tokens", "temperature", "reasoning_effort"}
    )
    for _ in range(2):
        refused = len(server.asked)
        store = CapabilityStore(tmp_path / "endpoints.json")
        efforts = {AgentRole.JUDGE: "low"}
        async with asking(server, store=store, efforts=efforts) as model:
            assert (await model.ask(AgentRole.JUDGE, ASKED, schema=SCHEMA)).data == {"ok": True}
    assert len(server.asked) - refused == 1
    assert server.bodies[-1]["reasoning"] == {"effort": "low"}


async def test_an_effort_is_sent_by_role_and_dropped_where_it_is_refused(server: ProtocolServer):
    efforts = {AgentRole.PLANNER: "high"}
    async with asking(server, efforts=efforts) as model:
        await model.ask(AgentRole.PLANNER, ASKED)
        await model.ask(AgentRole.OPERATOR, ASKED)
        assert [body.get("reasoning_effort") for body in server.bodies] == ["high", None]
        server.refuses = frozenset({"reasoning_effort", "reasoning"})
        await model.ask(AgentRole.PLANNER, ASKED)
    assert not {"reasoning_effort", "reasoning"} & set(server.bodies[-1])


async def test_a_prompt_that_fits_is_answered_within_the_context(server: ProtocolServer):
    server.context = 4000
    async with asking(server) as model:
        reply = await model.ask(AgentRole.OPERATOR, [said("word " * 2800)], most=3000)
    assert (reply.text, reply.context) == ('click("3")', 4000)
    assert len(server.asked) == 2
    assert server.bodies[1]["max_tokens"] <= 500


async def test_a_prompt_that_is_too_long_is_told_once_with_the_context(
    server: ProtocolServer, tmp_path: Path
):
    server.context = 4000
    for sent in (1, 0):
        server.asked.clear()
        async with asking(server, store=CapabilityStore(tmp_path / "endpoints.json")) as model:
            with pytest.raises(ModelError) as caught:
                await model.ask(AgentRole.OPERATOR, [said("word " * 4000)])
        assert (caught.value.kind, caught.value.context) == (ModelErrorKind.TOO_LONG, 4000)
        assert len(server.asked) == sent


# classic Azure, headers, marks, detail


@pytest.mark.parametrize("names_deployment", [True, False])
async def test_classic_azure_is_asked_at_its_deployment_with_its_header(names_deployment: bool):
    with ProtocolServer(lambda request: "yes", key=KEY, azure="2024-10-21") as azure:
        url = f"{azure.url}?api-version=2024-10-21" if names_deployment else azure.root
        version = "" if names_deployment else "2024-10-21"
        model = EndpointModel(url, "" if names_deployment else "gpt", key=KEY, api_version=version)
        assert (await model.ask(AgentRole.OPERATOR, ASKED)).text == "yes"
        await model.aclose()
    name = "test-model" if names_deployment else "gpt"
    assert azure.asked[0].path == f"/openai/deployments/{name}/chat/completions?api-version=2024-10-21"
    assert "authorization" not in azure.asked[0].headers


async def test_extra_headers_are_sent_and_never_shown(server: ProtocolServer, tmp_path: Path):
    server.answers.append(failing(400, f"bad X-Team: blue-team-17 with {KEY}"))
    headers = "X-Team: blue-team-17; X-Key: Key {key}"
    store = CapabilityStore(tmp_path / "endpoints.json")
    async with asking(server, headers=headers, store=store) as model:
        await model.ask(AgentRole.OPERATOR, ASKED)
        server.answers.extend([failing(500, f"bad X-Team: blue-team-17 with {KEY}")] * 3)
        with pytest.raises(ModelError) as caught:
            await model.ask(AgentRole.OPERATOR, ASKED)
    assert (server.asked[0].headers["x-team"], server.asked[0].headers["x-key"]) == (
        "blue-team-17",
        f"Key {KEY}",
    )
    shown = str(caught.value) + (tmp_path / "endpoints.json").read_text()
    assert "blue-team" not in shown
    assert KEY not in shown


async def test_cache_marks_leave_the_bytes_before_them_as_they_were(server: ProtocolServer):
    def without_marks(messages: object) -> str:
        return json.dumps(messages).replace(', "cache_control": {"type": "ephemeral"}', "")

    so_far = [said("You act on web pages.", ChatRole.SYSTEM, -1), said("Task", turn=-1)]
    async with asking(server, options=EndpointOptions(cache_marks=True)) as model:
        for turn in range(3):
            so_far += [said(f"page {turn}", turn=turn)]
            await model.ask(AgentRole.OPERATOR, [*so_far, said(f"tail {turn}", turn=-1)])
            so_far += [said("click", ChatRole.ASSISTANT, turn)]
        sent = [body["messages"] for body in server.bodies]
        for before, after in pairwise(sent):
            frozen = without_marks([*before[:-1], {**before[-1], "content": before[-1]["content"][:-1]}])
            assert without_marks(after).startswith(frozen.removesuffix("]}]"))
            assert '"cache_control"' in json.dumps(after[0])
        server.refuses = frozenset({"cache_control"})
        await model.ask(AgentRole.OPERATOR, ASKED)
    assert "cache_control" not in json.dumps(server.bodies[-1])


async def test_the_detail_of_a_picture_is_sent_and_dropped_where_it_is_refused(server: ProtocolServer):
    picture = MessagePart(kind=PartKind.IMAGE, text="the page", digest="a", detail="low")
    asked = [*ASKED, ChatMessage(role=ChatRole.USER, parts=(picture,))]
    async with asking(server) as model:
        await model.ask(AgentRole.VISION, asked, pictures={"a": PNG})
        server.refuses = frozenset({"detail"})
        reply = await model.ask(AgentRole.VISION, asked, pictures={"a": PNG})
    assert ['"detail": "low"' in json.dumps(body) for body in server.bodies] == [True, True, False]
    assert not reply.pictures_dropped


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


async def test_a_context_overflow_is_an_error_and_nothing_is_left_out(server: ProtocolServer):
    server.answers.extend([failing(400, "This model's maximum context length is exceeded")])
    async with asking(server) as model:
        with pytest.raises(ModelError, match="maximum context length") as caught:
            await model.ask(AgentRole.JUDGE, ASKED, schema=SCHEMA)
        assert caught.value.kind is ModelErrorKind.TOO_LONG
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


# Responses, tools


async def test_a_responses_model_gets_its_sealed_reasoning_again(server: ProtocolServer):
    server.brain = lambda request: Answer(text="click", thinking="hm", reasoning=30)
    async with asking(server, options=EndpointOptions(responses=True)) as model:
        first = await model.ask(AgentRole.OPERATOR, ASKED)
        thought = MessagePart(kind=PartKind.THINKING, text="<think>hm</think>", digest=first.reasoning)
        answer = MessagePart(kind=PartKind.TEXT, text="click")
        said_before = ChatMessage(role=ChatRole.ASSISTANT, parts=(thought, answer), turn=0)
        await model.ask(AgentRole.OPERATOR, [*ASKED, said_before, said("And now?", turn=1)])
    assert (first.text, first.thinking, first.tokens[1]) == ("click", "hm", 31)
    assert [asked.path for asked in server.asked] == ["/v1/responses"] * 2
    body = server.bodies[1]
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])
    assert [item.get("type", item.get("role")) for item in body["input"]] == [
        "system",
        "user",
        "reasoning",
        "assistant",
        "user",
    ]
    assert body["input"][2]["encrypted_content"] == "sealed 1"


async def test_an_endpoint_without_responses_is_asked_for_chat(server: ProtocolServer):
    server.responses = False
    async with asking(server, options=EndpointOptions(responses=True)) as model:
        for _ in range(2):
            assert (await model.ask(AgentRole.OPERATOR, ASKED)).text == 'click("3")'
    assert [asked.path for asked in server.asked] == ["/v1/responses", *["/v1/chat/completions"] * 2]


@pytest.mark.parametrize("responses", [False, True])
async def test_calls_of_tools_are_the_actions_that_text_would_be_and_are_sent_in_pairs(
    server: ProtocolServer, responses: bool
):
    server.brain = lambda request: Answer(
        calls=(("fill", {"bid": 15, "value": 'a "red" shoe', "enter": True}),)
    )
    offered = frozenset({"click", "fill", "stop"})
    call = ChatMessage(
        role=ChatRole.ASSISTANT,
        parts=(MessagePart(kind=PartKind.TOOL_CALL, text='<action>\nclick("3")\n</action>', call="call-0"),),
        turn=0,
    )
    came = ChatMessage(
        role=ChatRole.TOOL,
        parts=(MessagePart(kind=PartKind.TOOL_RESULT, text="it opened", call="call-0"),),
        turn=0,
    )
    async with asking(server, options=EndpointOptions(tools=True, responses=responses)) as model:
        reply = await model.ask(AgentRole.OPERATOR, [*ASKED, call, came, said("Go on")], actions=offered)
        await model.ask(AgentRole.OPERATOR, [*ASKED, call, said("Go on")], actions=offered)
        await model.ask(AgentRole.PLANNER, ASKED)
    assert parse_answer(reply.text, offered).action == TypeText(15, 'a "red" shoe', enter=True)
    first, second, third = (json.dumps(body) for body in server.bodies)
    assert '"tools"' in first
    assert "call-0-0" in first
    assert "call-0-0" not in second
    assert '"tools"' not in third
