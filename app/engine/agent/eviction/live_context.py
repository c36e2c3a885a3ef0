"""The live context of one role over a run: a short prompt whose beginning stays the same.

An endpoint caches a prompt up to the first byte that differs from the one before. So nothing at the front changes
except at a cut: first the system messages, then the turns, each as it was first sent; the parts that are new at every
step (ledger, tips) come last and are not kept. (SuperBrowser puts the ledger into the system message and slides every
window each turn: everything after it misses the cache each time, and its equation 20 holds only for the difference.)

Three things keep it short: windows that move every ``stride`` turns, all at once; element lists that are sent as a
diff against one that is still in the context; and a token budget, beyond which the windows move at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from app.engine.agent.eviction.phases import condense, evict
from app.engine.agent.eviction.retention import CurrentPage, RetentionLimits, count
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind

DEFAULT_RETENTION = RetentionLimits(stride=12, lists=2)
DEFAULT_BUDGET = 32_000
"""Tokens of the turns beyond which the windows move early.

Both were chosen by measuring (``benchmarks/eviction.py``): a shorter stride saves more tokens and loses cache hits.
"""

THOUGHT_CHARACTERS = (100, 240)
"""Characters kept of the beginning and the end of a model's reasoning: what it looked at, what it concluded."""

FenceText = Callable[[str, str], str]
"""Wraps text of a page, under a label, so that a model can't take it for ours."""


@dataclass(frozen=True, slots=True)
class _ShownList:
    """A complete element list as it was sent."""

    digest: str
    turn: int
    text: str
    lines: frozenset[str]


