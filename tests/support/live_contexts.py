"""Live contexts of every kind, for the laws of eviction: any mix of parts, short and long, in and out of order."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from app.engine.agent.eviction.retention import (
    MESSAGE_OVERHEAD,
    CurrentPage,
    RetentionLimits,
    count_part,
    count_text,
)
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind

_URLS = st.sampled_from(["http://shop.example/", "http://shop.example/basket", ""])
_WORDS = st.one_of(
    st.just(""),
    st.text(max_size=12),
    st.integers(1, 120).map(lambda n: "[ELEMENTS 3 shown] FAILED HTTP 404 " * n),
)
_CAUSES = st.sampled_from(["", "covered", "network", "no effect"])

NOWS = st.builds(CurrentPage, url=_URLS, title=st.sampled_from(["Shop", "Basket"]))

KEEPS = st.builds(
    RetentionLimits,
    images=st.integers(1, 3),
    failures=st.integers(1, 2),
    states=st.integers(1, 3),
    thinking=st.integers(1, 3),
    lists=st.integers(1, 2),
    turns=st.integers(3, 6),
    messages=st.integers(0, 20),
    stride=st.integers(1, 4),
)


@st.composite
def _seen(draw: st.DrawFn, turn: int) -> ChatMessage:
    page = {"url": draw(_URLS), "title": draw(st.sampled_from(["Shop", "Basket"])), "text": draw(_WORDS)}
    wanted = draw(st.lists(st.sampled_from(["image", "caption", "state", "elements", "text"]), max_size=5))
    made = {
        "image": MessagePart(kind=PartKind.IMAGE, digest=f"picture{turn}"),
        "caption": MessagePart(kind=PartKind.CAPTION, text=page["text"]),
        "state": MessagePart(kind=PartKind.STATE, **page),
        "elements": MessagePart(
            kind=PartKind.ELEMENTS,
            text=page["text"],
            digest=f"list{turn}",
            base=draw(st.sampled_from(["", *(f"list{before}" for before in range(turn))])),
        ),
        "text": MessagePart(kind=PartKind.TEXT, text=page["text"]),
    }
    return ChatMessage(role=ChatRole.USER, turn=turn, parts=tuple(made[name] for name in wanted))


@st.composite
def contexts(draw: st.DrawFn, *, shuffled: bool = True) -> tuple[ChatMessage, ...]:
    """A system message and up to 12 turns; each call has its result, in the same turn or a later one."""
    messages = [
        ChatMessage(
            role=ChatRole.SYSTEM, parts=(MessagePart(kind=PartKind.TEXT, text="You work on a page."),)
        )
    ]
    late: list[ChatMessage] = []
    for turn in range(draw(st.integers(0, 12))):
        messages += late
        late = []
        messages.append(draw(_seen(turn)))
        call, failed = f"call{turn}", draw(st.booleans())
        thought = MessagePart(kind=PartKind.THINKING, text=draw(_WORDS))
        asked = MessagePart(kind=PartKind.TOOL_CALL, call=call, text=draw(_WORDS))
        messages.append(ChatMessage(role=ChatRole.ASSISTANT, turn=turn, parts=(thought, asked)))
        came = MessagePart(
            kind=PartKind.TOOL_RESULT,
            call=call,
            text=draw(_WORDS),
            failed=failed,
            cause=draw(_CAUSES) if failed else "",
            target=draw(st.sampled_from(["", "button 'Save'"])),
            url=draw(_URLS),
        )
        answers_late = draw(st.booleans()) and shuffled
        answer = ChatMessage(role=ChatRole.TOOL, turn=turn + answers_late, parts=(came,))
        (late if answers_late else messages).append(answer)
    messages += late
    if shuffled and draw(st.booleans()):
        return tuple(draw(st.permutations(messages)))
    return tuple(messages)


def stable_prefix(before: Sequence[ChatMessage], after: Sequence[ChatMessage]) -> int:
    """Count the tokens at the front of a prompt that equal the previous prompt's byte for byte (equation 20)."""
    same = 0
    for old, new in zip(before, after, strict=False):
        if old.role is not new.role:
            return same
        for one, other in zip(old.parts, new.parts, strict=False):
            if (one.kind, one.digest, one.text) != (other.kind, other.digest, other.text):
                return same + (_common(one.text, other.text) if one.kind is other.kind else 0)
            same += count_part(other)
        if len(old.parts) != len(new.parts):
            return same
        same += MESSAGE_OVERHEAD
    return same


def _common(one: str, other: str) -> int:
    length = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return count_text(one[:length])
