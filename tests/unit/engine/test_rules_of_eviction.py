"""The limits of eviction (``agent/eviction``: ``RetentionLimits`` and the six phases), each at, below and above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.engine.agent.eviction.phases import (
    element_lists,
    evict,
    failures,
    old_turns,
    screenshots,
    states,
    thinking,
)
from app.engine.agent.eviction.retention import CurrentPage, RetentionLimits
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind

LONG = "words of a page " * 60
HERE = CurrentPage(url="http://shop.test/basket", title="Basket")
USUAL = RetentionLimits()


def turns(*parts: MessagePart | None) -> tuple[ChatMessage, ...]:
    """Return one message a turn with that part, or with a text of no kind."""
    word = MessagePart(kind=PartKind.TEXT, text="go on")
    return tuple(
        ChatMessage(role=ChatRole.USER, parts=(part or word,), turn=turn) for turn, part in enumerate(parts)
    )


def kept(messages: Sequence[ChatMessage], kind: PartKind) -> list[int]:
    """Return the turns that still hold a complete part of a kind."""
    return [
        message.turn
        for message in messages
        if any(part.kind is kind and part.evicted is None for part in message.parts)
    ]


def picture(n: int) -> MessagePart:
    return MessagePart(kind=PartKind.IMAGE, digest=f"picture{n}")


def state(url: str = "http://shop.test/", title: str = "Shop") -> MessagePart:
    return MessagePart(kind=PartKind.STATE, text=LONG, url=url, title=title)


def failure(n: int) -> MessagePart:
    return MessagePart(
        kind=PartKind.TOOL_RESULT, text=LONG, call=f"call{n}", failed=True, cause="covered", target="x"
    )


def thought() -> MessagePart:
    return MessagePart(kind=PartKind.THINKING, text=LONG)


def listed(n: int, base: str = "") -> MessagePart:
    return MessagePart(kind=PartKind.ELEMENTS, text=LONG, digest=f"list{n}", base=base)


@pytest.mark.parametrize(("there", "stay"), [(1, [0]), (2, [0, 1]), (3, [1, 2]), (5, [3, 4])])
def test_the_newest_two_pictures_stay(there: int, stay: list[int]) -> None:
    done = screenshots(turns(*map(picture, range(there))), USUAL)
    assert kept(done.messages, PartKind.IMAGE) == stay


def test_two_pictures_stay_however_old_they_are() -> None:
    done = screenshots(turns(picture(0), picture(1), None, None, None), USUAL)
    assert kept(done.messages, PartKind.IMAGE) == [0, 1]


@pytest.mark.parametrize(("there", "stay"), [(1, [0]), (2, [1]), (4, [3])])
def test_the_newest_failure_stays_and_each_older_one_is_a_dead_end(there: int, stay: list[int]) -> None:
    done = failures(turns(*map(failure, range(there))), USUAL)
    assert kept(done.messages, PartKind.TOOL_RESULT) == stay
    assert [entry.kind for entry in done.entries] == ["dead_end"] * (there - 1)


@pytest.mark.parametrize(("there", "stay"), [(1, [0]), (2, [0, 1]), (3, [1, 2]), (6, [4, 5])])
def test_states_of_the_last_two_turns_stay(there: int, stay: list[int]) -> None:
    done = states(turns(*(state() for _ in range(there))), USUAL, HERE)
    assert kept(done.messages, PartKind.STATE) == stay


OLD_STATES = (
    ("the same address and title: being stuck shows", HERE.url, HERE.title, True),
    ("the same address with another title goes", HERE.url, "Basket (1)", False),
    ("another address with the same title goes", "http://shop.test/", HERE.title, False),
    ("no address is no page", "", HERE.title, False),
)


@pytest.mark.parametrize(
    ("url", "title", "stays"), [row[1:] for row in OLD_STATES], ids=[r[0] for r in OLD_STATES]
)
def test_of_older_states_only_those_of_the_page_as_it_is_now_stay(url: str, title: str, stays: bool) -> None:
    done = states(turns(state(url, title), state(), state(), state()), USUAL, HERE)
    assert kept(done.messages, PartKind.STATE) == [0, 2, 3] if stays else [2, 3]
    assert (0 in kept(done.messages, PartKind.STATE)) is stays


@pytest.mark.parametrize(("there", "stay"), [(2, [0, 1]), (3, [0, 1, 2]), (4, [1, 2, 3]), (7, [4, 5, 6])])
def test_thoughts_of_the_newest_three_turns_stay(there: int, stay: list[int]) -> None:
    done = thinking(turns(*(thought() for _ in range(there))), USUAL)
    assert kept(done.messages, PartKind.THINKING) == stay


@pytest.mark.parametrize(("there", "archived"), [(29, 0), (30, 0), (31, 26), (32, 27)])
def test_nothing_is_archived_up_to_thirty_messages_and_all_but_five_turns_above(
    there: int, archived: int
) -> None:
    done = old_turns(turns(*[None] * there), USUAL)
    assert [message.turn for message in done.messages if message.archived] == list(range(archived))
    assert len(done.messages) == there


def test_the_systems_messages_are_never_archived() -> None:
    system = ChatMessage(
        role=ChatRole.SYSTEM, parts=(MessagePart(kind=PartKind.TEXT, text="You work on a page."),)
    )
    done = old_turns((system, *turns(*[None] * 31)), USUAL)
    assert done.messages[0] == system


@pytest.mark.parametrize(("there", "stay"), [(1, [0]), (2, [1]), (4, [3])])
def test_the_newest_list_stays(there: int, stay: list[int]) -> None:
    done = element_lists(turns(*map(listed, range(there))), USUAL)
    assert kept(done.messages, PartKind.ELEMENTS) == stay


def test_only_the_base_of_the_newest_list_stays() -> None:
    done = element_lists(turns(listed(0), listed(1), listed(2), listed(3, base="list1")), USUAL)
    assert kept(done.messages, PartKind.ELEMENTS) == [1, 3]


@pytest.mark.parametrize(("newest", "archived"), [(39, 0), (40, 36), (49, 36), (50, 46)])
def test_with_a_stride_the_windows_move_at_its_turns_only(newest: int, archived: int) -> None:
    """Before turn 40 a cut looks at the first thirty messages, which are not too many."""
    keep = replace(USUAL, stride=10)
    left: tuple[ChatMessage, ...] = ()
    for message in turns(*[None] * (newest + 1)):
        left = evict((*left, message), now=HERE, keep=keep).messages
    assert [message.turn for message in left if message.archived] == list(range(archived))