class LiveContext:
    """Messages of one run for one role.

    Call ``look``, then ``prompt`` (once for each request), ``said`` and ``came`` at every step.

    Args:
        system: messages that stay the same for the whole run.
        fence: wraps text of a page before it is put into a message.
        budget: tokens of the turns; exceeded only where the newest turn alone is longer.
    """

    def __init__(
        self,
        system: Sequence[ChatMessage],
        *,
        keep: RetentionLimits = DEFAULT_RETENTION,
        budget: int = DEFAULT_BUDGET,
        fence: FenceText = lambda what, text: text,
    ) -> None:
        self._system, self._keep, self._budget, self._fence = tuple(system), keep, budget, fence
        self._turns: tuple[ChatMessage, ...] = ()
        self._shown: list[_ShownList] = []
        self._now, self._window = CurrentPage(), 0

    def add_observation(
        self,
        turn: int,
        elements: str,
        *,
        state: str = "",
        url: str = "",
        title: str = "",
        picture: MessagePart | None = None,
        holds: str = "",
        caption: str = "",
        caption_holds: str = "",
    ) -> None:
        """Add the page of this step and evict what is too old.

        Args:
            elements: the element list or tree.
            state: address, title and tabs in words.
            picture: a screenshot; caption: a vision model's description of it.
            holds: what to say in place of the picture where it is in the context already; ``caption_holds`` in place
                of the caption.
        """
        if turn // self._keep.stride != self._window or not self._turns:
            # Only at a cut: dropping another page's states at every page change would change the middle of the prompt.
            self._window, self._now = turn // self._keep.stride, CurrentPage(url=url, title=title)
        shown = MessagePart(kind=PartKind.TEXT, text=holds) if picture is not None and holds else picture
        parts = [
            MessagePart(kind=PartKind.STATE, text=self._fence("page", state), url=url, title=title)
            if state
            else None,
            shown,
            MessagePart(kind=PartKind.CAPTION, text=self._fence("what the screenshot shows", caption))
            if caption
            else None,
            MessagePart(kind=PartKind.TEXT, text=caption_holds) if caption_holds else None,
        ]
        seen = [part for part in parts if part is not None]
        before = self._turns, self._shown
        self._add(turn, elements, seen)
        if picture is not None and picture is not shown and picture.digest not in self.pictures:
            self._turns, self._shown = before
            self._add(turn, elements, [picture if part is shown else part for part in seen])

    @property
    def pictures(self) -> set[str]:
        """Digests of the pictures that are in the context."""
        return _pictures(self._turns)

    def without_pictures(self, system: Sequence[ChatMessage]) -> None:
        """Continue without pictures and with other messages for the whole run: the endpoint takes none."""
        self._system = tuple(system)
        self._turns = tuple(
            replace(message, parts=tuple(part for part in message.parts if part.kind is not PartKind.IMAGE))
            for message in self._turns
        )

    def _add(self, turn: int, elements: str, seen: Sequence[MessagePart]) -> None:
        """Add the parts of a page and its list, whole or as changes, and evict what is too old."""
        lines = frozenset(elements.split("\n"))
        told = self._as_changes(elements, lines, seen, turn)
        if told is None:
            digest = hashlib.sha256(f"{turn}\n{elements}".encode("utf-8", "replace")).hexdigest()
            whole = MessagePart(kind=PartKind.ELEMENTS, text=self._fence("elements", elements), digest=digest)
            told = self._evicted(self._with(turn, seen, whole))
            self._shown = [*self._shown, _ShownList(digest, turn, elements, lines)]
        self._turns = told
        there = _digests(self._turns)
        self._shown = [shown for shown in self._shown if shown.digest in there]

    def add_answer(
        self, turn: int, text: str, *, thinking: str = "", call: str = "", reasoning: str = ""
    ) -> None:
        """Add the model's answer; with ``call`` the text is a tool call that ``came`` answers.

        ``reasoning`` names the sealed form of its thinking.
        """
        parts = [
            MessagePart(kind=PartKind.THINKING, text=_shortened(thinking), digest=reasoning)
            if thinking or reasoning
            else None,
            MessagePart(kind=PartKind.TOOL_CALL if call else PartKind.TEXT, text=text, call=call),
        ]
        kept = tuple(part for part in parts if part is not None)
        self._turns = (*self._turns, ChatMessage(role=ChatRole.ASSISTANT, parts=kept, turn=turn))

    def add_result(
        self,
        turn: int,
        text: str,
        *,
        call: str = "",
        failed: bool = False,
        cause: str = "",
        target: str = "",
        url: str = "",
        state: str = "",
    ) -> None:
        """Add the result of an action; ``failed``, ``cause`` and ``target`` come from the typed result, never
        from its text.
        """
        part = MessagePart(
            kind=PartKind.TOOL_RESULT,
            text=text,
            call=call,
            failed=failed,
            cause=cause,
            target=target,
            url=url,
            state=state,
        )
        role = ChatRole.TOOL if call else ChatRole.USER
        self._turns = (*self._turns, ChatMessage(role=role, parts=(part,), turn=turn))

    def prompt(self, *tail: str | MessagePart) -> tuple[ChatMessage, ...]:
        """Return the messages to send; ``tail`` (ledger, tips, the question) goes last and is not kept."""
        parts = tuple(
            part if isinstance(part, MessagePart) else MessagePart(kind=PartKind.TEXT, text=part)
            for part in tail
            if part
        )
        last = (ChatMessage(role=ChatRole.USER, parts=parts, turn=-1),) if parts else ()
        return (*self._system, *condense(self._turns), *last)

    def _as_changes(
        self, elements: str, lines: frozenset[str], seen: Sequence[MessagePart], turn: int
    ) -> tuple[ChatMessage, ...] | None:
        """Return the context with the list as a diff; ``None`` where no list in it is similar enough, or none
        stays.
        """
        if not self._shown:
            return None
        base = max(self._shown, key=lambda shown: (shared_lines(shown.lines, lines), shown.turn))
        text = diff_lists(base.text, elements, base.turn)
        if not text:
            return None
        part = MessagePart(kind=PartKind.ELEMENTS, text=self._fence("elements", text), base=base.digest)
        told = self._evicted(self._with(turn, seen, part))
        return told if base.digest in _digests(told) else None

    def _with(self, turn: int, seen: Sequence[MessagePart], elements: MessagePart) -> tuple[ChatMessage, ...]:
        return (*self._turns, ChatMessage(role=ChatRole.USER, parts=(*seen, elements), turn=turn))

    def _evicted(self, messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
        """Evict what is too old. The loop has written every failure into the ledger when it happened."""
        left = evict(messages, now=self._now, keep=self._keep).messages
        if count(condense(left)) <= self._budget:
            return left
        return evict(left, now=self._now, keep=replace(self._keep, stride=1)).messages


def _shortened(thought: str) -> str:
    first, last = THOUGHT_CHARACTERS
    return thought if len(thought) <= first + last else f"{thought[:first]} … {thought[-last:]}"


def _digests(messages: Sequence[ChatMessage]) -> set[str]:
    return {
        part.digest
        for message in messages
        for part in message.parts
        if part.kind is PartKind.ELEMENTS and part.digest
    }


def _pictures(messages: Sequence[ChatMessage]) -> set[str]:
    return {part.digest for message in messages for part in message.parts if part.kind is PartKind.IMAGE}


WORTH_SHARE = 0.5
"""A diff is sent only where it is shorter than this share of the complete list."""

_MOST_LINES = 2_000
"""Lines beyond which two lists are not compared line by line: that would take longer than it saves."""

_REMOVED_SHOWN = 6
"""Removed lines that are shown one by one; of further ones only the number."""


def diff_lists(before: str, after: str, step: int) -> str:
    """Return the diff against the list sent at ``step``; "" where it would not be worth sending.

    On the recorded runs it is a fifth of the list (``benchmarks/eviction.py``). The earlier list stays as it was sent,
    so an endpoint's cache still has it. Each change is located by the line above it; ``-`` was removed, ``+`` is new
    or replaces it.
    """
    if before == after:
        return f"The same list as at step {step}."
    old, new = before.split("\n"), after.split("\n")
    if shared_lines(frozenset(old), frozenset(new)) < WORTH_SHARE * len(set(new)):
        return ""
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    if max(len(old), len(new)) - start - end > _MOST_LINES:
        return ""
    lines = _diff_lines(old, new, start, end)
    text = "\n".join([f"The list of step {step} with these changes:", *lines])
    return text if len(text) < WORTH_SHARE * len(after) else ""


def shared_lines(one: frozenset[str], other: frozenset[str]) -> int:
    """Count the distinct lines two lists have in common, wherever they are."""
    return len(one & other)


def _diff_lines(old: Sequence[str], new: Sequence[str], start: int, end: int) -> Iterator[str]:
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    matcher = SequenceMatcher(None, before, after)  # autojunk stays on: far faster, and the diff is as short
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            continue
        above = new[start + j1 - 1].strip() if start + j1 else ""
        yield f"@ below: {above}" if above else "@ at the top:"
        gone = before[i1:i2]
        if len(gone) <= _REMOVED_SHOWN:
            yield from (f"- {line}" for line in gone)
        else:
            yield f"- {len(gone)} lines, from: {gone[0].strip()}"
        yield from (f"+ {line}" for line in after[j1:j2])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the common beginning."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
