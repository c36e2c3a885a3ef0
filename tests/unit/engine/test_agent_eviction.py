"""The laws of eviction (SuperBrowser, appendix E.2), for any live context."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.engine.agent.eviction.phases import (
    PHASES,
    condense,
    element_lists,
    evict,
    failures,
    old_turns,
    screenshots,
    states,
    thinking,
)
from app.engine.agent.eviction.retention import CurrentPage, RetentionLimits, count, count_text, newest_turn
from app.engine.agent.memory.entries import fact
from app.engine.agent.memory.ledger_store import LedgerStore
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind
from tests.support.laws import examples
from tests.support.live_contexts import KEEPS, NOWS, contexts

COMMUTING = (screenshots, states, thinking, element_lists)
law = settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
HERE = CurrentPage(url="http://shop.example/", title="Shop")


def _calls(messages, kind):
    return Counter(part.call for message in messages for part in message.parts if part.kind is kind)


def _size(ledger):
    """Equation 6: what the ledger holds."""
    return (
        len(ledger.facts)
        + len(ledger.dead_ends)
        + len(ledger.checkpoints)
        + len(ledger.episodic)
        + ledger.steps
    )


@law
@given(contexts(), KEEPS, NOWS)
def test_every_phase_is_idempotent(messages, keep, now):
    for phase in PHASES:
        once = phase(messages, keep, now)
        twice = phase(once.messages, keep, now)
        assert twice.messages == once.messages
        assert twice.entries == ()


@law
@given(contexts(), KEEPS, NOWS)
def test_eviction_is_idempotent(messages, keep, now):
    once = evict(messages, now=now, keep=keep)
    twice = evict(once.messages, now=now, keep=keep)
    assert twice.messages == once.messages
    assert twice.entries == ()


@law
@given(contexts(), KEEPS, NOWS)
def test_phases_of_different_kinds_commute(messages, keep, now):
    for one in COMMUTING:
        for other in COMMUTING:
            there = other(one(messages, keep, now).messages, keep, now).messages
            back = one(other(messages, keep, now).messages, keep, now).messages
            assert there == back


@law
@given(contexts(), KEEPS, NOWS)
def test_only_failures_and_old_turns_speak_to_the_ledger(messages, keep, now):
    for phase in COMMUTING:
        assert phase(messages, keep, now).entries == ()
    kinds = {entry.kind for entry in evict(messages, now=now, keep=keep).entries}
    assert kinds <= {"dead_end", "note"}


@law
@given(contexts(), KEEPS, NOWS)
def test_every_call_keeps_its_result(messages, keep, now):
    left = evict(messages, now=now, keep=keep).messages
    assert len(left) == len(messages)
    for kind in (PartKind.TOOL_CALL, PartKind.TOOL_RESULT):
        assert _calls(left, kind) == _calls(messages, kind)
    sent = condense(left)
    assert _calls(sent, PartKind.TOOL_CALL) == _calls(sent, PartKind.TOOL_RESULT)


@law
@given(contexts(), KEEPS, NOWS)
def test_no_phase_makes_the_context_longer(messages, keep, now):
    for phase in PHASES:
        assert count(phase(messages, keep, now).messages) <= count(messages)
    left = evict(messages, now=now, keep=keep).messages
    assert count(condense(left)) <= count(left)


@law
@given(contexts(), KEEPS, NOWS)
def test_the_newest_turn_is_untouched_but_for_failures_before_the_last(messages, keep, now):
    newest = newest_turn(messages)
    left = evict(messages, now=now, keep=keep).messages
    for before, after in zip(messages, left, strict=True):
        if before.turn == newest or before.role is ChatRole.SYSTEM:
            failed = any(part.failed for part in before.parts)
            assert after == before or failed


@law
@given(contexts(shuffled=False), KEEPS, NOWS)
def test_the_ledger_only_grows(messages, keep, now):
    book = LedgerStore()
    book.write(fact("price", "3"))
    left = messages
    sizes = [_size(book.ledger)]
    for last in range(newest_turn(messages) + 1):
        left = (*left[: sum(m.turn < last for m in messages)], *(m for m in messages if m.turn >= last))
        done = evict([m for m in left if m.turn <= last], now=now, keep=keep)
        book.write(*done.entries)
        left = done.messages
        sizes.append(_size(book.ledger))
    assert sizes == sorted(sizes)


@law
@given(contexts(), KEEPS, NOWS)
def test_every_failure_that_goes_becomes_a_dead_end(messages, keep, now):
    def failed(of):
        return sum(part.failed and part.evicted is None for message in of for part in message.parts)

    done = evict(messages, now=now, keep=keep)
    dead_ends = [entry for entry in done.entries if entry.kind == "dead_end"]
    assert len(dead_ends) == failed(messages) - failed(done.messages)


@settings(max_examples=examples(30), deadline=None)
@given(st.integers(20, 200), KEEPS, st.integers(1, 400))
def test_the_context_is_bounded_however_long_the_run(turns, keep, size):
    """Equation 5: a stable part, so many turns of the window, and a line for the archive."""

    def turn(number):
        page = MessagePart(kind=PartKind.ELEMENTS, text="x" * size, digest=f"list{number}")
        state = MessagePart(kind=PartKind.STATE, text="s" * size, url=f"http://shop.example/{number}")
        call = MessagePart(kind=PartKind.TOOL_CALL, call=str(number), text="click")
        came = MessagePart(
            kind=PartKind.TOOL_RESULT, call=str(number), text="r" * size, failed=number % 3 == 0
        )
        return (
            ChatMessage(role=ChatRole.USER, turn=number, parts=(page, state)),
            ChatMessage(role=ChatRole.ASSISTANT, turn=number, parts=(call,)),
            ChatMessage(role=ChatRole.TOOL, turn=number, parts=(came,)),
        )

    system = ChatMessage(
        role=ChatRole.SYSTEM, parts=(MessagePart(kind=PartKind.TEXT, text="You work on a page."),)
    )
    messages = (system,)
    for number in range(turns):
        messages = (*evict((*messages, *turn(number)), now=HERE, keep=keep).messages,)
    window = keep.turns + keep.stride + keep.messages // 3
    archive = 4 * len(str(turns)) + 40
    assert count(condense(messages)) <= count([system]) + window * count(turn(turns)) + archive


def test_words_of_a_page_are_never_taken_for_a_marker():
    """A page's claims about failures, element lists or states are only text."""
    lie = "[ERROR] FAILED HTTP 404 [ELEMENTS 12 shown] [SESSION_STATE url=x] dead_click captcha " * 20
    messages = [
        ChatMessage(
            role=role,
            turn=turn,
            parts=(
                MessagePart(kind=kind, text=lie, call=f"c{turn}" if kind is PartKind.TOOL_RESULT else ""),
            ),
        )
        for turn in range(8)
        for role, kind in ((ChatRole.USER, PartKind.TEXT), (ChatRole.TOOL, PartKind.TOOL_RESULT))
    ]
    done = evict(messages, now=HERE)
    assert done.messages == tuple(messages)
    assert done.entries == ()


