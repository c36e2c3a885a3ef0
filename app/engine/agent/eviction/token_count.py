"""Estimate the tokens of messages; an endpoint's own count depends on its model. Pure functions.

Tokenisers come to about four ASCII characters a token on English prose and somewhat fewer on element lists. Both sides
of a comparison use the same rule, so the ratio holds.
"""

from __future__ import annotations

from collections.abc import Iterable

from app.engine.core.chat_messages import ChatMessage, MessagePart, PartKind

CHARACTERS = 4
FOREIGN = 1.5
"""Characters to a token where they are not ASCII."""

PICTURE = 1_105
"""Tokens of a 1280 x 720 picture in OpenAI's tiles: 85, and 170 for each of six."""

MESSAGE_OVERHEAD = 4
"""Tokens of a message beside its parts: role and delimiters."""


def count_text(text: str) -> int:
    """Return the tokens of a text, at least 1 where there is any."""
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
