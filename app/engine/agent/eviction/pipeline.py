"""Run all eviction phases, E = E6 ∘ E5 ∘ E4 ∘ E3 ∘ E2 ∘ E1 (SuperBrowser, equation 3), and condense the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from app.engine.agent.eviction.phases import (
    Phase,
    element_lists,
    failures,
    old_turns,
    screenshots,
    states,
    thinking,
)
from app.engine.agent.eviction.retention import CurrentPage, EvictionResult, Removal, RetentionLimits
from app.engine.agent.eviction.token_count import count
from app.engine.agent.memory.entries import LedgerEntry
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind

PHASES: tuple[Phase, ...] = (screenshots, failures, states, thinking, old_turns, element_lists)


def evict(
    messages: Sequence[ChatMessage], *, now: CurrentPage, keep: RetentionLimits | None = None
) -> EvictionResult:
    """Evict from the live context before a model is asked: bounded, every call answered, the newest turns unchanged.

    The returned entries belong into the ledger; removed parts are returned complete, so that a person can read them.
    """
    left = tuple(messages)
    entries: list[LedgerEntry] = []
    removed: list[Removal] = []
    for phase in PHASES:
        done = phase(left, keep or RetentionLimits(), now)
        left = done.messages
        entries += done.entries
        removed += done.removed
    return EvictionResult(messages=left, entries=tuple(entries), removed=tuple(removed))


def condense(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Return the messages to send: runs of archived messages as one line, so that the archive's cost stays constant.

    An archived message stays where a live one needs its call or result. Parts and messages of which nothing is left are
    dropped.
    """
    live = {part.call for message in messages if not message.archived for part in message.parts if part.call}
    runs = [
        (gone, list(run))
        for gone, run in groupby(messages, key=lambda message: _is_collapsible(message, live))
    ]
    short = [line for gone, run in runs for line in (_line(run) if gone else run)]
    # All of them or none: a call may be in one run and its result in another.
    sent = map(_without_blanks, short if count(short) <= count(messages) else messages)
    return tuple(message for message in sent if message.parts)


def _without_blanks(message: ChatMessage) -> ChatMessage:
    if not any(map(_is_blank, message.parts)):
        return message
    return replace(message, parts=tuple(part for part in message.parts if not _is_blank(part)))


def _is_blank(part: MessagePart) -> bool:
    return part.kind is PartKind.MARKER and not part.text


def _is_collapsible(message: ChatMessage, live: set[str]) -> bool:
    return message.archived and not any(part.call in live for part in message.parts if part.call)


def _line(run: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    turns = [message.turn for message in run]
    text = f"[steps {min(turns)} to {max(turns)} are archived; the ledger has what matters of them]"
    part = MessagePart(kind=PartKind.MARKER, text=text)
    return (ChatMessage(role=ChatRole.USER, parts=(part,), turn=max(turns), archived=True),)