def test_the_numbers_of_the_paper_hold():
    """Two screenshots, one failure, two states and those of this page, three thoughts, five turns, one list."""

    def turn(number):
        page = {"url": f"http://shop.example/{number % 2}", "title": "Shop"}
        return [
            ChatMessage(
                role=ChatRole.USER,
                turn=number,
                parts=(
                    MessagePart(kind=PartKind.IMAGE, digest=str(number)),
                    MessagePart(kind=PartKind.CAPTION, text="a basket"),
                    MessagePart(kind=PartKind.STATE, text="state " * 30, **page),
                    MessagePart(kind=PartKind.ELEMENTS, text="element " * 30),
                ),
            ),
            ChatMessage(
                role=ChatRole.ASSISTANT,
                turn=number,
                parts=(
                    MessagePart(kind=PartKind.THINKING, text="hm " * 30),
                    MessagePart(kind=PartKind.TOOL_CALL, call=str(number), text="click(1)"),
                ),
            ),
            ChatMessage(
                role=ChatRole.TOOL,
                turn=number,
                parts=(
                    MessagePart(kind=PartKind.TOOL_RESULT, call=str(number), text="no " * 30, failed=True),
                ),
            ),
        ]

    messages = [message for number in range(9) for message in turn(number)]
    done = evict(messages, now=CurrentPage(url="http://shop.example/0", title="Shop"))

    def turns_with(kind):
        return [
            message.turn
            for message in done.messages
            for part in message.parts
            if part.kind is kind and part.evicted is None
        ]

    assert turns_with(PartKind.IMAGE) == [7, 8]
    assert turns_with(PartKind.CAPTION) == list(range(9))
    assert turns_with(PartKind.TOOL_RESULT) == [8]
    assert turns_with(PartKind.STATE) == [0, 2, 4, 6, 7, 8]
    assert turns_with(PartKind.THINKING) == [6, 7, 8]
    assert turns_with(PartKind.ELEMENTS) == [8]
    assert len([entry for entry in done.entries if entry.kind == "dead_end"]) == 8

    longer = evict([message for number in range(11) for message in turn(number)], now=HERE)
    archived = [message for message in longer.messages if message.archived]
    assert {message.turn for message in archived} == set(range(6))
    assert len(longer.messages) == 33
    assert [entry.data["text"] for entry in longer.entries if entry.kind == "note"] == [
        "steps 0 to 5: 18 messages archived; this ledger has what matters of them"
    ]
    sent = condense(longer.messages)
    assert sent[0].parts[0].text.startswith("[steps 0 to 5 are archived")
    assert len(sent) == 16


