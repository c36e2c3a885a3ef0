"""Recorded exchanges are read, also from hostile or damaged records, and found by run and step."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from app.engine.agent.model.recording_model import BlobBuffer, RecordingModel, is_exchange, sent_parameters
from app.engine.api.exchange_api import EXCHANGE_FORMAT
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind
from app.engine.core.model_api import AgentRole, ModelError, ModelErrorKind, ModelReply
from app.engine.core.trajectory import Run, Step
from app.engine.core.verdicts import Opinion
from app.engine.engine import Engine
from app.engine.store.blob_store import pack_blobs
from app.engine.store.exchange_file import read_exchange, read_schema
from app.errors import NotFound, StoreError
from tests.support.scripted_model import ScriptedModel

DIGEST = "a" * 64


def record(**changes: Any) -> dict[str, Any]:
    """An exchange as format 1 stored it."""
    return {
        "format": 1,
        "role": "operator",
        "at": 12.5,
        "most": 1500,
        "schema": None,
        "messages": [{"role": "system", "parts": [{"kind": "text", "text": "You operate"}]}],
        "reply": {
            "text": "go",
            "tokens": [7, 3],
            "cached": 2,
            "seconds": 0.5,
            "model": "m",
            "truncated": True,
        },
        **changes,
    }


def read(**changes: Any):
    return read_exchange(json.dumps(record(**changes)).encode(), DIGEST, 3)


async def recorded(*replies: Any, role: AgentRole = AgentRole.OPERATOR, parts: tuple[MessagePart, ...] = ()):
    """The records of a model with these replies, one a request."""
    shelf = BlobBuffer()
    model = RecordingModel(ScriptedModel(list(replies)), shelf)
    asked = (MessagePart(kind=PartKind.TEXT, text="what now?"), *parts)
    for _ in replies:
        try:
            await model.ask(role, [ChatMessage(role=ChatRole.USER, parts=asked)], schema={"title": "plan"})
        except ModelError:
            continue
    return shelf.take()


def test_an_exchange_of_an_earlier_version_is_read_with_what_it_has():
    found = read()
    assert (found.format, found.most, found.schema, found.parameters) == (1, 1500, "", {})
    assert (found.row.role, found.row.step, found.row.model, found.row.at) == ("operator", 3, "m", 12.5)
    assert (found.row.tokens_in, found.row.tokens_out, found.row.cached) == (7, 3, 2)
    assert found.row.truncated
    assert found.row.money is None
    assert [(message.role, message.parts[0].text) for message in found.messages] == [
        ("system", "You operate")
    ]


async def test_what_an_audit_needs_is_recorded_and_read_back():
    sent = {
        "api": "chat",
        "model": "gpt",
        "max_tokens": 9,
        "reasoning_effort": "low",
        "reasoning": {"effort": "high"},
    }
    tips = (
        MessagePart(kind=PartKind.TIPS, text="Expert knowledge of this site:"),
        MessagePart(kind=PartKind.TIPS, text="1. press Save", tip="shop-001"),
    )
    (data,) = (
        await recorded(
            ModelReply(text="{}", thinking="hm", data={"a": 1}, money=0.25, parameters=sent), parts=tips
        )
    ).values()
    found = read_exchange(data, DIGEST)
    assert found.format == EXCHANGE_FORMAT
    assert found.parameters == {
        "api": "chat", "model": "gpt", "max_tokens": "9", "reasoning_effort": "low", "reasoning.effort": "high"
    }  # fmt: skip
    assert (found.row.money, found.thinking, found.data, found.schema) == (
        0.25,
        "hm",
        '{\n  "a": 1\n}',
        "plan",
    )
    assert [part.tip for part in found.messages[0].parts] == ["", "", "shop-001"]
    assert read_schema(data, DIGEST) == {"title": "plan"}


def test_only_known_fields_of_a_request_are_recorded():
    body = {
        "model": "m", "messages": ["long"], "stream": True, "temperature": 0.0, "api_key": "sk-1", "user": "me",
        "extra_headers": {"Authorization": "Bearer x"}, "response_format": {"type": "json_schema", "json_schema": {}},
    }  # fmt: skip
    assert sent_parameters(body) == {
        "api": "chat", "model": "m", "temperature": 0.0, "response_format": "json_schema"
    }  # fmt: skip
    assert sent_parameters({"model": "m", "input": [], "max_output_tokens": 5})["api"] == "responses"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no JSON"),
        (b"\x89PNG", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "no JSON object"),
        (b"{}", "no messages of a role"),
        (json.dumps(record(messages="x")).encode(), "no messages of a role"),
        (json.dumps(record(role=3)).encode(), "no messages of a role"),
        (
            json.dumps(record(format=EXCHANGE_FORMAT + 1)).encode(),
            "newer version .format 3.; update Sitelore",
        ),
    ],
)
def test_a_record_that_is_none_is_refused_with_the_reason(data: bytes, why: str):
    with pytest.raises(StoreError, match=why):
        read_exchange(data, DIGEST)


@pytest.mark.parametrize(
    "changes",
    [
        {"messages": [1, {"role": "root", "parts": [3, {"kind": "bomb", "digest": "../../x"}]}], "reply": {}},
        {"reply": {"tokens": ["a", -1], "cached": 1e300, "seconds": True, "data": [1], "money": "much"}},
        {"reply": None, "error": "x", "at": "now", "most": -5},
        {"reply": {"parameters": [1], "thinking": 4}, "schema": [2]},
        {"reply": {"data": json.loads('{"a":' * 300 + "1" + "}" * 300)}},
    ],
)
def test_nothing_in_a_record_is_taken_for_granted(changes: dict[str, Any]):
    found = read(**changes)
    assert (found.row.cached, found.row.seconds, found.row.money, found.data) == (0, 0.0, None, "")
    assert all(part.digest == "" for message in found.messages for part in message.parts)
    assert {message.role for message in found.messages} <= {"system", "user"}


class Place:
    """An engine with one run of two steps."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.workspace = engine._core.workspace

    async def keep(
        self, blobs: dict[str, bytes], *calls: tuple[str, ...], whole: tuple[str, ...] = ()
    ) -> None:
        steps = [Step(index=at, url="u", title="t", calls=digests) for at, digests in enumerate(calls)]
        run = Run(id="r1", source="sitelore", step_count=len(steps), calls=whole)
        await self.engine._core.on_store(lambda: self.workspace.runs.add(run, steps, {}))
        await self.engine._core.on_store(lambda: self.workspace.runs.blobs.add(pack_blobs(blobs)))


