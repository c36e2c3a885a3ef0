"""The six phases of eviction (SuperBrowser, section 5.3 and appendix E.2), each a pure function of the messages.

Run together they are E = E6 ∘ E5 ∘ E4 ∘ E3 ∘ E2 ∘ E1 (equation 3).

Each is idempotent; 1, 3, 4 and 6 act on parts of different kinds and so commute. A part's kind decides, never its
text. A phase never makes the context longer: a part shorter than its marker stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from app.engine.agent.eviction.retention import (
    CurrentPage,
    EvictionResult,
    PartPosition,
    RetentionLimits,
    count,
    count_part,
    newest_turn,
    positions,
)
from app.engine.agent.memory.entries import LedgerEntry, dead_end, note
from app.engine.core.action_result import Cause
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind

Phase = Callable[[Sequence[ChatMessage], RetentionLimits, CurrentPage], EvictionResult]

_IMAGE = "[an earlier screenshot stood here]"
_STATE = "[an earlier page state]"
_LIST = "[an earlier element list; its numbers no longer hold]"
_ARCHIVED = "[archived]"
_LONGEST_LINE = 160
_NO_PAGE = CurrentPage()


def screenshots(
    messages: Sequence[ChatMessage], keep: RetentionLimits, now: CurrentPage = _NO_PAGE
) -> EvictionResult:
    """Phase 1: replace screenshots older than the newest two by a marker; their captions stay.

    Not even a stride keeps more: a picture costs as much as a page of text.
    """
    found = [place for place, part in positions(messages) if part.kind is PartKind.IMAGE]
    older = [place for place in found[: max(0, len(found) - keep.images)] if place[0] < newest_turn(messages)]
    stand_in = MessagePart(kind=PartKind.MARKER, text=_IMAGE, evicted=PartKind.IMAGE)
    return _replaced(messages, dict.fromkeys(older, stand_in))


def failures(
    messages: Sequence[ChatMessage], keep: RetentionLimits, now: CurrentPage = _NO_PAGE
) -> EvictionResult:
    """Phase 2: keep the newest failed tool result, shorten older ones to a line and record them as dead ends."""
    settled = keep.settled(newest_turn(messages))
    live = [
        (place, part)
        for place, part in positions(messages)
        if part.kind is PartKind.TOOL_RESULT and part.failed and part.evicted is None and place[0] < settled
    ]
    older = live[: max(0, len(live) - keep.failures)]
    return _replaced(messages, {place: _one_line_result(part) for place, part in older}, _dead_ends(older))


def states(
    messages: Sequence[ChatMessage], keep: RetentionLimits, now: CurrentPage = _NO_PAGE
) -> EvictionResult:
    """Phase 3: drop states older than the last two turns, except those of the current page: they show that it is
    stuck.
    """

    def is_now(part: MessagePart) -> bool:
        return bool(part.url) and (part.url, part.title) == (now.url, now.title)

    return _thinned(messages, PartKind.STATE, keep.states, keep, marker=_STATE, spared=is_now)


def thinking(
    messages: Sequence[ChatMessage], keep: RetentionLimits, now: CurrentPage = _NO_PAGE
) -> EvictionResult:
    """Phase 4: drop the reasoning of turns before the newest three without a trace; tool calls stay."""
    since = keep.since(newest_turn(messages), keep.thinking)
    older = {
        place: MessagePart(kind=PartKind.MARKER, evicted=PartKind.THINKING)
        for place, part in positions(messages)
        if part.kind is PartKind.THINKING and (part.text or part.digest) and place[0] < since
    }
    return _replaced(messages, older)


def old_turns(
    messages: Sequence[ChatMessage], keep: RetentionLimits, now: CurrentPage = _NO_PAGE
) -> EvictionResult:
    """Phase 5: of turns before the newest five keep only the calls and that they were answered.

    The number of messages stays the same, because callers count on it; ``condensed`` leaves them out of the prompt.
    """
    newest = newest_turn(messages)
    if sum(message.turn < keep.settled(newest) for message in messages) <= keep.messages:
        return EvictionResult(messages=tuple(messages))
    since = keep.since(newest, keep.turns)
    old = [
        at
        for at, message in enumerate(messages)
        if not message.archived and message.role is not ChatRole.SYSTEM and 0 <= message.turn < since
    ]
    if not old:
        return EvictionResult(messages=tuple(messages))
    left = list(messages)
    failed: list[tuple[PartPosition, MessagePart]] = []
    for at in old:
        message = messages[at]
        parts = [_stub(part) for part in message.parts]
        for number, (part, stub) in enumerate(zip(message.parts, parts, strict=True)):
            if stub != part and part.failed and part.evicted is None:
                failed.append(((message.turn, at, number), part))
        left[at] = replace(message, parts=tuple(part for part in parts if part is not None), archived=True)
    turns = [messages[at].turn for at in old]
    words = f"steps {min(turns)} to {max(turns)}: {len(old)} messages archived; this ledger has what matters of them"
    return EvictionResult(messages=tuple(left), entries=(*_dead_ends(failed), note(words, max(turns))))


def element_lists(
    messages: Sequence[ChatMessage], keep: RetentionLimits, now: CurrentPage = _NO_PAGE
) -> EvictionResult:
    """Phase 6: keep the newest element list and the list it is a diff of; replace older ones by a marker."""
    bases = {
        part.base for _, part in _kept_of_kind(messages, PartKind.ELEMENTS, keep.lists, keep) if part.base
    }

    def is_base(part: MessagePart) -> bool:
        return bool(part.digest) and part.digest in bases

    return _thinned(messages, PartKind.ELEMENTS, keep.lists, keep, marker=_LIST, spared=is_base)


def _kept_of_kind(
    messages: Sequence[ChatMessage], kind: PartKind, most: int, keep: RetentionLimits
) -> list[tuple[PartPosition, MessagePart]]:
    """Return the newest parts of a kind, and those of turns that count as new."""
    found = [(place, part) for place, part in positions(messages) if part.kind is kind]
    since = keep.since(newest_turn(messages), most)
    newest = (
        {place for place, _ in found[len(found) - most :]} if len(found) > most else {p for p, _ in found}
    )
    return [(place, part) for place, part in found if place in newest or place[0] >= since]


def _thinned(
    messages: Sequence[ChatMessage],
    kind: PartKind,
    most: int,
    keep: RetentionLimits,
    *,
    marker: str,
    spared: Callable[[MessagePart], bool] = lambda part: False,
) -> EvictionResult:
    """Return the messages without the older parts of one kind."""
    kept = {place for place, _ in _kept_of_kind(messages, kind, most, keep)}
    stand_in = MessagePart(kind=PartKind.MARKER, text=marker, evicted=kind)
    older = {
        place: stand_in
        for place, part in positions(messages)
        if part.kind is kind
        and place not in kept
        and not spared(part)
        and count_part(part) > count_part(stand_in)
    }
    return _replaced(messages, older)


def _replaced(
    messages: Sequence[ChatMessage],
    parts: Mapping[PartPosition, MessagePart],
    entries: Iterable[LedgerEntry] = (),
) -> EvictionResult:
    left = list(messages)
    for (_, at, number), part in parts.items():
        message = left[at]
        left[at] = replace(message, parts=(*message.parts[:number], part, *message.parts[number + 1 :]))
    return EvictionResult(messages=tuple(left), entries=tuple(entries))


def _one_line_result(part: MessagePart) -> MessagePart:
    words = " ".join(f"{part.cause or Cause.NO_EFFECT}{f' at {part.target}' if part.target else ''}".split())
    line = MessagePart(
        kind=PartKind.TOOL_RESULT,
        call=part.call,
        text=f"[failed before: {words[:_LONGEST_LINE]}]",
        failed=True,
        cause=part.cause,
        target=part.target,
        url=part.url,
        title=part.title,
        state=part.state,
        evicted=PartKind.TOOL_RESULT,
    )
    return line if count_part(line) < count_part(part) else replace(part, evicted=PartKind.TOOL_RESULT)


def _dead_ends(failed: Iterable[tuple[PartPosition, MessagePart]]) -> tuple[LedgerEntry, ...]:
    return tuple(
        dead_end(
            " ".join(part.text.split())[:_LONGEST_LINE],
            state=part.state,
            target=part.target,
            cause=part.cause or Cause.NO_EFFECT,
            url=part.url,
            step=turn,
        )
        for (turn, _, _), part in failed
    )


def _stub(part: MessagePart) -> MessagePart | None:
    """Return the rest of an archived message's part: calls complete, results as answered, nothing else."""
    if part.kind is PartKind.TOOL_CALL:
        return part
    if part.kind is PartKind.TOOL_RESULT:
        stub = MessagePart(
            kind=part.kind, call=part.call, text=_ARCHIVED, failed=part.failed, evicted=PartKind.TOOL_RESULT
        )
        return stub if count_part(stub) < count_part(part) else replace(part, evicted=PartKind.TOOL_RESULT)
    return None


