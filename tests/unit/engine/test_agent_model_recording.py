"""Exchanges with a model are recorded without secrets and pictures."""

from __future__ import annotations

import hashlib
import json

import pytest

from app.engine.agent.llm.prompting import Fence
from app.engine.agent.model.recording_model import RecordingModel
from app.engine.agent.model.replay_model import ReplayModel, exchanges_of
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind
from app.engine.core.model_api import AgentRole, LanguageModel, ModelError, ModelErrorKind, ModelReply
from app.engine.core.trajectory import Step
from app.errors import InputError
from tests.support.scripted_model import Said, ScriptedModel


class Shelf(list[bytes]):
    """A sink."""

    def __call__(self, data: bytes) -> str:
        self.append(data)
        return hashlib.sha256(data).hexdigest()


def ask(text: str, *parts: MessagePart) -> list[ChatMessage]:
    return [ChatMessage(role=ChatRole.USER, parts=(MessagePart(kind=PartKind.TEXT, text=text), *parts))]


async def outcome(model: LanguageModel, question: str) -> tuple[object, ...]:
    """Return the reply or error of a question, without the digest."""
    try:
        reply = await model.ask(AgentRole.OPERATOR, ask(question))
    except ModelError as error:
        return str(error), error.trouble
    return reply.text, reply.data, reply.tokens, reply.cut


async def test_every_exchange_is_kept_and_named_in_its_reply():
    shelf = Shelf()
    model = RecordingModel(ScriptedModel(["one", "two"]), shelf)
    first = await model.ask(AgentRole.PLANNER, ask("a"), schema={"title": "plan"}, most=50)
    await model.ask(AgentRole.OPERATOR, ask("b"))
    assert first.digest == hashlib.sha256(shelf[0]).hexdigest()
    assert model.taken() == tuple(hashlib.sha256(data).hexdigest() for data in shelf)
    assert model.taken() == ()
    kept = json.loads(shelf[0])
    assert (kept["role"], kept["schema"], kept["most"]) == ("planner", {"title": "plan"}, 50)
    assert kept["messages"] == [{"role": "user", "parts": [{"kind": "text", "text": "a"}]}]
    assert kept["reply"]["text"] == "one"


async def test_secrets_and_pictures_are_not_kept():
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


async def test_a_replay_answers_as_the_model_did_and_repeats_its_errors():
    shelf = Shelf()
    trouble = ModelError("it is on fire", ModelErrorKind.SERVER)
    answers: list[Said] = [
        ModelReply(text="one", data={"a": 1}, tokens=(5, 2), cut=True),
        "two",
        trouble,
        "again",
    ]
    model = RecordingModel(ScriptedModel(answers), shelf)
    questions = ["same", "same", "bad", "other"]
    said = [await outcome(model, question) for question in questions]

    replay = ReplayModel(shelf)
    assert [await outcome(replay, question) for question in questions] == said
    assert said[2] == ("it is on fire", ModelErrorKind.SERVER)
    assert replay.usage()[AgentRole.OPERATOR].tokens_in >= 5
    await replay.aclose()


async def test_a_request_that_was_not_recorded_is_told_apart():
    shelf = Shelf()
    model = RecordingModel(ScriptedModel(["one", "two"]), shelf)
    await model.ask(AgentRole.OPERATOR, ask("a"))
    await model.ask(AgentRole.OPERATOR, ask("b"))
    with pytest.raises(ModelError, match="no answer to this request of the operator") as caught:
        await ReplayModel(shelf).ask(AgentRole.OPERATOR, ask("c"))
    assert caught.value.trouble is ModelErrorKind.NO_MODEL
    loosely = ReplayModel(shelf, by_order=True)
    assert [(await loosely.ask(AgentRole.OPERATOR, ask(word))).text for word in ("b", "c")] == ["two", "one"]
    with pytest.raises(ModelError):
        await loosely.ask(AgentRole.OPERATOR, ask("d"))


async def test_secrets_in_a_request_do_not_keep_it_from_being_found():
    shelf = Shelf()
    question = ask("see https://x.y/?token=abcdef123456")
    await RecordingModel(ScriptedModel(["one"]), shelf).ask(AgentRole.OPERATOR, question)
    assert (await ReplayModel(shelf).ask(AgentRole.OPERATOR, question)).text == "one"


@pytest.mark.parametrize(
    "data", [b"", b"[]", b'{"format": 1}', b'{"format": 9, "key": "k", "role": "judge"}', b"\xff"]
)
def test_what_is_no_exchange_is_told(data: bytes):
    with pytest.raises(InputError, match="exchange"):
        ReplayModel([data])


async def test_a_stored_run_is_replayed_from_its_steps_behind_another_fence():
    def question(fence: Fence) -> list[ChatMessage]:
        return ask(f"Lines with {fence.marker} are the site's.\n{fence.around('the page', 'Buy now')}")

    shelf = Shelf()
    model = RecordingModel(ScriptedModel(["one", "two"]), shelf)
    for word in ("one", "two"):
        assert (await model.ask(AgentRole.OPERATOR, question(Fence()))).text == word
    contents = {hashlib.sha256(data).hexdigest(): data for data in shelf}
    steps = [Step(index=at, url="", title="", calls=(digest,)) for at, digest in enumerate(model.taken())]

    replay = ReplayModel(exchanges_of(steps, contents.__getitem__))
    assert [(await replay.ask(AgentRole.OPERATOR, question(Fence()))).text for _ in steps] == ["one", "two"]