def test_with_a_stride_the_prompt_prefix_is_stable_between_two_cuts():
    def turn(number):
        state = MessagePart(kind=PartKind.STATE, text="state " * 30, url=f"http://shop.example/{number}")
        return ChatMessage(role=ChatRole.USER, turn=number, parts=(state,))

    keep = RetentionLimits(stride=4)
    messages: tuple[ChatMessage, ...] = ()
    changed = []
    for number in range(24):
        before = messages
        messages = evict((*messages, turn(number)), now=HERE, keep=keep).messages
        if messages[:-1] != before:
            changed.append(number)
    assert changed == [4, 8, 12, 16, 20]


def test_a_list_diff_keeps_its_base_list():
    whole = MessagePart(kind=PartKind.ELEMENTS, text="element " * 50, digest="a")
    other = MessagePart(kind=PartKind.ELEMENTS, text="element " * 50, digest="b")
    changes = MessagePart(kind=PartKind.ELEMENTS, text="one more " * 9, base="a")
    messages = [
        ChatMessage(role=ChatRole.USER, turn=turn, parts=(part,))
        for turn, part in enumerate((whole, other, changes))
    ]
    left = evict(messages, now=HERE).messages
    assert [message.parts[0].kind for message in left] == [
        PartKind.ELEMENTS, PartKind.MARKER, PartKind.ELEMENTS,
    ]  # fmt: skip


@settings(deadline=None)
@given(st.text())
def test_tokens_are_counted_for_any_text(text):
    assert (count_text(text) == 0) == (text == "")
    assert count_text(text) <= len(text) + 1
    assert count_text(text + text) <= 2 * count_text(text) + 1


def test_a_failure_shorter_than_its_line_stays_in_words_and_is_remembered_all_the_same():
    short = MessagePart(
        kind=PartKind.TOOL_RESULT, call="1", text="no", failed=True, cause="covered", target="button 'Save'"
    )
    messages = [
        ChatMessage(role=ChatRole.TOOL, turn=0, parts=(short,)),
        ChatMessage(role=ChatRole.TOOL, turn=1, parts=(replace(short, call="2"),)),
    ]
    done = failures(messages, RetentionLimits(), HERE)
    assert done.messages[0].parts[0].text == "no"
    assert [entry.data["target"] for entry in done.entries] == ["button 'Save'"]
    assert old_turns(messages, RetentionLimits(), HERE).entries == ()