@pytest.fixture
async def place(tmp_path: Path):
    engine = await Engine.open(tmp_path / "w")
    yield Place(engine)
    await engine.aclose()


async def test_the_exchanges_of_a_run_are_listed_by_step_and_those_of_none_at_the_end(place: Place):
    first = await recorded(ModelReply(text="a"), role=AgentRole.PLANNER)
    second = await recorded(ModelReply(text="b"), ModelReply(text="c"))
    last = await recorded(ModelError("no answer came", ModelErrorKind.SERVER))
    judged = await recorded(ModelReply(text="it failed"), role=AgentRole.JUDGE)
    (one,), (two, three), (four,), (five,) = first, second, last, judged
    await place.keep({**first, **second, **last, **judged}, (one, two), (two, three), whole=(four,))
    await place.engine._core.on_store(place.workspace.review.add_opinion, Opinion(run="r1", calls=(five,)))

    rows = await place.engine.exchanges("r1")

    # The second is named by both steps, as a look that was begun early is: it counts once, for the later one.
    assert [(row.digest, row.step) for row in rows] == [
        (one, 0),
        (two, 1),
        (three, 1),
        (four, None),
        (five, None),
    ]
    assert [row.digest for row in await place.engine.exchanges("r1", 0)] == [one]
    assert rows[3].error == "no answer came"
    assert (await place.engine.exchange("r1", three)).previous == two
    assert (await place.engine.exchange("r1", one)).previous == ""


async def test_a_record_that_is_missing_or_damaged_is_a_row_with_the_reason(place: Place):
    bad = b'{"format": 9, "messages": [], "role": "operator"}'
    named = hashlib.sha256(bad).hexdigest()
    await place.keep({named: bad}, (named, DIGEST))

    newer, missing = await place.engine.exchanges("r1", 0)

    assert "newer version" in newer.error + missing.error
    assert "no stored page or picture" in newer.error + missing.error
    with pytest.raises(StoreError, match="newer version"):
        await place.engine.exchange("r1", named)


async def test_only_the_exchanges_that_a_run_names_are_read(place: Place):
    blobs = await recorded(ModelReply(text="a"))
    await place.keep(blobs, ())
    with pytest.raises(NotFound, match="no exchange"):
        await place.engine.exchange("r1", next(iter(blobs)))
    with pytest.raises(NotFound, match="no step 7"):
        await place.engine.exchanges("r1", 7)


async def test_a_picture_that_was_not_stored_is_said_to_be_missing(place: Place):
    picture = b"\x89PNG rest"
    there = hashlib.sha256(picture).hexdigest()
    parts = tuple(MessagePart(kind=PartKind.IMAGE, text="page", digest=digest) for digest in (there, DIGEST))
    blobs = await recorded(ModelReply(text="a"), parts=parts)
    (named,) = blobs
    await place.keep({**blobs, there: picture}, (named,))

    found = await place.engine.exchange("r1", named)

    shown = [part for part in found.messages[0].parts if part.kind == "image"]
    assert [(part.digest, part.stored) for part in shown] == [(there, True), (DIGEST, False)]
    assert not is_exchange(picture)
    assert is_exchange(blobs[named])
