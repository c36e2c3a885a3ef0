"""The live context: short, bounded, with a beginning that stays the same between two cuts."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.agent.eviction.live_context import LiveContext, diff_lists
from app.engine.agent.eviction.retention import RetentionLimits, count
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind
from tests.support.live_contexts import stable_prefix

SYSTEM = ChatMessage(
    role=ChatRole.SYSTEM, parts=(MessagePart(kind=PartKind.TEXT, text="You work on a page. " * 400),)
)


PICTURE = MessagePart(kind=PartKind.IMAGE, text="Picture of step 0:", digest="p0")


def _page(name: str, rows: int = 60, changed: int = -1) -> str:
    return "\n".join(
        f"[{row}] link '{name} {row}{' (new)' if row == changed else ''}'" for row in range(rows)
    )


def _run(context: LiveContext, steps: int, pages: int = 3) -> list[tuple[ChatMessage, ...]]:
    prompts = []
    for step in range(steps):
        name = f"page {step // 4 % pages}"
        context.add_observation(
            step, _page(name, changed=step), state=f"Address: {name}", url=name, title=name
        )
        prompts.append(context.prompt(f"Ledger of step {step}"))
        context.add_answer(step, f"click({step})", thinking="I think. " * 40, call=f"call{step}")
        context.add_result(
            step, "changed", call=f"call{step}", failed=step % 5 == 0, cause="covered", target="link 'x'"
        )
    return prompts


def test_the_beginning_of_the_prompt_changes_only_at_a_cut():
    prompts = _run(LiveContext((SYSTEM,), keep=RetentionLimits(stride=8)), 24)
    cuts = [
        step
        for step in range(1, 24)
        if stable_prefix(prompts[step - 1], prompts[step]) < count(prompts[step - 1][:-1])
    ]
    assert cuts == [8, 16]


def test_the_ledger_and_tips_come_last_and_are_not_kept():
    prompts = _run(LiveContext((SYSTEM,)), 6)
    for step, prompt in enumerate(prompts):
        told = [part.text for message in prompt for part in message.parts if part.text.startswith("Ledger")]
        assert told == [f"Ledger of step {step}"]
        assert prompt[-1].parts[-1].text == f"Ledger of step {step}"
        assert prompt[0] == SYSTEM


def test_most_of_a_prompt_is_one_that_the_cache_has():
    prompts = _run(LiveContext((SYSTEM,)), 50)
    stable = sum(stable_prefix(before, after) for before, after in pairwise(prompts))
    assert stable / sum(map(count, prompts[1:])) >= 0.8


def test_the_prompt_is_bounded_however_long_the_run():
    prompts = _run(LiveContext((SYSTEM,)), 120)
    sizes = [count(prompt) for prompt in prompts]
    assert max(sizes[60:]) <= max(sizes[:60])


def test_a_budget_moves_the_windows_before_their_time():
    sizes = {}
    for budget in (3_000, 100_000):
        prompts = _run(
            LiveContext((SYSTEM,), keep=RetentionLimits(stride=50, lists=9), budget=budget), 40, pages=40
        )
        sizes[budget] = max(count(prompt) - count([SYSTEM]) for prompt in prompts)
    assert sizes[3_000] <= 3_000 + 50
    assert sizes[100_000] > 2 * sizes[3_000]


def test_a_list_sent_as_a_diff_always_has_its_base():
    dice = random.Random(3)
    context = LiveContext((SYSTEM,), keep=RetentionLimits(stride=5), budget=4_000)
    for step in range(60):
        name = f"page {dice.randrange(4)}"
        context.add_observation(step, _page(name, changed=dice.randrange(60)), url=name)
        prompt = context.prompt()
        parts = [part for message in prompt for part in message.parts if part.kind is PartKind.ELEMENTS]
        whole = {part.digest for part in parts if part.digest}
        assert parts
        assert all(part.base in whole for part in parts[-1:] if part.base)
        context.add_answer(step, "click", call=str(step))
        context.add_result(step, "changed", call=str(step))


def test_every_call_that_is_sent_is_answered():
    for prompt in _run(LiveContext((SYSTEM,), keep=RetentionLimits(stride=3), budget=2_000), 40):
        calls = [part.call for message in prompt for part in message.parts if part.kind is PartKind.TOOL_CALL]
        came = [
            part.call for message in prompt for part in message.parts if part.kind is PartKind.TOOL_RESULT
        ]
        assert calls == came


def test_a_page_goes_through_the_fence_whole_or_as_changes():
    told = []

    def fence(what: str, text: str) -> str:
        told.append(what)
        return f"<<{what}>>{text}<</{what}>>"

    context = LiveContext((SYSTEM,), fence=fence)
    context.add_observation(0, _page("shop"), state="Address: shop", caption="a shop", picture=PICTURE)
    context.add_observation(1, _page("shop", changed=7), state="Address: shop")
    assert told == ["page", "what the screenshot shows", "elements", "page", "elements"]
    last = context.prompt()[-1].parts[-1].text
    assert last.startswith("<<elements>>The list of step 0 with these changes:")
    assert "+ [7] link 'shop 7 (new)'" in last
    assert last.count("\n") < 6


def test_the_same_page_again_is_one_line():
    context = LiveContext((SYSTEM,))
    context.add_observation(0, _page("shop"))
    context.add_observation(1, _page("basket"))
    context.add_observation(2, _page("shop"))
    assert context.prompt()[-1].parts[-1].text == "The same list as at step 0."


def test_another_page_is_sent_complete():
    assert diff_lists(_page("shop"), _page("basket"), 0) == ""
    assert diff_lists(_page("shop"), "", 0) == ""
    assert diff_lists("", _page("shop"), 0) == ""


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcdefgh"), max_size=40), st.lists(st.sampled_from("abcdefgh"), max_size=40))
def test_changes_are_shorter_than_the_list_and_hold_every_new_line(before, after):
    """Every new line is in the diff; removed lines are shown or counted."""
    long = {letter: f"[{letter}] link '{letter * 30}'" for letter in "abcdefgh"}
    old, new = "\n".join(long[line] for line in before), "\n".join(long[line] for line in after)
    text = diff_lists(old, new, 3)
    if not text or old == new:
        return
    assert len(text) < len(new)
    for letter in set(after) - set(before):
        assert f"+ {long[letter]}" in text


@pytest.mark.parametrize("lines", [3_000, 9_000])
def test_very_long_lists_that_differ_everywhere_are_not_compared_line_by_line(lines):
    old = "\n".join(f"line {number % 700}" for number in range(lines))
    new = "\n".join(f"line {(number * 31) % 700}" for number in range(lines))
    assert diff_lists(old, new, 0) == ""


def _shown(context: LiveContext) -> list[str]:
    return [part.digest for one in context.prompt() for part in one.parts if part.kind is PartKind.IMAGE]


def test_only_the_newest_two_pictures_stay_whatever_the_stride():
    context = LiveContext((SYSTEM,), keep=RetentionLimits(stride=12))
    for step in range(12):
        picture = MessagePart(kind=PartKind.IMAGE, text=f"Picture of step {step}:", digest=f"p{step}")
        context.add_observation(step, _page("shop", changed=step), picture=picture)
        assert _shown(context) == [f"p{one}" for one in range(max(0, step - 1), step + 1)]
    text = "\n".join(part.text for one in context.prompt() for part in one.parts)
    assert text.count("[an earlier screenshot stood here]") == 10
    assert "Picture of step 9" not in text


def test_a_picture_that_still_holds_is_not_sent_again_while_it_is_in_the_context():
    context = LiveContext((SYSTEM,), keep=RetentionLimits(stride=4, messages=8))
    told = []
    for step in range(16):
        context.add_observation(step, _page("shop"), picture=PICTURE, holds="It still holds." if step else "")
        assert _shown(context) == ["p0"]
        told.append(context.prompt()[-1].parts[0].text)
        context.add_answer(step, "click", call=str(step))
        context.add_result(step, "nothing", call=str(step))
    assert told[1] == "It still holds."
    assert told.count("Picture of step 0:") > 1  # its turn was archived, so it is sent again


def test_without_pictures_none_is_left_and_the_system_message_is_another():
    context = LiveContext((SYSTEM,))
    context.add_observation(0, _page("shop"), picture=PICTURE)
    plain = ChatMessage(role=ChatRole.SYSTEM, parts=(MessagePart(kind=PartKind.TEXT, text="plain"),))
    context.without_pictures((plain,))
    assert _shown(context) == []
    assert context.prompt()[0] == plain
