"""Retention limits: how much is kept, and which turns count as new. Pure data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.engine.agent.memory.entries import LedgerEntry
from app.engine.core.chat_messages import ChatMessage, MessagePart, PartKind


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionLimits:
    """How many of the newest parts are kept; the numbers are SuperBrowser's (section 5.3).

    Attributes:
        images, failures, states, lists: number of each kind, newest first; thinking: number of turns.
        turns: turns of which anything is left, once there are more than ``messages`` messages.
        stride: the windows move only at every ``stride``-th turn, all of them together. Any change in the middle
            makes the rest of the prompt new to an endpoint's cache; a stride makes that rare, at the price of keeping
            up to ``stride - 1`` more turns. 1 is the paper's own way.
    """

    images: int = 2
    failures: int = 1
    states: int = 2
    thinking: int = 3
    lists: int = 1
    turns: int = 5
    messages: int = 30
    stride: int = 1

    def since(self, newest: int, turns: int) -> int:
        """Return the first turn that counts as new where ``turns`` are kept and ``newest`` is the last one."""
        return newest - newest % self.stride - (turns - 1)

    def settled(self, newest: int) -> int:
        """Return the first turn that a cut leaves alone; with a stride, turns after the last cut wait for the
        next.
        """
        return newest + 1 if self.stride == 1 else newest - newest % self.stride


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentPage:
    """The page that the model is about to act on; older states of the same page stay, as a sign of being stuck."""

    url: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictionResult:
    """The remaining messages, and the ledger entries to write."""

    messages: tuple[ChatMessage, ...]
    entries: tuple[LedgerEntry, ...] = ()


def newest_turn(messages: Iterable[ChatMessage]) -> int:
    """Return the last turn; -1 where there is none."""
    return max((message.turn for message in messages), default=-1)


PartPosition = tuple[int, int, int]
"""Turn, message and part number; sorts by time."""


def positions(messages: Sequence[ChatMessage]) -> list[tuple[PartPosition, MessagePart]]:
    """Return every live part with its position, oldest first."""
    return sorted(
        (
            ((message.turn, at, number), part)
            for at, message in enumerate(messages)
            if not message.archived
            for number, part in enumerate(message.parts)
        ),
        key=lambda found: found[0],
    )


CHARACTERS = 4
FOREIGN = 1.5
"""Characters to a token where they are not ASCII."""

PICTURE = 1_105
"""Tokens of a 1280 x 720 picture in OpenAI's tiles: 85, and 170 for each of six."""

MESSAGE_OVERHEAD = 4
"""Tokens of a message beside its parts: role and delimiters."""


def count_text(text: str) -> int:
    """Estimate the tokens of a text, at least 1 where there is any; an endpoint's own count depends on its model."""
    if text.isascii():
        return -(-len(text) // CHARACTERS)
    plain = len(text.encode("ascii", "ignore"))
    return int(plain / CHARACTERS + (len(text) - plain) / FOREIGN) + 1


def count_part(part: MessagePart) -> int:
    """Return the tokens of a part; a picture counts by its tiles, not by its bytes."""
    return count_text(part.text) + (PICTURE if part.kind is PartKind.IMAGE else 0)


def count_message(message: ChatMessage) -> int:
    """Return the tokens of a message."""
    return MESSAGE_OVERHEAD + sum(map(count_part, message.parts))


def count(messages: Iterable[ChatMessage]) -> int:
    """Return the tokens of a list of messages."""
    return sum(map(count_message, messages))
