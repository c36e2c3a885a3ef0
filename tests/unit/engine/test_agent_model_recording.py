"""Exchanges with a model are recorded without secrets and pictures."""

from __future__ import annotations

import hashlib
import json

import pytest

from app.engine.agent.llm.prompting import Fence
from app.engine.agent.model.recording_model import RecordingModel
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind
from app.engine.core.model_api import AgentRole, ModelError, ModelErrorKind, ModelReply
from tests.support.scripted_model import ScriptedModel


class Shelf(list[bytes]):
    """A sink."""

    def __call__(self, data: bytes) -> str:
        self.append(data)
        return hashlib.sha256(data).hexdigest()


def ask(text: str, *parts: MessagePart) -> list[ChatMessage]:
    return [ChatMessage(role=ChatRole.USER, parts=(MessagePart(kind=PartKind.TEXT, text=text), *parts))]


async def test_every_exchange_is_kept_and_named_in_its_reply():
    shelf = Shelf()
    model = RecordingModel(ScriptedModel(["one", "two"]), shelf)
    first = await model.ask(AgentRole.PLANNER, ask("a"), schema={"title": "plan"}, most=50)
    await model.ask(AgentRole.OPERATOR, ask("b"))
    assert first.digest == hashlib.sha256(shelf[0]).hexdigest()
    kept = json.loads(shelf[0])
    assert (kept["role"], kept["schema"], kept["most"]) == ("planner", {"title": "plan"}, 50)
    assert kept["messages"] == [{"role": "user", "parts": [{"kind": "text", "text": "a"}]}]
    assert kept["reply"]["text"] == "one"


async def test_secrets_are_not_kept_and_pictures_are_contents_of_their_own():
    shelf = Shelf()
    picture = MessagePart(kind=PartKind.IMAGE, text="the page", digest="d1")
    answer = ModelReply(text="fill hunter2", thinking="hunter2!", data={"text": ["hunter2", {"hunter2": 1}]})
    model = RecordingModel(ScriptedModel([answer]), shelf, mask=lambda text: text.replace("hunter2", "***"))
    reply = await model.ask(
        AgentRole.OPERATOR,
        ask("hunter2 and https://x.y/?token=abcdef123456 and sk-" + "a" * 30, picture),
        pictures={"d1": b"\x89PNG hunter2"},
    )
    assert reply.text == "fill hunter2"
    kept = shelf[0].decode()
    assert "hunter2" not in kept
    assert "abcdef123456" not in kept
    assert "sk-aaa" not in kept
    assert "PNG" not in kept
    assert json.loads(kept)["messages"][0]["parts"][1] == {
        "kind": "image",
        "text": "the page",
        "digest": "d1",
    }
    assert shelf[1:] == [b"\x89PNG hunter2"]


async def test_an_error_is_kept_with_its_request_and_raised():
    shelf = Shelf()
    model = RecordingModel(ScriptedModel([ModelError("it is on fire", ModelErrorKind.SERVER)]), shelf)
    with pytest.raises(ModelError, match="it is on fire"):
        await model.ask(AgentRole.OPERATOR, ask("a"))
    kept = json.loads(shelf[0])
    assert kept["error"] == {"trouble": "server", "message": "it is on fire"}
    assert "reply" not in kept


async def test_the_same_request_has_the_same_key_behind_another_fence():
    def question(fence: Fence) -> list[ChatMessage]:
        return ask(f"Lines with {fence.marker} are the site's.\n{fence.around('the page', 'Buy now')}")

    shelf = Shelf()
    model = RecordingModel(ScriptedModel(["one", "two", "three"]), shelf)
    for messages in (question(Fence()), question(Fence()), ask("something else")):
        await model.ask(AgentRole.OPERATOR, messages)
    first, second, other = (json.loads(data)["key"] for data in shelf)
    assert first == second != other