PHASES: tuple[Phase, ...] = (screenshots, failures, states, thinking, old_turns, element_lists)


def evict(
    messages: Sequence[ChatMessage], *, now: CurrentPage, keep: RetentionLimits | None = None
) -> EvictionResult:
    """Evict from the live context before a model is asked: bounded, every call answered, the newest turns unchanged.

    The returned entries belong into the ledger.
    """
    left = tuple(messages)
    entries: list[LedgerEntry] = []
    for phase in PHASES:
        done = phase(left, keep or RetentionLimits(), now)
        left = done.messages
        entries += done.entries
    return EvictionResult(messages=left, entries=tuple(entries))


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
    short = [line for gone, run in runs for line in (_archive_line(run) if gone else run)]
    # All of them or none: a call may be in one run and its result in another.
    sent = map(_without_blanks, short if count(short) <= count(messages) else messages)
    return tuple(message for message in sent if message.parts)


def _without_blanks(message: ChatMessage) -> ChatMessage:
    parts = [part for part in message.parts if part.kind is not PartKind.MARKER or part.text]
    return replace(message, parts=tuple(parts))


def _is_collapsible(message: ChatMessage, live: set[str]) -> bool:
    return message.archived and not any(part.call in live for part in message.parts if part.call)


def _archive_line(run: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    turns = [message.turn for message in run]
    text = f"[steps {min(turns)} to {max(turns)} are archived; the ledger has what matters of them]"
    part = MessagePart(kind=PartKind.MARKER, text=text)
    return (ChatMessage(role=ChatRole.USER, parts=(part,), turn=max(turns), archived=True),)
