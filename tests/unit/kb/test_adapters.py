"""Adapters without the packages they are for: stand-ins that take what those take."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from kb import KnowledgeBase, Scope, Status, TipDraft
from kb.adapters.browser_use import give_tips
from kb.adapters.browsergym import TipsObservation
from kb.adapters.langchain import tip_retriever
from kb.adapters.openai_tools import LONGEST_ARGUMENTS, TipTools
from kb.errors import KbError
from kb.freeze import freeze
from kb.knowledge import FrozenKnowledge, open_frozen

CART = "https://shop.example/cart"
TEXT = "The coupon is entered below the list of things."


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> FrozenKnowledge:
    place = tmp_path_factory.mktemp("kb")
    with KnowledgeBase.open(place / "live.akb", author="ada") as kb:
        kb.set_hosts("shop", ["shop.example"])
        tip = kb.add(TipDraft(site="shop", text=TEXT, scope=Scope(host="shop.example", path="/cart")))
        kb.set_status([tip.id], Status.ACTIVE)
        freeze(kb, place / "frozen.akb")
    return open_frozen(place / "frozen.akb")


def call(**arguments: Any) -> dict[str, Any]:
    return {"id": "c1", "function": {"name": "retrieve_tips", "arguments": json.dumps(arguments)}}


def test_a_chat_call_is_answered_by_a_tool_message(knowledge: FrozenKnowledge):
    tools = TipTools(knowledge)
    said = tools.chat_result(call(url=CART, goal="apply a coupon", page=None))
    assert (said["role"], said["tool_call_id"]) == ("tool", "c1")
    assert TEXT in said["content"]
    assert [(one.url, len(one.tips)) for one in tools.tips.given] == [(CART, 1)]


def test_a_call_of_responses_is_answered_by_its_item(knowledge: FrozenKnowledge):
    given = SimpleNamespace(
        name="retrieve_tips", call_id="r1", arguments=json.dumps({"url": CART, "goal": "coupon"})
    )
    said = TipTools(knowledge).responses_result(given)
    assert (said["type"], said["call_id"]) == ("function_call_output", "r1")
    assert TEXT in said["output"]


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("delete_tips", "{}", "There is no tool 'delete_tips' here"),
        ("retrieve_tips", "{", "not a JSON object"),
        ("retrieve_tips", "[]", "not a JSON object"),
        ("retrieve_tips", None, "not a JSON object"),
        ("retrieve_tips", "[" * 100_000, "not a JSON object"),
        ("retrieve_tips", '"' + "x" * LONGEST_ARGUMENTS + '"', "not a JSON object"),
        ("retrieve_tips", '{"url": 3, "goal": null, "page": []}', "give the page's url, the goal, or both"),
        ("retrieve_tips", '{"url": "https://elsewhere.example/", "goal": "sing"}', "There are no tips"),
    ],
)
def test_a_call_that_cannot_be_used_gets_one_sentence(
    knowledge: FrozenKnowledge, name: str, arguments: str | None, sentence: str
):
    assert sentence in TipTools(knowledge).answer(name, arguments)


class Env:
    """Takes what BrowserGym's environments take."""

    spec = "a spec"
    unwrapped = "the innermost"

    def __init__(self, *pages: dict[str, Any]) -> None:
        self.pages, self.reset_with, self.done = list(pages), {}, []

    def reset(self, **named: Any):
        self.reset_with = named
        return self.pages.pop(0), {"info": 1}

    def step(self, action: str):
        self.done.append(action)
        return self.pages.pop(0), 0.5, False, True, {"info": 2}


def page(url: str, **more: Any) -> dict[str, Any]:
    return {
        "url": url,
        "goal": "apply a coupon",
        "goal_object": [{"type": "text", "text": "apply a coupon"}],
        **more,
    }


def test_observations_have_the_tips_of_their_page_and_the_environment_is_as_it_was(
    knowledge: FrozenKnowledge,
):
    first, second = page(CART), page("https://elsewhere.example/", goal="sing")
    env = Env(first, second)
    wrapped = TipsObservation(env, knowledge)
    seen, info = wrapped.reset(seed=3)
    assert (env.reset_with, info) == ({"seed": 3}, {"info": 1})
    assert TEXT in seen["tips"]
    assert [part["text"] for part in seen["goal_object"]] == ["apply a coupon", seen["tips"]]
    assert first == page(CART), "the environment's own observation stays as it is"
    after, reward, terminated, truncated, info = wrapped.step("click('3')")
    assert (after["tips"], after["goal_object"]) == ("", second["goal_object"])
    assert (reward, terminated, truncated, info, env.done) == (0.5, False, True, {"info": 2}, ["click('3')"])
    assert (wrapped.spec, wrapped.unwrapped) == ("a spec", "the innermost")


@pytest.mark.parametrize(
    "more",
    [
        {"goal": None},
        {"goal_object": None},
        {"goal_object": "text", "goal": 3},
        {"axtree_txt": 7},
        {"axtree_object": {}},
    ],
)
def test_an_observation_of_another_shape_ends_no_episode(knowledge: FrozenKnowledge, more: dict[str, Any]):
    seen, _ = TipsObservation(Env(page(CART, **more)), knowledge, in_goal=False).reset()
    assert isinstance(seen["tips"], str)


async def test_browser_use_is_given_the_tips_of_the_page_in_front(
    knowledge: FrozenKnowledge, monkeypatch: pytest.MonkeyPatch
):
    messages = ModuleType("browser_use.llm.messages")
    messages.UserMessage = lambda content: ("user", content)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "browser_use", ModuleType("browser_use"))
    monkeypatch.setitem(sys.modules, "browser_use.llm", ModuleType("browser_use.llm"))
    monkeypatch.setitem(sys.modules, "browser_use.llm.messages", messages)
    added: list[Any] = []
    urls = [CART, "https://elsewhere.example/", ""]

    async def prepare(step_info: object = None) -> SimpleNamespace:
        return SimpleNamespace(
            url=urls.pop(0), title="Cart", dom_state=SimpleNamespace(llm_representation=lambda: "x")
        )

    manager = SimpleNamespace(_add_context_message=added.append)
    agent: Any = SimpleNamespace(task="apply a coupon", _prepare_context=prepare, _message_manager=manager)
    given = give_tips(agent, knowledge)
    states = [await agent._prepare_context(None) for _ in range(3)]
    assert [state.url for state in states] == [CART, "https://elsewhere.example/", ""]
    assert added[0][0] == "user"
    assert TEXT in added[0][1]
    assert [one.url for one in given.given] == [CART, "https://elsewhere.example/", ""]


def test_a_browser_use_of_another_shape_is_refused_by_one_sentence(knowledge: FrozenKnowledge):
    with pytest.raises(KbError, match="can't be given tips by step"):
        give_tips(SimpleNamespace(task="x"), knowledge)


def test_without_langchain_one_sentence_says_so(knowledge: FrozenKnowledge, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "langchain_core.documents", None)
    with pytest.raises(KbError, match="pip install langchain-core"):
        tip_retriever(knowledge)


def test_the_examples_of_the_guide_are_programs():
    examples = sorted((Path(__file__).parents[3] / "docs/guide/examples").glob("*.py"))
    assert [one.stem for one in examples] == [
        "browser_use_tips",
        "browsergym_tips",
        "langchain_tips",
        "openai_tips",
    ]
    for one in examples:
        compile(one.read_text(), str(one), "exec")
